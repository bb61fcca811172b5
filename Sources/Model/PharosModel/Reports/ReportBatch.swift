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
  /// The report bodies that do not fit in an entry.
  package private(set) var others: [ReportBody] = []
  /// The AD structures of all adverts, in their order; the bytes between two of them are unused.
  public private(set) var payloads: [UInt8] = []
  /// The access points of all Wi-Fi scans.
  public private(set) var accessPoints: [AccessPoint] = []
  /// The samples of all motion reports.
  public private(set) var motionSamples: [MotionSample] = []

  /// Makes an empty batch.
  public init() {}

  /// Indicates whether the batch holds no reports.
  public var isEmpty: Bool { entries.isEmpty }

  /// The number of reports.
  public var count: Int { entries.count }

  /// The reports in order of arrival.
  public var reports: Reports { Reports(entries: entries, others: others) }

  /// The reports of a batch, each put together when it is asked for.
  public struct Reports: RandomAccessCollection, Sendable {
    let entries: [ReportEntry]
    let others: [ReportBody]

    /// The first report's index: zero.
    public var startIndex: Int { 0 }
    /// The number of reports.
    public var endIndex: Int { entries.count }
    /// The report at an index.
    public subscript(index: Int) -> Report { entries[index].report(others) }
  }

  /// The amount appended so far: the state that ``removeAll(behind:)`` restores.
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

  /// Appends reports in their stored form, whose variable parts are in the batch already.
  ///
  /// - Parameters:
  ///   - maximum: the largest number of reports.
  ///   - body: appends them.
  /// - Throws: the error that the body throws.
  @inlinable
  package mutating func append<Failure>(
    atMost maximum: Int,
    _ body: (inout OutputSpan<ReportEntry>) throws(Failure) -> Void
  ) throws(Failure) {
    try entries.append(addingCapacity: maximum, initializingWith: body)
  }

  /// Brings the adverts from a position on into the order of the times that they state, those of each observer among themselves;
  /// those of one time keep theirs.
  ///
  /// The adverts of a datagram are received at one moment, and gateways list them by device, by level or the newest first: only
  /// the stated times tell their order. Among ages, an advert without one is about the moment of receipt. Where only some state
  /// times by the sender's clock, nothing is comparable, and the order stays.
  package mutating func orderAdverts(from first: Int) {
    var (isOrdered, latest) = (true, Int64.min)
    for place in first..<entries.count where entries[place].kind == .advert {
      isOrdered = isOrdered && entries[place].order >= latest
      latest = entries[place].order
    }
    guard !isOrdered else { return }
    let places = (first..<entries.count).filter { entries[$0].kind == .advert }
    let kinds = places.map { entries[$0].timeKind }
    guard !kinds.contains(.sent) || kinds.allSatisfy({ $0 == .sent }) else { return }
    for (_, own) in Dictionary(grouping: places, by: { observers[Int(entries[$0].observer)] }) {
      let sorted = own.sorted { (entries[$0].order, $0) < (entries[$1].order, $1) }.map { entries[$0] }
      for (place, entry) in zip(own, sorted) { entries[place] = entry }
    }
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
    case .rangedBeacon, .scanState, .outsideFix, .relativePose, .visualStatus, .displayOn, .heartbeat,
      .transmission:
      break
    }
    append(copy)
  }
}

