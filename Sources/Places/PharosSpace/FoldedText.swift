/// Texts as a search compares them: in lower case, without accents, in words.
package enum FoldedText {
  /// Returns the words of a text: its letters and digits, each folded, in runs; an apostrophe ends one, as in `l’exposition`.
  ///
  /// Accents and other marks are dropped, whether they stand alone or in one scalar with their letter: `Größe` and `grosse`, `Café`
  /// and `cafe`, `Ёлка` and `елка` are the same.
  package static func words(_ text: String) -> [String] {
    var words: [String] = []
    var word = String.UnicodeScalarView()
    func finish() {
      if !word.isEmpty { words.append(String(word)) }
      word = String.UnicodeScalarView()
    }
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x61...0x7A, 0x30...0x39: word.append(scalar)
      case 0x41...0x5A: word.append(Unicode.Scalar(UInt8(scalar.value + 0x20)))
      case 0...0x7F: finish()
      default:
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: break
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
          .spacingMark,
          .decimalNumber, .letterNumber, .otherNumber:
          word.append(contentsOf: folded(scalar))
        // Joiners and soft hyphens.
        case .format: break
        default: finish()
        }
      }
    }
    finish()
    return words
  }

  private static func folded(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    var result = String.UnicodeScalarView()
    for lower in scalar.properties.lowercaseMapping.unicodeScalars
    where lower.properties.generalCategory != .nonspacingMark {
      if let several = ligatures[lower] {
        result.append(contentsOf: several.unicodeScalars)
      } else {
        result.append(bases[lower] ?? lower)
      }
    }
    return result
  }

  /// Letters that are written in other ways without their own key, and ligatures.
  private static let ligatures: [Unicode.Scalar: String] = [
    "ß": "ss", "æ": "ae", "ǽ": "ae", "ǣ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ŋ": "n", "ĳ": "ij",
    "ς": "σ",
    "й": "и", "ё": "е", "ў": "у", "ї": "і", "ﬁ": "fi", "ﬂ": "fl",
  ]

  /// The blocks of letters with marks: Latin, Greek and Cyrillic.
  private static let blocks: [ClosedRange<UInt32>] = [0xC0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF]

  /// The letter below the marks of each small letter, as the names of Unicode state it: `E WITH ACUTE` is `E`.
  ///
  /// - Source: The Unicode Standard, 4.8.
  private static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var named: [String: Unicode.Scalar] = [:]
    var marked: [(scalar: Unicode.Scalar, base: String)] = []
    for value in [0x61...0x7A] + blocks {
      for scalar in value.compactMap(Unicode.Scalar.init) {
        guard let name = scalar.properties.name else { continue }
        if let range = name.firstRange(of: " WITH ") {
          marked.append((scalar, String(name[..<range.lowerBound])))
        } else {
          named[name] = scalar
        }
      }
    }
    return marked.reduce(into: [:]) { bases, entry in bases[entry.scalar] = named[entry.base] }
  }()
}
