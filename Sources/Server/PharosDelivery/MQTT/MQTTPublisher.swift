package import Logging
import PharosDocuments
package import PharosJournal
package import PharosModel
package import PharosMQTT
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

  private let journal: Journal
  private let follower: JournalFollower<MQTTWork>

  /// Makes a publisher, which begins once it runs.
  ///
  /// - Parameters:
  ///   - link: the connection to the broker.
  ///   - parts: what it publishes from.
  ///   - hub: the hub of published events.
  package init(link: any MQTTLink, parts: MQTTPublisherParts, hub: CommittedEventHub) {
    journal = parts.journal
    follower = JournalFollower(
      JournalPages(parts.journal, logger: parts.logger, name: "MQTT", duty: parts.duty),
      hub: hub,
      clock: parts.clock,
      report: MQTTStanding()
    ) { pages in
      try MQTTWork(parts, link, pages)
    }
  }

  /// The state of the publisher.
  package var standing: MQTTStanding {
    var standing = follower.report
    standing.lag = max(journal.head - standing.cursor, 0)
    return standing
  }

  /// Has the task judge what is retained by the authorisations that have just changed.
  package func authorisationsChanged() { follower.wake() }

  /// Forgets what is retained about a subject, before the subject is erased from the journal.
  package func forget(_ traces: SubjectTraces) { follower.post { $0.forgotten.append(traces) } }

  /// Publishes until a graceful shutdown begins or the task is cancelled; then it publishes the last events, and that it
  /// is offline.
  package func run() async { await follower.run() }
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
  let duty: Duty
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
  ///   - duty: whether this server publishes.
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
    duty: Duty = .always,
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
    self.duty = duty
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

/// The outbox, as the consumer of the journal that a follower runs.
struct MQTTWork: JournalConsumer {
  struct Mail {
    var happenings: [MQTTLinkEvent] = []
    var live: [Event] = []
    var forgotten: [SubjectTraces] = []
    var nearest: [BeaconID: NearestObserver]?
  }

  /// The interval at which the cursor is saved; after a crash, what was acknowledged within it is published again.
  private static let saveInterval = TimeSpan.seconds(1)
  /// The interval at which the site is looked at for regions, names and zones that were changed.
  private static let siteInterval = TimeSpan.seconds(2)
  /// The interval at which the observers that hear beacons best are read.
  private static let nearestInterval = TimeSpan.seconds(10)
  /// The time to publish the last events when the server stops.
  private static let grace = TimeSpan.milliseconds(500)
  /// The maximum number of live events that wait for the task.
  private static let liveLimit = 65_536
  static var emptyMail: Mail { Mail() }

  private let parts: MQTTPublisherParts
  private let link: any MQTTLink
  private var outbox: MQTTOutbox
  private var standing = MQTTStanding()
  private var savedCursor: Int64
  private var stoppingSince: Timestamp?
  private var nearestDue = Timestamp.distantPast
  /// Indicates whether the last word, that the server is offline, is on its way.
  private var isLeaving = false
  private var offlinePacket: MQTTPacketID?
  private var isLimitLogged = false
  private var lastReason: String?
  /// The revision of the authorisations by which everything retained was judged.
  private var judgedRevision: UInt64

  /// Reads the cursor and the states from the journal.
  init(_ parts: MQTTPublisherParts, _ link: any MQTTLink, _ pages: JournalPages) throws(JournalError) {
    self.parts = parts
    self.link = link
    let through = parts.journal.head
    let saved = try parts.journal.deliveries(to: MQTTPublisher.receiver)
    let ledger = saved ?? DeliveryLedger(cursor: through)
    let gate = parts.gate()
    judgedRevision = gate.view.revision
    outbox = MQTTOutbox(
      names: parts.names,
      version: parts.version,
      site: parts.site(),
      cursor: pages.resume(ledger.cursor),
      delivered: ledger.delivered,
      states: gate.passed(try parts.journal.publishedState(after: 0)),
      through: through,
      settings: parts.settings
    )
    savedCursor = ledger.cursor
    // The journal keeps what the broker needs from the moment that it is known.
    if saved == nil { try parts.journal.save([update], deadLimit: 0) }
  }

  /// Collects the events that live subscribers get and the journal does not keep.
  static func collect(_ batch: [PublishedEvent], into mail: inout Mail) {
    let live = batch.filter { $0.sequence == nil && !$0.isLiveOnly && !$0.event.kind.isJournalled }
    mail.live += live.prefix(max(liveLimit - mail.live.count, 0)).map(\.event)
  }

  func end() { link.stop() }

  func start(_ post: @escaping @Sendable (@escaping Message) -> Void) {
    link.start { happening in post { $0.happenings.append(happening) } }
  }

