import PharosGateway
import PharosModel

/// btsnoop as BlueZ's btmon writes it, made from nothing.
enum BtsnoopBytes {
  /// What a file begins with.
  static let header: [UInt8] = Array("btsnoop\u{0}".utf8) + big(1, 4) + big(2001, 4)

  /// A record of the monitor channel: 2 is a command, 3 an event.
  static func record(_ opcode: UInt64, _ data: [UInt8], at time: Timestamp) -> [UInt8] {
    let length = big(UInt64(data.count), 4)
    let stamp = UInt64(time.nanoseconds / 1_000) + 0x00DC_DDB3_0F2F_8000
    return length + length + big(opcode, 4) + big(0, 4) + big(stamp, 8) + data
  }

  /// An LE Advertising Report of one advert: not connectable, from a random address.
  static func advert(_ number: UInt64, data: [UInt8], level: Int8 = -60, at time: Timestamp) -> [UInt8] {
    let address = (0..<6).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    let report = [3, 1] + address + [UInt8(data.count)] + data + [UInt8(bitPattern: level)]
    return record(3, [0x3E, UInt8(report.count + 2), 2, 1] + report, at: time)
  }

  /// An HCI command.
  static func command(_ opcode: UInt16, _ parameters: [UInt8], at time: Timestamp) -> [UInt8] {
    let head = [UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8), UInt8(parameters.count)]
    return record(2, head + parameters, at: time)
  }

  private static func big(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}

extension Timestamp {
  /// A time of the virtual clock.
  static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }
}
