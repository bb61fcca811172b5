import PharosDelivery
import PharosJournal
import PharosModel
import PharosMQTT
import PharosSimulation

/// An MQTT broker, and each run's connection to it: the real outbox over the real journal.
///
/// The outbox is fed and its cursor is saved as `MQTTWork` of PharosDelivery does it. The connection breaks with messages under way,
/// and the broker restarts with and without what it has retained.
final class BrokerClient {
  private static let receiver = "mqtt"
  private static let step = 0.1
  private static let saveInterval = TrueTime.seconds(1)

  private unowned let world: FaultWorld
  private let names = MQTTNames(prefix: "pharos", discovery: nil, stream: "faults")
  private var random: RandomStream
  private var outbox: MQTTOutbox?
  private var savedCursor: Int64 = -1
  private var savedAt: TrueTime = 0
  private var judgedRevision: UInt64 = 0
  private var isDownUntil: TrueTime = 0
  /// The number of the connection, and that of the last one; nil without a connection.
  private var connection: Int?
  private var connections = 0
  private var packets: MQTTPacketID = 0
  private var subscriptions: Set<String> = []
  /// The time at which the last message of the connection arrives.
  private var arrivesAt: TrueTime = 0
  /// What the broker has retained, by topic.
  private(set) var retained: [String: [UInt8]] = [:]

  init(in world: FaultWorld) {
    self.world = world
    random = RandomStream(seed: world.plan.seed, 12)
  }

  private var now: Timestamp { Timestamp(nanoseconds: world.clockwork.now) }

  /// A run begins.
  func begin(_ life: Life) { next(life) }

  /// The run is over, and its connection with it.
  func endRun() {
    outbox = nil
    connection = nil
    savedCursor = -1
  }

  /// The connection breaks, and the broker is gone for a while.
  func fail(for duration: TrueTime, forgets: Bool) {
    isDownUntil = world.clockwork.now + duration
    connection = nil
    outbox?.disconnected()
    if forgets { retained = [:] }
  }

  private func next(_ life: Life) {
    world.clockwork.after(.seconds(BrokerClient.step), owner: life.number) {
      [weak self, weak life] in
      guard let self, let life else { return }
      if !life.isPaused { work(life) }
      next(life)
    }
  }

  private func work(_ life: Life) {
    do {
      if outbox == nil { outbox = try opened(life) }
      if connection == nil, world.clockwork.now >= isDownUntil { connect() }
      judge(life)
      outbox?.advance(to: now)
      outbox?.update(site: world.site)
      for _ in 0..<16 {
        let hasRead = try load(life)
        carryOut(life)
        if !hasRead { break }
      }
      if world.clockwork.now - savedAt >= BrokerClient.saveInterval { try save(life) }
    } catch {
      world.trace("MQTT waits for the journal: \(error)")
    }
  }

  private func opened(_ life: Life) throws -> MQTTOutbox {
    let through = life.journal.head
    let ledger =
      try life.journal.deliveries(to: BrokerClient.receiver) ?? DeliveryLedger(cursor: through)
    let gate = gate(life)
    judgedRevision = gate.view.revision
    return MQTTOutbox(
      names: names,
      version: "1",
      site: world.site,
      cursor: min(ledger.cursor, through),
      delivered: ledger.delivered,
      states: gate.passed(try life.journal.publishedState(after: 0)),
      through: through
    )
  }

  private func gate(_ life: Life) -> Gate { life.authorisations.view.gate(to: nil, isLive: false) }

  /// Removes what may no longer be published.
  private func judge(_ life: Life) {
    let gate = gate(life)
    guard gate.view.revision != judgedRevision, world.plant != .brokerKeepsHidden else { return }
    judgedRevision = gate.view.revision
    outbox?.withdraw { !gate.shows($0, of: $1) }
  }

  private func connect() {
    connections += 1
    connection = connections
    subscriptions = []
    arrivesAt = world.clockwork.now
    outbox?.connected(token: "\(connections)", at: now)
  }

  private func load(_ life: Life) throws -> Bool {
    guard let (after, limit) = outbox?.nextRead else { return false }
    let head = life.journal.head
    guard head > after else { return false }
    let filter = EventFilter(kinds: MQTTOutbox.kinds)
    let events = try life.journal.events(after: after, matching: filter, limit: limit)
    let last = events.last?.sequence ?? head
    let gate = gate(life)
    outbox?.load(
      events.map { ($0.sequence, gate.passed($0.event)) },
      through: events.count == limit ? last : max(last, head)
    )
    return true
  }

