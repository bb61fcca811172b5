import FuzzSupport
import PharosCaptures
import PharosModel

/// A classic pcap file.
final class PcapTarget: FuzzTarget {
  static let name = "pcap"
  static let maximumLength = 2_048

  private let check = CaptureCheck()

  func run(_ input: RawSpan) { check.receive(input) }

  static var words: [[UInt8]] {
    [
      [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0xC3, 0xD4], [0x4D, 0x3C, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
    ]
      + LinkTypesTarget.words
  }

  static func seeds() throws -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for (type, packets) in try SamplePackets.byLinkType() {
      seeds.append(try SamplePackets.capture(type, packets, as: .pcap))
      // The same with microseconds, the most significant byte first.
      var swapped: [UInt8] = [0xA1, 0xB2, 0xC3, 0xD4, 0, 2, 0, 4] + [UInt8](repeating: 0, count: 8)
      swapped += [0, 0, 0xFF, 0xFF, 0, 0, UInt8(type.number >> 8), UInt8(truncatingIfNeeded: type.number)]
      for packet in packets {
        let length = [0, 0, UInt8(packet.count >> 8), UInt8(truncatingIfNeeded: packet.count)]
        swapped += [0x65, 0x53, 0xF1, 0, 0, 0, 0, 1] + length + length + packet
      }
      seeds.append(swapped)
    }
    return seeds
  }
}

/// A pcapng file.
final class PcapngTarget: FuzzTarget {
  static let name = "pcapng"
  static let maximumLength = 2_048

  private let check = CaptureCheck()

  func run(_ input: RawSpan) { check.receive(input) }

  static var words: [[UInt8]] {
    [
      [0x0A, 0x0D, 0x0D, 0x0A], [0x4D, 0x3C, 0x2B, 0x1A], [0x1A, 0x2B, 0x3C, 0x4D], [6, 0, 0, 0],
      [1, 0, 0, 0],
      [3, 0, 0, 0], [2, 0, 0, 0], [0x0A, 0, 0, 0], [0xAD, 0x0B, 0, 0], [0x52, 0x48, 0x50, 0x80],
      [9, 0, 1, 0],
      [14, 0, 8, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ]
  }

  static func seeds() throws -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for (type, packets) in try SamplePackets.byLinkType() {
      seeds.append(try SamplePackets.capture(type, packets, as: .pcapng))
    }
    // A simple packet block, an obsolete one, and a big-endian section.
    let little: [UInt8] = [
      0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255,
      255, 255,
      28, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0,
      3, 0, 0, 0, 20, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4, 20, 0, 0, 0,
      2, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4, 36, 0,
      0, 0,
    ]
    let big: [UInt8] = [
      0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 28, 0x1A, 0x2B, 0x3C, 0x4D, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255,
      255, 255,
      0, 0, 0, 28, 0, 0, 0, 1, 0, 0, 0, 32, 0, 251, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0x86, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 32,
      0, 0, 0, 6, 0, 0, 0, 36, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0xD6, 0xBE, 0x89,
      0x8E,
      0, 0, 0, 36,
    ]
    return seeds + [little, big, little + big]
  }
}

/// A btsnoop file.
final class BtsnoopTarget: FuzzTarget {
  static let name = "btsnoop"
  static let maximumLength = 2_048

  private let check = CaptureCheck()

  func run(_ input: RawSpan) { check.receive(input) }

  static var words: [[UInt8]] {
    [Array("btsnoop\0".utf8), [0x04, 0x3E], [0, 0, 0x03, 0xEA], [0, 0, 0x07, 0xD1]]
  }

  static func seeds() throws -> [[UInt8]] {
    let events = try SamplePackets.hciEvents()
    return [(1_001, 0, 3), (1_002, 1, 3), (2_001, 0, 3)]
      .map { datalink, typeBytes, flags in
        var file: [UInt8] =
          Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, UInt8(datalink >> 8), UInt8(datalink & 255)]
        for event in events {
          let packet = (typeBytes == 1 ? [4] : []) + event
          let length = [0, 0, UInt8(packet.count >> 8), UInt8(truncatingIfNeeded: packet.count)]
          file += length + length + [0, 0, 0, UInt8(flags), 0, 0, 0, 0]
          file += [0x00, 0xE2, 0xFB, 0x4F, 0x80, 0, 0, 0] + packet
        }
        return file
      }
  }
}
