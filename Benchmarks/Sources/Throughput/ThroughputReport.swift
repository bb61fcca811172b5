import Foundation
import SocketTraffic

/// All rows, for people and as JSON.
struct ThroughputReport: Encodable {
  /// One receiver and number of adverts a datagram, on a filled socket.
  struct FilledRow: Encodable {
    var receiver: String
    var advertsPerDatagram: Int
    var bytesPerDatagram: Int
    /// CPU time of the receiving thread.
    var nanosecondsPerDatagram: Figure
    /// The bare loop's time divided by this one's, round by round.
    var shareOfBareLoop: Figure
    var advertsPerSecondAndCore: Figure
    /// Until the last datagram was decided.
    var wallNanosecondsPerDatagram: Figure
    /// CPU time of merger and subscribers.
    var otherThreadsNanosecondsPerDatagram: Figure
  }

  /// One receiver and number of adverts a datagram, while a sender sends.
  struct LiveRow: Encodable {
    var receiver: String
    var advertsPerDatagram: Int
    var sentPerSecond: Figure
    var receivedPerSecond: Figure
    var droppedShare: Figure
    var nanosecondsPerDatagram: Figure
    /// CPU time of the receiving thread divided by the time that was sent for.
    var utilisation: Figure
  }

  /// One loop against two.
  struct CoresRow: Encodable {
    var advertsPerDatagram: Int
    /// The time until all is decided of one loop divided by that of two.
    var wallRatio: Figure
    /// The same of the quickest round of each, which other processes have disturbed least.
    var quickestWallRatio: Double
    /// CPU time of one loop divided by that of the busier of two.
    var threadRatio: Figure
  }

  var receiveBufferBytes = 0
  var cores = 0
  var filled: [FilledRow] = []
  var live: [LiveRow] = []
  var scaling: [CoresRow] = []
  /// The figures that stand in the table of targets, by name.
  var figures: [String: Double] = [:]

  mutating func add(_ row: FilledRow, as receiver: ReceiverKind) {
    filled.append(row)
    switch receiver {
    case .served:
      figures["wholePathShareAt\(row.advertsPerDatagram)"] = row.shareOfBareLoop.median
      figures["advertsPerSecondAt\(row.advertsPerDatagram)"] = row.advertsPerSecondAndCore.median
    case .plainChannel:
      figures["nioShareAt\(row.advertsPerDatagram)"] = row.shareOfBareLoop.median
    case .bareLoop, .other: break
    }
  }

  /// Keeps what an advert of such datagrams costs the yardstick, in nanoseconds, and says how often that goes into what the server
  /// takes beyond the bare loop.
  mutating func yardstickLine(_ adverts: Int, _ yardstick: Double) -> String {
    figures["yardstickAt\(adverts)"] = yardstick
    let rows = filled.filter { $0.advertsPerDatagram == adverts }
    guard let bare = rows.first, let served = rows.last else { return "" }
    let own = served.nanosecondsPerDatagram.median - bare.nanosecondsPerDatagram.median
    return String(
      format: "%7d         yardstick: %.1f ns an advert; %@ takes %.1f times that beyond the bare loop",
      adverts,
      yardstick,
      served.receiver as NSString,
      own / Double(adverts) / yardstick
    )
  }

  /// The rows as JSON, with names that say the units.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(self)
  }
}

/// Which receiver a row is about.
enum ReceiverKind {
  case bareLoop, plainChannel, served, other
}

extension ThroughputReport {
  static let filledHeading = """

    Socket filled first, receiver alone on its core: CPU time of the receiving thread, medians (least to greatest) of rounds in turn
    adverts  bytes  receiver                    ns/datagram            share of bare loop     M adverts/s   other threads
                                                                                              a core        ns/datagram
    """

  static let liveHeading = """

    Live, one sender on the other core as fast as it goes
    adverts  receiver                    sent/s     received/s  dropped   ns/datagram  core busy
                                         thousand   thousand    %                      %
    """

  static let scalingHeading = """

    Two loops with SO_REUSEPORT against one, both fed from filled sockets: the same datagrams
    adverts  until all is decided    the quickest rounds    CPU time of the busier thread
             one / two               one / two              one / busier of two
    """

  static func line(_ row: FilledRow) -> String {
    String(
      format: "%7d %6d  %@ %@ %@ %11.2f %15.0f",
      row.advertsPerDatagram,
      row.bytesPerDatagram,
      pad(row.receiver, 26) as NSString,
      pad(spread(row.nanosecondsPerDatagram, "%.0f"), 22) as NSString,
      pad(spread(row.shareOfBareLoop, "%.2f"), 20) as NSString,
      row.advertsPerSecondAndCore.median / 1e6,
      row.otherThreadsNanosecondsPerDatagram.median
    )
  }

  static func line(_ row: LiveRow) -> String {
    String(
      format: "%7d  %@ %10.0f %12.0f %8.2f %13.0f %10.0f",
      row.advertsPerDatagram,
      pad(row.receiver, 26) as NSString,
      row.sentPerSecond.median / 1e3,
      row.receivedPerSecond.median / 1e3,
      row.droppedShare.median * 100,
      row.nanosecondsPerDatagram.median,
      row.utilisation.median * 100
    )
  }

  static func line(_ row: CoresRow) -> String {
    String(
      format: "%7d  %@ %-22.2f %@",
      row.advertsPerDatagram,
      pad(spread(row.wallRatio, "%.2f"), 23) as NSString,
      row.quickestWallRatio,
      spread(row.threadRatio, "%.2f") as NSString
    )
  }

  private static func spread(_ figure: Figure, _ format: String) -> String {
    String(format: "\(format) (\(format) to \(format))", figure.median, figure.minimum, figure.maximum)
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
  }
}
