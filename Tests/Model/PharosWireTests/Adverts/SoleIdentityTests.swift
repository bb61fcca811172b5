import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("The identity of an advert that has no other")
struct SoleIdentityTests {
  @Test("it finds the same identities as a walk over the frames", arguments: Seeds.drawn(0..<8))
  func agreement(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let decoder = FrameDecoder()
    let parts: [[UInt8]] = [
      [0x02, 0x01, 0x06],
      [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 3, count: 20) + [0xC5],
      [0x1B, 0xFF, 0x18, 0x01, 0xBE, 0xAC] + [UInt8](repeating: 4, count: 20) + [0xC5, 0x00],
      [0x15, 0x16, 0xAA, 0xFE, 0x00, 0xEB] + [UInt8](repeating: 7, count: 16),
      [0x11, 0x16, 0xAA, 0xFE, 0x20, 0x00, 0x0B, 0xB8, 0x15, 0x00, 0, 0, 0, 9, 0, 0, 1, 0],
      [0x08, 0x16, 0xAA, 0xFE, 0x10, 0xEB, 0x00, 0x61, 0x00],
      [0x03, 0x09, 0x41, 0x42],
    ]
    var counts = [0, 0, 0]
    for _ in 0..<4_000 {
      var payload: [UInt8] = []
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        payload += parts[Int.random(in: 0..<parts.count, using: &generator)]
      }
      if Bool.random(using: &generator), !payload.isEmpty {
        payload[Int.random(in: 0..<payload.count, using: &generator)] ^=
          1 << UInt8.random(in: 0...7, using: &generator)
      }
      let frames = decoder.frames(in: payload.span.bytes)
      let identities = frames.compactMap(\.beacon)
      let hasTelemetry = frames.contains { if case .eddystoneTLM = $0 { true } else { false } }
      switch decoder.soleIdentity(in: payload.span.bytes) {
      case .none:
        counts[0] += 1
        #expect(identities.isEmpty && !hasTelemetry)
      case .one(let beacon, let measuredPower):
        counts[1] += 1
        #expect(identities == [beacon] && !hasTelemetry)
        #expect(frames.first { $0.beacon != nil }?.measuredPower == measuredPower)
      case .more:
        counts[2] += 1
        #expect(identities.count > 1 || hasTelemetry)
      }
    }
    #expect(counts.allSatisfy { $0 > 200 })
  }
}
