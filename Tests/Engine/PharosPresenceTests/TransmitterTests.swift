import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Transmitters and their places")
struct TransmitterTests {
  @Test("a transmitter takes half a cache line, and 64 of them two kilobytes")
  func size() {
    #expect(MemoryLayout<Transmitter>.stride == 32)
  }

  @Test("bits say in which of the latest slots it was heard", arguments: Seeds.drawn(0..<10 as Range<UInt64>))
  func history(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var transmitter = Transmitter(tag: 1, at: Timestamp(seconds: 1_000))
    var now: Int64 = 1_000_000_000_000
    var heard: Set<Int64> = []
    var shift: UInt8 = 0
    var since = Int64.min
    for _ in 0..<5_000 {
      let chance = Int.random(in: 0..<50, using: &generator)
      now +=
        chance == 0
        ? Int64.random(in: 0...90_000_000_000, using: &generator)
        : Int64.random(in: 50_000_000...150_000_000, using: &generator)
      // Some are reported late.
      let time = chance == 1 ? now - Int64.random(in: 0...8_000_000_000, using: &generator) : now
      _ = transmitter.receive(at: Timestamp(nanoseconds: time))
      guard transmitter.isKnown else { continue }
      if transmitter.shift != shift {
        // Its slots have another length: the history begins again.
        shift = transmitter.shift
        heard = [transmitter.slot]
        since = transmitter.slot
        continue
      }
      let slot = time >> Int64(shift)
      let isNew = slot >= transmitter.slot - 63
      if isNew { heard.insert(slot) }
      if chance == 2 {
        transmitter.restart(at: Timestamp(nanoseconds: now - 1_000_000_000))
        let first = (now - 1_000_000_000) >> Int64(shift)
        if first > since {
          since = first
          heard = heard.filter { $0 >= first }
        }
      }
      for back in 0..<64 as Range<Int64> where transmitter.slot - back >= since {
        let isHeard = transmitter.history >> UInt64(back) & 1 == 1
        #expect(isHeard == heard.contains(transmitter.slot - back), "slot \(back) before the latest")
      }
    }
    #expect(shift >= 20)
  }

  @Test("silence of eight slots or more says how long it was")
  func absence() {
    var transmitter = Transmitter(tag: 1, at: Timestamp(seconds: 1_000))
    for step in 1...100 as ClosedRange<Int64> {
      #expect(transmitter.receive(at: Timestamp(nanoseconds: 1_000_000_000_000 + step * 100_000_000)) == 0)
    }
    let slot = Int64(1) << Int64(transmitter.shift)
    let last = transmitter.slot
    let later = (last + 12) * slot
    #expect(transmitter.receive(at: Timestamp(nanoseconds: later)) == 12)
  }

  @Test("every transmitter of a room has its place, however the table has grown")
  func places() {
    var reception = Reception()
    let keys = (1...40).map { UInt64($0) &* 0x1_0000_0101 }
    for round in 0..<30 {
      for (number, key) in keys.enumerated() {
        let time = 1_000_000_000_000 + Int64(round) * 1_000_000_000 + Int64(number) * 10_000_000
        reception.receive(key, at: Timestamp(nanoseconds: time))
      }
    }
    let found = keys.filter { reception.places.find(Reception.tag(of: $0)) != nil }
    #expect(found.count >= 36, "four places are looked at for each")
    #expect([32, 64].contains(reception.places.count))
    let tags = reception.places.indices.map { reception.places[$0].tag }.filter { $0 != 0 }
    #expect(Set(tags).count == tags.count)
  }

  @Test("a copy of the places goes its own way")
  func copies() {
    var table = TransmitterTable(count: 8)
    table[3] = Transmitter(tag: 3, at: Timestamp(seconds: 1))
    var copy = table
    copy.makeUnique()
    copy.find(3)?.pointee.ownPauses = 9
    copy[4] = Transmitter(tag: 4, at: Timestamp(seconds: 1))
    #expect(table[3].ownPauses == 0)
    #expect(copy[3].ownPauses == 9)
    #expect(table[4].tag == 0)
    #expect(TransmitterTable().find(3) == nil)
  }
}
