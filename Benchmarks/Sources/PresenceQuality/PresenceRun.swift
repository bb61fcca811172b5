import PharosComparators
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// Plays one part of a scene of presence before Pharos and before the peers' rules, on the same adverts.
struct PresenceRun {
  /// The budgets of false exits a day that Pharos is run with; the first is the default.
  static let budgets = [0.01, 1, 10]
  /// How long time runs on behind the end: the longest silence and what an observer may be late.
  private static let tail = TimeSpan.seconds(480)

  private let scene: PresenceScene
  private let policies: [(name: String, policy: PresencePolicy)]
  private var pharos: PharosUnderTest
  private var comparators: [any Comparator]
  private var ours: [PresenceJudge]
  private var theirs: [PresenceJudge]
  private var logs: [VisitLog]
  private var lastHeard: [Timestamp?]
  private var unsettled: [Int] = []
  private var outages: [Drill.Outage] = []
  private var verdicts: [Verdict] = []
  private var result = PresenceResult()
  /// What the observer has not handed over yet.
  private var collected: [DrillItem] = []

  init(_ scene: PresenceScene) throws {
    self.scene = scene
    let drill = scene.drill
    policies = PresenceRun.policies(for: scene)
    pharos = try PharosUnderTest(
      policies: policies.map(\.policy),
      liveness: scene.liveness,
      subjects: drill.subjects + drill.passersBy,
      registered: drill.subjects
    )
    comparators = scene.hasComparators ? ComparatorCatalog.presence() : []
    ours = policies.map { _ in PresenceJudge(subjects: drill.subjects) }
    theirs = comparators.map { _ in PresenceJudge(subjects: drill.subjects) }
    logs = Array(repeating: VisitLog(), count: drill.subjects)
    lastHeard = Array(repeating: nil, count: drill.subjects)
  }

  /// What Pharos is run with: the defaults, where peers are compared greater budgets too, and what a tag that is slow at
  /// rest may be declared to be.
  private static func policies(for scene: PresenceScene) -> [(name: String, policy: PresencePolicy)] {
    var policies = [("Pharos (budget 0.01/day)", PresencePolicy(falseExitsPerDay: budgets[0]))]
    guard scene.hasComparators else { return policies }
    for budget in budgets.dropFirst() {
      policies.append(("Pharos, budget \(Int(budget))/day", PresencePolicy(falseExitsPerDay: budget)))
    }
    if case .triggered(moving: _, let still) = scene.drill.interval {
      policies.append(
        ("Pharos, stillInterval \(SceneCatalog.text(still))", PresencePolicy(stillInterval: still))
      )
    }
    return policies
  }

  /// Plays the part with a seed.
  mutating func play(seed: UInt64) -> PresenceResult {
    var play = scene.drill.play(seed: seed)
    while let item = play.next() {
      record(item)
      guard let upload = scene.upload else {
        process(item)
        continue
      }
      handOver(through: item.time, every: upload)
      if case .advert = item { collected.append(item) } else { process(item) }
    }
    if let upload = scene.upload {
      handOver(through: Drill.start + scene.drill.length + upload, every: upload)
    }
    for event in pharos.finish(tail: PresenceRun.tail) { judge(event) }
    let end = Drill.start + scene.drill.length + PresenceRun.tail
    for place in comparators.indices { advance(place, to: end) }
    closeBooks(before: Drill.start + scene.drill.length - PresenceRun.tail)
    result.rows = zip(policies, ours).map { PresenceResult.Row(policy: $0.name, tally: $1.tally) }
    result.rows += zip(comparators, theirs).map { PresenceResult.Row(policy: $0.name, tally: $1.tally) }
    return result
  }

  /// Takes what the observer collected, at the end of the period in which it did.
  private mutating func handOver(through time: Timestamp, every period: TimeSpan) {
    guard let first = collected.first?.time else { return }
    let periods = ((first - Drill.start) / period).rounded(.up)
    let due = Drill.start + period * periods
    guard due <= time else { return }
    for case .advert(let subject, let observer, _, let level) in collected {
      process(.advert(subject: subject, observer: observer, time: due, level: level))
    }
    collected.removeAll(keepingCapacity: true)
  }

