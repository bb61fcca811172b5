/// A run of reports and the bytes that they point into.
///
/// The unit that travels from the socket to the engine. A batch is reused: ``removeAll()`` keeps its storage, so
/// that nothing is allocated once it has grown to its usual size. Where one batch ends and the next begins never
/// changes a decision.
public struct ReportBatch: Equatable, Sendable {
  /// The observers that ``Report/observer`` points into; one may stand here twice.
  public package(set) var observers: [ObserverID] = []
  /// The reports in order of arrival, as they are kept.
  @usableFromInline package var entries: [ReportEntry] = []
  /// What does not fit in an entry.
  package private(set) var others: [ReportBody] = []
  /// The AD structures of all adverts, in their order; what lies between two of them is of no concern to anybody.
  public private(set) var payloads: [UInt8] = []
  /// The access points of all Wi-Fi scans.
  public private(set) var accessPoints: [AccessPoint] = []
  /// The samples of all motion reports.
  public private(set) var motionSamples: [MotionSample] = []

  /// Makes an empty batch.
  public init() {}

  /// Whether there is nothing in it.
  public var isEmpty: Bool { entries.isEmpty }

  /// How many reports there are.
  public var count: Int { entries.count }

  /// The reports in order of arrival.
  public var reports: Reports { Reports(entries: entries, others: others) }

  /// The reports of a batch, each put together when it is asked for.
  public struct Reports: RandomAccessCollection, Sendable {
    let entries: [ReportEntry]
    let others: [ReportBody]

    /// The first report's index: zero.
    public var startIndex: Int { 0 }
    /// How many reports there are.
    public var endIndex: Int { entries.count }
    /// The report at an index.
    public subscript(index: Int) -> Report { entries[index].report(others) }
  }

  /// How much has been appended: what ``removeAll(behind:)`` goes back to.
  public struct Mark: Sendable {
    let observers, reports, others, payloads, accessPoints, motionSamples: Int
  }

  /// The present end of the batch.
  public var mark: Mark {
    Mark(
      observers: observers.count,
      reports: entries.count,
      others: others.count,
      payloads: payloads.count,
      accessPoints: accessPoints.count,
      motionSamples: motionSamples.count
    )
  }

  /// Forgets what was appended behind a mark: what a decoder does when a datagram turns out to be damaged.
  public mutating func removeAll(behind mark: Mark) {
    observers.removeSubrange(mark.observers...)
    entries.removeSubrange(mark.reports...)
    others.removeSubrange(mark.others...)
    payloads.removeSubrange(mark.payloads...)
    accessPoints.removeSubrange(mark.accessPoints...)
    motionSamples.removeSubrange(mark.motionSamples...)
  }

  /// Empties the batch and keeps its storage.
  public mutating func removeAll() {
    observers.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    others.removeAll(keepingCapacity: true)
    payloads.removeAll(keepingCapacity: true)
    accessPoints.removeAll(keepingCapacity: true)
    motionSamples.removeAll(keepingCapacity: true)
  }

  /// The index of an observer, which is appended unless the last one is the same.
  public mutating func index(of observer: ObserverID) -> UInt32 {
    if observers.last != observer { observers.append(observer) }
    return UInt32(observers.count - 1)
  }

  /// Appends a report whose variable parts are in the batch already.
  public mutating func append(_ report: Report) { entries.append(ReportEntry(report, others: &others)) }

  /// Appends reports as they are kept, whose variable parts are in the batch already.
  ///
  /// - Parameters:
  ///   - most: how many there are at most.
  ///   - body: appends them.
  /// - Throws: what the body throws.
  @inlinable
  package mutating func append<Failure>(
    atMost most: Int,
    _ body: (inout OutputSpan<ReportEntry>) throws(Failure) -> Void
  ) throws(Failure) {
    try entries.append(addingCapacity: most, initializingWith: body)
  }

  /// Appends the AD structures of an advert and says where they lie.
  public mutating func append(payload: RawSpan) -> Range<UInt32> {
    let start = UInt32(payloads.count)
    unsafe payload.withUnsafeBytes { unsafe payloads.append(contentsOf: $0) }
    return start..<UInt32(payloads.count)
  }

  /// Appends the AD structures of an advert and says where they lie.
  public mutating func append(payload: some Sequence<UInt8>) -> Range<UInt32> {
    let start = UInt32(payloads.count)
    payloads.append(contentsOf: payload)
    return start..<UInt32(payloads.count)
  }

  /// Appends the access points of a scan and says where they lie.
  public mutating func append(accessPoints scan: some Sequence<AccessPoint>) -> Range<UInt32> {
    let start = UInt32(accessPoints.count)
    accessPoints.append(contentsOf: scan)
    return start..<UInt32(accessPoints.count)
  }

  /// Appends the samples of a motion report and says where they lie.
  public mutating func append(motionSamples samples: some Sequence<MotionSample>) -> Range<UInt32> {
    let start = UInt32(motionSamples.count)
    motionSamples.append(contentsOf: samples)
    return start..<UInt32(motionSamples.count)
  }

  /// Appends a report of another batch with all it points to: how reports are handed to the shard they belong to.
  public mutating func append(_ report: Report, from other: borrowing ReportBatch) {
    var copy = report
    copy.observer = index(of: other.observers[Int(report.observer)])
    switch report.body {
    case .advert(var advert):
      advert.payload = append(
        payload: other.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
      )
      copy.body = .advert(advert)
    case .wifiScan(let range):
      copy.body = .wifiScan(
        append(accessPoints: other.accessPoints[Int(range.lowerBound)..<Int(range.upperBound)])
      )
    case .motion(let range):
      copy.body = .motion(
        append(motionSamples: other.motionSamples[Int(range.lowerBound)..<Int(range.upperBound)])
      )
    case .rangedBeacon, .scanState, .outsideFix, .displayOn, .heartbeat, .transmission:
      break
    }
    append(copy)
  }
}
