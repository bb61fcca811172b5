import PharosEvents
import PharosReports

/// A record as a row holds it: how many names, their numbers, then the body.
enum StoredRecord {
  /// Puts a row together; numbers take seven bits a byte, the lowest first.
  static func fill(_ bytes: inout [UInt8], keys: [Int64], body: [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    append(UInt64(keys.count), to: &bytes)
    for key in keys { append(UInt64(key), to: &bytes) }
    bytes.append(contentsOf: body)
  }

  /// Takes a row apart.
  static func parts(_ bytes: [UInt8]) throws -> (keys: [Int64], body: ArraySlice<UInt8>) {
    var position = 0
    let count = try number(bytes, &position)
    guard count <= UInt64(bytes.count) else { throw DamagedRecord(what: "an event is cut off") }
    var keys: [Int64] = []
    for _ in 0..<count { keys.append(Int64(truncatingIfNeeded: try number(bytes, &position))) }
    return (keys, bytes[position...])
  }

  /// When the event of a row happened, without taking the row apart; nil if the row is cut off.
  static func time(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
    var position = 0
    guard let count = try? number(bytes, &position), count <= UInt64(bytes.count) else { return nil }
    for _ in 0..<count where (try? number(bytes, &position)) == nil { return nil }
    return EventRecord.time(inBody: bytes[position...])
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private static func number<Bytes: RandomAccessCollection>(
    _ bytes: Bytes,
    _ position: inout Int
  ) throws -> UInt64 where Bytes.Element == UInt8, Bytes.Index == Int {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 56, by: 7) {
      guard position < bytes.count else { throw DamagedRecord(what: "an event is cut off") }
      let byte = bytes[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    throw DamagedRecord(what: "an event holds a number that is none")
  }
}