/// A report as a batch keeps it: 40 bytes without references.
///
/// An advert and the head of a datagram lie in the entry itself; what else a report may say (``ReportBody``) lies in
/// ``ReportBatch/others``, and the entry says where. The decoders write entries and the engine reads them;
/// all other code takes ``Report`` from ``ReportBatch/reports``.
@usableFromInline
package struct ReportEntry: Equatable, Sendable {
  /// The kind of content of an entry.
  @usableFromInline
  package enum Kind: UInt8, Sendable {
    /// An advert.
    case advert
    /// The head of a datagram.
    case transmission
    /// Something that lies in ``ReportBatch/others``.
    case other
  }

  /// The meaning of ``time``.
  @usableFromInline
  package enum TimeKind: UInt8, Sendable {
    /// Nothing: the receive time stands.
    case received
    /// The age in nanoseconds when the datagram was sent.
    case age
    /// The time by the sender's clock.
    case sent
  }

  /// The level of an advert without one.
  @inlinable package static var noLevel: Int8 { .min }
  /// The kind of an address where there is none: the bits 56 and 57 of ``address``.
  private static let noAddress: UInt64 = 3

  /// The time of receipt.
  @usableFromInline package var received: Timestamp
  /// The time that the sender stated, as ``timeKind`` says; the uptime of a head.
  @usableFromInline package var time: Int64
  /// The address of an advert; of a head the boot identifier above the sequence number.
  ///
  /// - Shape: 48 bits of address, 8 of the advertising set, then the kind: that of ``DeviceAddress/Kind``, 3 if there is none.
  @usableFromInline package var address: UInt64 = 0
  /// The observer's place in the batch.
  @usableFromInline package var observer: UInt32
  /// The start of an advert's payload, or an index into ``ReportBatch/others``.
  @usableFromInline package var start: UInt32 = 0
  /// The length of an advert's payload.
  @usableFromInline package var length: UInt16 = 0
  /// The level of an advert in dBm.
  @usableFromInline package var level: Int8 = noLevel
  @usableFromInline package var pdu: UInt8 = 0
  @usableFromInline package var channel: UInt8 = 0
  @usableFromInline package var kind: Kind
  @usableFromInline package var timeKind: TimeKind

  /// An advert with an age, as it comes from the wire; its address is put together as ``address`` says.
  @inlinable
  package init(
    advertOf observer: UInt32,
    received: Timestamp,
    age: TimeSpan,
    address: UInt64,
    level: Int8,
    pdu: Advert.PDU,
    channel: UInt8,
    payload start: UInt32,
    length: UInt16
  ) {
    self.received = received
    time = age.nanoseconds
    self.address = address
    self.observer = observer
    self.start = start
    self.length = length
    self.level = level
    self.pdu = pdu.rawValue
    self.channel = channel
    kind = .advert
    timeKind = .age
  }

  /// A report; what does not fit in an entry is appended to `others`.
  init(_ report: Report, others: inout [ReportBody]) {
    received = report.received
    observer = report.observer
    switch report.timing {
    case .received: (timeKind, time) = (.received, 0)
    case .age(let age): (timeKind, time) = (.age, age.nanoseconds)
    case .sent(let sent): (timeKind, time) = (.sent, sent.nanoseconds)
    }
    switch report.body {
    case .advert(let advert)
    where advert.payload.count <= UInt16.max && advert.rssi?.dBm != ReportEntry.noLevel:
      kind = .advert
      address = UInt64(advert.advertisingSet) << 48
      deviceAddress = advert.address
      start = advert.payload.lowerBound
      length = UInt16(advert.payload.count)
      level = advert.rssi?.dBm ?? ReportEntry.noLevel
      pdu = advert.pdu.rawValue
      channel = advert.channel
    case .transmission(let head) where report.timing == .received:
      kind = .transmission
      address = UInt64(head.bootID) << 32 | UInt64(head.sequence)
      time = head.uptime.nanoseconds
    default:
      kind = .other
      start = UInt32(others.count)
      others.append(report.body)
    }
  }

  /// The place of an advert in the order of time, among those of one datagram that state their times in one way.
  fileprivate var order: Int64 {
    switch timeKind {
    case .age: 0 &- time
    case .sent: time
    case .received: .max
    }
  }

  /// The address of an advert, or nil if it has none or is no advert; only an advert's may be set.
  package var deviceAddress: DeviceAddress? {
    get {
      guard case .advert = kind else { return nil }
      return DeviceAddress.Kind(rawValue: UInt8(truncatingIfNeeded: address >> 56)).map {
        DeviceAddress(bits: address, kind: $0)
      }
    }
    set {
      let kind = newValue.map { UInt64($0.kind.rawValue) } ?? ReportEntry.noAddress
      address = (newValue?.bits ?? 0) | UInt64(advertisingSet) << 48 | kind << 56
    }
  }

  /// The advertising set of an advert.
  package var advertisingSet: UInt8 { UInt8(truncatingIfNeeded: address >> 48) }

  /// The head of a datagram.
  package var transmission: Transmission {
    Transmission(
      bootID: UInt32(truncatingIfNeeded: address >> 32),
      sequence: UInt32(truncatingIfNeeded: address),
      uptime: TimeSpan(nanoseconds: time)
    )
  }

  /// The advert.
  package var advert: Advert {
    Advert(
      address: deviceAddress,
      rssi: level == ReportEntry.noLevel ? nil : RSSI(dBm: level),
      pdu: Advert.PDU(rawValue: pdu) ?? .unknown,
      channel: channel,
      advertisingSet: advertisingSet,
      payload: start..<start + UInt32(length)
    )
  }

  /// The report that it is.
  func report(_ others: [ReportBody]) -> Report {
    let body: ReportBody =
      switch kind {
      case .advert: .advert(advert)
      case .transmission: .transmission(transmission)
      case .other: others[Int(start)]
      }
    let timing: ReportTiming =
      switch timeKind {
      case .received: .received
      case .age: .age(TimeSpan(nanoseconds: time))
      case .sent: .sent(Timestamp(nanoseconds: time))
      }
    return Report(observer: observer, received: received, timing: timing, body: body)
  }
}
