import Foundation

/// All rows, as they are printed and kept.
struct AttackTable: Encodable {
  /// One row.
  struct Row: Encodable {
    var attack: String
    var wanted: String
    var tried: Int
    var held: Int
    var note: String
    /// Whether the users of the server had what they should.
    var isUnharmed: Bool
    /// How they fared.
    var service: String
    /// The most memory that the server has taken so far.
    ///
    /// - Units: MB.
    var residentMegabytes: Int
    /// How long it took.
    ///
    /// - Units: seconds.
    var seconds: Int

    /// Whether all is as it should be.
    var isMet: Bool { tried > 0 && held == tried && isUnharmed }
  }

  /// The limits that the server named in its log, with how often it did.
  var namedLimits: [String: Int] = [:]
  private(set) var rows: [Row] = []

  mutating func add(_ row: Row) { rows.append(row) }

  /// Whether every row is.
  var isMet: Bool { !rows.isEmpty && rows.allSatisfy(\.isMet) && namedLimits.values.allSatisfy { $0 == 1 } }

  /// The head of the table.
  static let head = line(
    "attack",
    "tried",
    "wanted",
    "so",
    "service",
    "MB",
    "what the server counted; its users"
  )

  /// A row of it.
  static func text(_ row: Row) -> String {
    let share = row.tried == 0 ? 0 : Double(row.held) * 100 / Double(row.tried)
    let shown = row.held == row.tried ? "100 %" : String(format: "%.3f %%", share)
    return line(
      row.attack,
      "\(row.tried)",
      row.wanted,
      shown,
      row.isUnharmed ? "unharmed" : "HARMED",
      "\(row.residentMegabytes)",
      "\(row.note); \(row.service)"
    )
  }

  private static func line(_ columns: String...) -> String {
    let widths = [58, 9, 8, 9, 9, 5, 0]
    return zip(columns, widths).enumerated().map { place, column in
      let gap = String(repeating: " ", count: max(0, column.1 - column.0.count))
      return place == 1 || place == 3 || place == 5 ? gap + column.0 : column.0 + gap
    }
    .joined(separator: "  ")
  }
}
