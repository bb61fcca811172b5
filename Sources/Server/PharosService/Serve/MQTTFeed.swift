import Foundation
package import Logging
import PharosCaptures
import PharosDelivery
import PharosDocuments
package import PharosIngest
package import PharosMQTT
package import PharosModel
import PharosMosquitto
package import PharosSite
package import PharosTerminal
import PharosWire
import ServiceLifecycle
import Synchronization

/// The service that reads the messages of gateways from an MQTT broker, as if they came over UDP.
///
/// Messages wait in a bounded queue while the intake is busy; beyond it they are dropped and counted, as the kernel does with
/// datagrams.
package final class MQTTFeed: Service {
  /// Passes datagrams of one sender to the intake, which takes them under a policy.
  package typealias Receive =
    @Sendable (_ datagrams: [[UInt8]], _ source: Endpoint, _ policy: ListenPolicy) async throws -> [Receipt]

  /// The maximum number of messages that wait: three seconds of 20,000 a second.
  static let maximumWaiting = 65_536
  /// The maximum size of the messages that wait, in bytes.
  static let maximumBytes = 64 << 20

  struct Inbox {
    var datagrams: [[UInt8]] = []
    var bytes = 0
    var source = Endpoint(IPAddress(v4: 0), port: 0)
    var isStopping = false
    var statistics = MQTTFeedStatistics()
    var lastReason: String?
  }

  private let link: any MQTTLink
  private let topics: [MQTTTopic]
  private let policy: ListenPolicy
  private let logger: Logger
  private let receive: Receive
  private let inbox = Mutex(Inbox())
  private let bell = AsyncSignal()

  /// Makes a feed, which connects once it runs.
  ///
  /// - Parameters:
  ///   - link: the connection to the broker.
  ///   - topics: the topic filters to subscribe to, with the levels that name observers.
  ///   - policy: the policy by which messages are accepted.
  ///   - logger: the logger for messages to the operator.
  ///   - receive: the intake.
  package init(
    link: any MQTTLink,
    topics: [MQTTTopic],
    policy: ListenPolicy,
    logger: Logger,
    receive: @escaping Receive
  ) {
    self.link = link
    self.topics = topics
    self.policy = policy
    self.logger = logger
    self.receive = receive
  }

  /// The counters.
  package var statistics: MQTTFeedStatistics { inbox.withLock { $0.statistics } }

  /// Reads messages until a graceful shutdown begins or the task is cancelled.
  package func run() async throws {
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        await withTaskExecutorPreference(BackgroundExecutor.followers) { await work() }
      } onGracefulShutdown: {
        self.askToStop()
      }
    } onCancel: {
      askToStop()
    }
  }

  private func askToStop() {
    inbox.withLock { $0.isStopping = true }
    bell.ring()
  }

  private func work() async {
    link.start { [weak self] in self?.process($0) }
    while true {
      let (datagrams, source, isStopping) = inbox.withLock { inbox in
        defer {
          inbox.datagrams.removeAll()
          inbox.bytes = 0
        }
        return (inbox.datagrams, inbox.source, inbox.isStopping)
      }
      if isStopping { break }
      await pass(datagrams, from: source)
      await bell.wait()
    }
    link.stop()
  }

  /// Passes messages to the intake, as many at a time as it takes.
  private func pass(_ datagrams: [[UInt8]], from source: Endpoint) async {
    var start = 0
    while start < datagrams.count {
      let end = min(start + IngestServer.maximumAtOnce, datagrams.count)
      do {
        _ = try await receive(Array(datagrams[start..<end]), source, policy)
        inbox.withLock { $0.statistics.read += UInt64(end - start) }
      } catch {
        // The server is starting or stopping, or has too many requests of others.
        inbox.withLock { $0.statistics.dropped += UInt64(end - start) }
      }
      start = end
    }
  }

  /// Takes what happens on the connection, on its thread.
  private func process(_ happening: MQTTLinkEvent) {
    switch happening {
    case .connected(let peer, let port):
      link.subscribe(topics.map(\.filter))
      inbox.withLock { inbox in
        inbox.source = Endpoint(peer ?? IPAddress(v4: 0), port: port)
        inbox.statistics.isConnected = true
        inbox.statistics.connections += 1
        inbox.lastReason = nil
      }
      logger.notice("The MQTT input is connected.", metadata: ["topics": "\(topics.count)"])
    case .disconnected(let reason):
      let isNews = inbox.withLock { inbox in
        inbox.statistics.isConnected = false
        defer { inbox.lastReason = reason }
        return inbox.lastReason != reason && !inbox.isStopping
      }
      guard isNews else { return }
      logger.warning(
        "No connection to the MQTT broker. Messages of gateways are not received.",
        metadata: ["reason": "\(reason)"]
      )
    case .message(let topic, let payload, let isRetained): receive(topic, payload, isRetained: isRetained)
    case .acknowledged: break
    }
  }

  private func receive(_ topic: String, _ payload: [UInt8], isRetained: Bool) {
    let level = topics.first { $0.observer != nil && $0.matches(topic) }?.observer ?? 0
    let datagram =
      isRetained ? nil : MQTTFormat.datagram(topic: topic.utf8, observerLevel: level, payload: payload)
    let isFirst = inbox.withLock { inbox in
      guard let datagram else {
        inbox.statistics.retained += 1
        return false
      }
      guard inbox.datagrams.count < MQTTFeed.maximumWaiting,
        inbox.bytes + datagram.count <= MQTTFeed.maximumBytes
      else {
        inbox.statistics.dropped += 1
        return false
      }
      inbox.datagrams.append(datagram)
      inbox.bytes += datagram.count
      return inbox.datagrams.count == 1
    }
    if isFirst { bell.ring() }
  }
}

