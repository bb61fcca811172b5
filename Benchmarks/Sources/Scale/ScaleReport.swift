import Foundation

/// The table of all sizes, for people and as JSON.
struct ScaleReport: Codable {
  /// One row for each size.
  var rows: [ScaleRow] = []
  /// What the targets are judged by, each the worst of the rows that it is about.
  var figures: [String: Double] = [:]

  /// The heads of the columns.
  static let heading = """
                      adverts/               engine         wire +  yard-          naive   bytes/  allocations  20 regions changed, ms: set  a batch
        tracks obs.   datagram             ns/advert   max  engine  stick  ratio             track      /advert  (one call)   then a batch  before
    """

  /// One row as it is printed.
  static func line(_ row: ScaleRow) -> String {
    let naive = row.naive.map { String(format: "%6.0f", $0) } ?? "     -"
    let sizes = String(format: "%10d %6d %6d", row.tracks, row.shape.observers, row.shape.advertsPerDatagram)
    let remark = row.shape.remark.padding(toLength: 16, withPad: " ", startingAt: 0)
    let times = String(format: "%7.1f %5.0f", row.engine, row.budget)
    let ratios = String(format: "%7.1f %6.1f %6.2f", row.whole, row.yardstick, row.ratio)
    let memory = String(format: "%8.0f %11.5f", row.bytesPerTrack, row.allocationsPerAdvert)
    let change = row.change.map {
      String(format: "%10.2f (%6.2f) %11.2f %10.2f", $0.set, $0.call, $0.batchAfter, $0.batchBefore)
    }
    return "\(sizes)  \(remark) \(times) \(ratios) \(naive) \(memory) \(change ?? "")"
  }

  /// Takes a row.
  mutating func add(_ row: ScaleRow) {
    rows.append(row)
    // Ranging answers once a second besides; the budget is that of monitoring.
    guard !row.shape.hasRanging else { return record("engineRanging", row.engine) }
    record("allocations", row.allocationsPerAdvert)
    if row.tracks >= 100_000 { record("bytesPerTrack", row.bytesPerTrack) }
    guard row.shape.advertsPerDatagram > 1 else { return record("engineOneAdvertADatagram", row.engine) }
    guard !row.shape.hasJoins else { return record("engineJoins", row.engine) }
    record("yardstickRatio", row.ratio)
    record(row.tracks > 100_000 ? "engineLarge" : "engine", row.engine)
    record(row.tracks > 100_000 ? "engineLargeQuickest" : "engineQuickest", row.quickest - row.wire)
    guard let change = row.change else { return }
    if row.tracks > 100_000 { record("regionChangePauseLarge", change.pause) }
    record("regionChangePause", change.pause)
  }

  /// Keeps the worst figure of a name.
  private mutating func record(_ name: String, _ value: Double) {
    figures[name] = max(figures[name] ?? value, value)
  }

  /// The rows as JSON, with names that say the units.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(self)
  }
}
