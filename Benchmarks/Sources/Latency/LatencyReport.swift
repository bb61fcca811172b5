import Foundation
import SocketTraffic

/// All rows, for people and as JSON.
struct LatencyReport: Encodable {
  /// How long probes took from just before they were sent until a subscriber had them.
  ///
  /// - Units: milliseconds.
  struct Percentiles: Encodable, Sendable {
    var count: Int
    var p50: Double
    var p90: Double
    var p99: Double
    var p999: Double
    var maximum: Double
  }

  /// One rate.
  struct Row: Encodable {
    /// The share of the saturating rate that was asked for.
    var share: Double
    var askedDatagramsPerSecond: Double
    var sentDatagramsPerSecond: Double
    var droppedDatagrams: Int
    var probes: Int
    /// CPU time of the receiving threads divided by the time.
    var utilisation: Double
    var publisher: Percentiles
    var sequence: Percentiles
  }

  /// What was found about the rate that the server cannot exceed.
  struct Saturation: Encodable {
    var datagramsPerSecond: Double
    var advertsPerSecond: Double
    /// Whether the receiving thread was not busy all the time, since the sender was slower or other processes had its core, so
    /// that the rate follows from its CPU time.
    var isExtrapolated: Bool
    var sentPerSecond: Double
    var receivedPerSecond: Double
    var droppedShare: Double
    var utilisation: Double
  }

  var loops = 0
  var advertsPerDatagram = 0
  var saturation: Saturation?
  var rows: [Row] = []
  /// The figures that stand in the table of targets, by name; percentiles in milliseconds.
  var figures: [String: Double] = [:]

  /// The rows as JSON, with names that say the units.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(self)
  }

  mutating func add(_ row: Row) {
    rows.append(row)
    if row.share == 0.8 { figures["publisherP99AtHighLoad"] = row.publisher.p99 }
    guard row.share == 0.5 else { return }
    figures["publisherP99AtHalf"] = row.publisher.p99
    figures["publisherP999AtHalf"] = row.publisher.p999
    figures["sequenceP99AtHalf"] = row.sequence.p99
    figures["sequenceP999AtHalf"] = row.sequence.p999
  }

  static let heading = """

    From just before sendto to the subscriber, milliseconds
    load   sent/s    core   dropped  subscriber        probes      p50      p90      p99    p99.9      max
     %     thousand  busy %
    """

  static func line(_ row: Row, _ name: String, _ times: Percentiles) -> String {
    String(
      format: "%4.0f %9.0f %7.0f %9d  %@ %7d %8.3f %8.3f %8.3f %8.3f %8.3f",
      row.share * 100,
      row.sentDatagramsPerSecond / 1e3,
      row.utilisation * 100,
      row.droppedDatagrams,
      name.padding(toLength: 16, withPad: " ", startingAt: 0) as NSString,
      times.count,
      times.p50,
      times.p90,
      times.p99,
      times.p999,
      times.maximum
    )
  }

  static func line(_ saturation: Saturation) -> String {
    let rate = String(
      format: "%.0f thousand datagrams/s, %.2f M adverts/s",
      saturation.datagramsPerSecond / 1e3,
      saturation.advertsPerSecond / 1e6
    )
    let sent = String(
      format: "sent %.0f, received %.0f thousand/s, dropped %.1f %%, receiving thread busy %.0f %%",
      saturation.sentPerSecond / 1e3,
      saturation.receivedPerSecond / 1e3,
      saturation.droppedShare * 100,
      saturation.utilisation * 100
    )
    let how =
      saturation.isExtrapolated
      ? "from the CPU time of the receiving thread, which was not busy all the time"
      : "as received"
    return "saturating rate: \(rate): \(how) (\(sent))"
  }
}