  private func save(_ life: Life) throws {
    savedAt = world.clockwork.now
    guard let outbox, outbox.cursor != savedCursor else { return }
    let update = DeliveryUpdate(
      receiver: BrokerClient.receiver,
      cursor: outbox.cursor,
      delivered: outbox.delivered
    )
    try life.journal.save([update], deadLimit: 0)
    savedCursor = update.cursor
  }

  private func carryOut(_ life: Life) {
    guard let connection else { return }
    while let action = outbox?.next() {
      switch action {
      case .subscribe(let filters):
        send(over: connection) { $0.subscribe(filters, over: connection) }
      case .unsubscribe(let filters): send(over: connection) { $0.subscriptions.subtract(filters) }
      case .publish(let message):
        packets += 1
        let packet = packets
        outbox?.sent(packet)
        send(over: connection) { $0.receive(message, packet, over: connection) }
      }
    }
  }

  /// Has something arrive at the other end of a connection behind all before it, unless the connection breaks first.
  private func send(over connection: Int, _ arrive: @escaping (BrokerClient) -> Void) {
    arrivesAt = max(arrivesAt, world.clockwork.now + .seconds(random.uniform(0.001, 0.05)))
    world.clockwork.at(arrivesAt) { [weak self] in
      guard let self, self.connection == connection else { return }
      arrive(self)
    }
  }

  private func subscribe(_ filters: [String], over connection: Int) {
    subscriptions.formUnion(filters)
    for (topic, payload) in retained.sorted(by: { $0.key < $1.key }) where isSubscribed(topic) {
      send(over: connection) { $0.outbox?.received(topic, payload: payload, isRetained: true) }
    }
  }

  private func receive(_ message: MQTTMessage, _ packet: MQTTPacketID, over connection: Int) {
    if message.isRetained {
      retained[message.topic] = message.payload.isEmpty ? nil : message.payload
    }
    if isSubscribed(message.topic) {
      send(over: connection) {
        $0.outbox?.received(message.topic, payload: message.payload, isRetained: false)
      }
    }
    send(over: connection) { $0.outbox?.acknowledged(packet) }
  }

  private func isSubscribed(_ topic: String) -> Bool {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    return subscriptions.contains { filter in
      let wanted = filter.split(separator: "/", omittingEmptySubsequences: false)
      return wanted.count == levels.count
        && zip(wanted, levels).allSatisfy { $0 == "+" || $0 == $1 }
    }
  }

  /// Holds what the broker has retained against what the events tell.
  ///
  /// - Parameters:
  ///   - book: the reading of all events.
  ///   - delivered: the reading of those that must have been delivered; of what has changed since, nothing is certain.
  func check(against book: StreamBook, delivered: StreamBook) {
    guard outbox?.isOnline == true else {
      return world.violate(
        .receiver,
        "there is no connection to the broker although the world is quiet"
      )
    }
    var known: Set<String> = []
    for application in world.site.applications {
      for region in application.regions {
        let key = RegionKey(application: application.identifier, region: region.identifier)
        for (row, state) in book.states
        where row.application == key.application && row.region == key.region {
          let topic = names.topic(of: key, row.subject)
          known.insert(topic)
          if state == delivered.state(row) { check(topic, row.subject, state) }
        }
      }
    }
    // What was withheld of a subject is in no event, and its present state is shown again all the same.
    let unknown = Set(world.consents.everHidden.union(world.erased).map { MQTTNames.level($0) })
    for topic in retained.keys.sorted()
    where topic.hasPrefix("pharos/region/") && !known.contains(topic)
      && !unknown.contains(String(topic.split(separator: "/").last ?? ""))
    {
      world.violate(.receiver, "the broker has \(topic), of which there is no region or state")
    }
  }

  private func check(_ topic: String, _ subject: SubjectID, _ state: RegionState) {
    let payload = retained[topic].map { String(decoding: $0, as: UTF8.self) }
    if topic.hasPrefix("pharos/region/\(Consents.application)/"),
      world.consents.hides(subject, since: world.clockwork.now)
    {
      if let payload {
        world.violate(.leak, "the broker has \(topic) of one who is hidden: \(payload)")
      }
      return
    }
    guard !world.erased.contains(subject), !world.consents.everHidden.contains(subject) else {
      return
    }
    guard payload?.contains(#""state":"\#(state.name)""#) == true else {
      return world.violate(
        .receiver,
        "the broker has \(payload ?? "nothing") in \(topic), it is \(state.name)"
      )
    }
  }
}
