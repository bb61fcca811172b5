package import Logging
package import PharosJournal
package import PharosMQTT
package import PharosModel
package import PharosPublishing
import ServiceLifecycle
import Synchronization

/// The service that publishes states to an MQTT broker: every decision of the journal at least once and in order.
///
/// Its cursor is that of a receiver in the journal, as a webhook's: the journal keeps what the broker has not acknowledged, and
/// a restart continues there. One task owns the outbox; other threads pass messages to it.
package final class MQTTPublisher: Service {
  /// The name of the receiver in the journal.
  package static let receiver = "mqtt"
  /// The interval at which the cursor is saved; after a crash, what was acknowledged within it is published again.
  static let saveInterval = TimeSpan.seconds(1)
  /// The interval at which the site is looked at for regions, names and zones that were changed.
  static let siteInterval = TimeSpan.seconds(2)
  /// The interval at which the observers that hear beacons best are read.
  static let nearestInterval = TimeSpan.seconds(10)
  /// The wait after the journal could not be read or written.
  static let journalPause = TimeSpan.seconds(1)
  /// The time to publish the last events when the server stops.
  static let grace = TimeSpan.milliseconds(500)
  /// The maximum number of live events that wait for the task.
  static let liveLimit = 65_536

  struct Mail {
    var happenings: [MQTTLinkEvent] = []
    var live: [Event] = []
    var forgotten: [SubjectTraces] = []
    var isStopping = false
  }

  private let parts: MQTTPublisherParts
  private let hub: CommittedEventHub
  private let link: any MQTTLink
  private let bell = AsyncSignal()
  private let mail = Mutex(Mail())
  private let standingState = Mutex(MQTTStanding())
  private let executor = BlockingExecutor("pharos.mqtt")

  /// Makes a publisher, which begins once it runs.
  ///
  /// - Parameters:
  ///   - link: the connection to the broker.
  ///   - parts: what it publishes from.
  ///   - hub: the hub of published events.
  package init(link: any MQTTLink, parts: MQTTPublisherParts, hub: CommittedEventHub) {
    self.link = link
    self.parts = parts
    self.hub = hub
  }

  /// The state of the publisher.
  package var standing: MQTTStanding {
    var standing = standingState.withLock { $0 }
    standing.lag = max(parts.journal.head - standing.cursor, 0)
    return standing
  }

  /// Has the task judge what is retained by the authorisations that have just changed.
  package func authorisationsChanged() { bell.ring() }

  /// Forgets what is retained about a subject, before the subject is erased from the journal.
  package func forget(_ traces: SubjectTraces) {
    mail.withLock { $0.forgotten.append(traces) }
    bell.ring()
  }

  /// Publishes until a graceful shutdown begins or the task is cancelled; then it publishes the last events, and that it
  /// is offline.
  package func run() async {
    let tap = hub.tap { [weak self] batch in self?.take(batch) }
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        await withTaskExecutorPreference(executor) { await work() }
      } onGracefulShutdown: {
        self.askToStop()
      }
    } onCancel: {
      askToStop()
    }
    tap.cancel()
  }

  private func askToStop() {
    mail.withLock { $0.isStopping = true }
    bell.ring()
  }

  /// Takes what the commit publisher has published, on its thread.
  private func take(_ batch: [PublishedEvent]) {
    let live = batch.filter { $0.sequence == nil && !$0.isLiveOnly && !$0.event.kind.isJournalled }.map(
      \.event
    )
    mail.withLock { mail in
      let room = MQTTPublisher.liveLimit - mail.live.count
      mail.live += live.prefix(max(room, 0))
    }
    bell.ring()
  }

  private func work() async {
    guard var work = await begin() else { return link.stop() }
    link.start { [weak self] happening in
      self?.mail.withLock { $0.happenings.append(happening) }
      self?.bell.ring()
    }
    while true {
      let mail = mail.withLock { mail in
        defer { mail = Mail(isStopping: mail.isStopping) }
        return mail
      }
      let now = parts.clock.now
      work.take(mail, at: now)
      if let beacons = work.beaconsToPlace(at: now) { work.take(nearest: await parts.nearest(beacons)) }
      work.proceed(over: link, at: now)
      standingState.withLock { $0 = work.standing }
      if work.isDone(at: now) { break }
      if work.hasMore { bell.ring() }
      let cancel = parts.clock.alarm(at: work.wakeTime(at: now), ring: bell.ring)
      await bell.wait()
      cancel()
    }
    work.finish(at: parts.clock.now)
    link.stop()
  }

  /// Reads the cursor and the states; waits while the journal cannot be read.
  private func begin() async -> MQTTWork? {
    while true {
      do {
        return try MQTTWork(parts)
      } catch {
        parts.logger.error("MQTT waits for the journal", metadata: ["reason": "\(error)"])
      }
      if mail.withLock({ $0.isStopping }) { return nil }
      let cancel = parts.clock.alarm(at: parts.clock.now + MQTTPublisher.journalPause, ring: bell.ring)
      await bell.wait()
      cancel()
    }
  }
}

