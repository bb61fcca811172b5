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
  private static let mostSenders = 65_536

  /// Makes a multiplier.
  package init() {}

  /// The datagram as the variant says, or nil if a copy of its observers cannot be made of it.
  package mutating func variant(_ variant: DatagramVariant, of payload: [UInt8]) -> [UInt8]? {
    guard variant.clone > 0 || variant.loop > 0 else { return payload }
    switch WireFormat(recognising: payload.span.bytes) {
    case .raddec:
      return RaddecVariant.make(variant, of: payload) ?? original(payload, variant)
    case .pharos:
      return PharosDatagramVariant.make(variant, of: payload) ?? original(payload, variant)
    case .json, .ingics, .huawei, .minew:
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
    if encoders.count >= DatagramMultiplier.mostSenders { encoders.removeAll(keepingCapacity: true) }
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
    case .rangedBeacon, .scanState, .outsideFix, .displayOn, .heartbeat, .transmission: break
    }
    append(report)
  }
}

/// Changes a Pharos datagram: its observers become their copies, and each loop looks like a new start of its sender.
///
/// Without a new boot id the second loop's numbers would look like repeats. Whatever records there are stay as they
/// are, those of later versions too. A signature is left as it stands, and is wrong afterwards.
///
/// - Source: the article "The Pharos datagram, version 1" of PharosWire, for the layout.
enum PharosDatagramVariant {
  private static let lengthOffset = 6
  private static let bootOffset = 12
  private static let observerOffset = 28
  private static let observerRecord: UInt8 = 0x01

  /// The changed datagram, or nil where the datagram is damaged.
  static func make(_ variant: DatagramVariant, of payload: [UInt8]) -> [UInt8]? {
    guard let head = try? PharosDatagramHead.head(of: payload.span.bytes) else { return nil }
    var bytes = Array(payload[..<observerOffset])
    bytes.append(contentsOf: identity(head.observer.clone(variant.clone), withLength: true))
    guard let records = relabel(payload[head.records], clone: variant.clone) else { return nil }
    bytes.append(contentsOf: records)
    bytes.append(contentsOf: payload[head.records.upperBound...])
    guard bytes.count <= Int(UInt16.max) else { return nil }
    write(UInt64(bytes.count), &bytes, at: lengthOffset, length: 2)
    write(UInt64(head.bootID &+ UInt32(truncatingIfNeeded: variant.loop)), &bytes, at: bootOffset, length: 4)
    return bytes
  }

  private static func relabel(_ records: ArraySlice<UInt8>, clone: Int) -> [UInt8]? {
    guard clone > 0 else { return Array(records) }
    var relabelled: [UInt8] = []
    var rest = records
    while !rest.isEmpty {
      guard rest.count >= 3 else { return nil }
      let start = rest.startIndex
      let length = Int(rest[start + 1]) << 8 | Int(rest[start + 2])
      guard rest.count >= 3 + length else { return nil }
      let body = rest[start + 3..<start + 3 + length]
      if rest[start] == observerRecord, let observer = observer(body) {
        let identity = identity(observer.clone(clone), withLength: false)
        relabelled.append(observerRecord)
        relabelled.append(contentsOf: [UInt8(identity.count >> 8), UInt8(identity.count & 0xFF)])
        relabelled.append(contentsOf: identity)
      } else {
        relabelled.append(contentsOf: rest[start..<body.endIndex])
      }
      rest = rest[body.endIndex...]
    }
    return relabelled
  }

  /// The observer that a record names; nil for an empty record, which hands the word back to the sender.
  private static func observer(_ body: ArraySlice<UInt8>) -> ObserverID? {
    guard let kind = body.first else { return nil }
    let bytes = body.dropFirst()
    let number = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    switch (kind, bytes.count) {
    case (1, 6): return .eui48(number(bytes))
    case (2, 8): return .eui64(number(bytes))
    case (3, 16): return .uuid(UUID128(high: number(bytes.prefix(8)), low: number(bytes.suffix(8))))
    case (4, 1...): return String(validating: bytes, as: UTF8.self).flatMap { ObserverID($0) }
    default: return nil
    }
  }

  private static func identity(_ observer: ObserverID, withLength: Bool) -> [UInt8] {
    let kind: UInt8
    var bytes: [UInt8]
    switch observer {
    case .eui48(let bits): (kind, bytes) = (1, octets(bits, 6))
    case .eui64(let bits): (kind, bytes) = (2, octets(bits, 8))
    case .uuid(let uuid): (kind, bytes) = (3, octets(uuid.high, 8) + octets(uuid.low, 8))
    case .name(let name): (kind, bytes) = (4, Array(name.utf8))
    }
    if withLength { bytes.insert(UInt8(bytes.count), at: 0) }
    return [kind] + bytes
  }

