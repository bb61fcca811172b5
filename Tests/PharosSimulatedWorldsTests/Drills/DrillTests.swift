import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosTestSupport
import Testing

/// All that came out of a drill, for tests to look at.
struct DrillRecord {
  /// One stay of a subject and what was received of it.
  struct Stay {
    var subject: Int32
    var came: Double
    var left: Double
    /// Times and levels of the adverts received from the coming on up to the next one.
    var heard: [(time: Double, level: Double)] = []
  }

  var items: [DrillItem] = []
  /// The stays that ended, in order of their ends.
  var stays: [Stay] = []
  /// Adverts that were received while their subject was away.
  var strays: [(subject: Int32, time: Double)] = []

  init(_ drill: Drill, seed: UInt64 = 1) {
    var play = drill.play(seed: seed)
    var open: [Int32: Stay] = [:]
    while let item = play.next() {
      items.append(item)
      switch item {
      case .came(let subject, let time):
        open[subject] = Stay(subject: subject, came: DrillRecord.seconds(time), left: .infinity)
      case .left(let subject, let time):
        guard var stay = open.removeValue(forKey: subject) else { continue }
        stay.left = DrillRecord.seconds(time)
        stays.append(stay)
      case .advert(let subject, _, let time, let level):
        let seconds = DrillRecord.seconds(time)
        if open[subject] == nil {
          strays.append((subject, seconds))
        } else {
          open[subject]?.heard.append((seconds, Double(level.dBm)))
        }
      case .heartbeat, .boot, .room, .outage: break
      }
    }
  }

  static func seconds(_ time: Timestamp) -> Double { (time - Drill.start).seconds }
}

@Suite("Drill")
struct DrillTests {
  /// Runs of lost adverts between received ones, at an interval that leaves no doubt how many were lost.
  private func lostRuns(_ record: DrillRecord, interval: Double) -> (received: Int, runs: [Int]) {
    var received = 0
    var runs: [Int] = []
    for stay in record.stays {
      for (one, next) in zip(stay.heard, stay.heard.dropFirst()) {
        received += 1
        let lost = Int(((next.time - one.time) / (interval + 0.005)).rounded()) - 1
        if lost > 0 { runs.append(lost) }
      }
    }
    return (received, runs)
  }

  @Test(
    "as many adverts are lost as asked, in runs as long as asked",
    arguments: [
      (0.0, Double?.none, 0.0), (0.1, nil, 1.11), (0.3, nil, 1.43), (0.5, nil, 2), (0.7, nil, 3.33),
      (0.1, 3, 3), (0.3, 3, 3), (0.5, 3, 3), (0.7, 3, 3), (0.3, 8, 8), (0.5, 8, 8),
    ]
  )
  func loss(share: Double, meanRun: Double?, expectedRun: Double) {
    let drill = Drill(
      name: "loss",
      loss: Drill.Loss(share: share, meanRun: meanRun),
      subjects: 6,
      length: .minutes(150)
    )
    let (received, runs) = lostRuns(DrillRecord(drill), interval: 1)
    let lost = runs.reduce(0, +)
    #expect(abs(Double(lost) / Double(lost + received) - share) < 0.03)
    guard expectedRun > 0 else {
      #expect(runs.isEmpty)
      return
    }
    #expect(abs(Double(lost) / Double(runs.count) / expectedRun - 1) < 0.12)
  }

  @Test("adverts come at the interval, with an advDelay of 0 to 10 ms", arguments: [0.1, 0.35, 1, 10])
  func interval(seconds: Double) {
    let drill = Drill(
      name: "interval",
      interval: .steady(.seconds(seconds)),
      subjects: 2,
      length: .minutes(seconds < 1 ? 40 : seconds < 5 ? 120 : 12 * 60)
    )
    let gaps = DrillRecord(drill).stays.flatMap { stay in
      zip(stay.heard.dropFirst(), stay.heard).map { $0.time - $1.time }
    }
    #expect(gaps.count > 300)
    #expect(gaps.allSatisfy { $0 >= seconds - 1e-6 && $0 <= seconds + 0.010_001 })
    #expect(abs(gaps.mean - seconds - 0.005) < 0.000_6)
  }

  @Test(
    "items come in order of time, truth around the adverts that it is about",
    arguments: Drill.Motion.allCases
  )
  func order(motion: Drill.Motion) {
    let drill = Drill(
      name: "order",
      interval: .triggered(moving: .milliseconds(100), still: .seconds(10)),
      loss: Drill.Loss(share: 0.3, meanRun: 3),
      motion: motion,
      subjects: 8,
      length: .minutes(4 * 60),
      stay: .minutes(2)...(.minutes(30)),
      passersBy: 1,
      spikesPerHour: 4,
      outages: Drill.Outage.Kind.allCases
    )
    let record = DrillRecord(drill)
    #expect(zip(record.items, record.items.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(record.items.allSatisfy { $0.time <= Drill.start + drill.length })
    #expect(record.stays.count > 15)
    var isThere: Set<Int32> = []
    for item in record.items {
      switch item {
      case .came(let subject, _): #expect(isThere.insert(subject).inserted)
      case .left(let subject, _): #expect(isThere.remove(subject) != nil)
      case .advert, .heartbeat, .boot, .room, .outage: break
      }
    }
    #expect(record.stays.allSatisfy { $0.left > $0.came })
  }

  @Test("the same seed gives the same items, another one others")
  func determinism() {
    let drill = Drill(
      name: "determinism",
      loss: Drill.Loss(share: 0.5, meanRun: 3),
      motion: .walking,
      subjects: 4,
      length: .minutes(120),
      passersBy: 1,
      spikesPerHour: 2,
      outages: Drill.Outage.Kind.allCases
    )
    let first = DrillRecord(drill, seed: 5).items
    #expect(first == DrillRecord(drill, seed: 5).items)
    #expect(first != DrillRecord(drill, seed: 6).items)
  }

  @Test("one more subject changes nothing that the others do")
  func independence() {
    func items(subjects: Int) -> [DrillItem] {
      let drill = Drill(name: "more", loss: Drill.Loss(share: 0.3), subjects: subjects, length: .minutes(90))
      return DrillRecord(drill).items.filter { item in
        switch item {
        case .advert(let subject, _, _, _), .came(let subject, _), .left(let subject, _): subject < 3
        case .heartbeat, .boot, .room, .outage: false
        }
      }
    }
    let few = items(subjects: 3)
    #expect(few.count > 1_000)
    #expect(few == items(subjects: 7))
  }

  @Test("stays and absences are as long as asked")
  func lengths() {
    let drill = Drill(
      name: "lengths",
      interval: .steady(.seconds(2)),
      subjects: 10,
      length: .minutes(12 * 60),
      stay: .minutes(2)...(.minutes(30)),
      away: .minutes(5)...(.minutes(10))
    )
    let stays = DrillRecord(drill).stays
    #expect(stays.count > 200)
    #expect(stays.allSatisfy { $0.left - $0.came > 115 && $0.left - $0.came <= 1_800 })
    var lastLeft: [Int32: Double] = [:]
    for stay in stays.sorted(by: { $0.came < $1.came }) {
      if let left = lastLeft[stay.subject] {
        #expect(stay.came - left > 299.9)
        #expect(stay.came - left < 604)
      }
      lastLeft[stay.subject] = stay.left
    }
    // Half of the lengths lie below the geometric mean of the bounds.
    let below = stays.count { $0.left - $0.came < (120.0 * 1_800).squareRoot() }
    #expect(abs(Double(below) / Double(stays.count) - 0.5) < 0.1)
  }
}
