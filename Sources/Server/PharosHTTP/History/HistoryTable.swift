import HTTPTypes
import PharosDocuments
import PharosModel

/// A table that is answered as the objects of a JSON array, as CSV or as GeoJSON: a list of columns, and a value for each in
/// each row.
struct HistoryTable {
  /// A value.
  enum Cell {
    case text(String)
    case number(Double, decimals: Int?)
    case whole(Int)
    /// No value: JSON leaves the member out, CSV the field empty.
    case none

    init(_ text: String?) { self = text.map(Cell.text) ?? .none }
    init(_ number: Double?, decimals: Int) {
      self = number.map { .number($0, decimals: decimals) } ?? .none
    }
    init(_ number: Int?) { self = number.map(Cell.whole) ?? .none }

    /// A value of JSON; of a list the elements with spaces between them.
    fileprivate init(_ value: JSONValue?) {
      switch value {
      case nil, .null?: self = .none
      case .bool(let flag)?: self = .text(flag ? "true" : "false")
      case .integer(let number)?: self = .whole(Int(number))
      case .number(let number)?: self = .number(number, decimals: nil)
      case .string(let text)?: self = .text(text)
      case .array(let elements)?:
        self = .text(elements.map { HistoryTable.field(Cell($0)) }.joined(separator: " "))
      case .object?: self = .none
      }
    }
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

    /// A column that is a member of a document, and that some rows leave out.
    static func sometimes<Owner>(_ name: StaticString, of declared: [DocumentField<Owner>]) -> Column {
      guard let member = [Schema.Member].written(declared).named(name.description) else {
        preconditionFailure("the document has no member \(name)")
      }
      return Column(name: name, member: member.optional)
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
    json.objects(key, rows) { write($1, to: &$0) }
  }

  private func write(_ row: [Cell], to json: inout JSONText) {
    for (column, cell) in zip(columns, row) {
      switch cell {
      case .text(let text): json.member(column.name, text)
      case .number(let number, let decimals): json.member(column.name, number, decimals: decimals)
      case .whole(let number): json.member(column.name, number)
      case .none: break
      }
    }
  }

  /// The table as CSV with a head.
  var csv: APIAnswer { HistoryTable.csv(columns.map(\.name.description), rows) }

  /// Objects with declared members as CSV with a head, each of their values in a column of its own.
  ///
  /// - Throws: that the text of an object is no JSON, which no declared members give.
  static func csv<Row>(
    of objects: [Row],
    _ declared: [DocumentField<Row>],
    names: SiteNames?
  ) throws(JSONError) -> APIAnswer {
    let columns = Schema.object(declared).columns
    var rows: [[Cell]] = []
    var json = JSONText()
    json.names = names
    for object in objects {
      json.removeAll()
      json.openObject()
      DocumentField.write(declared, of: object, to: &json)
      json.closeObject()
      var values: [String: JSONValue] = [:]
      HistoryTable.gather(try JSONValue(parsing: json.utf8), behind: nil, into: &values)
      rows.append(columns.map { Cell(values[$0]) })
    }
    return csv(columns, rows)
  }

  /// Gathers the values of an object by their columns.
  private static func gather(_ value: JSONValue, behind path: String?, into values: inout [String: JSONValue])
  {
    if case .object(let members) = value {
      for member in members {
        gather(member.value, behind: path.map { "\($0).\(member.name)" } ?? member.name, into: &values)
      }
    } else if let path {
      values[path] = value
    }
  }

  /// Rows as CSV with a head.
  ///
  /// - Source: RFC 4180.
  private static func csv(_ columns: [String], _ rows: [[Cell]]) -> APIAnswer {
    var text = columns.joined(separator: ",") + "\r\n"
    for row in rows {
      text += row.map { if case .text(let text) = $0 { EscapedText.csv(text) } else { field($0) } }
        .joined(separator: ",")
      text += "\r\n"
    }
    return .bytes(Array(text.utf8), type: "text/csv; charset=utf-8; header=present")
  }

  /// The text of a value, which is not yet fit for CSV.
  private static func field(_ cell: Cell) -> String {
    switch cell {
    case .text(let text): return text
    case .whole(let number): return "\(number)"
    case .number(let number, let decimals):
      var json = JSONText()
      json.element(number, decimals: decimals)
      return json.text
    case .none: return ""
    }
  }

  /// Writes the rows as features, each at its `latitude` and `longitude`, or nowhere if it has none.
  func writeFeatures(to json: inout JSONText) {
    for row in rows {
      json.feature(at: position(of: row)) { write(row, to: &$0) }
    }
  }

  private func position(of row: [Cell]) -> [Double]? {
    let found = (["longitude", "latitude"] as [String]).compactMap { name -> Double? in
      guard let index = columns.firstIndex(where: { $0.name.description == name }),
        case .number(let degrees, _) = row[index]
      else { return nil }
      return degrees
    }
    return found.count == 2 ? found : nil
  }
}

extension Schema {
  /// The rows of a table as objects.
  static func rows(_ columns: [HistoryTable.Column]) -> Schema { .list(.object(columns.map(\.member))) }
}
