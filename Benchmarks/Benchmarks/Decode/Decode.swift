import Benchmark
import PharosModel
import PharosWire
import SuiteSupport

/// From the bytes of an advert to its frames.
let benchmarks: @Sendable () -> Void = {
  Suite.addReferences()
  for kind in AdvertKind.allCases {
    Suite.add("decode \(kind.rawValue), an advert", setUp: { Adverts(kind) }) { $0.decode() }
  }
}

/// What is decoded.
enum AdvertKind: String, CaseIterable {
  case iBeacon
  case altBeacon = "AltBeacon"
  case eddystoneUID = "Eddystone-UID"
  case telemetry = "Eddystone-TLM"
  case passersBy = "passers-by"
  case damaged

  /// The AD structures of one advert of the kind.
  func payload(_ number: Int) -> [UInt8] {
    let identity =
      [UInt8](repeating: 0xB5, count: 16) + [0, UInt8(number >> 8 & 0xFF), 0, UInt8(number & 0xFF)]
    switch self {
    case .iBeacon: return [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + identity + [0xC5]
    case .altBeacon: return [0x1B, 0xFF, 0x18, 0x01, 0xBE, 0xAC] + identity + [0xC5, 0x00]
    case .eddystoneUID:
      return [0x02, 0x01, 0x06, 0x03, 0x03, 0xAA, 0xFE, 0x15, 0x16, 0xAA, 0xFE, 0x00, 0xEE]
        + identity.prefix(10)
        + [0, 0, 0, 0, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
    case .telemetry:
      return [0x02, 0x01, 0x06, 0x03, 0x03, 0xAA, 0xFE, 0x11, 0x16, 0xAA, 0xFE, 0x20, 0x00, 0x0B, 0xB8]
        + [0x15, 0x00, 0, 0, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF), 0, 0, 0x10, 0x00]
    case .passersBy:
      // In turn what phones, headsets and thermometers send.
      switch number % 3 {
      case 0: return [0x02, 0x01, 0x1A, 0x0A, 0xFF, 0x4C, 0x00, 0x10, 0x05, 0x03, 0x18, 0x4E, 0x33, 0x21]
      case 1: return [0x02, 0x01, 0x06, 0x03, 0x02, 0x2C, 0xFE, 0x06, 0x16, 0x2C, 0xFE, 0x00, 0x11, 0x22]
      default: return [0x02, 0x01, 0x06, 0x05, 0x09, 0x41, 0x54, 0x43, 0x31, 0x04, 0x16, 0x1A, 0x18, 0x42]
      }
    case .damaged:
      // A structure that claims more than there is.
      return [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15, UInt8(number & 0xFF)]
    }
  }
}

/// A thousand adverts of one kind, one behind the other as in a batch.
struct Adverts {
  private let bytes: [UInt8]
  private let ranges: [Range<Int>]
  private let decoder = FrameDecoder()

  init(_ kind: AdvertKind) {
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    for number in 0..<1_000 {
      let payload = kind.payload(number)
      ranges.append(bytes.count..<bytes.count + payload.count)
      bytes += payload
    }
    self.bytes = bytes
    self.ranges = ranges
  }

  /// Decodes all of them four times over.
  func decode() -> Int {
    let span = bytes.span.bytes
    var frames = 0
    for _ in 0..<4 {
      for range in ranges { decoder.forEachFrame(in: span.extracting(range)) { _ in frames += 1 } }
    }
    blackHole(frames)
    return ranges.count * 4
  }
}
