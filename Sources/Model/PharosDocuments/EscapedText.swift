/// Functions that write a text into a format, so that a reader of the format gets the same text back.
///
/// There is one function for each format; JSON has ``JSONText``. All work on Unicode scalars, as the readers do: to Swift,
/// a quotation mark and a combining accent after it are one character that equals no quotation mark.
package enum EscapedText {
  /// A text in the content or in a quoted attribute of XML and HTML.
  ///
  /// Control characters, which XML cannot express, become middle dots.
  package static func markup(_ text: String) -> String {
    escaped(text) { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&#39;"
      default: PlainText.isControl(scalar) ? "·" : nil
      }
    }
  }

  /// A text as a field of comma-separated values: in quotes where needed, and never what a spreadsheet takes for a formula.
  ///
  /// A text that begins like a formula gets an apostrophe before it, which spreadsheets do not show. So does what follows a
  /// semicolon, since some programs begin a field there, whatever quotes there are.
  ///
  /// - Source: RFC 4180; OWASP, "CSV Injection".
  package static func csv(_ text: String) -> String {
    let field = parts(text) { startsFormula($0) ? "'" + $0 : $0 }
    guard field.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
      return field
    }
    return "\"" + escaped(field) { $0 == "\"" ? "\"\"" : nil } + "\""
  }

  /// Returns the fields of a line that ``csv(_:)`` wrote, or that another program wrote by RFC 4180.
  package static func csvFields(_ line: some Sequence<UInt8>) -> [String] {
    var fields: [[UInt8]] = [[]]
    var isQuoted = false
    var endsQuote = false
    for byte in line {
      switch byte {
      case UInt8(ascii: "\"") where isQuoted:
        (isQuoted, endsQuote) = (false, true)
        continue
      case UInt8(ascii: "\"") where endsQuote || fields[fields.count - 1].isEmpty:
        // Two quotation marks within a field stand for one.
        if endsQuote { fields[fields.count - 1].append(byte) }
        isQuoted = true
      case UInt8(ascii: ",") where !isQuoted: fields.append([])
      default: fields[fields.count - 1].append(byte)
      }
      endsQuote = false
    }
    return fields.map { field in
      parts(String(decoding: field, as: UTF8.self)) { part in
        guard part.unicodeScalars.first == "'" else { return part }
        let rest = String(part.unicodeScalars.dropFirst())
        return startsFormula(rest) ? rest : part
      }
    }
  }

  /// Changes each part of a text between semicolons.
  private static func parts(_ text: String, _ change: (String) -> String) -> String {
    text.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false)
      .map { change(String($0)) }
      .joined(separator: ";")
  }

  /// Returns whether a text begins like a formula, or like one with apostrophes before it, so that one can be taken away again.
  private static func startsFormula(_ text: String) -> Bool {
    let rest = text.unicodeScalars.drop { $0 == "'" }
    let first = rest.first { $0 != "\"" && !PlainText.isControl($0) && !$0.properties.isWhitespace }
    return rest.first == "\t" || rest.first == "\r" || first.map(isFormulaSign) ?? false
  }

  /// The signs of formulas, those of the full-width form included.
  private static func isFormulaSign(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": true
    default: false
    }
  }

  /// The value of a label of Prometheus' text format or of PromQL, without its quotes.
  package static func label(_ text: String) -> String {
    escaped(text) { scalar in
      switch scalar {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "\n": "\\n"
      default: nil
      }
    }
  }

  /// The help of a family in Prometheus' text format.
  package static func help(_ text: String) -> String {
    escaped(text) { $0 == "\\" ? "\\\\" : $0 == "\n" ? "\\n" : nil }
  }

  /// A text as a scalar of YAML, with its quotes.
  package static func yaml(_ text: String) -> String {
    "\""
      + escaped(text) { scalar in
        switch scalar {
        case "\\": return "\\\\"
        case "\"": return "\\\""
        case "\n": return "\\n"
        default:
          guard PlainText.isControl(scalar) else { return nil }
          let digits = String(scalar.value, radix: 16)
          return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
      } + "\""
  }

  private static func escaped(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if let replacement = replacement(scalar) {
        result.append(contentsOf: replacement.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }
}