  private static func octets(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  private static func write(_ value: UInt64, _ bytes: inout [UInt8], at offset: Int, length: Int) {
    bytes.replaceSubrange(offset..<offset + length, with: octets(value, length))
  }
}

/// The changes to a raddec that is replayed: relabelled receivers, a shifted time and a new checksum.
///
/// - Source: reelyactive/raddec, `lib/raddec.js`, for the layout.
enum RaddecVariant {
  /// Lengths of identifiers by type: none, EUI-64, EUI-48, RND-48, TID-96, EPC-96, UUID-128, EURID-32.
  private static let identifierLengths = [0, 8, 6, 6, 12, 12, 16, 4]

  /// The changed datagram, or nil where the datagram is damaged.
  static func make(_ variant: DatagramVariant, of payload: [UInt8]) -> [UInt8]? {
    guard payload.count >= 6, isWhole(payload) else { return nil }
    var bytes = payload
    guard let options = relabelReceivers(&bytes, clone: variant.clone) else { return nil }
    guard moveTime(&bytes, from: options, by: variant.shift) else { return nil }
    bytes[bytes.count - 1] = checksum(of: bytes)
    return bytes
  }

  private static func isWhole(_ bytes: [UInt8]) -> Bool {
    Int(bytes[1]) << 8 | Int(bytes[2]) == bytes.count && checksum(of: bytes) == bytes[bytes.count - 1]
  }

  private static func checksum(of bytes: [UInt8]) -> UInt8 { bytes.dropLast().reduce(0, &+) }

  /// Relabels each receiver and says where the options begin.
  private static func relabelReceivers(_ bytes: inout [UInt8], clone: Int) -> Int? {
    let end = bytes.count - 1
    guard let transmitter = length(bytes[3]) else { return nil }
    var offset = 4 + transmitter
    guard offset < end else { return nil }
    let receivers = bytes[offset] & 0x0F
    offset += 1
    for _ in 0..<receivers {
      guard offset + 3 <= end, let length = length(bytes[offset + 2]) else { return nil }
      offset += 3
      guard offset + length <= end else { return nil }
      if clone > 0 { relabel(&bytes, offset..<offset + length, clone: clone) }
      offset += length
    }
    return offset
  }

  private static func length(_ type: UInt8) -> Int? {
    identifierLengths.indices.contains(Int(type)) ? identifierLengths[Int(type)] : nil
  }

  private static func relabel(_ bytes: inout [UInt8], _ range: Range<Int>, clone: Int) {
    let id: ObserverID? =
      switch range.count {
      case 6: .eui48(number(bytes, range))
      case 8: .eui64(number(bytes, range))
      case 16:
        .uuid(
          UUID128(
            high: number(bytes, range.prefix(8)),
            low: number(bytes, range.suffix(8))
          )
        )
      default: nil
      }
    switch id?.clone(clone) {
    case .eui48(let value), .eui64(let value): write(value, &bytes, range)
    case .uuid(let uuid):
      write(uuid.high, &bytes, range.prefix(8))
      write(uuid.low, &bytes, range.suffix(8))
    case .name, nil:
      // Identifiers of other radios have no owner to respect: the number goes into their last two bytes.
      for (place, index) in range.suffix(2).reversed().enumerated() {
        bytes[index] ^= UInt8(truncatingIfNeeded: clone >> (8 * place))
      }
    }
  }

  /// Walks the options up to the time and moves it; true also where there is none.
  private static func moveTime(_ bytes: inout [UInt8], from start: Int, by shift: TimeSpan) -> Bool {
    let end = bytes.count - 1
    var offset = start
    while offset < end {
      let option = bytes[offset]
      offset += 1
      switch option {
      case 0xF0:
        guard offset + 6 <= end else { return false }
        let milliseconds = Int64(number(bytes, offset..<offset + 6)) + shift.nanoseconds / 1_000_000
        write(UInt64(max(0, milliseconds)), &bytes, offset..<offset + 6)
        return true
      case 0xF1:
        guard offset < end else { return false }
        let packets = bytes[offset]
        offset += 1
        for _ in 0..<packets {
          guard offset < end else { return false }
          offset += 1 + Int(bytes[offset])
        }
      case 0xF2:
        offset += 1
      case 0xF3:
        for _ in 0..<3 {
          guard offset + 8 <= end else { return false }
          let isLast = number(bytes, offset..<offset + 8) == 0x7FFF_FFFF_FFFF_FFFF
          offset += 8
          if isLast { break }
        }
      default:
        return true
      }
    }
    return offset == end
  }

  private static func number(_ bytes: [UInt8], _ range: some Sequence<Int>) -> UInt64 {
    range.reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
  }

  private static func write(
    _ value: UInt64,
    _ bytes: inout [UInt8],
    _ range: some BidirectionalCollection<Int>
  ) {
    var rest = value
    for index in range.reversed() {
      bytes[index] = UInt8(truncatingIfNeeded: rest)
      rest >>= 8
    }
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
      while stem.utf8.count + suffix.utf8.count > ObserverID.longestName { stem.removeLast() }
      return .name(stem + suffix)
    }
  }

  /// The most copies that have an identity of their own: 16 bits hold the number.
  package static let mostClones = 65_536

  private static func relabel(_ value: UInt64, with number: UInt64, localBit: UInt64) -> UInt64 {
    (value ^ number << 24) | 1 << localBit
  }
}
