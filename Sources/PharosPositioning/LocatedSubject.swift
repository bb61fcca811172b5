import PharosEvents
import PharosReports

/// One subject that is being located, and when to look after it.
///
/// A locator is large, so that it is only ever used where it lies: what reads it is mutating, too.
struct LocatedSubject: Sendable {
  /// Who it is.
  let id: SubjectID
  /// Which of the subjects that had its place.
  let generation: UInt32
  /// The place of its ground among all.
  private(set) var ground: Int
  /// When its last input was decided.
  private(set) var touched: Timestamp
  /// Counts its fixes.
  ///
  /// It begins with the time of the first input in nanoseconds, so that no id is given twice, however often the subject was
  /// forgotten meanwhile.
  private(set) var counter: UInt64
  /// When the queue brings it up.
  var wake = Timestamp.distantFuture
  /// Whether its radio map has known anything that it heard.
  private(set) var isAtHome: Bool
  /// How many inputs in a row another ground knew, and its own did not.
  private var foreign = 0
  /// How long each of its fixes waits.
  private var lag: TimeSpan
  /// Where it is; nil once its place is free.
  private var locator: Locator?

  /// After how many inputs that only another venue knows a subject is looked for there.
  ///
  /// 3: a scan beside a door hears the house across the street; three in a row with nothing of one's own are a walk there.
  static let foreignInputs = 3

  /// Begins to look for a subject.
  init(
    _ id: SubjectID,
    generation: UInt32,
    on ground: Int,
    isAtHome: Bool,
    locator: consuming Locator,
    at instant: Timestamp
  ) {
    self.id = id
    self.generation = generation
    self.ground = ground
    self.isAtHome = isAtHome
    touched = instant
    counter = UInt64(bitPattern: instant.nanoseconds)
    lag = locator.rules.lag
    self.locator = locator
  }

  /// Whether somebody has the place.
  var isLive: Bool { locator != nil }

  /// Takes what the subject's handset sensed.
  mutating func take(_ sensing: Sensing) {
    locator?.take(sensing)
    touched = sensing.decidedAt
  }

  /// Takes how a fixed observer heard the subject.
  mutating func hear(_ observer: ObserverID, _ summary: BeaconSummary, decidedAt: Timestamp) {
    locator?.hear(observer, level: summary.mean, heard: summary.lastHeard, decidedAt: decidedAt)
    touched = decidedAt
  }

  /// When its next fix can be made; never while nothing is known.
  mutating func nextDue() -> Timestamp { locator?.nextDue ?? .distantFuture }

  /// Lets time run on.
  mutating func advance(to instant: Timestamp) { locator?.advance(to: instant) }

  /// The next fix that is ready, with its number and when it was decided.
  mutating func nextFix() -> (fix: FixEstimate, number: UInt64, decidedAt: Timestamp)? {
    guard let fix = locator?.nextFix() else { return nil }
    counter &+= 1
    return (fix, counter, fix.time + lag)
  }

  /// Notes which grounds know what the subject heard.
  ///
  /// - Returns: whether it is to be looked for on the one that knows it best.
  mutating func note(_ reach: GroundReach) -> Bool {
    if reach.known[ground] > 0 {
      isAtHome = true
      foreign = 0
      return false
    }
    guard reach.mostKnown > 0 else { return false }
    foreign += 1
    return !isAtHome || foreign >= LocatedSubject.foreignInputs
  }

  /// Looks for the subject on another ground, where it has been heard.
  mutating func move(to ground: Int, locator: consuming Locator) {
    self.ground = ground
    self.locator = locator
    isAtHome = true
    foreign = 0
  }

  /// What its locator has passed over, motion among it.
  mutating func counters() -> Locator.Counters {
    guard var sum = locator?.counters, let motion = locator?.tracker.counters else {
      return Locator.Counters()
    }
    sum.late &+= motion.late &+ motion.unordered
    sum.senseless &+= motion.senseless
    return sum
  }

  /// Frees the place.
  mutating func leave() { locator = nil }
}
