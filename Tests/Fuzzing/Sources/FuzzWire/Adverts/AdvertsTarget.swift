import FuzzSupport
import PharosDocuments
import PharosModel
package import PharosWire

/// The payload of an advert: its AD structures, every frame in them, and the two short cuts past the walk.
package final class AdvertsTarget: FuzzTarget {
  package init() {}

  package static let name = "adverts"
  package static let maximumLength = 256

  private let decoder = FrameDecoder()
  private let lenient = FrameDecoder(iBeaconCompanies: [0x0059])

  package func run(_ input: RawSpan) {
    walk(input)
    var found = FrameDecoder.SoleIdentity.none
    decoder.forEachFrame(in: input) { frame in
      if case .eddystoneTLM = frame { found = .more }
      guard let beacon = frame.beacon else { return }
      found = found == .none ? .one(beacon, measuredPower: frame.measuredPower) : .more
    }
    demand(decoder.soleIdentity(in: input) == found, "the sole identity is that of the frames")
    if let sole = FrameDecoder.soleIBeacon(in: input, at: 0..<input.byteCount) {
      demand(
        found == .one(sole.beacon, measuredPower: MeasuredPower.known(sole.statedPower)),
        "the short cut finds what the walk finds"
      )
    }
    lenient.forEachFrame(in: input) { frame in roundTrip(frame) }
    _ = AdvertSummary(of: input)
  }

  private func walk(_ input: RawSpan) {
    var structures = ADStructures()
    var end = 0
    while let structure = structures.next(in: input) {
      demand(structure.payload.lowerBound == end + 2, "each structure begins where the one before ends")
      demand(structure.payload.upperBound <= input.byteCount, "a structure lies within the payload")
      end = structure.payload.upperBound
    }
    demand(structures.next(in: input) == nil, "a walk that has ended stays ended")
  }

  private func roundTrip(_ frame: Frame) {
    let bytes = frame.encoded
    demand(
      lenient.frames(in: bytes.span.bytes) == [frame],
      "encoding a frame and decoding it gives the frame"
    )
    demand(frame.legacyPayload.count <= 31, "every frame fits a legacy payload")
    guard case .eddystoneURL(let url) = frame else { return }
    let text = url.url
    guard let again = EddystoneURL(text, transmitPower: url.transmitPower) else { return }
    demand(again.url == text, "an address that can be encoded decodes to itself")
  }

  package static var words: [[UInt8]] {
    [
      [0x02, 0x01, 0x06], [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15], [0x1B, 0xFF, 0x18, 0x01, 0xBE, 0xAC],
      [0x03, 0x03, 0xAA, 0xFE], [0x17, 0x16, 0xAA, 0xFE, 0x00], [0x16, 0xAA, 0xFE, 0x10],
      [0x11, 0x16, 0xAA, 0xFE, 0x20, 0x00], [0x15, 0x16, 0xAA, 0xFE, 0x20, 0x01],
      [0x0D, 0x16, 0xAA, 0xFE, 0x30],
      [0x59, 0x00, 0x02, 0x15], [0x09, 0x08, 0x0A],
    ]
  }

  package static func seeds() throws -> [[UInt8]] {
    let frames = try sampleFrames()
    var seeds = frames.map(\.legacyPayload)
    var together = AdvertBuilder(capacity: .extended)
    for frame in frames.prefix(5) { try together.append(frame) }
    try together.append(localName: "h\u{E4}ll")
    seeds.append(Array(together.payload.prefix(maximumLength)))
    return seeds + [[0x1B, 0xFF, 0x59, 0x00] + seeds[0].dropFirst(7)]
  }

  /// One frame of each kind.
  package static func sampleFrames() throws -> [Frame] {
    let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    let namespace = EddystoneNamespace(high: 0x8B0C_A750_E7A7_4E14, low: 0xBD99)
    var frames: [Frame] = [
      .iBeacon(IBeacon(uuid: uuid, major: 100, minor: 7, measuredPower: -59)),
      .altBeacon(AltBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: -61, company: 0x0118)),
      .eddystoneUID(EddystoneUID(namespace: namespace, instance: 0x1234_5678_9ABC, transmitPower: -18)),
      .eddystoneEID(EddystoneEID(identifier: 0x0102_0304_0506_0708, transmitPower: -10)),
    ]
    if let url = EddystoneURL("https://www.example.com/a", transmitPower: -20) {
      frames.append(.eddystoneURL(url))
    }
    let decoder = FrameDecoder()
    for text in [
      "11 16 aafe 20 00 0bb8 1580 00000101 00000202", "15 16 aafe 20 01 00112233445566778899aabb cafe 0102",
    ] {
      let bytes = Hex.bytes(text.filter { $0 != " " }) ?? []
      frames += decoder.frames(in: bytes.span.bytes)
    }
    return frames
  }
}
