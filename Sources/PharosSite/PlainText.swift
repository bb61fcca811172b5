/// Texts from files, radios and networks, made fit for a line that people read.
///
/// An escape sequence in a device's name must not reach a terminal, nor a line break a log.
package enum PlainText {
  /// The text with a middle dot for every control character and line end.
  package static func clean(_ text: String) -> String {
    let isClean = text.unicodeScalars.allSatisfy { !isControl($0) }
    guard !isClean else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "·" : $0 }))
  }

  /// The text, or its beginning and an ellipsis where it is longer than `width`.
  package static func cut(_ text: String, to width: Int) -> String {
    text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
  }

  /// Whether a character would move a cursor, end a line or turn the direction of writing.
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
