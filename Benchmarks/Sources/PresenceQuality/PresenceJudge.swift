import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// Compares what one rule says about the subjects of a drill with the truth.
struct PresenceJudge {
  /// What a rule has said about one subject.
  private struct Said {
    /// Since when it is inside, or nil if it is not.
    var insideSince: Timestamp?
    /// The last stay whose beginning was reported, and the last whose end was.
    var entered = -1
    var left = -1
    /// Which of the last 64 stays had their beginning and their end reported.
    var enters = RecentNumbers()
    var exits = RecentNumbers()
  }

  /// A set of numbers of which no two lie 64 apart.
  private struct RecentNumbers {
    private var bits: UInt64 = 0

    mutating func insert(_ number: Int) { bits |= 1 << UInt64(number & 63) }

    mutating func remove(_ number: Int) -> Bool {
      let bit: UInt64 = 1 << UInt64(number & 63)
      defer { bits &= ~bit }
      return bits & bit != 0
    }
  }

  /// How long before an outage a departure may lie and still wait for its end.
  ///
  /// An exit reported within this time of the last advert cannot have been held up by an outage that began behind it.
  private static let shadow = TimeSpan.seconds(60)

  private(set) var tally = PresenceTally()
  private var said: [Said]

  init(subjects: Int) { said = Array(repeating: Said(), count: subjects) }

  /// The rule says that a subject is inside.
  mutating func entered(_ subject: Int, at time: Timestamp, _ log: VisitLog) {
    said[subject].insideSince = time
    guard let visit = log.visit(at: time) else {
      tally.ghostEnters += 1
      return
    }
    if said[subject].entered == visit.number {
      if visit.contains(time) { tally.returns += 1 } else { tally.ghostEnters += 1 }
      return
    }
    // Adverts that come by chance from behind the edge of range may complete an enter just after a short stay.
    guard visit.contains(time) || visit.left.map({ time - $0 < .seconds(60) }) == true else {
      tally.ghostEnters += 1
      return
    }
    said[subject].entered = visit.number
    said[subject].enters.insert(visit.number)
    tally.enterDelays.append((time - visit.came).seconds)
    tally.enterAdverts.append(Double(visit.heard(through: time)))
  }

  /// The rule says that a subject is outside.
  mutating func exited(_ subject: Int, at time: Timestamp, _ log: VisitLog, outages: [Drill.Outage]) {
    let since = said[subject].insideSince
    said[subject].insideSince = nil
    guard let visit = log.visit(at: time) else { return }
    guard let left = visit.left, time >= left else {
      tally.falseExits += 1
      return
    }
    // One that was inside all along, since its coming again fell into an outage, leaves as any other.
    let isOfThisVisit = said[subject].entered == visit.number || since.map { $0 < visit.came } == true
    guard said[subject].left != visit.number, isOfThisVisit else { return }
    said[subject].left = visit.number
    said[subject].exits.insert(visit.number)
    tally.exits += 1
    let outage = outages.last { $0.start < left + PresenceJudge.shadow && $0.end > left }
    if let outage {
      tally.exitDelaysAfterOutage.append(max(0, (time - outage.end).seconds))
    } else {
      tally.exitDelays.append((time - left).seconds)
    }
  }

  /// A stay has been over for so long that nothing further will be reported about it: what was not reported is missed.
  mutating func judge(_ subject: Int, _ visit: VisitLog.Visit) {
    if !said[subject].enters.remove(visit.number) {
      tally.missedStays += 1
    } else if !said[subject].exits.remove(visit.number) {
      tally.missedDepartures += 1
    }
  }
}
