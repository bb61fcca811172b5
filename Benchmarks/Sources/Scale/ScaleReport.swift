import Foundation

/// The table of all sizes, for people and as JSON.
struct ScaleReport: Codable {
  /// One row for each size.
  var rows: [ScaleRow] = []
  /// What the targets are judged by, each the worst of the rows that it is about.
  var figures: [String: Double] = [:]

  /// The heads of the columns.
  static let heading = """
                      adverts/           engine         quick-  naive   bytes/  allocations  20 regions changed, ms: set  a batch
        tracks obs.   datagram  ranging  ns/advert  max    est             track      /advert  (one call)   then a batch  before
    """

  /// One row as it is printed.
  static func line(_ row: ScaleRow) -> String {
    let naive = row.naive.map { String(format: "%6.0f", $0) } ?? "     -"
    let sizes = String(format: "%10d %6d %6d", row.tracks, row.observers, row.advertsPerDatagram)
    let times = String(format: "%9.1f %5.0f %7.1f", row.engine, row.budget, row.engineQuickest)
    let memory = String(format: "%8.0f %11.5f", row.bytesPerTrack, row.allocationsPerAdvert)
    let change = String(
      format: "%10.2f (%6.2f) %11.2f %10.2f",
      row.change.set,
      row.change.call,
      row.change.batchAfter,
      row.change.batchBefore
    )
    return "\(sizes) \(row.hasRanging ? "  1 in 10" : "        -") \(times) \(naive) \(memory) \(change)"
  }

  /// Takes a row.
  mutating func add(_ row: ScaleRow) {
    rows.append(row)
    // Ranging answers once a second besides; the budget is that of monitoring.
    guard !row.hasRanging else { return note("engineRanging", row.engine) }
    note("allocations", row.allocationsPerAdvert)
    if row.tracks >= 100_000 { note("bytesPerTrack", row.bytesPerTrack) }
    guard row.advertsPerDatagram > 1 else { return note("engineOneAdvertADatagram", row.engine) }
    note(row.tracks > 100_000 ? "engineLarge" : "engine", row.engine)
    note(row.tracks > 100_000 ? "engineLargeQuickest" : "engineQuickest", row.engineQuickest)
    if row.tracks > 100_000 { note("regionChangePauseLarge", row.change.pause) }
    note("regionChangePause", row.change.pause)
  }

  /// Keeps the worst figure of a name.
  private mutating func note(_ name: String, _ value: Double) {
    figures[name] = max(figures[name] ?? value, value)
  }

  /// The rows as JSON, with names that say the units.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(self)
  }
}
