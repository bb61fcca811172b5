public import PharosModel

/// Decodes datagrams of any format and counts what it decoded and refused.
///
/// Each shard has its own; apart from the counters it has no state, so that neither the order of the
/// datagrams nor how they were spread over shards changes a report.
public struct DatagramDecoder: Sendable {
  /// The counts of datagrams decoded and refused so far.
  public private(set) var counters = DatagramCounters()
  /// What was skipped in the last datagram that was decoded.
  public private(set) var notes = DecodingNotes()

  /// The age up to which the adverts of a datagram are left in their order.
  ///
  /// - Units: milliseconds.
  private static let momentaryAge: UInt32 = 1_000

  /// Makes a decoder with all counters at zero.
  public init() {}

  /// Appends the reports of a datagram to a batch, its adverts in order of time, and returns its format, or leaves the batch unchanged and returns the
  /// reason for the refusal.
  ///
  /// - Parameters:
  ///   - datagram: the whole payload of one UDP datagram.
  ///   - received: R, the time at which it was received.
  ///   - batch: the batch to append the reports to.
  /// - Returns: the format, or the reason for which the datagram was refused.
  public mutating func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) -> Result<WireFormat, DatagramRefusal> {
    notes = DecodingNotes()
    guard !datagram.isEmpty else { return .failure(refuse(nil, .empty)) }
    guard let format = WireFormat(recognising: datagram) else { return .failure(refuse(nil, .unrecognised)) }
    let before = batch.count
    do throws(DatagramRefusal) {
      try format.layout.decode(
        datagram,
        within: MessageContext(received: received),
        into: &batch,
        notes: &notes
      )
    } catch {
      counters.ignoredIdentities += notes.ignored
      notes = DecodingNotes()
      return .failure(refuse(format, error))
    }
    // Of what was collected within a second, the order hardly matters, and to look for it would cost too much.
    if notes.oldestAge ?? .max > DatagramDecoder.momentaryAge { batch.orderAdverts(from: before) }
    counters.count(format, reports: batch.count - before)
    counters.count(format, notes)
    return .success(format)
  }

  /// Counts a datagram whose end was lost because it was longer than the receive buffer; its reports are lost
  /// too.
  public mutating func refuseTruncated(_ beginning: RawSpan) -> DatagramRefusal {
    refuse(WireFormat(recognising: beginning), .truncated)
  }

  /// Counts a datagram that the check of its sender refused before it was decoded.
  public mutating func refuse(unread format: WireFormat?, _ reason: DatagramRefusal) {
    counters.count(format, reason)
  }

  /// Counts a datagram as refused that was decoded and then turned out to hold contents that its sender may not send.
  ///
  /// - Parameters:
  ///   - format: its format.
  ///   - reason: the reason for the refusal.
  ///   - reports: the number of its reports, which the caller discards.
  public mutating func refuse(decoded format: WireFormat, _ reason: DatagramRefusal, reports: Int) {
    counters.subtract(format, reports: reports, notes)
    notes = DecodingNotes()
    counters.count(format, reason)
  }

  private mutating func refuse(_ format: WireFormat?, _ reason: DatagramRefusal) -> DatagramRefusal {
    counters.count(format, reason)
    return reason
  }
}

/// The numbers of datagrams and reports decoded for each format, and of datagrams refused and elements skipped for each
/// reason.
///
/// Plain arrays of fixed size: counting costs an addition and no allocation, and the counters of shards can be added. Only
/// the names of ignored members allocate.
public struct DatagramCounters: Equatable, Sendable {
  private static let formats = WireFormat.allCases.count
  private static let reasons = DatagramRefusal.allCases.count

  /// By format.
  private var decoded: [UInt64]
  /// By format.
  private var reported: [UInt64]
  /// By format and reason, reasons running fastest; the last row is for datagrams in no known format.
  private var refused: [UInt64]
  /// The elements that were skipped in datagrams of which the rest was read, as ``refused``.
  private var skipped: [UInt64]

