import PharosDocuments
package import PharosModel
import PharosSpace
package import PharosTerminal

/// Fixes by trace, as a file of comma-separated values holds them.
///
/// The columns are `trace_id`, `time_ms`, `x_m`, `y_m`, `floor` and, where known, `accuracy_m`, in any order; others are
/// passed over.
package struct FixTable: Sendable {
  /// One fix.
  package struct Row: Hashable, Sendable {
    /// The time of the fix.
    package var time: Timestamp
    /// Metres east on the floor's plane.
    package var x: Double
    /// Metres north on the floor's plane.
    package var y: Double
    /// The floor's number, 0 for the ground floor.
    package var level: Int
    /// The radius meant to hold 68 % of truths in metres, if the table states it.
    package var accuracy: Double?

    /// The place on the floor's plane.
    var point: Point { Point(x: x, y: y) }

    package init(time: Timestamp, x: Double, y: Double, level: Int, accuracy: Double? = nil) {
      self.time = time
      self.x = x
      self.y = y
      self.level = level
      self.accuracy = accuracy
    }
  }

  /// The fixes of each trace, in order of time; of those with one time the last stands last.
  package private(set) var traces: [String: [Row]] = [:]
  /// The number of fixes.
  package var count: Int { traces.values.reduce(0) { $0 + $1.count } }

  /// The first line of a table.
  package static let header = "trace_id,time_ms,x_m,y_m,floor,accuracy_m"
  /// The longest table that is read.
  ///
  /// - Units: bytes. A day of fixes at 4 Hz has 17 MB.
  private static let maximumLength = 1 << 30

  /// Reads a table.
  ///
  /// - Throws: the first line that is none, by its number.
  init(path: String) throws(CommandFailure) {
    do throws(CommandFailure) {
      try self.init(text: try WholeFile.read(path, limit: FixTable.maximumLength), path: path)
    } catch {
      throw CommandFailure(error.message)
    }
  }

  /// Reads the bytes of a table.
  package init(text: [UInt8], path: String) throws(CommandFailure) {
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    let header = lines.popFirst().map(FixTable.cells) ?? []
    var places: [Int] = []
    let names = ["trace_id", "time_ms", "x_m", "y_m", "floor"]
    for name in names {
      guard let place = header.firstIndex(of: name) else {
        throw CommandFailure(
          "\(path):1: there is no column \(name) (expected \(names.joined(separator: ", "))). `pharos survey locate` "
            + "writes such a table."
        )
      }
      places.append(place)
    }
    let accuracy = header.firstIndex(of: "accuracy_m")
    for (index, line) in lines.enumerated() {
      let cells = FixTable.cells(line)
      guard cells != [""] else { continue }
      try readRow(cells, at: places, accuracy: accuracy, where: "\(path):\(index + 2)")
    }
    for trace in Array(traces.keys) { sort(trace) }
  }

  /// A line of a table.
  package static func line(_ trace: String, _ row: Row) -> String {
    // A fix that is rounded forwards claims to know no later time than it does.
    let (quotient, rest) = row.time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let milliseconds = rest > 0 ? quotient + 1 : quotient
    let place = "\(decimal(row.x)),\(decimal(row.y)),\(FloorWord.name(row.level))"
    return
      "\(EscapedText.csv(PlainText.clean(trace))),\(milliseconds),\(place),\(row.accuracy.map(decimal) ?? "")"
  }

  private mutating func readRow(
    _ cells: [String],
    at places: [Int],
    accuracy: Int?,
    where place: String
  ) throws(CommandFailure) {
    guard let last = places.max(), last < cells.count, let time = Double(cells[places[1]]),
      let x = Double(cells[places[2]]), let y = Double(cells[places[3]]), abs(time) < 9e12
    else {
      throw CommandFailure("\(place): no fix (expected an id, a time in ms, x and y in metres and a floor)")
    }
    guard let level = FloorWord.level(cells[places[4]]) else {
      throw CommandFailure("\(place): floor is \"\(cells[places[4]])\" (expected F1, B1 or a whole number)")
    }
    // A line without a position has coordinates that are not finite numbers. It is ignored.
    guard x.isFinite, y.isFinite else { return }
    let radius = accuracy.flatMap { $0 < cells.count ? Double(cells[$0]) : nil }
    let row = Row(
      time: Timestamp(nanoseconds: Int64(time) * 1_000_000),
      x: x,
      y: y,
      level: level,
      accuracy: radius.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    )
    traces[cells[places[0]], default: []].append(row)
  }

  private mutating func sort(_ trace: String) {
    guard let rows = traces[trace], zip(rows, rows.dropFirst()).contains(where: { $0.time > $1.time }) else {
      return
    }
    traces[trace] = rows.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map(\.element)
  }

  private static func cells(_ line: ArraySlice<UInt8>) -> [String] {
    EscapedText.csvFields(line).map(FloorWord.trimmed)
  }

  /// A length to the centimetre.
  private static func decimal(_ value: Double) -> String { SVGDocument.number(value) }
}
