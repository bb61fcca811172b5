import PharosSite

/// Text broken into lines of a terminal.
package enum Paragraph {
  /// The lines of a text that is at most so wide, the first behind `head`, the others behind as many spaces.
  ///
  /// Control characters, which names from the radio may bring, are taken out. A word that is longer than a line
  /// stands alone. A no-break space keeps a number and its unit on one line and is written as a space.
  package static func lines(_ text: String, behind head: String = "", width: Int) -> [String] {
    let indent = String(repeating: " ", count: head.count)
    var lines: [String] = []
    var line = head
    var isEmpty = true
    for word in PlainText.clean(text).split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = indent
        isEmpty = true
      }
      line += isEmpty ? String(word) : " " + word
      isEmpty = false
    }
    lines.append(line)
    return lines.map { $0.replacing("\u{A0}", with: " ") }
  }
}
