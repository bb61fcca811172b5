import PharosModel

/// The state of a commit publisher: a value that returns the next action for a time and performs no action itself.
struct CommitPublisherState {
  /// The next action.
  enum Action {
    /// Commit these events, then report the result.
    case commit(Backlog.Group)
    /// Publish these at once: the journal refuses others at present, and never keeps these.
    case pass([Event])
    /// Ask again after this time.
    case wait(Duration)
    /// Do nothing, since no event waits.
    case idle
  }

  private struct Mark {
    let ordinal: UInt64
    let sequence: Int64
  }

  /// The number of commits that are remembered to place a checkpoint that comes late: 20 s at 50 a second.
  private static let maximumCommits = 1_024
  /// The number of failed commits after which waiting events are dropped when the server stops.
  private static let lastAttempts = 3

  let settings: CommitPublisherSettings
  var statistics = CommitPublisherStatistics()
  private(set) var lastSequence: Int64 = 0
  /// Indicates whether the server stops, so that waiting events are committed without delay.
  var isDraining = false
  private var backlog: Backlog
  /// The group that the journal refused, which is retried before anything else.
  private var refused: Backlog.Group?
  private var marks: [Mark] = []
  private var pause: Duration
  /// The earliest time of the next commit, since the commit publisher was made.
  private var nextCommit: Duration = .zero
  private var attempts = 0

  init(settings: CommitPublisherSettings, head: Int64) {
    self.settings = settings
    backlog = Backlog()
    pause = settings.firstPause
    lastSequence = head
  }

  /// The number of waiting events, including those that the journal refused.
  var waiting: Int { backlog.count + (refused?.events.count ?? 0) }

  /// Indicates whether so many events wait that the next commit is not delayed.
  var isUrgent: Bool { refused == nil && backlog.count >= settings.group }

  mutating func enqueue(_ events: [Event], isDelivered: Bool) {
    statistics.received += UInt64(events.count)
    backlog.append(events, isDelivered: isDelivered)
    updateRoom()
  }

  mutating func enqueue(_ checkpoint: CommitPublisherCheckpoint) { backlog.append(checkpoint) }

  /// Records whether the queue is full: from its limit on, until half of it is committed, so that reading does not pause for
  /// each group.
  private mutating func updateRoom() {
    statistics.isFull = waiting >= (statistics.isFull ? settings.backlog / 2 : settings.backlog)
  }

  /// Returns the action to take at a time since the commit publisher was made.
  mutating func next(at now: Duration) -> Action {
    defer { updateRoom() }
    if let refused {
      let passing = backlog.strip { !$0.kind.isJournalled }
      if !passing.isEmpty { return .pass(passing) }
      return now < nextCommit && !isDraining
        ? .wait(min(nextCommit - now, settings.interval)) : .commit(refused)
    }
    guard !backlog.isEmpty else { return .idle }
    if now < nextCommit, !isUrgent, !isDraining { return .wait(nextCommit - now) }
    return backlog.removeFirst(upTo: settings.group).map { .commit($0) } ?? .idle
  }

  /// Records that a group was committed.
  ///
  /// - Parameters:
  ///   - group: the group.
  ///   - last: the last sequence number in the group, if any.
  ///   - now: the time.
  /// - Returns: true if the commit before it failed, so that the recovery is worth a log message.
  mutating func committed(_ group: Backlog.Group, last: Int64?, at now: Duration) -> Bool {
    if let last { lastSequence = last }
    marks.append(Mark(ordinal: group.ordinal, sequence: lastSequence))
    if marks.count > 2 * CommitPublisherState.maximumCommits {
      marks.removeFirst(CommitPublisherState.maximumCommits)
    }
    statistics.commits += 1
    refused = nil
    pause = settings.firstPause
    nextCommit = now + settings.interval
    attempts = 0
    defer { statistics.isFailing = false }
    return statistics.isFailing
  }

  /// Records that the journal refused a group; events that it never keeps were already published.
  ///
  /// - Returns: true if the commit before it succeeded, so that the failure is worth a log message.
  mutating func failed(_ group: Backlog.Group, error: String, at now: Duration) -> Bool {
    refused = group
    statistics.failures += 1
    statistics.lastFailure = error
    nextCommit = now + pause
    pause = min(pause * 2, settings.maximumPause)
    attempts += 1
    defer { statistics.isFailing = true }
    return !statistics.isFailing
  }

  /// Drops the waiting events if the server stops and the journal still refuses them.
  ///
  /// - Returns: the number of dropped events, or nil if it is too soon.
  mutating func giveUp() -> Int? {
    guard isDraining, attempts >= CommitPublisherState.lastAttempts else { return nil }
    let lost = waiting
    statistics.lost += UInt64(lost)
    refused = nil
    backlog = Backlog()
    return lost
  }

  /// Returns the last sequence number among the events that a checkpoint covers.
  ///
  /// A number that is too low does no harm: the newer rows of the journal override the checkpoint.
  func through(_ checkpoint: CommitPublisherCheckpoint, behind group: Backlog.Group) -> Int64 {
    if checkpoint.eventsBefore >= group.ordinal { return lastSequence }
    return marks.last { $0.ordinal <= checkpoint.eventsBefore }?.sequence ?? 0
  }
}
