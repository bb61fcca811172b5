import PharosDocuments
package import PharosModel

/// The topics that a server publishes on, and the identifiers of its entities in Home Assistant.
package struct MQTTNames: Hashable, Sendable {
  /// The levels that all topics begin with.
  package let prefix: String
  /// Home Assistant's discovery prefix, or nil if nothing is announced.
  package let discovery: String?
  /// The identifier of the server in Home Assistant, `pharos_` and the stream.
  package let node: String

  /// Makes the names of a server.
  ///
  /// - Parameters:
  ///   - prefix: the levels that all topics begin with.
  ///   - discovery: Home Assistant's discovery prefix, or nil.
  ///   - stream: the name of the stream of events.
  package init(prefix: String, discovery: String?, stream: String) {
    self.prefix = prefix
    self.discovery = discovery
    node = stream == "pharos" ? "pharos" : "pharos_\(MQTTNames.level(stream))"
  }

  /// The topic with `online` while the server is connected, and `offline` otherwise.
  package var availability: String { "\(prefix)/status" }
  /// The topic on which Home Assistant publishes that it has started; nil without discovery.
  package var birth: String? { discovery.map { "\($0)/status" } }
  /// The filters of everything that the server has ever published, which brokers retain, and of the marker.
  package var ownFilters: [String] {
    let topics = [
      "region/+/+/+", "subject/+", "location/+", "last-room/+", "distance/+", "nearest/+", "battery/+",
      "fix/+",
      "observer/+", "session/+",
    ]
    return topics.map { "\(prefix)/\($0)" } + (discovery.map { ["\($0)/+/\(node)/+/config"] } ?? [])
  }

  /// The topic for the end of a listing; it has a token, so that a server recognises its own.
  package func marker(_ token: String) -> String { "\(prefix)/session/\(token)" }

  /// The topic of a subject's state towards a region.
  package func topic(of region: RegionKey, _ subject: SubjectID) -> String {
    let application = MQTTNames.level(region.application)
    return "\(prefix)/region/\(application)/\(MQTTNames.level(region.region))/\(MQTTNames.level(subject))"
  }

  /// The topic of a subject's location and what it follows from.
  package func topic(of subject: SubjectID) -> String { "\(prefix)/subject/\(MQTTNames.level(subject))" }
  /// The topic of a subject's location as a text.
  package func location(of subject: SubjectID) -> String { "\(prefix)/location/\(MQTTNames.level(subject))" }
  /// The topic of a subject's distance from the nearest observer.
  package func distance(of subject: SubjectID) -> String { "\(prefix)/distance/\(MQTTNames.level(subject))" }
  /// The topic of the room that a subject was in last.
  package func lastRoom(of subject: SubjectID) -> String { "\(prefix)/last-room/\(MQTTNames.level(subject))" }
  /// The topic of the observer that hears a subject best.
  package func nearest(of subject: SubjectID) -> String { "\(prefix)/nearest/\(MQTTNames.level(subject))" }
  /// The topic of the battery of a beacon.
  package func battery(of subject: SubjectID) -> String { "\(prefix)/battery/\(MQTTNames.level(subject))" }
  /// The topic of a subject's fixes.
  package func fix(of subject: SubjectID) -> String { "\(prefix)/fix/\(MQTTNames.level(subject))" }
  /// The topic of the notifications of a rule.
  package func notification(of rule: String, application: String) -> String {
    "\(prefix)/notification/\(MQTTNames.level(application))/\(MQTTNames.level(rule))"
  }
  /// The topic of an observer.
  package func topic(of observer: ObserverID) -> String {
    "\(prefix)/observer/\(MQTTNames.level(.observer(observer)))"
  }

  /// The discovery topic of an entity; nil without discovery.
  package func config(_ component: String, _ object: String) -> String? {
    discovery.map { "\($0)/\(component)/\(node)/\(object)/config" }
  }

  /// Returns the level of a topic for a subject: letters, digits, `-` and `_` alone, and another one for each subject.
  package static func level(_ subject: SubjectID) -> String {
    switch subject {
    case .none: "none"
    case .observer(.name(let name)): level(name)
    // The canonical texts of all other identities differ in more than their punctuation.
    case .observer, .beacon: plain(subject.description)
    }
  }

  /// Returns the level of a topic for a name: a name that has other characters gets a digest behind what is left of it.
  package static func level(_ name: String) -> String {
    let isPlain = !name.isEmpty && name.utf8.allSatisfy { isLetter($0) || $0 == UInt8(ascii: "-") }
    guard !isPlain else { return name }
    // FNV-1a (Fowler, Noll, Vo), 32 bits: it keeps names apart and is no defence against forgery.
    let digest = name.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    return "\(plain(name).prefix(64))_\(Hex.text(UInt64(digest), bytes: 4))"
  }

  private static func plain(_ text: String) -> String {
    String(
      decoding: text.utf8.map { byte in
        let lower = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
        return isLetter(lower) || lower == UInt8(ascii: "-") ? lower : UInt8(ascii: "_")
      },
      as: UTF8.self
    )
  }

  /// Returns whether a byte is a lower-case letter or a digit.
  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }
}
