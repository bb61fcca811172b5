/// A run of reports and the bytes that they point into.
///
/// The unit that travels from the socket to the engine. A batch is reused: ``removeAll()`` keeps its storage, so
/// that nothing is allocated once it has grown to its usual size. Where one batch ends and the next begins never
/// changes a decision.
public struct ReportBatch: Equatable, Sendable {
  /// The observers that ``Report/observer`` points into; one may stand here twice.
  public package(set) var observers: [ObserverID] = []
  /// The reports in order of arrival.
  public package(set) var reports: [Report] = []
  /// The AD structures of all adverts, in their order; what lies between two of them is of no concern to anybody.
  public private(set) var payloads: [UInt8] = []
  /// The access points of all Wi-Fi scans.
  public private(set) var accessPoints: [AccessPoint] = []
  /// The samples of all motion reports.
  public private(set) var motionSamples: [MotionSample] = []

  /// Makes an empty batch.
  public init() {}

  /// Whether there is nothing in it.
  public var isEmpty: Bool { reports.isEmpty }

  /// How much has been appended: what ``removeAll(behind:)`` goes back to.
  public struct Mark: Sendable {
    @usableFromInline let observers, reports, payloads, accessPoints, motionSamples: Int

    @inlinable
    init(observers: Int, reports: Int, payloads: Int, accessPoints: Int, motionSamples: Int) {
      self.observers = observers
      self.reports = reports
      self.payloads = payloads
      self.accessPoints = accessPoints
      self.motionSamples = motionSamples
    }
  }

  /// The present end of the batch.
  @inlinable public var mark: Mark {
    Mark(
      observers: observers.count,
      reports: reports.count,
      payloads: payloads.count,
      accessPoints: accessPoints.count,
      motionSamples: motionSamples.count
    )
  }

  /// Forgets what was appended behind a mark: what a decoder does when a datagram turns out to be damaged.
  public mutating func removeAll(behind mark: Mark) {
    observers.removeSubrange(mark.observers...)
    reports.removeSubrange(mark.reports...)
    payloads.removeSubrange(mark.payloads...)
    accessPoints.removeSubrange(mark.accessPoints...)
    motionSamples.removeSubrange(mark.motionSamples...)
  }

  /// Empties the batch and keeps its storage.
  public mutating func removeAll() {
    observers.removeAll(keepingCapacity: true)
    reports.removeAll(keepingCapacity: true)
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
  public mutating func append(_ report: Report) { reports.append(report) }

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
    reports.append(copy)
  }
}
