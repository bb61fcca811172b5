import PharosReports

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
