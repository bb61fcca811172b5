import PharosEvents
package import PharosJournal
package import PharosReports

/// The schedule of deliveries to one receiver: a value without a clock, a socket or random numbers of its own.
///
/// Events of one subject are sent one after the other, in order; those of different subjects concurrently, as many as
/// the receiver allows. An event that fails holds back only its own subject: the subject's later events are not kept
/// in memory but read from the journal again when they are due. A receiver that fails for many subjects in a row is
/// considered down: it is probed with one event at a time, and all other events wait until it takes one.
///
/// An event is given up a day after its first attempt. If its subject or the whole receiver has failed for a day, it
/// is given up a day after it was decided. So a receiver never stays more than a day behind.
///
/// The caller loads what ``nextLoad()`` asks for, carries out the steps that ``next(at:)`` returns, passes outcomes to
/// ``finish(_:_:at:jitter:)``, saves what ``takeUpdate(receiver:)`` returns and calls again at ``wakeTime``.
package struct DeliverySchedule: Sendable {
  /// What is known of one subject.
  struct Lane: Sendable {
    enum State: Hashable, Sendable {
      /// Its next events must be read from the journal.
      case unloaded
      /// Its first event can be sent.
      case ready
      /// Its first event is being sent.
      case inFlight
      /// Its next event is not tried before this instant.
      case waiting(until: Timestamp)
    }

    var state: State
    /// Whether it has a cursor of its own, `after`, because it is behind.
    var isBehind: Bool
    var after: Int64
    /// What is loaded of it, in order.
    var entries: [JournaledEvent] = []
    /// The event that `attempts` and `firstTried` are about, or 0.
    var head: Int64 = 0
    var attempts = 0
    var firstTried: Timestamp?
    /// Since when every attempt of this subject has failed, whichever event it was.
    var failingSince: Timestamp?

    /// After a restart the webhook's cursor may lie before that of a lane: what lies between is read first, so that a
    /// lane ends only where the webhook itself goes on with the subject.
    var loadableFrom: Int64 { max(after, head) }

    mutating func forgetAttempts() { (head, attempts, firstTried) = (0, 0, nil) }
  }

  let settings: DeliverySettings
  /// How many events are sent at a time.
  package var concurrency: Int
  /// The receiver said that it wants no more.
  package internal(set) var isStopped = false
  /// Since when every attempt has failed.
  package internal(set) var failingSince: Timestamp?
  /// How many events were delivered.
  package internal(set) var delivered: Int64
  /// Everything up to here was read from the journal.
  package internal(set) var readThrough: Int64

  var lanes: [DeliveryLane: Lane] = [:]
  /// Those of them that have no cursor of their own; few, whatever is behind.
  var flowing: Set<DeliveryLane> = []
  /// Lanes that can be sent from, by the sequence of their first event; entries may be outdated.
  var ready = DeadlineHeap<Int64, DeliveryLane>()
  /// Lanes that wait, by when they are due; entries may be outdated.
  var waiting = DeadlineHeap<Timestamp, DeliveryLane>()
  /// Lanes that must be loaded, by the sequence that must have been read before; entries may be outdated.
  var unloaded = DeadlineHeap<Int64, DeliveryLane>()
  /// How many events are loaded.
  var loadedCount = 0
  /// How many events are being sent.
  package internal(set) var inFlight = 0
  /// Who has failed since the last success.
  var failed: Set<DeliveryLane> = []
  /// When a receiver that is down is probed next.
  var probeAt: Timestamp?
  var probes = 0
  /// The receiver asked to be left alone until then.
  var heldUntil = Timestamp.distantPast

  // What has changed since it was written down.
  var changedLanes: Set<DeliveryLane> = []
  var dead: [DeadLetter] = []
  var revived: [Int64] = []
  var settled = 0
  var writtenCursor: Int64
  var writtenFailingSince: Timestamp?

  /// Goes on where a ledger says.
  package init(
    _ ledger: DeliveryLedger,
    replays: [SubjectID] = [],
    concurrency: Int,
    settings: DeliverySettings = DeliverySettings()
  ) {
    self.settings = settings
    self.concurrency = concurrency
    readThrough = ledger.cursor
    writtenCursor = ledger.cursor
    delivered = ledger.delivered
    failingSince = ledger.failingSince
    writtenFailingSince = ledger.failingSince
    for row in ledger.lanes {
      let key = DeliveryLane(row.subject)
      lanes[key] = Lane(
        state: .waiting(until: row.nextAttempt),
        isBehind: true,
        after: row.after,
        head: row.head,
        attempts: row.attempts,
        firstTried: row.firstTried,
        failingSince: row.firstTried
      )
      waiting.insert(key, at: row.nextAttempt)
    }
    for subject in replays { addReplay(of: subject) }
  }

  /// Whether the receiver is taken to be down.
  package var isDown: Bool { probeAt != nil }

  /// How many subjects are behind.
  package var behindCount: Int { lanes.count - flowing.count }

  /// Whether something is still to be done with what has been read.
  package var isIdle: Bool { lanes.isEmpty }

  /// Dead letters of a subject are to be delivered once more.
  package mutating func addReplay(of subject: SubjectID) {
    let key = DeliveryLane(subject, isReplay: true)
    // Somebody believes that the receiver is back: it is probed at once.
    if isDown { probeAt = .distantPast }
    guard lanes[key] == nil else { return }
    lanes[key] = Lane(state: .unloaded, isBehind: true, after: 0)
    unloaded.insert(key, at: 0)
  }

  /// Makes all waiting lanes due at once, because the webhook's definition has changed or the clock was set back.
  package mutating func hurry() {
    heldUntil = .distantPast
    if isDown { probeAt = .distantPast }
    while let (at, key) = waiting.removeFirst() { unload(key, waitingUntil: at) }
  }

  /// A lane has to be looked after in the journal.
  mutating func unload(_ key: DeliveryLane) {
    lanes[key]?.state = .unloaded
    unloaded.insert(key, at: lanes[key]?.loadableFrom ?? 0)
  }
}
