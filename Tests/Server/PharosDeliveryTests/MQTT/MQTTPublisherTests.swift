import Logging
import PharosDelivery
import PharosJournal
import PharosModel
import PharosMQTT
import PharosPublishing
import Synchronization
import Testing

/// A broker in memory that acknowledges what it takes, until it is cut off.
private final class MemoryBroker: MQTTLink {
  private struct State {
    var receive: (@Sendable (MQTTLinkEvent) -> Void)?
    var isUp = false
    var packet: MQTTPacketID = 0
    var accepted: [MQTTMessage] = []
    /// The number of messages that are still acknowledged.
    var patience = Int.max
  }

  private let state = Mutex(State())
  private let signal = AsyncStream<Void>.makeStream()

  var accepted: [MQTTMessage] { state.withLock { $0.accepted } }
  /// What it has retained, by topic.
  var retained: [String: [UInt8]] {
    accepted.reduce(into: [:]) { $0[$1.topic] = $1.isRetained && !$1.payload.isEmpty ? $1.payload : nil }
  }
  /// The ids of the events in the messages about regions, in order.
  var events: [String] {
    accepted.filter { $0.topic.hasPrefix("pharos/region/") }.compactMap { message in
      String(decoding: message.payload, as: UTF8.self).split(separator: "\"event\":\"").dropFirst().first
        .map { String($0.prefix(32)) }
    }
  }

  func start(_ receive: @escaping @Sendable (MQTTLinkEvent) -> Void) {
    state.withLock { $0.receive = receive }
    signal.continuation.yield()
  }

  func publish(_ message: MQTTMessage) -> MQTTPacketID? {
    let (packet, receive, isAcknowledged) = state.withLock { state in
      guard state.isUp else { return (nil as MQTTPacketID?, state.receive, false) }
      state.packet += 1
      state.accepted.append(message)
      state.patience -= state.patience == .max ? 0 : 1
      return (state.packet, state.receive, state.patience > 0)
    }
    if let packet, isAcknowledged { receive?(.acknowledged(packet)) }
    if message.topic.hasPrefix("pharos/session/") {
      receive?(.message(topic: message.topic, payload: message.payload, isRetained: false))
    }
    signal.continuation.yield()
    return packet
  }

  func subscribe(_: [String]) {}
  func unsubscribe(_: [String]) {}
  func stop() { signal.continuation.yield() }

  func connect(acknowledging patience: Int = .max) {
    let receive = state.withLock { state in
      state.isUp = true
      state.patience = patience
      return state.receive
    }
    receive?(.connected(peer: nil, port: 0))
  }

  func disconnect() {
    let receive = state.withLock { state in
      state.isUp = false
      return state.receive
    }
    receive?(.disconnected(reason: "cut off"))
  }

  /// Waits until the publisher has read the journal and begins to connect.
  func waitForStart() async { await wait { state.withLock { $0.receive != nil } } }

  /// Waits until a condition holds, which is looked at after each happening.
  func wait(until condition: () -> Bool) async {
    if condition() { return }
    for await _ in signal.stream where condition() { return }
  }
}

@Suite("Publishing to a broker", .timeLimit(.minutes(20)))
struct MQTTPublisherTests {
  private static let names = MQTTNames(prefix: "pharos", discovery: nil, stream: "test")

  private static func event(_ counter: UInt64) -> Event {
    let transition = RegionTransition(from: .unknown, to: .inside, evidence: Evidence(rule: .samples))
    return Event(
      stream: "test",
      kind: .regionState,
      time: Samples.start,
      decidedAt: Samples.start,
      stage: 1,
      subject: Samples.subject(Int(counter % 3)),
      application: "gallery",
      region: "entrance",
      counter: counter,
      detail: .region(transition)
    )
  }

  /// Appends events to a journal and tells the publisher, as the commit publisher does.
  private static func append(
    _ counters: Range<UInt64>,
    to journal: Journal,
    _ committed: CommittedEventHub
  ) throws {
    let events = counters.map(event)
    let sequences = try journal.append(events.map { Journal.Entry(event: $0, isPublished: true) })
    committed.publish(zip(events, sequences).map { PublishedEvent(sequence: $1, event: $0, stream: "test") })
  }

