/// A report as a batch keeps it: 40 bytes without references.
///
/// An advert and the head of a datagram lie in the entry itself; what else a report may say (``ReportBody``) lies in
/// ``ReportBatch/others``, and the entry says where. The decoders write entries and the engine reads them;
/// everybody else takes ``Report`` from ``ReportBatch/reports``.
@usableFromInline
package struct ReportEntry: Equatable, Sendable {
  /// What an entry holds.
  @usableFromInline
  package enum Kind: UInt8, Sendable {
    /// An advert.
    case advert
    /// The head of a datagram.
    case transmission
    /// Something that lies in ``ReportBatch/others``.
    case other
  }

  /// What ``time`` means.
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

  /// When it was received.
  @usableFromInline package var received: Timestamp
  /// The time that the sender stated, as ``timeKind`` says; the uptime of a head.
  @usableFromInline package var time: Int64
  /// The address of an advert; of a head the boot identifier above the sequence number.
  ///
  /// - Shape: 48 bits of address, 8 of the advertising set, then the kind: that of ``DeviceAddress/Kind``, 3 if there is none.
  @usableFromInline package var address: UInt64 = 0
  /// The observer's place in the batch.
  @usableFromInline package var observer: UInt32
  /// Where the payload of an advert begins, or the place among ``ReportBatch/others``.
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