  private mutating func process(_ item: DrillItem) {
    if let events = pharos.process(item) {
      for event in events { judge(event) }
    }
    switch item {
    case .advert(let subject, let observer, let time, let level) where Int(subject) < logs.count:
      let sighting = Sighting(
        observer: observer,
        beacon: subject,
        time: time,
        level: Double(level.dBm),
        measuredPower: RoomDrill.measuredPower
      )
      for place in comparators.indices {
        comparators[place].heard(sighting, into: &verdicts)
        if !verdicts.isEmpty { judgeVerdicts(of: place) }
      }
    case .heartbeat(_, let time, _):
      for place in comparators.indices { advance(place, to: time) }
    case .advert, .boot, .came, .left, .room, .outage: break
    }
  }

  /// Notes the truth, and the gaps that it makes of what is heard.
  private mutating func record(_ item: DrillItem) {
    switch item {
    case .advert(let subject, _, let time, _):
      let subject = Int(subject)
      guard subject < logs.count else { return }
      if let last = lastHeard[subject], logs[subject].latest?.left == nil {
        result.gaps.record(gap: (time - last).seconds)
      }
      logs[subject].heard(at: time)
      // Behind the end of a stay only adverts that belong to its last moments count.
      if let left = logs[subject].latest?.left, time - left > .seconds(60) { return }
      lastHeard[subject] = time
    case .came(let subject, let time):
      let subject = Int(subject)
      recordSlack(of: subject)
      if let dropped = logs[subject].came(at: time) { countMissed(subject, dropped) }
      lastHeard[subject] = nil
    case .left(let subject, let time):
      let subject = Int(subject)
      logs[subject].left(at: time)
      result.departures += 1
      if let visit = logs[subject].latest { result.subjectDays += (time - visit.came).seconds / 86_400 }
      if let last = lastHeard[subject] { result.gaps.record(gap: (time - last).seconds) }
    case .outage(_, let outage):
      outages.append(outage)
      if outages.count > 8 { outages.removeFirst() }
      result.outages[outage.kind.rawValue, default: 0] += 1
    case .heartbeat, .boot, .room: break
    }
  }

  /// Notes what a fixed time-out makes of the end of the last stay.
  private mutating func recordSlack(of subject: Int) {
    guard let left = logs[subject].latest?.left, let last = lastHeard[subject] else { return }
    result.gaps.record(slack: (left - last).seconds)
  }

  /// Counts what was not reported of a stay that is long over.
  private mutating func countMissed(_ subject: Int, _ visit: VisitLog.Visit) {
    for place in ours.indices { ours[place].judge(subject, visit) }
    for place in theirs.indices { theirs[place].judge(subject, visit) }
  }

  /// The drill is over: settles all stays that ended so long before a time that all was reported.
  private mutating func closeBooks(before time: Timestamp) {
    for subject in logs.indices {
      recordSlack(of: subject)
      for visit in logs[subject].visits where visit.left.map({ $0 < time }) == true {
        countMissed(subject, visit)
      }
    }
  }

  private mutating func advance(_ place: Int, to time: Timestamp) {
    comparators[place].advance(to: time, into: &verdicts)
    if !verdicts.isEmpty { judgeVerdicts(of: place) }
  }

  private mutating func judge(_ event: Event) {
    guard event.kind == .regionEnter || event.kind == .regionExit else { return }
    guard let subject = PharosUnderTest.subject(of: event), let place = Int(event.region) else { return }
    guard !isBeyondTruth(subject, event.decidedAt) else { return }
    if event.kind == .regionEnter {
      ours[place].entered(subject, at: event.decidedAt, logs[subject])
    } else {
      ours[place].exited(subject, at: event.decidedAt, logs[subject], outages: outages)
    }
  }

  /// Whether the drill was over by then while the subject was still there: the silence behind the end is not its own.
  private func isBeyondTruth(_ subject: Int, _ time: Timestamp) -> Bool {
    guard time > Drill.start + scene.drill.length, let latest = logs[subject].latest else { return false }
    return latest.left == nil
  }

  private mutating func judgeVerdicts(of place: Int) {
    for verdict in verdicts {
      let subject = Int(verdict.beacon)
      guard !isBeyondTruth(subject, verdict.time) else { continue }
      switch verdict.change {
      case .enter: theirs[place].entered(subject, at: verdict.time, logs[subject])
      case .exit: theirs[place].exited(subject, at: verdict.time, logs[subject], outages: outages)
      case .room: break
      }
    }
    verdicts.removeAll(keepingCapacity: true)
  }
}
