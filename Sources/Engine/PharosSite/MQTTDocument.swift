import PharosDocuments
package import PharosModel

/// An MQTT broker, and the credentials to connect with.
///
/// The password itself never stands in a site file, which is shown, exported and copied: the file names where to find it.
package struct MQTTBroker: Hashable, Sendable {
  /// The address of a broker.
  package struct Address: Hashable, Sendable {
    /// The host and port.
    package var place: HostPort
    /// Indicates whether the connection uses TLS.
    package var usesTLS: Bool

    /// Makes an address.
    package init(_ place: HostPort, usesTLS: Bool = false) {
      self.place = place
      self.usesTLS = usesTLS
    }
  }

  /// The address.
  package var address: Address
  /// The path of a PEM file with the certificates of the authorities to trust; nil for those of the system.
  package var authorities: String?
  /// The name of the user, or nil to connect without credentials.
  package var username: String?
  /// The path of a file whose first line is the password.
  package var passwordFile: String?
  /// The name of the environment variable that holds the password.
  package var passwordVariable: String?
  /// The client identifier; nil for one that is drawn at each start.
  package var clientID: String?

  /// Names a broker that needs no credentials.
  package init(_ address: Address) { self.address = address }
}

extension MQTTBroker.Address: CustomStringConvertible {
  /// Reads `mqtt://HOST`, `mqtt://HOST:PORT` or the same with `mqtts`; nil if it is none.
  package init?(_ text: String) {
    let schemes: [(prefix: String, usesTLS: Bool, port: UInt16)] = [
      ("mqtt://", false, 1_883), ("mqtts://", true, 8_883),
    ]
    guard let scheme = schemes.first(where: { text.hasPrefix($0.prefix) }) else { return nil }
    let rest = text.dropFirst(scheme.prefix.count)
    guard !PlainText.has(anyOf: "/?#@", in: rest) else { return nil }
    let isNumbered = rest.last != "]" && rest.contains(":")
    let place = HostPort(isNumbered ? String(rest) : "\(rest):\(scheme.port)")
    guard let place, place.isDestination else { return nil }
    self.init(place, usesTLS: scheme.usesTLS)
  }

  /// The address with its port.
  package var description: String { "\(usesTLS ? "mqtts" : "mqtt")://\(place)" }
}

/// A broker whose messages are read as reports.
package struct MQTTInput: Hashable, Sendable {
  /// The broker.
  package var broker: MQTTBroker
  /// The topic filters to subscribe to.
  package var topics = MQTTInput.usualTopics
  /// The ingest policy; nil for that of the site.
  package var policy: IngestPolicy?

  /// The topics of the gateways whose messages are understood.
  package static let usualTopics: [MQTTTopic] = [
    "home/+/BTtoMQTT/#", "home/+/SYStoMQTT", "home/+/LWT", "espresense/devices/+/+",
    "espresense/rooms/+/telemetry", "espresense/rooms/+/status", "ruuvi/+/+", "/gw/+/status", "gw/+/status",
  ]

  /// Reads the usual topics of a broker.
  package init(broker: MQTTBroker) { self.broker = broker }
}

/// A topic filter to subscribe to, and the level of its topics that names the observer.
package struct MQTTTopic: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The filter.
  package var filter: String
  /// The level that names the observer, from 1; nil where the known topics or the payload do.
  package var observer: UInt8?

  /// Makes a filter.
  package init(_ filter: String, observer: UInt8? = nil) {
    self.filter = filter
    self.observer = observer
  }

  /// Makes a filter whose topics or payloads name the observer themselves.
  package init(stringLiteral filter: String) { self.init(filter) }

  /// Returns whether a topic is one of the filter's, which may be shared among several subscribers.
  package func matches(_ topic: String) -> Bool {
    var wanted = filter.split(separator: "/", omittingEmptySubsequences: false)[...]
    if wanted.first == "$share" { wanted = wanted.dropFirst(2) }
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    for (index, level) in wanted.enumerated() {
      if level == "#" { return true }
      guard index < levels.count, level == "+" || level == levels[index] else { return false }
    }
    return wanted.count == levels.count
  }
}