/// The dependencies of a publisher.
package struct MQTTPublisherParts: Sendable {
  let journal: Journal
  let names: MQTTNames
  let version: String
  let site: @Sendable () -> Site
  let gate: @Sendable () -> Gate
  let nearest: @Sendable (Set<BeaconID>) async -> [BeaconID: NearestObserver]
  let clock: any DeliveryClock
  let settings: MQTTOutboxSettings
  let logger: Logger

  /// Puts the dependencies together.
  ///
  /// - Parameters:
  ///   - journal: the journal, which holds the events and the cursor.
  ///   - names: the topics.
  ///   - version: the version of Pharos.
  ///   - site: returns the site as it is now.
  ///   - gate: returns the gate of what is published.
  ///   - nearest: returns the observers that hear some beacons best now.
  ///   - clock: the time.
  ///   - settings: the settings of the outbox.
  ///   - logger: the logger for messages to the operator.
  package init(
    journal: Journal,
    names: MQTTNames,
    version: String,
    site: @escaping @Sendable () -> Site,
    gate: @escaping @Sendable () -> Gate = { .open },
    nearest: @escaping @Sendable (Set<BeaconID>) async -> [BeaconID: NearestObserver] = { _ in [:] },
    clock: any DeliveryClock = MachineClock(),
    settings: MQTTOutboxSettings = MQTTOutboxSettings(),
    logger: Logger
  ) {
    self.journal = journal
    self.names = names
    self.version = version
    self.site = site
    self.gate = gate
    self.nearest = nearest
    self.clock = clock
    self.settings = settings
    self.logger = logger
  }
}

/// The state of a publisher, for metrics.
package struct MQTTStanding: Hashable, Sendable {
  /// Indicates whether the broker takes messages.
  package var isOnline = false
  /// The number of connections that brokers have accepted.
  package var connections: UInt64 = 0
  /// The sequence up to which every event is acknowledged.
  package var cursor: Int64 = 0
  /// The number of sequences of the journal after the cursor.
  package var lag: Int64 = 0
  /// The number of events that were acknowledged, over all runs.
  package var delivered: Int64 = 0
  /// The number of messages that the broker took since the start.
  package var published: UInt64 = 0
  /// The number of events that the journal dropped before they were published, since the start.
  package var missed: Int64 = 0

  /// Creates the state of a publisher that has not connected.
  package init() {}
}

/// The work of the publisher's task: the outbox and its cursor in the journal.
struct MQTTWork {
  private let parts: MQTTPublisherParts
  private var outbox: MQTTOutbox
  private(set) var standing = MQTTStanding()
  private var savedCursor: Int64
  private var savedAt: Timestamp
  private var journalHeldUntil = Timestamp.distantPast
  private var isJournalFailing = false
  private var stoppingSince: Timestamp?
  private var nearestDue = Timestamp.distantPast
  /// Indicates whether the last word, that the server is offline, is on its way.
  private var isLeaving = false
  private var farewell: MQTTPacketID?
  private var isLimitLogged = false
  /// Indicates whether the caller should go on at once.
  private(set) var hasMore = false
  private var lastReason: String?
  /// The revision of the authorisations by which everything retained was judged.
  private var judgedRevision: UInt64

  /// The maximum number of reads of the journal before what happens on the connection is looked at.
  private static let longestPass = 16

