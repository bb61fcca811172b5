import PharosModel
import PharosSimulation
import PharosTestSupport
import Testing

@Suite("Agenda")
struct AgendaTests {
  @Test("things come out in order of time, and of two at the same time the first one in")
  func order() {
    var random = SeededGenerator(seed: 21)
    var agenda = Agenda<Int>()
    var expected: [(time: Int64, entry: Int)] = []
    for entry in 0..<500 {
      let time = Int64.random(in: 0..<60, using: &random)
      agenda.add(entry, at: .milliseconds(time))
      expected.append((time, entry))
    }
    expected.sort { ($0.time, $0.entry) < ($1.time, $1.entry) }
    for item in expected {
      #expect(agenda.nextTime == .milliseconds(item.time))
      #expect(agenda.removeNext()?.entry == item.entry)
    }
    #expect(agenda.removeNext() == nil)
    #expect(agenda.nextTime == nil)
  }

  @Test("things may be put in while others are taken out")
  func interleaved() {
    var random = SeededGenerator(seed: 22)
    var agenda = Agenda<Int>()
    var now = TimeSpan.zero
    for entry in 0..<2_000 {
      agenda.add(entry, at: now + .milliseconds(Int64.random(in: 0..<50, using: &random)))
      guard entry % 3 != 0, let (time, _) = agenda.removeNext() else { continue }
      #expect(time >= now)
      now = time
    }
  }
}

@Suite("OnOffProcess")
struct OnOffProcessTests {
  @Test(
    "it is on for its share of time, however often it is looked at",
    arguments: [(0.2, 10.0), (0.2, 0.1), (0.7, 1), (0, 1)]
  )
  func share(share: Double, step: Double) {
    var process = OnOffProcess()
    var random = RandomStream(seed: 4, 8)
    let looks = 40_000
    let on = (0..<looks).count {
      process.isOn(at: .seconds(Double($0) * step), share: share, duration: .seconds(2), random: &random)
    }
    #expect(abs(Double(on) / Double(looks) - share) < (step < 1 ? 0.04 : 0.02))
  }

  @Test("it stays on for its duration in the mean")
  func duration() {
    var process = OnOffProcess()
    var random = RandomStream(seed: 5, 8)
    var stays = 0
    var time = 0.0
    var wasOn = false
    for look in 0..<400_000 {
      let isOn = process.isOn(
        at: .milliseconds(Int64(look) * 10),
        share: 0.3,
        duration: .seconds(1.5),
        random: &random
      )
      if isOn { time += 0.01 }
      if isOn, !wasOn { stays += 1 }
      wasOn = isOn
    }
    #expect(abs(time / Double(stays) - 1.5) < 0.15)
  }
}
