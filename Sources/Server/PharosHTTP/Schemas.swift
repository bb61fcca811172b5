import PharosDocuments

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

  static let proximity = Schema.words(["immediate", "near", "far", "unknown"]).named("Proximity")

  static let authorisationState = Schema.words([
    "notDetermined", "restricted", "denied", "whenInUse", "always",
  ]).named("AuthorisationState")

  static let zoneState = Schema.words(["inside", "unmonitored"]).described(
    """
    Absent in no zone. `unmonitored`: the observers that heard it in the zone are down, so that the zone is \
    the last one known.
    """
  ).named("ZoneState")
}