  /// Reads the cursor and the states from the journal.
  init(_ parts: MQTTPublisherParts) throws(JournalError) {
    self.parts = parts
    let through = parts.journal.head
    let kept = try parts.journal.deliveries(to: MQTTPublisher.receiver)
    let ledger = kept ?? DeliveryLedger(cursor: through)
    let gate = parts.gate()
    judgedRevision = gate.view.revision
    outbox = MQTTOutbox(
      names: parts.names,
      version: parts.version,
      site: parts.site(),
      cursor: min(ledger.cursor, through),
      delivered: ledger.delivered,
      states: gate.passed(try parts.journal.publishedState(after: 0)),
      through: through,
      settings: parts.settings
    )
    savedCursor = ledger.cursor
    savedAt = parts.clock.now
    // The journal keeps what the broker needs from the moment that it is known.
    if kept == nil { try parts.journal.save([update], deadLimit: 0) }
    note()
  }

  /// Processes the messages to the task.
  mutating func take(_ mail: MQTTPublisher.Mail, at now: Timestamp) {
    if mail.isStopping { stoppingSince = stoppingSince ?? now }
    for happening in mail.happenings { take(happening, at: now) }
    for traces in mail.forgotten { outbox.forget(traces) }
    let gate = parts.gate()
    if gate.view.revision != judgedRevision {
      judgedRevision = gate.view.revision
      outbox.withdraw { !gate.shows($0, of: $1) }
    }
    for event in mail.live.compactMap({ gate.passed($0) }) { outbox.take(live: event, at: now) }
    outbox.advance(to: now)
  }

  /// Returns the beacons whose nearest observers are to be read now, or nil.
  mutating func beaconsToPlace(at now: Timestamp) -> Set<BeaconID>? {
    guard outbox.isOnline, stoppingSince == nil, now >= nearestDue else { return nil }
    nearestDue = now + MQTTPublisher.nearestInterval
    let beacons = outbox.beaconsInside
    return beacons.isEmpty ? nil : beacons
  }

  /// Takes the observers that hear beacons best now.
  mutating func take(nearest: [BeaconID: NearestObserver]) {
    let gate = parts.gate()
    outbox.take(nearest: nearest.filter { gate.shows(.observer($0.value.observer)) })
  }

  private mutating func take(_ happening: MQTTLinkEvent, at now: Timestamp) {
    switch happening {
    case .connected:
      standing.connections += 1
      outbox.connected(token: Hex.text((0..<8).map { _ in UInt8.random(in: .min ... .max) }), at: now)
      parts.logger.notice(
        "MQTT: the broker takes states",
        metadata: ["waiting": "\(parts.journal.head - outbox.cursor)"]
      )
      lastReason = nil
    case .disconnected(let reason):
      outbox.disconnected()
      farewell = nil
      guard reason != lastReason, stoppingSince == nil else { return }
      lastReason = reason
      parts.logger.warning(
        "MQTT: no connection to the broker; states wait",
        metadata: ["reason": "\(reason)"]
      )
    case .acknowledged(let packet):
      if packet == farewell { farewell = nil } else { outbox.acknowledged(packet) }
    case .message(let topic, let payload, let isRetained):
      outbox.received(topic, payload: payload, isRetained: isRetained)
    }
  }

  /// Does all work that is due.
  mutating func proceed(over link: any MQTTLink, at now: Timestamp) {
    outbox.update(site: parts.site())
    // Decisions are read first, so that they are ahead of distances and fixes.
    var reads = 0
    var isReading = true
    while isReading, reads < MQTTWork.longestPass {
      isReading = load(at: now)
      carryOut(over: link)
      reads += 1
    }
    hasMore = isReading
    if let stoppingSince, !isLeaving, isCaughtUp || now - stoppingSince >= MQTTPublisher.grace {
      isLeaving = true
      if outbox.isOnline { farewell = link.publish(MQTTMessage(parts.names.availability, text: "offline")) }
    }
    if outbox.hasUnannounced, !isLimitLogged {
      isLimitLogged = true
      parts.logger.warning(
        "MQTT: more entities than are announced to Home Assistant; the states of the others are published all the same",
        metadata: ["limit": "\(parts.settings.entities)"]
      )
    }
    if outbox.cursor != savedCursor, now - savedAt >= MQTTPublisher.saveInterval { save(at: now) }
    note()
  }

