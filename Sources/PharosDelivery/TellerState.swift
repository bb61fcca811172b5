import PharosEvents

/// What a teller does next: a value that is asked with the time, and acts on nothing itself.
struct TellerState {
  /// What is to be done now.
  enum Action {
    /// Commit these, then say how it went.
    case commit(Backlog.Group)
    /// Tell these at once: the journal refuses others at present, and these it never keeps.
    case pass([Event])
    /// Ask again after so long.
    case wait(Duration)
    /// Nothing waits.
    case idle
  }

  private struct Mark {
    let ordinal: UInt64
    let sequence: Int64
  }

  /// How many commits are remembered to place a checkpoint that comes late: 20 s at 50 a second.
  private static let longestMemory = 1_024
  /// How often a commit is tried when the server stops before what waits is given up.
  private static let lastAttempts = 3

  let settings: TellerSettings
  var statistics = TellerStatistics()
  private(set) var lastSequence: Int64 = 0
  /// Set once the server stops: nothing waits for its time any more.
  var isDraining = false
  private var backlog: Backlog
  /// What the journal refused; tried again before anything else.
  private var refused: Backlog.Group?
  private var marks: [Mark] = []
  private var pause: Duration
  /// When the next commit may be, in time since the teller was made.
  private var nextCommit: Duration = .zero
  private var attempts = 0

  init(settings: TellerSettings, head: Int64) {
    self.settings = settings
    backlog = Backlog(limit: settings.backlog)
    pause = settings.firstPause
    lastSequence = head
  }

  /// How many events wait, those included that the journal refused.
  var waiting: Int { backlog.count + (refused?.events.count ?? 0) }

  /// Whether so many wait that the next commit is not put off.
  var isUrgent: Bool { refused == nil && backlog.count >= settings.group }

  mutating func take(_ events: [Event], isDelivered: Bool) {
    statistics.received += UInt64(events.count)
    let lost = backlog.append(events, isDelivered: isDelivered, inFlight: refused?.events.count ?? 0)
    statistics.lost += UInt64(lost)
  }

  mutating func take(_ checkpoint: TellerCheckpoint) { backlog.append(checkpoint) }

  /// What to do at a time since the teller was made.
  mutating func next(at now: Duration) -> Action {
    if let refused {
      let passing = backlog.strip { !$0.kind.isJournalled }
      if !passing.isEmpty { return .pass(passing) }
      return now < nextCommit && !isDraining
        ? .wait(min(nextCommit - now, settings.interval)) : .commit(refused)
    }
    guard !backlog.isEmpty else { return .idle }
    if now < nextCommit, !isUrgent, !isDraining { return .wait(nextCommit - now) }
    return backlog.take(upTo: settings.group).map { .commit($0) } ?? .idle
  }

  /// A group was committed.
  ///
  /// - Parameters:
  ///   - group: which.
  ///   - last: the last sequence number that it was given, if any.
  ///   - now: the time.
  /// - Returns: whether the journal had refused groups before, so that this is news.
  mutating func committed(_ group: Backlog.Group, last: Int64?, at now: Duration) -> Bool {
    if let last { lastSequence = last }
    marks.append(Mark(ordinal: group.ordinal, sequence: lastSequence))
    if marks.count > 2 * TellerState.longestMemory { marks.removeFirst(TellerState.longestMemory) }
    statistics.commits += 1
    refused = nil
    pause = settings.firstPause
    nextCommit = now + settings.interval
    attempts = 0
    defer { statistics.isFailing = false }
    return statistics.isFailing
  }

  /// A group was refused; what of it the journal never keeps has been told.
  ///
  /// - Returns: whether this is news.
  mutating func failed(_ group: Backlog.Group, error: String, at now: Duration) -> Bool {
    refused = group
    statistics.failures += 1
    statistics.lastFailure = error
    nextCommit = now + pause
    pause = min(pause * 2, settings.longestPause)
    attempts += 1
    defer { statistics.isFailing = true }
    return !statistics.isFailing
  }

  /// When the server stops and the journal goes on refusing: gives up what waits.
  ///
  /// - Returns: how many events were given up, or nil if it is too soon.
  mutating func giveUp() -> Int? {
    guard isDraining, attempts >= TellerState.lastAttempts else { return nil }
    let lost = waiting
    statistics.lost += UInt64(lost)
    refused = nil
    backlog = Backlog(limit: settings.backlog)
    return lost
  }

  /// The last sequence number among the events that a checkpoint covers.
  ///
  /// A number that is too low does no harm: what the journal's rows say since then is taken over the checkpoint.
  func through(_ checkpoint: TellerCheckpoint, behind group: Backlog.Group) -> Int64 {
    if checkpoint.eventsBefore >= group.ordinal { return lastSequence }
    return marks.last { $0.ordinal <= checkpoint.eventsBefore }?.sequence ?? 0
  }
}

extension EventKind {
  /// Whether the journal keeps events of the kind; what comes once a second for each beacon it does not.
  var isJournalled: Bool { self != .ranging && self != .fix }
}
