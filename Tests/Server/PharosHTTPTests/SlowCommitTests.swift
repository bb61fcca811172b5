import Foundation
import Logging
import Pharos
import PharosDelivery
import PharosIngest
import PharosJournal
import PharosModel
import PharosPublishing
import PharosTestSupport
import ServiceLifecycle
import Synchronization
import Testing

/// No decision is lost on its way to a reader: the whole way from a socket to the subscribers of committed events.
@Suite("A slow journal", .serialized, .timeLimit(.minutes(20)))
struct SlowCommitTests {
  /// A journal whose commits can be held.
  private final class HeldStore: EventStore, @unchecked Sendable {
    private let journal: Journal
    private let condition = NSCondition()
    private var isHeld = true

    init() throws { journal = try Journal.open(.memory, stream: "pharos") }

    var head: Int64 { journal.head }
    var oldest: Int64 { journal.oldest }
    var removals: UInt64 { journal.removals }

    func events(after: Int64, matching filter: EventFilter, limit: Int) throws -> [JournaledEvent] {
      try journal.events(after: after, matching: filter, limit: limit)
    }

    func append(_ entries: [Journal.Entry]) throws -> [Int64?] {
      condition.lock()
      while isHeld { condition.wait() }
      condition.unlock()
      return try journal.append(entries)
    }

    func save(checkpoint: [UInt8], instant: Timestamp, through: Int64) throws {}

    func release() {
      condition.lock()
      isHeld = false
      condition.broadcast()
      condition.unlock()
    }
  }

  private static let site: Site = {
    let region = Region(
      identifier: "hall",
      constraint: .proximity(UUID128(high: 1, low: 2)),
      presence: PresencePolicy(enterSamples: 1)
    )
    return Site(applications: [Application(identifier: "default", regions: [region])])
  }()

  /// A datagram of a handset of its own, which enters.
  private static func datagram(_ number: Int) -> [UInt8] {
    let uuid = "00000000-0000-0001-0000-000000000002"
    return Array(
      #"{"observer":"handset-\#(number)","uuid":"\#(uuid)","major":1,"minor":1,"rssi":-60}"#.utf8
    )
  }

  @Test("no socket is read while the queue is full; then every decision is committed, in order")
  func everyDecision() async throws {
    let time = SlowTime()
    var configuration = IngestConfiguration(listeners: [ListenAddress(host: "127.0.0.1", port: 0)])
    let start = IngestClock.system.wall()
    configuration.clock = IngestClock(
      steady: { TimeSpan(nanoseconds: time.nanoseconds) },
      wall: { start + TimeSpan(nanoseconds: time.nanoseconds) }
    )
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = PharosServer(site: Self.site, configuration: configuration, logger: logger)
    let store = try HeldStore()
    let decided = Mutex<[EventID]>([])
    var settings = CommitPublisherSettings()
    settings.backlog = 100
    settings.group = 16
    let commitPublisher = CommitPublisher(
      hub: server.hub,
      store: store,
      authorisations: try Authorisations(store: Journal.open(.memory, stream: "pharos")),
      stream: "pharos",
      settings: settings,
      logger: logger
    )
    let tap = server.hub.tap { batch in decided.withLock { $0 += batch.map(\.id) } }
    let committed = commitPublisher.committed.events.buffering(100_000).sequence
    let group = ServiceGroup(configuration: .init(services: [commitPublisher, server], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      let sender = try DatagramSender(to: try #require(try await server.addresses().first))
      var sent = 0
      while !server.hub.isFull.load(ordering: .relaxed) {
        if try sender.send(Self.datagram(sent)) { sent += 1 }
        _ = try await server.snapshot()
      }
      // A loop has ended the turn in which the queue became full once it has answered.
      let accepted = try await server.snapshot().datagrams
      for _ in 0..<40 { if try sender.send(Self.datagram(sent)) { sent += 1 } }
      for _ in 0..<100 { #expect(try await server.snapshot().datagrams == accepted) }
      #expect(try await server.snapshot().queueWaits > 0)
      store.release()
      var entered = 0
      var ids: [EventID] = []
      for await event in committed {
        ids.append(event.event.id)
        #expect(event.sequence == Int64(ids.count))
        if event.event.kind == .regionEnter { entered += 1 }
        if entered == sent { break }
      }
      #expect(sent > 40 && decided.withLock { Array($0.prefix(ids.count)) } == ids)
      #expect(commitPublisher.statistics.lost == 0)
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
    withExtendedLifetime(tap) {}
  }
}
