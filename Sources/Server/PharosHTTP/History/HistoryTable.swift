import HTTPTypes
import PharosDocuments
import PharosModel

/// A table that is answered as the objects of a JSON array or as CSV: a list of columns, and a value for each in each row.
struct HistoryTable {
  /// A value.
  enum Cell {
    case text(String)
    case number(Double, decimals: Int)
    case whole(Int)
    /// No value: JSON leaves the member out, CSV the field empty.
    case none

    init(_ text: String?) { self = text.map(Cell.text) ?? .none }
    init(_ number: Double?, decimals: Int) {
      self = number.map { .number($0, decimals: decimals) } ?? .none
    }
    init(_ number: Int?) { self = number.map(Cell.whole) ?? .none }
  }

  /// A column: a member of the objects, and a field of CSV.
  struct Column {
    let name: StaticString
    let member: Schema.Member

    /// A column with a value in each row.
    static func always(_ name: StaticString, _ schema: Schema, _ description: String? = nil) -> Column {
      Column(name: name, member: .required(name.description, schema, description))
    }

    /// A column that some rows leave out.
    static func sometimes(_ name: StaticString, _ schema: Schema, _ description: String? = nil) -> Column {
      Column(name: name, member: .optional(name.description, schema, description))
    }
  }

  /// The columns.
  let columns: [Column]
  /// The rows.
  private(set) var rows: [[Cell]] = []

  init(columns: [Column]) { self.columns = columns }

  /// Adds a row with as many values as there are columns.
  mutating func append(_ cells: [Cell]) {
    precondition(cells.count == columns.count, "a row has \(cells.count) values")
    rows.append(cells)
  }

  /// Writes the rows as objects.
  func write(_ key: StaticString, to json: inout JSONText) {
    json.objects(key, rows) { json, row in
      for (column, cell) in zip(columns, row) {
        switch cell {
        case .text(let text): json.member(column.name, text)
        case .number(let number, let decimals): json.member(column.name, number, decimals: decimals)
        case .whole(let number): json.member(column.name, number)
        case .none: break
        }
      }
    }
  }

  /// The table as CSV with a head.
  ///
  /// - Source: RFC 4180.
  var csv: APIAnswer {
    var json = JSONText()
    var text = columns.map(\.name.description).joined(separator: ",") + "\r\n"
    for row in rows {
      for (index, cell) in row.enumerated() {
        if index > 0 { text += "," }
        switch cell {
        case .text(let field): text += EscapedText.csv(field)
        case .whole(let number): text += "\(number)"
        case .number(let number, let decimals):
          json.removeAll()
          json.element(number, decimals: decimals)
          text += json.text
        case .none: break
        }
      }
      text += "\r\n"
    }
    return .bytes(Array(text.utf8), type: "text/csv; charset=utf-8; header=present")
  }
}

extension Schema {
  /// The rows of a table as objects.
  static func rows(_ columns: [HistoryTable.Column]) -> Schema { .list(.object(columns.map(\.member))) }
}
