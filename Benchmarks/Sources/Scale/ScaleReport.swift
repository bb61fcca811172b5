import Foundation

/// The table of all sizes, for people and as JSON.
struct ScaleReport: Encodable {
  /// One row for each size.
  var rows: [ScaleRow] = []

  /// The heads of the columns.
  static let heading = """
      tracks  observers  ranging   engine  budget  quickest    naive   bytes/  allocations/  region change   slowest batch
                                ns/advert                              track        advert    longest, ms  after, ns/advert
    """

  /// One row as it is printed.
  static func line(_ row: ScaleRow) -> String {
    let naive = row.naive.map { String(format: "%7.0f", $0) } ?? "      -"
    return String(
      format: "%10d %10d %8@ %8.1f %7.0f %9.1f %@ %9.0f %13.5f %14.2f %17.0f",
      row.tracks,
      row.observers,
      (row.hasRanging ? "1 in 10" : "-") as NSString,
      row.engine,
      row.budget,
      row.engineQuickest,
      naive as NSString,
      row.bytesPerTrack,
      row.allocationsPerAdvert,
      row.regionChange ?? 0,
      row.afterRegionChange ?? 0
    )
  }

  /// The rows as JSON, with names that say the units.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(self)
  }
}
