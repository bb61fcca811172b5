import PharosDocuments
import PharosModel

// The schemas that several resources share.

extension Schema {
  /// The name of an observer or a beacon.
  static let givenName = text.described("The name that the site gives it.")
  /// The room of an observer or a beacon.
  static let presentRoom = text.described(
    "The room that it is in now: the name of its zone, else the room of its last fix."
  )

  static let source = Schema.words(["site", "http"]).described(
    "Whether the site file declares it, or it was made over HTTP."
  ).named("Source")

  static let subjectKind = Schema.words(["none", "observer", "beacon"]).named("SubjectKind")

  static let regionState = Schema.words(["unknown", "inside", "outside", "unmonitored"]).named("RegionState")

  static let monitorState = Schema.words(["unknown", "satisfied", "unsatisfied", "unmonitored"]).described(
    "The state in the words of CLMonitor."
  ).named("MonitorState")

  static let proximity = Schema.words(of: RangedReading.Proximity.self).named("Proximity")

  static let authorisationState = Schema.words(AuthorisationState.allCases.map(\.name)).named(
    "AuthorisationState"
  )

  static let zoneState = Schema.words(["inside", "unmonitored"]).described(
    """
    Absent in no zone. `unmonitored`: the observers that heard it in the zone are down, so that the zone is \
    the last one known.
    """
  ).named("ZoneState")
}

extension DocumentField {
  /// An observer or a beacon, and its name.
  static func identity(
    _ key: StaticString,
    _ description: String? = nil,
    _ subject: @escaping @Sendable (Owner) -> SubjectID
  ) -> Self {
    let name = name(beside: key)
    return DocumentField(writing: [.required(key.description, .text, description), name]) { owner, json in
      json.identity(key, subject(owner))
    }
  }

  /// An observer or a beacon, if there is one, and its name.
  static func identity(
    ofAny key: StaticString,
    _ description: String? = nil,
    _ subject: @escaping @Sendable (Owner) -> SubjectID?
  ) -> Self {
    let name = name(beside: key)
    return DocumentField(writing: [.optional(key.description, .text, description), name]) { owner, json in
      if let subject = subject(owner) { json.identity(key, subject) }
    }
  }

  private static func name(beside key: StaticString) -> Schema.Member {
    let stands = ["subject", "beacon", "id"].contains(key.description)
    return .optional(stands ? "name" : "\(key)Name", .givenName)
  }

  /// A subject, its name and its kind.
  static func subject(_ subject: @escaping @Sendable (Owner) -> SubjectID) -> Self {
    let members: [Schema.Member] = [
      .required("subject", .text), .optional("name", .givenName), .required("subjectKind", .subjectKind),
    ]
    return DocumentField(writing: members) { owner, json in json.subject(subject(owner)) }
  }
}
