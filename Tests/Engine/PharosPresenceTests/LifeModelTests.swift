import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

/// What is kept of an observer's life in a few bytes must say what slow and obvious models say.
@Suite("Life signs against slow models")
struct LifeModelTests {
  /// Times as adverts bring them: mostly forward, sometimes back, sometimes after a long pause.
  struct Times {
    var now: Int64 = 1_420_070_400_000_000_000
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    mutating func next() -> Timestamp {
      switch below(40) {
      case 0: now += Int64(below(3_000)) * 1_000_000_000
      case 1: now += Int64(below(20)) * 1_000_000_000
      case 2: return Timestamp(nanoseconds: now - Int64(below(2_000)) * 1_000_000)
      default: now += Int64(below(400)) * 1_000_000 + Int64(below(1_000))
      }
      return Timestamp(nanoseconds: now)
    }
  }

  @Test(
    "the greatest gap is the greatest of all, each forgotten as time goes by",
    arguments: Seeds.fixed(0..<8 as Range<UInt64>)
  )
  func gaps(seed: UInt64) {
    var times = Times(seed: seed)
    var memory = GapMemory()
    var last: Int64?
    var known: [(gap: Double, left: Double)] = []
    for step in 0..<2_000 {
      let time = times.next()
      if step % 97 == 96 { memory.isBroken = true }
      let isBroken = memory.isBroken
      memory.record(time)
      if let before = last, time.nanoseconds > before, !isBroken {
        let gap = Double(time.nanoseconds - before) / 1e9
        if gap > 0.01 {
          let kept = 1 - min(1, gap / GapMemory.memory)
          for place in known.indices { known[place].left *= kept }
          known.append((gap, 1))
        }
      }
      last = max(last ?? .min, time.nanoseconds)
      let maximum = known.map { $0.gap * $0.left }.max() ?? 0
      #expect(abs(memory.maximumGap - maximum) <= maximum * 1e-9)
      #expect(memory.last?.nanoseconds == last)
    }
    #expect(memory.maximumGap > 100)
  }

  @Test(
    "the lag is the age that all but one in a thousand stay within",
    arguments: Seeds.fixed(0..<6 as Range<UInt64>)
  )
  func lag(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var estimator = LagEstimator(given: nil)
    var ages: [TimeSpan] = []
    let usual = Int64.random(in: 100...3_000, using: &generator)
    for step in 1...1_000 {
      let age = TimeSpan.milliseconds(Int64.random(in: 0...usual, using: &generator))
      ages.append(age)
      estimator.record(age: age)
      // Until a thousand have come it is the oldest of all, up to the edge of its bin: an eighth of an octave.
      let oldest = max(LagEstimator.minimumLag, ages.max() ?? .zero)
      #expect(estimator.lag >= oldest)
      if oldest > LagEstimator.minimumLag {
        #expect(estimator.lag <= .seconds(oldest.seconds * 1.125 + 0.07))
      } else {
        #expect(estimator.lag == LagEstimator.minimumLag)
      }
      #expect(step < 1_000 || estimator.total == Float(step) - Float(estimator.sinceRead))
    }
    for _ in 0..<20_000 { estimator.record(age: .zero) }
    #expect(estimator.lag == LagEstimator.minimumLag, "what no longer comes is forgotten")
  }

  @Test("an observer's signs are the latest of their sort", arguments: Seeds.fixed(0..<8 as Range<UInt64>))
  func signs(seed: UInt64) {
    var times = Times(seed: seed)
    let modes: [ObserverEntry.Liveness] = [.auto, .traffic, .heartbeat, .assumed]
    var life = LifeSigns(mode: modes[Int(seed % 4)])
    var latest = Timestamp.distantPast
    var votes = 0
    var leader: UInt64 = 0
    var others = Timestamp.distantPast
    for _ in 0..<2_000 {
      let time = times.next()
      let key = UInt64(times.below(3) == 0 ? times.below(5) : 1)
      let isProof = life.advert(from: key, at: time)
      latest = max(latest, time)
      // Boyer and Moore, step by step.
      if votes == 0 {
        if leader != key, leader != 0 { others = max(others, time) }
        (leader, votes) = (key, 1)
      } else if leader == key {
        votes = min(votes + 1, 64)
      } else {
        votes -= 1
        others = max(others, time)
      }
      #expect(life.lastSign == latest)
      #expect(life.traffic.last == latest)
      #expect(life.leader == leader && Int(life.votes) == votes)
      #expect((life.others.last ?? .distantPast) == others)
      #expect(isProof == (life.mode != .heartbeat))
      #expect(life.lastProof == (life.mode == .heartbeat ? .distantPast : latest))
      #expect(life.reception.latest == (life.mode == .assumed ? .distantPast : latest))
    }
  }

  @Test("while few gaps are known, a hole does not make the next one usual")
  func holes() {
    var life = LifeSigns(mode: .auto)
    var time = Timestamp(seconds: 1_420_070_400)
    for hole in [12.0, 30] {
      for step in 0..<12 {
        time = time + .milliseconds(500)
        _ = life.advert(from: step % 2 == 0 ? 5 : 7, at: time)
      }
      time = time + .seconds(hole)
    }
    _ = life.advert(from: 5, at: time)
    #expect(life.reception.spans.spans.count == 2)
  }

  @Test("a silence longer than heartbeats let it be is excused")
  func excused() {
    var life = LifeSigns(mode: .auto)
    var time = Timestamp(seconds: 1_420_070_400)
    for _ in 0..<12 {
      time = time + .seconds(10)
      _ = life.heartbeat(Heartbeat(), at: time)
    }
    _ = life.advert(from: 5, at: time + .seconds(25))
    #expect(life.reception.spans.spans.isEmpty)
    _ = life.advert(from: 5, at: time + .seconds(60))
    #expect(life.reception.spans.spans.count == 1)
  }
}
