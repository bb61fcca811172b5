import PharosDocuments
import PharosModel

extension SiteReading {
  static let applicationKeys =
    ["id", "purpose", "regions", "ranging", "rotation", "regionLimit"] + AccuracyPolicy.keys
  static let rangingKeys = DocumentFields.identityKeys + ["whileInside"]
  static let rotationKeys = ["region", "children"]
  static let purposeExpected = "what the application wants to know where people are for"

  /// The name of the application that regions at the top level belong to.
  static let defaultApplication = "default"

  mutating func applications(_ fields: DocumentFields) -> [Application] {
    var applications: [Application] = []
    var seen: Set<String> = []
    if ["regions", "ranging", "rotation"].contains(where: fields.has) {
      seen.insert(SiteReading.defaultApplication)
      applications.append(application(SiteReading.defaultApplication, fields, limit: nil))
    }
    let keys = SiteReading.applicationKeys
    for entry in fields.entries("applications", known: keys, place: { $0.name("application", $1) }) {
      guard !problems.isFull else { break }
      let id = entry.requiredText("id", expected: "the application's name")
      if let id, !seen.insert(id).inserted {
        let isDefault = id == SiteReading.defaultApplication && fields.has("regions")
        entry.mistake(
          "id",
          isDefault ? "regions at the top level are this application's too" : "this id is already in use",
          expected: isDefault ? "its regions in one place" : "each application once"
        )
      }
      let limit = entry.value("regionLimit", .integer(in: 1...SiteReading.maximumRegions))
      access.purposes[id ?? ""] = entry.filledText(
        "purpose",
        expected: SiteReading.purposeExpected,
        form: .lines
      )
      access.accuracies[id ?? ""] = AccuracyPolicy.read(entry)
      applications.append(application(id ?? "", entry, limit: limit))
    }
    return applications
  }

  private mutating func application(_ id: String, _ fields: DocumentFields, limit: Int?) -> Application {
    var application = Application(identifier: id)
    if let limit { application.regionLimit = limit }
    var seen: Set<String> = []
    let nodes = fields.list("regions", of: "regions", known: SiteReading.regionKeys)
    for (index, path, node) in nodes where !problems.isFull {
      if index == application.regionLimit {
        problems.mistake(
          "application \"\(id)\" has \(nodes.count) regions; this is the first above its limit of "
            + "\(application.regionLimit)",
          line: node.line,
          field: path,
          expected: "at most \(application.regionLimit); use a rotation for a larger set"
        )
      }
      if let region = region(node, place: node.name("region", index), path: path, seen: &seen) {
        application.regions.append(region)
      }
    }
    application.ranging = fields.entries("ranging", of: "constraints", known: SiteReading.rangingKeys) {
      "ranging \($1 + 1) of application \"\(id)\""
    }.compactMap { $0.ranging() }
    application.rotation = fields.list(
      "rotation",
      of: "regions with children",
      known: SiteReading.rotationKeys
    )
    .compactMap { rotation($0.node, path: $0.path, depth: 1, seen: &seen) }
    if let first = nodes.first(where: { $0.node.isAboutObservers }) {
      observerRegions.append((first.node.name("region", 0), first.path, first.node.line))
    }
    return application
  }

  private mutating func rotation(
    _ node: DocumentNode,
    path: String,
    depth: Int,
    seen: inout Set<String>
  ) -> RegionNode? {
    guard depth <= SiteReading.deepestRotation else {
      problems.mistake(
        "the rotation is deeper than \(SiteReading.deepestRotation) levels",
        line: node.line,
        field: path,
        expected: "venue, floor, exhibit, or a few more"
      )
      return nil
    }
    let known = SiteReading.rotationKeys
    let place = "rotation level \(depth)"
    guard !problems.isFull,
      let fields = DocumentFields(node, place: place, path: path, known: known, problems: problems)
    else { return nil }
    guard let regionNode = fields["region"] else {
      fields.mistake("region", "region is missing", expected: "the region of this level")
      return nil
    }
    let name = regionNode.name("region", 0)
    let region = region(regionNode, place: name, path: fields.path(of: "region"), seen: &seen)
    var children: [RegionNode] = []
    for (_, path, node) in fields.list(
      "children",
      of: "regions with children",
      known: SiteReading.rotationKeys
    ) {
      guard let child = rotation(node, path: path, depth: depth + 1, seen: &seen) else { continue }
      children.append(child)
    }
    return region.map { RegionNode(region: $0, children: children) }
  }
}

extension DocumentNode {
  /// Indicates whether a region's entry is about observers, which is the default.
  fileprivate var isAboutObservers: Bool {
    members != nil && !isGeofence && (self["subject"]?.scalar ?? "observer") == "observer"
  }

  /// Indicates whether a region's entry is an area.
  fileprivate var isGeofence: Bool {
    members != nil && ["circle", "polygon"].contains(self["kind"]?.scalar ?? "")
  }
}

extension SiteReading {
  static let regionKeys =
    ["id", "kind", "subject", "observers"] + DocumentFields.identityKeys + ["enter", "exit"]
    + DocumentField.keys(Region.notifying + Region.holding + Region.describing)
  /// The keys of a region that is an area.
  static let geofenceKeys =
    ["id", "kind", "subject"] + GeofenceDocument.keys + ["enter", "exit"]
    + DocumentField.keys(Region.announcing + Region.holding + Region.describing)

