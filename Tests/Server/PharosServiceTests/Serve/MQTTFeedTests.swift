import Logging
import PharosIngest
import PharosMQTT
import PharosModel
import PharosService
import PharosSite
import PharosTerminal
import PharosWire
import ServiceLifecycle
import Synchronization
import Testing

/// A broker in memory, which a test plays.
final class PlayedLink: MQTTLink {
  private struct State {
    var receive: (@Sendable (MQTTLinkEvent) -> Void)?
    var filters: [String] = []
    var isStopped = false
  }

  private let state = Mutex(State())
  private let started = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  var filters: [String] { state.withLock { $0.filters } }
  var isStopped: Bool { state.withLock { $0.isStopped } }

  func start(_ receive: @escaping @Sendable (MQTTLinkEvent) -> Void) {
    state.withLock { $0.receive = receive }
    started.continuation.yield()
  }

  func publish(_ message: MQTTMessage) -> MQTTPacketID? { nil }
  func subscribe(_ filters: [String]) { state.withLock { $0.filters += filters } }
  func unsubscribe(_ filters: [String]) { state.withLock { $0.filters.removeAll { filters.contains($0) } } }
  func stop() { state.withLock { $0.isStopped = true } }

  /// Waits until the link is started.
  func waitForStart() async { for await _ in started.stream { return } }

  func play(_ happening: MQTTLinkEvent) { state.withLock { $0.receive }?(happening) }

  func play(_ topic: String, _ payload: String, isRetained: Bool = false) {
    play(.message(topic: topic, payload: Array(payload.utf8), isRetained: isRetained))
  }
}

@Suite("Messages from a broker")
struct MQTTFeedTests {
  /// What the intake was given.
  private final class Intake: Sendable {
    let accepted = Mutex<[(datagrams: [[UInt8]], source: Endpoint, policy: ListenPolicy)]>([])
    private let signal = AsyncStream<Void>.makeStream()

    func receive(_ datagrams: [[UInt8]], _ source: Endpoint, _ policy: ListenPolicy) -> [Receipt] {
      accepted.withLock { $0.append((datagrams, source, policy)) }
      signal.continuation.yield()
      return datagrams.map { _ in .accepted(format: .mqtt, reports: 1) }
    }

    var datagrams: [[UInt8]] { accepted.withLock { $0.flatMap(\.datagrams) } }

    /// Waits until so many datagrams were taken.
    func wait(for count: Int) async {
      if datagrams.count >= count { return }
      for await _ in signal.stream where datagrams.count >= count { return }
    }
  }

  private func run(_ body: (PlayedLink, Intake, MQTTFeed) async throws -> Void) async throws {
    let (link, intake) = (PlayedLink(), Intake())
    let feed = MQTTFeed(
      link: link,
      topics: ["home/+/BTtoMQTT/#"],
      policy: .allowlist,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      receive: { intake.receive($0, $1, $2) }
    )
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await feed.run() }
      await link.waitForStart()
      try await body(link, intake, feed)
      group.cancelAll()
      try await group.waitForAll()
    }
    #expect(link.isStopped)
  }

  @Test("each message reaches the intake with its topic, in order, under the policy of the broker")
  func messages() async throws {
    try await run { link, intake, feed in
      link.play(.connected(peer: IPAddress(v4: 0x0A00_0002), port: 1_883))
      #expect(link.filters == ["home/+/BTtoMQTT/#"])
      for number in 0..<500 { link.play("home/hall/BTtoMQTT/X", "\(number)") }
      await intake.wait(for: 500)
      let expected = (0..<500).map {
        MQTTFormat.datagram(topic: "home/hall/BTtoMQTT/X".utf8, payload: "\($0)".utf8)
      }
      #expect(intake.datagrams == expected)
      let calls = intake.accepted.withLock { $0 }
      #expect(
        calls.allSatisfy { $0.datagrams.count <= IngestServer.maximumAtOnce && $0.policy == .allowlist }
      )
      #expect(calls.first?.source == Endpoint(IPAddress(v4: 0x0A00_0002), port: 1_883))
      #expect(feed.statistics.isConnected)
    }
  }

  @Test("a retained message is of the past and is ignored; each connection subscribes")
  func retained() async throws {
    try await run { link, intake, feed in
      link.play(.connected(peer: nil, port: 0))
      link.play("home/hall/LWT", "online", isRetained: true)
      link.play(.disconnected(reason: "gone"))
      #expect(!feed.statistics.isConnected)
      link.play(.connected(peer: nil, port: 0))
      link.play("home/hall/LWT", "online")
      await intake.wait(for: 1)
      #expect(feed.statistics.retained == 1)
      #expect(feed.statistics.connections == 2)
      #expect(link.filters.count == 2)
      #expect(intake.datagrams.count == 1)
    }
  }

  @Test("a build without MQTT refuses a site with a broker and says what to install and how to build")
  func refusal() throws {
    let text = "listen: { mqtt: { broker: \"mqtt://h\" } }\npublish: { mqtt: { broker: \"mqtt://h\" } }"
    let configuration = try SiteFile.parse(text, path: "site.yaml")
    #if MQTT
    #expect(MQTTLinks.refusal(of: configuration) == nil)
    #else
    let refusal = try #require(MQTTLinks.refusal(of: configuration))
    #expect(
      refusal.hasPrefix("listen.mqtt and publish.mqtt cannot be used: this pharos was built without MQTT.")
    )
    #expect(refusal.contains("apt-get install libmosquitto-dev"))
    #expect(refusal.hasSuffix("swift build --traits MQTT."))
    #expect(throws: CommandFailure.self) { try MQTTLinks(configuration, environment: [:]) }
    #endif
    #expect(MQTTLinks.refusal(of: SiteConfiguration()) == nil)
  }
}