  /// The members of JSON objects that look like the identity of a beacon and were ignored.
  package internal(set) var ignoredIdentities = IgnoredIdentities()

  /// Makes counters that stand at zero.
  public init() {
    decoded = Array(repeating: 0, count: DatagramCounters.formats)
    reported = Array(repeating: 0, count: DatagramCounters.formats)
    refused = Array(repeating: 0, count: (DatagramCounters.formats + 1) * DatagramCounters.reasons)
    skipped = refused
  }

  /// Returns the number of datagrams of a format that were decoded.
  public func datagrams(_ format: WireFormat) -> UInt64 { decoded[format.place] }

  /// Returns the number of reports in the datagrams of a format.
  public func reports(_ format: WireFormat) -> UInt64 { reported[format.place] }

  /// Returns the number of datagrams of a format (nil: of no known one) that were refused for a reason.
  public func refusals(_ format: WireFormat?, _ reason: DatagramRefusal) -> UInt64 {
    refused[DatagramCounters.index(format, reason)]
  }

  /// A number of datagrams that were refused, or of elements that were skipped, for one reason.
  public struct Reason: Hashable, Sendable {
    /// The format, or nil if it is no known one.
    public var format: WireFormat?
    /// The reason.
    public var reason: DatagramRefusal
    /// The number.
    public var count: UInt64
  }

  /// The numbers of datagrams refused that are not zero, by reason and format.
  public var refusals: [Reason] { reasons(refused) }

  /// The numbers of elements skipped that are not zero, by reason and format.
  public var skips: [Reason] { reasons(skipped) }

  private func reasons(_ counts: [UInt64]) -> [Reason] {
    DatagramRefusal.allCases.flatMap { reason in
      (WireFormat.allCases + [nil]).compactMap { format in
        let count = counts[DatagramCounters.index(format, reason)]
        return count > 0 ? Reason(format: format, reason: reason, count: count) : nil
      }
    }
  }

  /// Returns the number of elements that were skipped for a reason in datagrams of a format of which the rest was read.
  public func skips(_ format: WireFormat, _ reason: DatagramRefusal) -> UInt64 {
    skipped[DatagramCounters.index(format, reason)]
  }

  /// The number of datagrams decoded, whatever their format.
  public var totalDatagrams: UInt64 { decoded.reduce(0, &+) }

  /// The number of reports in all datagrams.
  public var totalReports: UInt64 { reported.reduce(0, &+) }

  /// The number of datagrams refused, whatever their format and the reason.
  public var totalRefusals: UInt64 { refused.reduce(0, &+) }

  /// The number of elements skipped, whatever the format and the reason.
  public var totalSkips: UInt64 { skipped.reduce(0, &+) }

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
    for index in left.skipped.indices { left.skipped[index] &+= right.skipped[index] }
    left.ignoredIdentities += right.ignoredIdentities
  }

  /// Counts a datagram that was decoded.
  mutating func count(_ format: WireFormat, reports: Int) {
    decoded[format.place] &+= 1
    reported[format.place] &+= UInt64(reports)
  }

  /// Counts what was skipped in a datagram that was decoded.
  mutating func count(_ format: WireFormat, _ notes: DecodingNotes) {
    ignoredIdentities += notes.ignored
    for (reason, count) in notes.skipped { skipped[DatagramCounters.index(format, reason)] &+= count }
  }

  /// Takes back what was counted of a datagram that was decoded, but for the members that were ignored.
  mutating func subtract(_ format: WireFormat, reports: Int, _ notes: DecodingNotes) {
    decoded[format.place] &-= 1
    reported[format.place] &-= UInt64(reports)
    for (reason, count) in notes.skipped { skipped[DatagramCounters.index(format, reason)] &-= count }
  }

  /// Counts a datagram that was refused.
  mutating func count(_ format: WireFormat?, _ reason: DatagramRefusal) {
    refused[DatagramCounters.index(format, reason)] &+= 1
  }

  private static func index(_ format: WireFormat?, _ reason: DatagramRefusal) -> Int {
    (format?.place ?? formats) * reasons + Int(reason.rawValue)
  }
}