  private mutating func carryOut(over link: any MQTTLink) {
    guard !isLeaving else { return }
    while let action = outbox.next() {
      switch action {
      case .subscribe(let filters): link.subscribe(filters)
      case .unsubscribe(let filters): link.unsubscribe(filters)
      case .publish(let message):
        guard let packet = link.publish(message) else {
          // The connection is ending, which the link reports.
          outbox.refused()
          return
        }
        outbox.sent(packet)
      }
    }
  }

  /// Indicates whether everything that is decided was acknowledged.
  private var isCaughtUp: Bool {
    !outbox.isOnline || outbox.isIdle && outbox.cursor >= parts.journal.head
  }

  /// Returns whether the task ends: the last word was acknowledged, or has had its time.
  func isDone(at now: Timestamp) -> Bool {
    guard isLeaving, let stoppingSince else { return false }
    return farewell == nil || now - stoppingSince >= MQTTPublisher.grace + MQTTPublisher.grace
  }

  /// Returns the time of the next work, if no message comes before.
  func wakeTime(at now: Timestamp) -> Timestamp {
    var time = now + MQTTPublisher.siteInterval
    if outbox.cursor != savedCursor { time = min(time, savedAt + MQTTPublisher.saveInterval) }
    if let wake = outbox.wakeTime { time = min(time, wake) }
    if journalHeldUntil > now { time = min(time, journalHeldUntil) }
    if let stoppingSince {
      time = min(time, max(stoppingSince + MQTTPublisher.grace, now + .milliseconds(100)))
    }
    return time
  }

  /// Saves the cursor at the end.
  mutating func finish(at now: Timestamp) { save(at: now) }

  private mutating func note() {
    standing.isOnline = outbox.isOnline
    standing.cursor = outbox.cursor
    standing.delivered = outbox.delivered
    standing.published = outbox.published
  }

  // MARK: - The journal

  private var update: DeliveryUpdate {
    DeliveryUpdate(receiver: MQTTPublisher.receiver, cursor: outbox.cursor, delivered: outbox.delivered)
  }

  /// Reads the events that the outbox asks for; returns false if there are none to read or the journal fails.
  private mutating func load(at now: Timestamp) -> Bool {
    guard now >= journalHeldUntil, let (after, limit) = outbox.nextRead else { return false }
    let head = parts.journal.head
    guard head > after else { return false }
    do {
      let oldest = parts.journal.oldest
      if oldest > after + 1 {
        standing.missed += oldest - after - 1
        outbox.skip(to: oldest - 1)
        parts.logger.warning(
          "the journal's retention took events before the MQTT broker had them",
          metadata: ["events": "\(oldest - after - 1)"]
        )
      }
      let filter = EventFilter(kinds: MQTTOutbox.kinds)
      let events = try parts.journal.events(after: max(after, oldest - 1), matching: filter, limit: limit)
      // Events may have been committed since the head was read.
      let last = events.last?.sequence ?? head
      let through = events.count == limit ? last : max(last, head)
      let gate = parts.gate()
      outbox.load(events.map { ($0.sequence, gate.passed($0.event)) }, through: through)
      noteJournal(nil, at: now)
      return true
    } catch {
      noteJournal(error, at: now)
      return false
    }
  }

  private mutating func save(at now: Timestamp) {
    savedAt = now
    guard outbox.cursor != savedCursor else { return }
    do {
      try parts.journal.save([update], deadLimit: 0)
      savedCursor = outbox.cursor
      noteJournal(nil, at: now)
    } catch {
      noteJournal(error, at: now)
    }
  }

  /// Logs once that the journal fails, and once that it works again.
  private mutating func noteJournal(_ error: JournalError?, at now: Timestamp) {
    if let error {
      journalHeldUntil = now + MQTTPublisher.journalPause
      if !isJournalFailing {
        parts.logger.error("MQTT waits for the journal", metadata: ["reason": "\(error)"])
      }
    } else if isJournalFailing {
      parts.logger.notice("MQTT goes on")
    }
    isJournalFailing = error != nil
  }
}
