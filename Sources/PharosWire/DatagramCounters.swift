/// How many datagrams and reports of each format were decoded, and how many datagrams refused for which
/// reason.
///
/// Plain arrays of fixed size: counting costs an addition and no allocation, and the counters of shards can
/// be added.
public struct DatagramCounters: Equatable, Sendable {
  private static let formats = WireFormat.allCases.count
  private static let reasons = DatagramRefusal.allCases.count

  /// By format.
  private var decoded: [UInt64]
  /// By format.
  private var reported: [UInt64]
  /// By format and reason, reasons running fastest; the last row is for datagrams in no known format.
  private var refused: [UInt64]

  /// Makes counters that stand at zero.
  public init() {
    decoded = Array(repeating: 0, count: DatagramCounters.formats)
    reported = Array(repeating: 0, count: DatagramCounters.formats)
    refused = Array(repeating: 0, count: (DatagramCounters.formats + 1) * DatagramCounters.reasons)
  }

  /// How many datagrams of a format were decoded.
  public func datagrams(_ format: WireFormat) -> UInt64 { decoded[Int(format.rawValue)] }

  /// How many reports the datagrams of a format brought.
  public func reports(_ format: WireFormat) -> UInt64 { reported[Int(format.rawValue)] }

  /// How many datagrams of a format (nil: of no known one) were refused for a reason.
  public func refusals(_ format: WireFormat?, _ reason: DatagramRefusal) -> UInt64 {
    refused[DatagramCounters.index(format, reason)]
  }

  /// How many datagrams were decoded, whatever their format.
  public var totalDatagrams: UInt64 { decoded.reduce(0, &+) }

  /// How many reports all datagrams brought.
  public var totalReports: UInt64 { reported.reduce(0, &+) }

  /// How many datagrams were refused, whatever their format and the reason.
  public var totalRefusals: UInt64 { refused.reduce(0, &+) }

  /// The sums of two sets of counters.
  public static func + (left: DatagramCounters, right: DatagramCounters) -> DatagramCounters {
    var sum = left
    sum += right
    return sum
  }

  /// Adds the counters of another decoder.
  public static func += (left: inout DatagramCounters, right: DatagramCounters) {
    for index in left.decoded.indices { left.decoded[index] &+= right.decoded[index] }
    for index in left.reported.indices { left.reported[index] &+= right.reported[index] }
    for index in left.refused.indices { left.refused[index] &+= right.refused[index] }
  }

  /// Counts a datagram that was decoded.
  mutating func count(_ format: WireFormat, reports: Int) {
    decoded[Int(format.rawValue)] &+= 1
    reported[Int(format.rawValue)] &+= UInt64(reports)
  }

  /// Takes back what was counted of a datagram that was decoded.
  mutating func takeBack(_ format: WireFormat, reports: Int) {
    decoded[Int(format.rawValue)] &-= 1
    reported[Int(format.rawValue)] &-= UInt64(reports)
  }

  /// Counts a datagram that was refused.
  mutating func count(_ format: WireFormat?, _ reason: DatagramRefusal) {
    refused[DatagramCounters.index(format, reason)] &+= 1
  }

  private static func index(_ format: WireFormat?, _ reason: DatagramRefusal) -> Int {
    (format.map { Int($0.rawValue) } ?? formats) * reasons + Int(reason.rawValue)
  }
}