  /// One region; `seen` holds the identifiers that its application has already.
  mutating func region(_ node: DocumentNode, place: String, path: String, seen: inout Set<String>) -> Region?
  {
    regionCount += 1
    guard regionCount <= SiteReading.maximumRegions else {
      if regionCount == SiteReading.maximumRegions + 1 {
        problems.mistake(
          "more than \(SiteReading.maximumRegions) regions",
          line: node.line,
          field: path,
          expected: "fewer; do aliases multiply them?"
        )
      }
      return nil
    }
    let known = node.isGeofence ? SiteReading.geofenceKeys : SiteReading.regionKeys
    guard let fields = DocumentFields(node, place: place, path: path, known: known, problems: problems) else {
      return nil
    }
    let id = fields.requiredText("id", expected: "the region's name")
    if let id, !seen.insert(id).inserted {
      fields.mistake("id", "this id is already in use", expected: "each region of an application once")
    }
    return region(fields, identifier: id)
  }

  /// A region of a document, whose identifier stands in the address.
  mutating func region(_ node: DocumentNode, identifier: String) -> Region? {
    let place = "region \"\(PlainText.cut(identifier, to: 64))\""
    let known = node.isGeofence ? SiteReading.geofenceKeys : SiteReading.regionKeys
    guard let fields = DocumentFields(node, place: place, known: known, problems: problems) else {
      return nil
    }
    fields.check(identifier: identifier)
    return region(fields, identifier: identifier)
  }

  /// Reads all keys, so that every mistake is noted, before it gives up on a region without an identity.
  private mutating func region(_ fields: DocumentFields, identifier: String?) -> Region? {
    if fields.has("kind") {
      switch fields.value("kind", .word(GeofenceDocument.Kind.allCases)) {
      case .beacons: break
      case .circle: return geofence(fields, .circle, identifier: identifier)
      case .polygon: return geofence(fields, .polygon, identifier: identifier)
      case nil: return nil
      }
    }
    let identity = fields.identity()
    var region = Region(identifier: identifier ?? "", constraint: identity?.constraint ?? .unread)
    region.keyedByAddress = identity?.keyedByAddress ?? false
    region.subject = subject(fields)
    region.presence = presence(fields)
    DocumentField.read(Region.notifying + Region.holding + Region.describing, of: fields, into: &region)
    return identity == nil || identifier == nil ? nil : region
  }

  private mutating func geofence(
    _ fields: DocumentFields,
    _ kind: GeofenceDocument.Kind,
    identifier: String?
  ) -> Region? {
    let subject = subject(fields)
    let geofence = GeofenceDocument.geofence(fields, kind, files: files)
    guard let geofence, let identifier else { return nil }
    var region = Region(identifier: identifier, geofence: geofence, subject: subject)
    DocumentField.read(Region.announcing + Region.holding + Region.describing, of: fields, into: &region)
    return region
  }

  private mutating func subject(_ fields: DocumentFields) -> Region.Subject {
    let subject = fields.text("subject") ?? "observer"
    switch subject {
    case "observer":
      if fields.has("observers") {
        fields.mistake(
          "observers",
          "observers are listed, and the region is about observers",
          expected: "subject: beacon with it"
        )
      }
      return .observer
    case "beacon":
      guard fields.has("observers") else { return .beacon(observers: nil) }
      let observers = observerList(fields, "observers")
      if observers.isEmpty {
        fields.mistake("observers", "no observer is listed", expected: "one or more, or no such key for all")
      }
      return .beacon(observers: observers)
    default:
      fields.mistake("subject", "subject is \"\(subject)\"", expected: "observer or beacon")
      return .observer
    }
  }

  private func presence(_ fields: DocumentFields) -> PresencePolicy {
    var policy = PresencePolicy()
    if let enter = fields.fields("enter", known: DocumentField.keys(PresencePolicy.enter)) {
      DocumentField.read(PresencePolicy.enter, of: enter, into: &policy)
    }
    if let exit = fields.fields("exit", known: DocumentField.keys(PresencePolicy.exit)) {
      DocumentField.read(PresencePolicy.exit, of: exit, into: &policy)
      if policy.silenceFloor > policy.silenceCeiling {
        exit.mistake(
          exit.has("floor") ? "floor" : "ceiling",
          "floor (\(policy.silenceFloor.written)) must not be above ceiling (\(policy.silenceCeiling.written))"
        )
      }
      checkHysteresis(policy, exit, in: fields)
    }
    return policy
  }

  /// Without a gap between the two levels a beacon at the edge would come and go with every fade.
  private func checkHysteresis(_ policy: PresencePolicy, _ exit: DocumentFields, in region: DocumentFields) {
    let text = PlainText.number
    if let near = policy.enterDistance, let far = policy.exitDistance, far <= near {
      problems.mistake(
        "\(region.place): exit.distance (\(text(far.value))m) must be beyond enter.distance (\(text(near.value))m)",
        line: exit.line(of: "distance"),
        field: exit.path(of: "distance")
      )
    }
    guard let exitRSSI = policy.exitRSSI else { return }
    guard let enterRSSI = policy.enterRSSI else {
      guard region["enter"]?["rssi"] == nil else { return }
      problems.warning(
        "\(region.place): exit.rssi (\(text(exitRSSI)) dBm) without enter.rssi: a weak beacon enters by its "
          + "samples and leaves by its level, again and again",
        line: exit.line(of: "rssi"),
        field: exit.path(of: "rssi"),
        expected: "an enter.rssi above it"
      )
      return
    }
    guard exitRSSI >= enterRSSI else { return }
    problems.mistake(
      "\(region.place): exit.rssi (\(text(exitRSSI)) dBm) must be under enter.rssi (\(text(enterRSSI)) dBm)",
      line: exit.line(of: "rssi"),
      field: exit.path(of: "rssi")
    )
  }
}
