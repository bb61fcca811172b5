import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// Any bytes at all: nothing trips, and what is found is what stands there.
@Suite struct FuzzTests {
  @Test("random payloads are walked as a slow reference walks them", arguments: 1...4 as ClosedRange<UInt64>)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var found = 0
    for round in 0..<12_500 {
      let payload = random.bytes(Int.random(in: 0...(round % 100 == 0 ? 1_650 : 62), using: &random))
      guard let count = check(payload, seed: seed) else { return }
      found += count
    }
    #expect(found < 12_500, "random bytes are hardly ever frames")
  }

  @Test("damaged payloads are walked likewise", arguments: 5...8 as ClosedRange<UInt64>)
  func damaged(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var found = 0
    for round in 0..<12_500 {
      let sound = random.payload(maximum: round % 100 == 0 ? 1_650 : 62)
      guard let count = check(random.mutated(sound), seed: seed) else { return }
      found += count
    }
    #expect(found > 1_000, "damage must leave frames to find, or the test shows nothing")
  }

  @Test("every prefix of a payload gives the first of its frames", arguments: 9...10 as ClosedRange<UInt64>)
  func prefixes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let payload = random.payload(maximum: 120)
      let whole = frames(payload)
      var seen = 0
      for cut in 0...payload.count {
        let some = frames(Array(payload.prefix(cut)))
        guard some.count >= seen, some == Array(whole.prefix(some.count)) else {
          Issue.record("seed \(seed): cut at \(cut) of \(Hex.text(payload))")
          return
        }
        seen = some.count
      }
      #expect(seen == whole.count)
    }
  }

  /// The count of frames, or nil after recording what was wrong with them.
  private func check(_ payload: [UInt8], seed: UInt64) -> Int? {
    let walked = structures(payload)
    let reference = referenceWalk(payload)
    let decoded = decoded(payload, walked.all)
    let isFaithful = decoded.allSatisfy { structure in
      guard let frame = structure.frame else { return !looksLikeFrame(structure.type, structure.data) }
      return standsThere(frame, structure.data)
    }
    let found = decoded.compactMap(\.frame)
    let summary = summary(payload)
    guard walked.all == reference.all, walked.isMalformed == reference.isMalformed, isFaithful,
      frames(payload, iBeaconCompanies: [0x0059]) == found,
      summary.structureCount == reference.all.count, summary.isMalformed == reference.isMalformed
    else {
      Issue.record("seed \(seed): \(Hex.text(payload))")
      return nil
    }
    return found.count
  }

  /// The walk written down plainly: take a length, take that many bytes, go on with the rest.
  private func referenceWalk(_ payload: [UInt8]) -> (all: [ADStructure], isMalformed: Bool) {
    var all: [ADStructure] = []
    var rest = payload[...]
    while let length = rest.first, length > 0 {
      guard rest.count > Int(length) else { return (all, true) }
      let data = rest.startIndex + 2..<rest.startIndex + 1 + Int(length)
      all.append(ADStructure(type: ADType(rawValue: rest[rest.startIndex + 1]), payload: data))
      rest = rest.dropFirst(Int(length) + 1)
    }
    return (all, false)
  }

  /// Returns whether a frame agrees with its structure: encoded again it gives the same bytes as far as both go,
  /// but for Eddystone-UID's reserved ones.
  private func standsThere(_ frame: Frame, _ data: [UInt8]) -> Bool {
    var encoded = Array(frame.encoded.dropFirst(2))
    if case .eddystoneUID = frame { encoded.removeLast(2) }
    let common = min(encoded.count, data.count)
    return common >= encoded.count - 1 && encoded.prefix(common) == data.prefix(common)
  }

  /// Whether a structure in which no frame was found begins as one and is long enough.
  private func looksLikeFrame(_ type: ADType, _ data: [UInt8]) -> Bool {
    let text = Hex.text(data)
    let digits = text.dropFirst(4)
    if type == .manufacturerData {
      guard data.count >= 25 else { return false }
      let isAccepted = text.hasPrefix("4c00") || text.hasPrefix("5900")
      return digits.hasPrefix("beac") || digits.hasPrefix("0215") && isAccepted
    }
    guard type == .serviceData16, text.hasPrefix("aafe") else { return false }
    if digits.hasPrefix("00"), data.count >= 20 { return true }
    if digits.hasPrefix("10"), data.count >= 6, data.count <= 22, data[4] < 4 { return true }
    if digits.hasPrefix("2000"), data.count >= 16 { return true }
    if digits.hasPrefix("2001"), data.count >= 20 { return true }
    return digits.hasPrefix("30") && data.count >= 12
  }

  /// Each structure of a payload: its type, its data, and the frame that they hold.
  private func decoded(
    _ payload: [UInt8],
    _ structures: [ADStructure]
  ) -> [(type: ADType, data: [UInt8], frame: Frame?)] {
    let decoder = FrameDecoder(iBeaconCompanies: [0x0059])
    return structures.map { structure in
      let frame = decoder.frame(of: structure, in: payload.span.bytes)
      return (structure.type, Array(payload[structure.payload]), frame)
    }
  }
}