/// A broker to which states are published.
package struct MQTTOutput: Hashable, Sendable {
  /// The broker.
  package var broker: MQTTBroker
  /// The first level or levels of every topic.
  package var prefix = "pharos"
  /// Home Assistant's discovery prefix, or `none`.
  package var discovery = "homeassistant"

  /// The version of Home Assistant that reads the discovery; nil if it is not known.
  package var homeAssistant: HomeAssistantVersion?
  /// The address of the dashboard as the users of Home Assistant reach it; nil for that on which HTTP listens.
  package var dashboard: String?

  /// The word for no discovery.
  package static let noDiscovery = "none"

  /// Publishes to a broker.
  package init(broker: MQTTBroker) { self.broker = broker }

  /// Indicates whether trackers are announced with a topic for their state.
  package var hasTrackerStates: Bool { homeAssistant.map { $0 < .withoutTrackerState } ?? true }
}

extension MQTTBroker {
  static let properties: [DocumentField<MQTTBroker>] = [
    DocumentField("broker", \.address, .broker, isRequired: true),
    DocumentField("ca", \.authorities, .filled("the path of a PEM file")),
    DocumentField("username", \.username, .text(length: 1...255)),
    DocumentField("passwordFile", \.passwordFile, .filled("the path of a file")),
    DocumentField("passwordVariable", \.passwordVariable, .filled("the name of an environment variable")),
    DocumentField("clientID", \.clientID, .text(length: 1...64)),
  ]
}

extension MQTTInput {
  static let properties: [DocumentField<MQTTInput>] = [
    DocumentField("policy", \.policy, .word(IngestPolicy.allCases))
  ]
}

extension MQTTOutput {
  static let properties: [DocumentField<MQTTOutput>] = [
    DocumentField("prefix", \.prefix, .topic("a topic without wildcards, as in pharos")),
    DocumentField(
      "discovery",
      \.discovery,
      .topic("a topic without wildcards, as in homeassistant, or none")
    ),
    DocumentField("homeAssistant", \.homeAssistant, .homeAssistant),
    DocumentField("dashboard", \.dashboard, .dashboard),
  ]
}

extension SiteReading {
  static let mqttInputKeys =
    DocumentField.keys(MQTTBroker.properties) + ["topics"] + DocumentField.keys(MQTTInput.properties)
  static let mqttOutputKeys =
    DocumentField.keys(MQTTBroker.properties) + DocumentField.keys(MQTTOutput.properties)
  static let topicKeys = ["filter", "observer"]

  /// Reads the broker whose messages are read, within `listen`.
  func mqttInput(_ listen: DocumentFields) -> MQTTInput? {
    let known = SiteReading.mqttInputKeys
    guard let fields = listen.fields("mqtt", known: known), let broker = broker(fields) else { return nil }
    var input = MQTTInput(broker: broker)
    DocumentField.read(MQTTInput.properties, of: fields, into: &input)
    if fields.has("topics") {
      input.topics = fields.list("topics", of: "topic filters").compactMap { _, path, node in
        guard node.members != nil else {
          return fields.element(node, of: "topics", path: path, .topicFilter).map { MQTTTopic($0) }
        }
        let known = SiteReading.topicKeys
        let topic = DocumentFields(node, place: "topic", path: path, known: known, problems: fields.problems)
        guard let topic, let filter = topic.required("filter", .topicFilter) else { return nil }
        return MQTTTopic(filter, observer: topic.value("observer", .integer(in: 1...128)))
      }
      if fields["topics"]?.elements?.isEmpty == true {
        fields.mistake("topics", "topics is empty", expected: "a topic filter, or no such key")
      }
    }
    return input
  }

  /// Reads the broker to which states are published, within `publish`.
  func mqttOutput(_ publish: DocumentFields) -> MQTTOutput? {
    let known = SiteReading.mqttOutputKeys
    guard let fields = publish.fields("mqtt", known: known), let broker = broker(fields) else { return nil }
    var output = MQTTOutput(broker: broker)
    DocumentField.read(MQTTOutput.properties, of: fields, into: &output)
    return output
  }

  private func broker(_ fields: DocumentFields) -> MQTTBroker? {
    let unread = MQTTBroker.Address(HostPort(host: "", port: 0))
    var broker = MQTTBroker(unread)
    DocumentField.read(MQTTBroker.properties, of: fields, into: &broker)
    if broker.passwordFile != nil, broker.passwordVariable != nil {
      fields.mistake(
        "passwordVariable",
        "passwordFile and passwordVariable both say where the password is",
        expected: "one of them"
      )
    }
    if broker.username == nil,
      let key = ["passwordFile", "passwordVariable"].first(where: { fields.has($0) })
    {
      fields.mistake(key, "\(key) is set without username", expected: "a username as well")
    }
    if broker.authorities != nil, broker.address != unread, !broker.address.usesTLS {
      fields.mistake("ca", "ca stands with mqtt://, which uses no TLS", expected: "mqtts://, or no such key")
    }
    return broker.address == unread ? nil : broker
  }