  private func run(
    _ journal: Journal,
    authorisations: Authorisations? = nil,
    _ body: (MemoryBroker, CommittedEventHub, MQTTPublisher) async throws -> Void
  ) async throws {
    let (broker, committed) = (MemoryBroker(), CommittedEventHub())
    let region = Region(identifier: "entrance", constraint: .proximity(UUID128(high: 0, low: 1)))
    let site = Site(applications: [Application(identifier: "gallery", regions: [region])])
    let parts = MQTTPublisherParts(
      journal: journal,
      names: Self.names,
      version: "1",
      site: { site },
      gate: { authorisations?.view.gate(to: nil, isLive: false) ?? .open },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    let publisher = MQTTPublisher(link: broker, parts: parts, hub: committed)
    authorisations?.tap { publisher.authorisationsChanged() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await publisher.run() }
      await broker.waitForStart()
      try await body(broker, committed, publisher)
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test(
    "events are published as they are committed, the last word is that the server is offline, and the cursor is kept"
  )
  func publishing() async throws {
    let journal = try Journal.open(.memory, stream: "test")
    try await run(journal) { broker, committed, _ in
      broker.connect()
      try Self.append(0..<50, to: journal, committed)
      await broker.wait { broker.events.count == 50 }
      #expect(broker.events == (0..<50).map { Self.event($0).id.description })
      try Self.append(50..<60, to: journal, committed)
    }
    let ledger = try #require(try journal.deliveries(to: MQTTPublisher.receiver))
    #expect(ledger.cursor == 60)
    #expect(ledger.delivered == 60)
  }

  @Test("a restart goes on behind what was acknowledged, and nothing in between is lost")
  func restart() async throws {
    let journal = try Journal.open(.memory, stream: "test")
    try await run(journal) { broker, committed, publisher in
      // The marker, the availability and the messages of ten events, three for each.
      broker.connect(acknowledging: 2 + 30 + 1)
      try Self.append(0..<40, to: journal, committed)
      await broker.wait { broker.events.count == 40 }
      broker.disconnect()
      try Self.append(40..<50, to: journal, committed)
    }
    #expect(try journal.deliveries(to: MQTTPublisher.receiver)?.cursor == 10)
    try await run(journal) { broker, committed, publisher in
      broker.connect()
      await broker.wait {
        broker.events.count >= 40 && broker.accepted.last?.topic.hasPrefix("pharos/subject/") == true
      }
      #expect(broker.events.prefix(40).elementsEqual((10..<50).map { Self.event($0).id.description }))
    }
    #expect(try journal.deliveries(to: MQTTPublisher.receiver)?.cursor == 50)
  }

  @Test("withheld values are neither among the states nor among the events")
  func authorisations() async throws {
    let journal = try Journal.open(.memory, stream: "test")
    try Self.append(0..<3, to: journal, CommittedEventHub())
    let authorisations = try Authorisations(store: journal)
    func decide(_ state: AuthorisationState, of subject: SubjectID) throws {
      _ = try authorisations.set(
        state,
        application: "gallery",
        subject: subject,
        by: .local,
        stream: "test",
        at: Samples.start
      )
    }
    try authorisations.mark(Samples.subject(1), isPerson: true)
    try decide(.denied, of: Samples.subject(1))
    try await run(journal, authorisations: authorisations) { broker, committed, _ in
      broker.connect()
      try Self.append(3..<9, to: journal, committed)
      await broker.wait { broker.events.count == 4 }
      #expect(!broker.accepted.contains { $0.topic.contains(MQTTNames.level(Samples.subject(1))) })
      #expect(broker.accepted.filter { $0.topic.hasPrefix("pharos/region/") }.count == 6)
      // A mark without an event of its own withdraws at once what the broker has retained.
      try authorisations.mark(Samples.subject(2), isPerson: true)
      let level = MQTTNames.level(Samples.subject(2))
      await broker.wait { broker.retained.keys.allSatisfy { !$0.contains(level) } }
      #expect(broker.retained.keys.contains { $0.contains(MQTTNames.level(Samples.subject(0))) })
    }
  }

  @Test("the webhooks' service leaves the cursor of the broker alone")
  func receivers() async throws {
    let journal = try Journal.open(.memory, stream: "test")
    let update = DeliveryUpdate(receiver: MQTTPublisher.receiver, cursor: 7, delivered: 7)
    try journal.save([update, DeliveryUpdate(receiver: "wh_gone", cursor: 0, delivered: 0)], deadLimit: 0)
    _ = try Webhooks(
      journal: journal,
      committed: CommittedEventHub(),
      stream: "test",
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    #expect(try journal.receivers() == [MQTTPublisher.receiver])
  }
}