  mutating func process(_ mail: Mail, at now: Timestamp, stoppingSince: Timestamp?) {
    self.stoppingSince = stoppingSince
    for happening in mail.happenings { process(happening, at: now) }
    for traces in mail.forgotten { outbox.forget(traces) }
    let gate = parts.gate()
    if gate.view.revision != judgedRevision {
      judgedRevision = gate.view.revision
      outbox.withdraw { !gate.showsFully($0, of: $1) }
    }
    for event in mail.live.compactMap({ gate.passed($0) }) { outbox.receive(live: event, at: now) }
    if let nearest = mail.nearest {
      outbox.update(nearest: nearest.filter { gate.shows(.observer($0.value.observer)) })
    }
    outbox.advance(to: now)
    outbox.update(site: parts.site())
  }

  /// Returns the action that reads the observers which hear beacons best, if it is due.
  private mutating func nearestAction(at now: Timestamp) -> Action? {
    guard outbox.isOnline, stoppingSince == nil, now >= nearestDue else { return nil }
    nearestDue = now + MQTTWork.nearestInterval
    let beacons = outbox.beaconsInside
    return { [nearest = parts.nearest] in
      let found = beacons.isEmpty ? [:] : await nearest(beacons)
      return { $0.nearest = found }
    }
  }

  private mutating func process(_ happening: MQTTLinkEvent, at now: Timestamp) {
    switch happening {
    case .connected:
      standing.connections += 1
      outbox.connected(token: Hex.text((0..<8).map { _ in UInt8.random(in: .min ... .max) }), at: now)
      parts.logger.notice(
        "The MQTT output is connected.",
        metadata: ["waiting": "\(parts.journal.head - outbox.cursor)"]
      )
      lastReason = nil
    case .disconnected(let reason):
      outbox.disconnected()
      offlinePacket = nil
      guard reason != lastReason, stoppingSince == nil else { return }
      lastReason = reason
      parts.logger.warning(
        "No connection to the MQTT broker. States wait.",
        metadata: ["reason": "\(reason)"]
      )
    case .acknowledged(let packet):
      if packet == offlinePacket { offlinePacket = nil } else { outbox.acknowledged(packet) }
    case .message(let topic, let payload, let isRetained):
      outbox.received(topic, payload: payload, isRetained: isRetained)
    }
  }

  /// Publishes what the outbox has.
  mutating func act(at now: Timestamp, isCaughtUp _: Bool) -> [Action] {
    carryOut()
    if let stoppingSince, !isLeaving, isCaughtUp || now - stoppingSince >= MQTTWork.grace {
      isLeaving = true
      if outbox.isOnline {
        offlinePacket = link.publish(MQTTMessage(parts.names.availability, text: "offline"))
      }
    }
    if outbox.hasUnannounced, !isLimitLogged {
      isLimitLogged = true
      parts.logger.warning(
        "More entities than are announced to Home Assistant. The states of the others are published too.",
        metadata: ["limit": "\(parts.settings.entities)"]
      )
    }
    return nearestAction(at: now).map { [$0] } ?? []
  }

  private mutating func carryOut() {
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

  /// Returns whether the last word was acknowledged, or has had its time.
  func isDone(at now: Timestamp) -> Bool {
    guard isLeaving, let stoppingSince else { return false }
    return offlinePacket == nil || now - stoppingSince >= MQTTWork.grace + MQTTWork.grace
  }

  func wakeTime(at now: Timestamp) -> Timestamp? {
    var time = now + MQTTWork.siteInterval
    if let wake = outbox.wakeTime { time = min(time, wake) }
    if let stoppingSince { time = min(time, max(stoppingSince + MQTTWork.grace, now + .milliseconds(100))) }
    return time
  }

  var report: MQTTStanding {
    var standing = standing
    standing.isOnline = outbox.isOnline
    standing.cursor = outbox.cursor
    standing.delivered = outbox.delivered
    standing.published = outbox.published
    return standing
  }

  // MARK: - The journal

  private var update: DeliveryUpdate {
    DeliveryUpdate(receiver: MQTTPublisher.receiver, cursor: outbox.cursor, delivered: outbox.delivered)
  }

  /// Reads the events that the outbox asks for.
  mutating func read(from pages: JournalPages) throws -> Bool {
    let filter = EventFilter(kinds: MQTTOutbox.kinds)
    guard let (after, limit) = outbox.nextRead,
      let page = try pages.next(after: after, matching: filter, limit: limit)
    else { return false }
    standing.missed += page.missed
    let gate = parts.gate()
    outbox.load(page.events.map { ($0.sequence, gate.passed($0.event)) }, through: page.through)
    return true
  }

  var saveDelay: TimeSpan? { outbox.cursor == savedCursor ? nil : MQTTWork.saveInterval }

  mutating func save(to journal: Journal) throws {
    guard outbox.cursor != savedCursor else { return }
    try journal.save([update], deadLimit: 0)
    savedCursor = outbox.cursor
  }
}