/// The counters of a feed.
package struct MQTTFeedStatistics: Hashable, Sendable {
  /// Indicates whether the broker is connected.
  package var isConnected = false
  /// Connections that the broker accepted.
  package var connections: UInt64 = 0
  /// Messages that the intake took, those that it refused included.
  package var read: UInt64 = 0
  /// Retained messages, which are of the past and ignored.
  package var retained: UInt64 = 0
  /// Messages that were dropped because too many waited.
  package var dropped: UInt64 = 0

  /// Starts with nothing.
  package init() {}
}

/// The connections to the MQTT brokers that a site names.
package struct MQTTLinks: Sendable {
  /// The connection whose messages are read.
  package var input: (any MQTTLink)?
  /// The connection to publish on.
  package var output: (any MQTTLink)?

  /// Makes no connections.
  package init() {}

  /// Makes the connections of a site; none of them is open yet.
  ///
  /// - Parameters:
  ///   - configuration: the site file's content, its paths resolved.
  ///   - environment: the variables of the process, which may hold passwords.
  /// - Throws: `CommandFailure` if this build has no MQTT, or a password cannot be read.
  package init(_ configuration: SiteConfiguration, environment: [String: String]) throws(CommandFailure) {
    if let refusal = MQTTLinks.refusal(of: configuration) {
      throw CommandFailure(refusal, status: .configuration)
    }
    if let broker = configuration.mqttInput?.broker {
      input = Mosquitto.link(try MQTTLinkSettings(broker, environment: environment))
    }
    if let output = configuration.mqttOutput {
      var settings = try MQTTLinkSettings(output.broker, environment: environment)
      let names = output.names(stream: configuration.site.stream)
      settings.will = MQTTMessage(names.availability, text: "offline")
      self.output = Mosquitto.link(settings)
    }
  }

  /// The reason why this build cannot connect to the brokers of a site; nil if it can, or if the site has none.
  package static func refusal(of configuration: SiteConfiguration) -> String? {
    let keys = [
      configuration.mqttInput == nil ? nil : "listen.mqtt",
      configuration.mqttOutput == nil ? nil : "publish.mqtt",
    ].compactMap { $0 }
    guard !keys.isEmpty, let reason = Mosquitto.isMissing else { return nil }
    return "\(keys.joined(separator: " and ")) cannot be used: \(Wording.clause(reason))."
  }
}

extension MQTTOutput {
  /// The names of a server's topics and entities.
  func names(stream: String) -> MQTTNames {
    MQTTNames(
      prefix: prefix,
      discovery: discovery == MQTTOutput.noDiscovery ? nil : discovery,
      stream: stream
    )
  }
}

extension MQTTOutput {
  /// The address of the dashboard as the site gives it, else where HTTP listens, with a slash at its end; nil without HTTP.
  ///
  /// A server that listens on all addresses is named by its host's name.
  func dashboard(of settings: ServeSettings) -> String? {
    if let dashboard { return dashboard.hasSuffix("/") ? dashboard : dashboard + "/" }
    guard let http = settings.http, http.port > 0 else { return nil }
    let isAnywhere = http.host == "0.0.0.0" || http.host == "::"
    let host = isAnywhere ? ProcessInfo.processInfo.hostName : http.host
    return "\(settings.tls == nil ? "http" : "https")://\(HostPort(host: host, port: http.port))/"
  }
}

extension MQTTLinkSettings {
  /// The parameters of a broker, with the password from the place that the site file names.
  init(_ broker: MQTTBroker, environment: [String: String]) throws(CommandFailure) {
    let place = broker.address.place
    let drawn = "pharos-" + Hex.text((0..<6).map { _ in UInt8.random(in: .min ... .max) })
    self.init(host: place.host, port: place.port, clientID: broker.clientID ?? drawn)
    if broker.address.usesTLS { authorities = broker.authorities ?? "" }
    username = broker.username
    password = try StatedSecret(file: broker.passwordFile, variable: broker.passwordVariable)
      .read("the password for \(broker.address)", environment)
  }
}
