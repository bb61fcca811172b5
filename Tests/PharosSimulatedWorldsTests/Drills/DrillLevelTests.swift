import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosTestSupport
import Testing

@Suite("Drill levels")
struct DrillLevelTests {
  private func drill(_ motion: Drill.Motion, noise: Drill.Noise? = nil) -> Drill {
    Drill(
      name: "levels",
      interval: .steady(.milliseconds(500)),
      motion: motion,
      noise: noise,
      subjects: 6,
      length: .minutes(4 * 60),
      stay: .minutes(5)...(.minutes(60)),
      away: .minutes(6)...(.minutes(10))
    )
  }

  @Test("noise has the deviation and the memory that was asked for", arguments: [5.0, 60])
  func noise(time: Double) {
    let asked = Drill.Noise(slow: 4, time: .seconds(time), fast: 2)
    let stays = DrillRecord(drill(.still, noise: asked)).stays.filter { $0.heard.count > 2_000 }
    #expect(stays.count > 10)
    var squares: [Double] = []
    var products: [Double] = []
    // A stay has one level of its own, so differences at two distances in time tell slow from fast.
    for stay in stays {
      let levels = stay.heard.map(\.level)
      for place in 0..<(levels.count - 1_200) where place % 7 == 0 {
        squares.append((levels[place + 1_200] - levels[place]) * (levels[place + 1_200] - levels[place]) / 2)
        products.append((levels[place + 1] - levels[place]) * (levels[place + 1] - levels[place]) / 2)
      }
    }
    #expect(abs(squares.mean - 20) < 4)
    // Half a second apart only the fast part and what the slow one forgets in that time differ.
    let forgotten = 16 * 0.5 / time
    #expect(abs(products.mean - 4 - forgotten) < 0.5)
  }

  @Test("bodies take 10 to 20 dB for 2 to 10 seconds, about six times an hour")
  func bodies() {
    let quiet = Drill.Noise(slow: 0, time: .seconds(1), fast: 0)
    var shadowed = drill(.shadowed, noise: quiet)
    shadowed.subjects = 4
    shadowed.length = .minutes(5 * 60)
    shadowed.interval = .steady(.milliseconds(200))
    var hours = 0.0
    var lengths: [Double] = []
    for stay in DrillRecord(shadowed).stays {
      hours += (stay.left - stay.came) / 3_600
      let usual = stay.heard.map(\.level).sorted()[stay.heard.count / 2]
      var since: Double?
      for advert in stay.heard {
        if advert.level < usual - 5 {
          #expect(advert.level >= usual - 21)
          #expect(advert.level <= usual - 9)
          since = since ?? advert.time
        } else if let start = since {
          lengths.append(advert.time - start)
          since = nil
        }
      }
    }
    #expect(lengths.count > 40)
    #expect(abs(Double(lengths.count) / hours - 6) < 1.5)
    // Now and then one body follows another at once, and a stay begins behind one.
    #expect(Double(lengths.count { $0 < 1.5 || $0 > 10.5 }) < 0.08 * Double(lengths.count))
    #expect(abs(lengths.mean - 6) < 1)
  }

  @Test("the level of a person that walks out falls steadily, that of a still tag does not")
  func leaving() {
    for (motion, isFalling) in [(Drill.Motion.walking, true), (.still, false)] {
      let stays = DrillRecord(drill(motion)).stays.filter { $0.heard.count > 200 }
      #expect(stays.count > 15)
      let falls = stays.map { stay -> Double in
        let usual = stay.heard.map(\.level).sorted()[stay.heard.count / 2]
        return usual - stay.heard.suffix(3).map(\.level).mean
      }
      #expect((falls.mean > 10) == isFalling)
    }
  }

  @Test("a passer-by is weak and brief, and hardly an advert is received after the last one within range")
  func passing() {
    var passing = drill(.passing)
    passing.stay = .seconds(20)...(.minutes(3))
    passing.subjects = 10
    let record = DrillRecord(passing)
    #expect(record.stays.count > 150)
    let levels = record.stays.flatMap { $0.heard.map(\.level) }
    #expect(levels.mean < -80)
    #expect(record.stays.allSatisfy { $0.left - $0.came < 240 })
    #expect(Double(record.strays.count) < 0.12 * Double(levels.count))
  }

  @Test("spikes come while a subject is away, one at a time, and well apart from its stays")
  func spikes() {
    var spiked = drill(.still)
    spiked.spikesPerHour = 12
    spiked.away = .minutes(10)...(.minutes(120))
    spiked.interval = .steady(.seconds(2))
    spiked.length = .minutes(12 * 60)
    let record = DrillRecord(spiked)
    #expect(record.strays.count > 100)
    var ends: [Int32: [Double]] = [:]
    for stay in record.stays {
      ends[stay.subject, default: []] += [stay.came, stay.left]
    }
    var last: [Int32: Double] = [:]
    for spike in record.strays {
      if let before = last[spike.subject] { #expect(spike.time - before >= 120) }
      last[spike.subject] = spike.time
      for end in ends[spike.subject] ?? [] { #expect(abs(spike.time - end) > 59) }
    }
  }

  @Test("a tag that is quick when moved is quick when it comes and leaves, and slow for most of the time")
  func triggered() {
    var triggered = drill(.still)
    triggered.interval = .triggered(moving: .milliseconds(100), still: .seconds(10))
    let stays = DrillRecord(triggered).stays.filter { $0.left - $0.came > 300 }
    #expect(stays.count > 15)
    for stay in stays {
      #expect(stay.heard.count { $0.time < stay.came + 15 } > 100)
      #expect(stay.heard.count { $0.time > stay.left - 15 } > 100)
    }
    let slow = stays.reduce(0.0) { sum, stay in
      sum + zip(stay.heard.dropFirst(), stay.heard).map { $0.time - $1.time }.filter { $0 > 9 }.reduce(0, +)
    }
    let all = stays.reduce(0.0) { $0 + $1.left - $1.came }
    #expect(slow / all > 0.8)
  }
}
