import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("A congested radio and a departure")
struct CongestionTests {
  /// What a radio makes of so many transmitters that send once a second, a share of whose adverts comes through by the second.
  private static func reception(
    of transmitters: Int,
    until length: Double,
    seed: UInt64,
    share: (Int, Double) -> Double
  ) -> Reception {
    var random = SeededGenerator(seed: seed)
    var reception = Reception()
    var time = 0.0
    while time < length {
      for transmitter in 0..<transmitters {
        guard Double.random(in: 0..<1, using: &random) < share(transmitter, time) else { continue }
        let offset =
          Double(transmitter) / Double(transmitters) * 0.9 + Double.random(in: 0...0.01, using: &random)
        reception.receive(UInt64(transmitter + 1), at: Timeline.at(time + offset))
      }
      time += 1
    }
    return reception
  }

  @Test("a radio that hears a tenth is deaf", arguments: Seeds.fixed(0..<10 as Range<UInt64>))
  func congested(seed: UInt64) {
    let reception = CongestionTests.reception(of: 12, until: 130, seed: seed) { $1 < 100 ? 1 : 0.1 }
    let verdict = reception.verdict(from: Timeline.at(100), through: Timeline.at(130))
    #expect(verdict.isDeaf)
    #expect(!verdict.isFine)
  }

  @Test(
    "a radio that hears again is no longer deaf, and the start of its deafness is known",
    arguments: Seeds.fixed(0..<5 as Range<UInt64>)
  )
  func recovered(seed: UInt64) {
    let reception = CongestionTests.reception(of: 12, until: 200, seed: seed) { _, time in
      time < 100 || time >= 140 ? 1 : 0.1
    }
    #expect(reception.deafSince == nil)
    let credit = reception.spans.credit(since: Timeline.at(0)).seconds
    #expect(credit > 15 && credit < 90, "\(credit)")
    #expect(reception.teachesFrom > Timeline.at(138))
  }

  @Test("a group that leaves does not make the radio deaf while one stays", arguments: [1, 2, 5, 20])
  func departure(group: Int) {
    for seed in 0..<5 as Range<UInt64> {
      let reception = CongestionTests.reception(of: group + 1, until: 110, seed: seed) { transmitter, time in
        time < 100 || transmitter == group ? 1 : 0
      }
      let verdict = reception.verdict(from: Timeline.at(100), through: Timeline.at(110))
      #expect(verdict.isFine)
      #expect(!verdict.isDoubtful)
      #expect(reception.deafSince == nil)
    }
  }

  @Test("all that fall silent together are suspect, one alone is not", arguments: [1, 2, 8])
  func together(count: Int) {
    let reception = CongestionTests.reception(of: count, until: 100, seed: 3) { _, _ in 1 }
    #expect(!reception.isSilentTogether(at: Timeline.at(100.5)))
    #expect(reception.isSilentTogether(at: Timeline.at(110)) == (count > 1))
  }

  @Test("one advert of a slow transmitter is no proof that the radio hears while all others fell silent")
  func oneAdvert() {
    var reception = Reception()
    for second in 0..<100 {
      for other in 0..<4 {
        reception.receive(UInt64(other + 1), at: Timeline.at(Double(second) + Double(other) / 10))
      }
      if second.isMultiple(of: 2) { reception.receive(9, at: Timeline.at(Double(second) + 0.5)) }
    }
    reception.receive(9, at: Timeline.at(103.05))
    #expect(reception.verdict(from: Timeline.at(100), through: Timeline.at(103.1)).isDoubtful)
    // A few more are.
    for second in [105.0, 107, 109] { reception.receive(9, at: Timeline.at(second)) }
    #expect(!reception.verdict(from: Timeline.at(100), through: Timeline.at(109.1)).isDoubtful)
  }

  @Test("a beacon that leaves before the others is no suspect")
  func oneByOne() {
    let reception = CongestionTests.reception(of: 2, until: 100, seed: 4) { transmitter, time in
      transmitter == 0 && time >= 80 ? 0 : 1
    }
    #expect(!reception.isSilentTogether(at: Timeline.at(120)))
  }

  @Test("a usual loss is no congestion, whatever its bursts", arguments: Seeds.fixed(0..<10 as Range<UInt64>))
  func lossy(seed: UInt64) {
    let reception = CongestionTests.reception(of: 6, until: 600, seed: seed) { _, _ in 0.5 }
    #expect(reception.spans.credit(since: Timeline.at(0)) == .zero)
    #expect(reception.deafSince == nil)
  }

  @Test("more transmitters than are kept leave the radio's judgement whole")
  func crowd() {
    let reception = CongestionTests.reception(of: 300, until: 60, seed: 9) { _, time in time < 40 ? 1 : 0.1 }
    #expect(reception.verdict(from: Timeline.at(42), through: Timeline.at(60)).isDeaf)
  }
}
