import Foundation
import PharosCaptures
import PharosModel
import PharosPipeline

/// A capture drawn by hand: who was heard by which gateway at which second.
///
/// Each advert is a line of Ingics text in a datagram of its own.
struct HandMadeCapture {
  private var adverts: [(second: Double, text: String)] = []

  static let start = Timestamp(seconds: 1_700_000_000)
  static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  /// Has a gateway hear a beacon.
  mutating func receive(minor: Int, gateway: Int = 1, at second: Double, level: Int = -60) {
    let payload = "0201061AFF4C000215\(Self.uuid.filter { $0 != "-" })0007\(Self.hex(minor, 4))C5"
    let text = "$GPRP,C0FFEE\(Self.hex(minor, 6)),AABBCC\(Self.hex(gateway, 6)),\(level),\(payload)\r\n"
    adverts.append((second, text))
  }

  /// Has a gateway hear a beacon once a second in each of some ranges of seconds.
  mutating func receive(minor: Int, gateway: Int = 1, in ranges: [Range<Int>], level: Int = -60) {
    for second in ranges.flatMap(Array.init) {
      receive(minor: minor, gateway: gateway, at: Double(second) + Double(minor) / 100, level: level)
    }
  }

  /// The bytes of a pcapng file.
  func bytes() throws -> [UInt8] {
    var writer = CaptureWriter()
    try forEachDatagram { payload, time in
      try writer.write(payload: payload.span.bytes, from: Self.gateway, to: Self.server, at: time)
    }
    return writer.drainBytes()
  }

  /// The bytes of a recording of a server with a site, which goes on from a checkpoint if there is one.
  func recording(of site: Site, from checkpoint: Checkpoint? = nil) throws -> [UInt8] {
    var writer = try RecordingWriter(site: site)
    if let checkpoint { try writer.write(Restoration(checkpoint: checkpoint), at: checkpoint.instant) }
    try forEachDatagram { payload, time in
      try writer.write(datagram: payload.span.bytes, from: Self.gateway, to: Self.server, received: time)
    }
    return writer.drainBytes()
  }

  private static let gateway = Endpoint(IPAddress(v4: 0x0A00_0001), port: 4_000)
  private static let server = Endpoint(IPAddress(v4: 0x7F00_0001), port: 50_001)

  private func forEachDatagram(_ body: ([UInt8], Timestamp) throws -> Void) rethrows {
    for advert in adverts.sorted(by: { $0.second < $1.second }) {
      try body(Array(advert.text.utf8), Self.start + .seconds(advert.second))
    }
  }

  private static func hex(_ number: Int, _ digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - text.count) + text
  }
}
