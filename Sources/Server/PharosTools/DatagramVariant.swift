package import PharosModel
import PharosWire

/// The differences between a datagram that is sent again and the captured one.
package struct DatagramVariant: Hashable, Sendable {
  /// The number of the copy of its observers that sends it; 0 is the observers themselves.
  package var clone: Int
  /// The number of times that the capture has been played before.
  package var loop: Int
  /// The time by which it is later than in the capture.
  package var shift: TimeSpan

  /// Makes a variant; without arguments it is the datagram as captured.
  package init(clone: Int = 0, loop: Int = 0, shift: TimeSpan = .zero) {
    self.clone = clone
    self.loop = loop
    self.shift = shift
  }
}

/// Makes the variants of datagrams.
///
/// raddec and Pharos datagrams are changed in place: observer, absolute time, boot id, lengths and checksum. A
/// copy of an observer in a format of text or of Huawei's is sent as a Pharos datagram instead, with the same
/// reports. What does not decode is sent as it is, to be refused by the receiver as it was then.
package struct DatagramMultiplier: Sendable {
  private var decoder = DatagramDecoder()
  private var batch = ReportBatch()
  private var encoders: [ObserverID: PharosDatagramEncoder] = [:]

  /// The maximum number of senders whose sequence numbers are kept.
  ///
  /// A further sender makes the multiplier discard all numbers and start them again.
  private static let maximumSenders = 65_536

  /// Makes a multiplier.
  package init() {}

  /// The datagram as the variant says, or nil if a copy of its observers cannot be made of it.
  package mutating func variant(_ variant: DatagramVariant, of payload: [UInt8]) -> [UInt8]? {
    guard variant.clone > 0 || variant.loop > 0 else { return payload }
    switch WireFormat(recognising: payload.span.bytes) {
    case .raddec:
      let copy = DatagramCopy.raddec(payload, later: variant.shift, number: variant.clone) {
        $0.clone(variant.clone)
      }
      return copy ?? original(payload, variant)
    case .pharos:
      let copy = DatagramCopy.pharos(payload, starts: variant.loop) { $0.clone(variant.clone) }
      return copy ?? original(payload, variant)
    case .some:
      return variant.clone == 0 ? payload : encoded(payload, clone: variant.clone, loop: variant.loop)
    case nil:
      return original(payload, variant)
    }
  }

  private func original(_ payload: [UInt8], _ variant: DatagramVariant) -> [UInt8]? {
    variant.clone == 0 ? payload : nil
  }

  private mutating func encoded(_ payload: [UInt8], clone: Int, loop: Int) -> [UInt8]? {
    batch.removeAll()
    let time = Timestamp(nanoseconds: 0)
    guard case .success = decoder.decode(payload.span.bytes, received: time, into: &batch) else { return nil }
    guard let sender = batch.observers.first?.clone(clone) else { return nil }
    var encoder = encoders[sender] ?? PharosDatagramEncoder(observer: sender, bootID: UInt32(loop + 1))
    let renamed = batch.renamed(clone)
    for report in renamed.reports {
      guard encoder.append(report, from: renamed) else { break }
    }
    let datagram = encoder.finish(uptime: .zero)
    if encoders.count >= DatagramMultiplier.maximumSenders { encoders.removeAll(keepingCapacity: true) }
    encoders[sender] = encoder
    return datagram
  }
}

extension ReportBatch {
  /// The same reports by the copies of their observers.
  fileprivate func renamed(_ clone: Int) -> ReportBatch {
    var renamed = ReportBatch()
    for report in reports {
      var copy = ReportBatch()
      copy.append(report, from: self)
      guard var report = copy.reports.first, let observer = copy.observers.first else { continue }
      report.observer = renamed.index(of: observer.clone(clone))
      // A time by the sender's own clock has no place in a Pharos datagram; the time of receipt stands then.
      if case .sent = report.timing { report.timing = .received }
      renamed.append(report, payloadsFrom: copy)
    }
    return renamed
  }

  private mutating func append(_ report: Report, payloadsFrom copy: ReportBatch) {
    var report = report
    switch report.body {
    case .advert(var advert):
      advert.payload = append(payload: copy.payloads)
      report.body = .advert(advert)
    case .wifiScan: report.body = .wifiScan(append(accessPoints: copy.accessPoints))
    case .motion: report.body = .motion(append(motionSamples: copy.motionSamples))
    case .rangedBeacon, .scanState, .outsideFix, .relativePose, .visualStatus, .displayOn, .heartbeat,
      .transmission:
      break
    }
    append(report)
  }
}

extension ObserverID {
  /// The identity of this observer's copy of some number; copy 0 is the observer itself.
  ///
  /// Copies of observers that one maker numbered never meet: an EUI keeps its last 24 bits and becomes a locally
  /// administered one with the number mixed into the 16 bits before them, a UUID keeps its lower half, a name gets
  /// the number behind it.
  package func clone(_ number: Int) -> ObserverID {
    guard number > 0 else { return self }
    let bits = UInt64(number)
    switch self {
    case .eui48(let value): return .eui48(ObserverID.relabel(value, with: bits, localBit: 41))
    case .eui64(let value): return .eui64(ObserverID.relabel(value, with: bits, localBit: 57))
    case .uuid(let value): return .uuid(UUID128(high: value.high ^ bits, low: value.low))
    case .name(let name):
      let suffix = "-\(number)"
      var stem = name
      while stem.utf8.count + suffix.utf8.count > ObserverID.maximumName { stem.removeLast() }
      return .name(stem + suffix)
    }
  }

  /// The most copies that have an identity of their own: 16 bits hold the number.
  package static let maximumClones = 65_536

  private static func relabel(_ value: UInt64, with number: UInt64, localBit: UInt64) -> UInt64 {
    (value ^ number << 24) | 1 << localBit
  }
}
