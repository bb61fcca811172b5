import PharosDocuments
import PharosModel

/// A table whose lines can be written one by one: its columns have fixed widths, together at most 80.
///
/// Names come from the radio and the network, so that every cell is cleaned by `PlainText`.
package struct TextTable: Sendable {
  /// One column.
  package struct Column: Sendable {
    let title: String
    let width: Int
    /// Indicates whether a short cell stands on the right.
    let isNumber: Bool

    /// Makes a column of text.
    package static func text(_ title: String, _ width: Int) -> Column {
      Column(title: title, width: width, isNumber: false)
    }

    /// Makes a column of numbers.
    package static func number(_ title: String, _ width: Int) -> Column {
      Column(title: title, width: width, isNumber: true)
    }
  }

  /// The widest a table may be: what every terminal shows.
  package static let widest = 80

  private let columns: [Column]

  /// Makes a table; its columns with a space between each two fit ``widest``.
  package init(_ columns: [Column]) {
    precondition(
      columns.reduce(columns.count - 1) { $0 + $1.width } <= TextTable.widest,
      "a table is at most \(TextTable.widest) columns wide"
    )
    self.columns = columns
  }

  /// The line with the titles.
  package var header: String { line(columns.map(\.title)) }

  /// One line; what is too long for its column is cut with an ellipsis, or left whole for a reader that is no terminal.
  package func line(_ cells: [String], isWhole: Bool = false) -> String {
    let padded = zip(columns, cells).map { column, cell in
      let text = PlainText.cut(PlainText.clean(cell), to: isWhole ? .max : column.width)
      let padding = String(repeating: " ", count: max(0, column.width - text.count))
      return column.isNumber ? padding + text : text + padding
    }
    let line = padded.joined(separator: " ")
    let end = line.utf8.lastIndex { $0 != UInt8(ascii: " ") }.map(line.utf8.index(after:))
    return String(line[..<(end ?? line.startIndex)])
  }
}

extension String {
  /// The text with spaces behind it, up to a width.
  package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}

/// Text broken into lines.
package enum Paragraph {
  /// The lines of a text that is at most so many columns wide, the first behind `head`, the others behind as many spaces.
  package static func lines(_ text: String, behind head: String = "", width: Int) -> [String] {
    lines(text, behind: head) { $0.count <= width }
  }

  /// The lines of a text, each of which fits; the first stands behind `head`, the others behind as many spaces.
  ///
  /// Control characters, which names from the radio may bring, are taken out. A word that is longer than a line
  /// stands alone. A no-break space keeps a number and its unit on one line and is written as a space.
  package static func lines(
    _ text: String,
    behind head: String = "",
    where fits: (String) -> Bool
  ) -> [String] {
    let indent = String(repeating: " ", count: head.count)
    var lines: [String] = []
    var line = head
    var isEmpty = true
    for word in PlainText.clean(text).split(separator: " ") {
      if !isEmpty, !fits("\(line) \(word)") {
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