  /// Notes a mistake if the messages of a broker were to be signed.
  func checkPolicy(_ input: MQTTInput?, _ configuration: SiteConfiguration, _ fields: DocumentFields) {
    guard let input, input.policy ?? configuration.policy == .signed else { return }
    fields.mistake(
      "listen",
      "MQTT messages carry no signature, so that policy signed refuses each of them",
      expected: "listen.mqtt.policy: allowlist or open, and credentials for each gateway at the broker"
    )
  }
}

extension SiteFile {
  /// The keys and values of a broker whose messages are read.
  static func tree(of input: MQTTInput) -> JSONValue {
    .written { json in
      DocumentField.write(MQTTBroker.properties, of: input.broker, to: &json)
      if input.topics.contains(where: { $0.observer != nil }) {
        json.objects("topics", input.topics) { json, topic in
          json.member("filter", topic.filter)
          if let level = topic.observer { json.member("observer", level) }
        }
      } else if input.topics != MQTTInput.usualTopics {
        json.strings("topics", input.topics.map(\.filter))
      }
      DocumentField.write(MQTTInput.properties, of: input, to: &json)
    }
  }

  /// The keys and values of a broker to which states are published.
  static func tree(of output: MQTTOutput) -> JSONValue {
    .written { json in
      DocumentField.write(MQTTBroker.properties, of: output.broker, to: &json)
      let usual = MQTTOutput(broker: output.broker)
      if output.prefix != usual.prefix { json.member("prefix", output.prefix) }
      if output.discovery != usual.discovery { json.member("discovery", output.discovery) }
      if let version = output.homeAssistant { json.member("homeAssistant", "\(version)") }
      json.member("dashboard", ifPresent: output.dashboard)
    }
  }
}

extension ValueForm where Value == MQTTBroker.Address {
  fileprivate static var broker: Self {
    ValueForm(
      expected:
        "mqtt://HOST or mqtts://HOST, with :PORT if it is another than 1883 or 8883, and without a user",
      // A broker's address may hold a password by mistake, which no message may show.
      mismatch: "no address of a broker"
    ) { MQTTBroker.Address($0) }
  }
}

extension ValueForm where Value == HomeAssistantVersion {
  fileprivate static var homeAssistant: Self {
    ValueForm(expected: "the version of Home Assistant in quotes, as in \"2026.11\"") {
      HomeAssistantVersion($0)
    }
  }
}

extension ValueForm where Value == String {
  private static var slash: UInt8 { UInt8(ascii: "/") }

  /// The address of a page, without a query: a path begins behind it.
  fileprivate static var dashboard: Self {
    ValueForm(expected: "the address of the dashboard, as in http://pharos.local:8080/") { text in
      guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else { return nil }
      let place = text.dropFirst(scheme.count)
      let isGood =
        (1...200).contains(text.utf8.count) && !PlainText.hasControls(text)
        && !PlainText.has(anyOf: " ?#@", in: place) && !(place.utf8.first.map { $0 == slash } ?? true)
      return isGood ? text : nil
    }
  }

  /// A topic without wildcards.
  fileprivate static func topic(_ expected: String) -> Self {
    ValueForm(expected: expected) { text in
      let isGood =
        (1...200).contains(text.utf8.count) && !PlainText.hasControls(text)
        && !PlainText.has(anyOf: "+#", in: text) && text.utf8.first != slash
        && text.utf8.last != slash
      return isGood ? text : nil
    }
  }

  /// A topic filter: `+` stands for one level, `#` for all that follow.
  ///
  /// - Source: MQTT 3.1.1, section 4.7.
  fileprivate static var topicFilter: Self {
    ValueForm(expected: "a topic filter, as in home/+/BTtoMQTT/#") { text in
      let levels = text.utf8.split(separator: slash, omittingEmptySubsequences: false)
      let isGood =
        (1...1_024).contains(text.utf8.count) && !PlainText.hasControls(text)
        && levels.allSatisfy { $0.count == 1 || !PlainText.has(anyOf: "+#", in: Substring($0)) }
        && !levels.dropLast().contains { $0.elementsEqual("#".utf8) }
      return isGood ? text : nil
    }
  }
}
