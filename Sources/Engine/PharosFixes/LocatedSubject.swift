import PharosDocuments
import PharosModel

/// One subject that is being located, and its deadlines.
///
/// A locator is large, so it is only used in place: even methods that only read it are mutating.
struct LocatedSubject: Sendable {
  /// The subject.
  let subject: SubjectID
  /// The place of its ground among all.
  private(set) var ground: Int
  /// The time at which its last input was decided.
  private(set) var touched: Timestamp
  /// Counts its fixes.
  ///
  /// It begins with the time of the first input in nanoseconds, so that no id is given twice, however often the subject was
  /// forgotten meanwhile.
  private(set) var counter: UInt64
  /// Counts its findings about visual positioning, from the same beginning.
  private var noteCounter: UInt64
  /// Indicates whether the radio map of its ground has known anything that it heard.
  private(set) var isAtHome: Bool
  /// The number of consecutive inputs that another ground knew and its own did not.
  private var foreign = 0
  /// The locator, or nil once the place is free.
  private var locator: Locator?

  /// The number of consecutive inputs that only another venue knows after which the subject is moved to that venue.
  ///
  /// 3: a scan beside a door hears the house across the street, but three in a row without an emitter of the own venue
  /// show a walk there.
  static let foreignInputs = 3

  /// Creates a subject to locate.
  init(
    _ subject: SubjectID,
    on ground: Int,
    isAtHome: Bool,
    locator: consuming Locator,
    at instant: Timestamp
  ) {
    self.subject = subject
    self.ground = ground
    self.isAtHome = isAtHome
    touched = instant
    counter = UInt64(bitPattern: instant.nanoseconds)
    noteCounter = counter
    self.locator = locator
  }

  /// Takes a sensing of the subject's handset.
  mutating func receive(_ sensing: Sensing) {
    locator?.receive(sensing)
    touched = sensing.decidedAt
  }

  /// Takes the level at which a fixed observer heard the subject, whose reports take a time to be delivered.
  mutating func receive(
    _ observer: ObserverID,
    _ summary: BeaconSummary,
    delivery: TimeSpan,
    decidedAt: Timestamp
  ) {
    locator?.wait(for: delivery, at: decidedAt)
    locator?.receive(observer, level: summary.mean, heard: summary.lastHeard, decidedAt: decidedAt)
    touched = decidedAt
  }

  /// Assigns an itinerary, or takes it away; all input up to now must have been processed.
  mutating func assign(_ itinerary: Itinerary?) { locator?.assign(itinerary) }

  /// Returns the time at which its next fix can be made, or the distant future while nothing is known.
  mutating func nextDue() -> Timestamp { locator?.nextDue ?? .distantFuture }

  /// Advances the locator to a time.
  mutating func advance(to instant: Timestamp) { locator?.advance(to: instant) }

  /// Removes and returns the next fix that is ready, with its number and the time at which it was decided.
  mutating func nextFix() -> (fix: FixEstimate, number: UInt64, decidedAt: Timestamp)? {
    guard let fix = locator?.nextFix(), let decided = locator?.decided(fix.time) else { return nil }
    counter &+= 1
    return (fix, counter, decided)
  }

  /// Removes and returns the next finding about visual positioning, with its number and the time at which it was decided.
  mutating func nextNote() -> (note: PositioningNote, number: UInt64, decidedAt: Timestamp)? {
    guard let note = locator?.nextNote(), let decided = locator?.decided(note.decided) else { return nil }
    noteCounter &+= 1
    return (note, noteCounter, decided)
  }

  /// Records which venues know the input of the subject.
  ///
  /// - Returns: `true` if the subject must be moved to the ground that knows its input best.
  mutating func record(_ reach: GroundReach) -> Bool {
    if reach.known[ground] > 0 {
      isAtHome = true
      foreign = 0
      return false
    }
    guard reach.maximumKnown > 0 else { return false }
    foreign += 1
    return !isAtHome || foreign >= LocatedSubject.foreignInputs
  }

  /// Moves the subject to another ground, where it was heard.
  mutating func move(to ground: Int, locator: consuming Locator) {
    self.ground = ground
    self.locator = locator
    isAtHome = true
    foreign = 0
  }

  /// Returns the counters of its locator, with those of the motion tracker added.
  mutating func counters() -> LocatingCounters {
    guard var sum = locator?.counters, let motion = locator?.tracker.counters else {
      return LocatingCounters()
    }
    sum.late &+= motion.late &+ motion.unordered
    sum.invalid &+= motion.invalid
    return sum
  }
}

extension LocatedSubject: SubjectRow {
  /// The content of a place that no subject occupies.
  static var vacant: LocatedSubject { LocatedSubject() }
  /// Indicates that its next inputs locate the subject again.
  var isNeeded: Bool { false }

  private init() {
    subject = .none
    ground = 0
    touched = .distantPast
    (counter, noteCounter) = (0, 0)
    isAtHome = false
  }
}

extension LocatedSubject {
  /// Hands the subject and its belief to a coder.
  ///
  /// - Parameters:
  ///   - value: returns the subject that is written.
  ///   - coder: the writer or the reader.
  ///   - grounds: the number of grounds.
  ///   - locator: makes a locator without a belief of a subject on a ground.
  /// - Returns: the subject that was written or read.
  /// - Throws: the error of a reader.
  static func coded<C: FieldCoder>(
    _ value: () -> LocatedSubject,
    by coder: inout C,
    grounds: Int,
    locator: (SubjectID, Int) -> Locator
  ) throws(C.Failure) -> LocatedSubject {
    let id = try coder.field(value().subject)
    let ground = try coder.field(value().ground)
    try coder.check((0..<grounds).contains(ground), "a ground")
    var subject =
      C.isReader
      ? LocatedSubject(id, on: ground, isAtHome: false, locator: locator(id, ground), at: .distantPast)
      : value()
    try coder.code(&subject.touched)
    try coder.code(counter: &subject.counter)
    try coder.code(counter: &subject.noteCounter)
    try coder.code(&subject.isAtHome)
    try coder.code(&subject.foreign)
    try subject.locator?.visitFields(&coder)
    return subject
  }
}
