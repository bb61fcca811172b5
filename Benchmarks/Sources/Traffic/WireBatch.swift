package import PharosModel
package import PharosWire

/// An advert as a beacon of the workload sent it and its observer heard it.
struct SentAdvert {
  var address: UInt64
  var level: Int8
  var age: TimeSpan
}

/// Pharos datagrams one behind the other, as a drain of the socket finds them.
///
/// - Shape: the article "The Pharos datagram, version 1": a head of 36 bytes, then an advert's record of 48 each.
package struct WireBatch: Sendable {
  /// The bytes of all.
  package private(set) var bytes: [UInt8] = []
  /// Where each begins, and where the last one ends.
  package private(set) var starts: [UInt32] = [0]
  /// When each was received.
  package private(set) var received: [Int64] = []
  /// How many adverts are in them.
  package private(set) var adverts = 0

  /// Decodes all of them into a batch.
  package func decode(with decoder: inout DatagramDecoder, into batch: inout ReportBatch) {
    for place in received.indices {
      let range = Int(starts[place])..<Int(starts[place + 1])
      let time = Timestamp(nanoseconds: received[place])
      guard case .success = decoder.decode(bytes.span.bytes.extracting(range), received: time, into: &batch)
      else { preconditionFailure("the workload makes datagrams that are refused") }
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    starts.append(0)
    received.removeAll(keepingCapacity: true)
    adverts = 0
  }

  mutating func begin(observer: UInt64, sequence: UInt32, uptime: UInt64, received time: Timestamp) {
    received.append(time.nanoseconds)
    bytes += [0x50, 0x48, 0x41, 0x52, 1, 0, 0, 0]
    append(0, bytes: 4)
    append(1, bytes: 4)
    append(UInt64(sequence), bytes: 4)
    append(uptime, bytes: 8)
    bytes += [1, 6]
    append(0xAC23_3F00_0000 | observer, bytes: 6)
  }

  mutating func append(_ advert: SentAdvert, _ payload: [UInt8]) {
    adverts += 1
    bytes.append(2)
    append(UInt64(15 + payload.count), bytes: 2)
    append(UInt64(advert.age.nanoseconds / 1_000_000), bytes: 4)
    bytes += [UInt8(bitPattern: advert.level), 3, 37, 0xFF, 0]
    append(advert.address, bytes: 6)
    bytes += payload
  }

  mutating func end() {
    let start = Int(starts[starts.count - 1])
    let length = bytes.count - start
    bytes[start + 6] = UInt8(length >> 8)
    bytes[start + 7] = UInt8(length & 0xFF)
    starts.append(UInt32(bytes.count))
  }

  private mutating func append(_ word: UInt64, bytes count: Int) {
    for byte in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * byte))) }
  }
}
