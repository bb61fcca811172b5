import PharosReports
import PharosWire

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
