import PharosModel
import Yams

extension SiteReading {
  private static let applicationKeys = ["id", "purpose", "regions", "ranging", "rotation", "regionLimit"]
  static let rangingKeys = SiteIdentity.keys + ["whileInside"]
  static let purposeExpected = "what the application wants to know where people are for"

  /// The name of the application that regions at the top level belong to.
  static let defaultApplication = "default"

  mutating func applications(_ fields: SiteFields) -> [Application] {
    var applications: [Application] = []
    var seen: Set<String> = []
    if ["regions", "ranging", "rotation"].contains(where: fields.has) {
      seen.insert(SiteReading.defaultApplication)
      applications.append(application(SiteReading.defaultApplication, fields, limit: nil))
    }
    for (index, path, node) in fields.list("applications", of: "applications") {
      guard !problems.isFull else { break }
      let place = node.named("application", index)
      let keys = SiteReading.applicationKeys
      guard let entry = SiteFields(node, place: place, path: path, known: keys, problems: problems) else {
        continue
      }
      let id = entry.requiredText("id", expected: "the application's name")
      if let id, !seen.insert(id).inserted {
        let isDefault = id == SiteReading.defaultApplication && fields.has("regions")
        entry.mistake(
          "id",
          isDefault ? "regions at the top level are this application's too" : "this id is taken already",
          expected: isDefault ? "its regions in one place" : "each application once"
        )
      }
      let limit = entry.integer("regionLimit", in: 1...SiteReading.mostRegions)
      access.purposes[id ?? ""] = entry.filledText("purpose", expected: SiteReading.purposeExpected)
      applications.append(application(id ?? "", entry, limit: limit))
    }
    return applications
  }

  private mutating func application(_ id: String, _ fields: SiteFields, limit: Int?) -> Application {
    var application = Application(identifier: id)
    if let limit { application.regionLimit = limit }
    var seen: Set<String> = []
    let nodes = fields.list("regions", of: "regions")
    for (index, path, node) in nodes where !problems.isFull {
      if index == application.regionLimit {
        problems.mistake(
          "application \"\(id)\" has \(nodes.count) regions; this is the first above its limit of "
            + "\(application.regionLimit)",
          line: node.mark?.line ?? fields.line,
          field: path,
          expected: "at most \(application.regionLimit); use a rotation for a larger set"
        )
      }
      if let region = region(node, place: node.named("region", index), path: path, seen: &seen) {
        application.regions.append(region)
      }
    }
    application.ranging = fields.list("ranging", of: "constraints").compactMap { index, path, node in
      ranging(node, place: "ranging \(index + 1) of application \"\(id)\"", path: path)
    }
    application.rotation = fields.list("rotation", of: "regions with children")
      .compactMap { rotation($0.node, path: $0.path, depth: 1, seen: &seen) }
    if let first = nodes.first(where: { $0.node.isAboutObservers }) {
      let line = first.node.mark?.line ?? fields.line
      observerRegions.append((first.node.named("region", 0), first.path, line))
    }
    return application
  }

  /// One ranging request.
  func ranging(_ node: Node, place: String, path: String) -> RangingRequest? {
    let known = SiteReading.rangingKeys
    guard let fields = SiteFields(node, place: place, path: path, known: known, problems: problems) else {
      return nil
    }
    let whileInside = fields.flag("whileInside") ?? false
    return identity(fields).map {
      RangingRequest(
        constraint: $0.constraint,
        keyedByAddress: $0.keyedByAddress,
        whileInside: whileInside
      )
    }
  }

  private mutating func rotation(
    _ node: Node,
    path: String,
    depth: Int,
    seen: inout Set<String>
  ) -> RegionNode? {
    let line = node.mark?.line ?? 1
    guard depth <= SiteReading.deepestRotation else {
      problems.mistake(
        "the rotation is deeper than \(SiteReading.deepestRotation) levels",
        line: line,
        field: path,
        expected: "venue, floor, exhibit, or a few more"
      )
      return nil
    }
    let known = ["region", "children"]
    let place = "rotation level \(depth)"
    guard !problems.isFull,
      let fields = SiteFields(node, place: place, path: path, known: known, problems: problems)
    else { return nil }
    guard let regionNode = fields["region"] else {
      fields.mistake("region", "region is missing", expected: "the region of this level")
      return nil
    }
    let name = regionNode.named("region", 0)
    let region = region(regionNode, place: name, path: fields.path(of: "region"), seen: &seen)
    var children: [RegionNode] = []
    for (_, path, node) in fields.list("children", of: "regions with children") {
      guard let child = rotation(node, path: path, depth: depth + 1, seen: &seen) else { continue }
      children.append(child)
    }
    return region.map { RegionNode(region: $0, children: children) }
  }
}

extension Node {
  /// Returns the name of an entry in messages: its id, or its place in the list if it has none.
  func named(_ kind: String, _ index: Int) -> String {
    guard let id = mapping?["id"]?.scalar?.string, !id.isEmpty else { return "\(kind) \(index + 1)" }
    return "\(kind) \"\(PlainText.cut(id, to: 64))\""
  }

  /// Indicates whether a region's entry is about observers, which is the default.
  fileprivate var isAboutObservers: Bool {
    guard let mapping else { return false }
    return (mapping["subject"]?.scalar?.string ?? "observer") == "observer"
  }
}

extension SiteReading {
  static let regionKeys =
    ["id", "subject", "observers"] + SiteIdentity.keys + [
      "enter", "exit", "notifyOnEntry", "notifyOnExit", "notifyEntryStateOnDisplay", "maximumHold",
    ]
  private static let enterKeys = ["samples", "within", "rssi", "distance"]
  private static let exitKeys = [
    "rssi", "distance", "dwell", "silence", "floor", "ceiling", "falseExitsPerDay", "stillInterval",
  ]
  /// The levels that a radio can report, in dBm; 127 and 0 mean "not available".
  private static let levels: ClosedRange<Double> = -127...20

  /// One region; `seen` holds the identifiers that its application has already.
  mutating func region(_ node: Node, place: String, path: String, seen: inout Set<String>) -> Region? {
    regionCount += 1
    guard regionCount <= SiteReading.mostRegions else {
      if regionCount == SiteReading.mostRegions + 1 {
        problems.mistake(
          "more than \(SiteReading.mostRegions) regions",
          line: node.mark?.line ?? 1,
          field: path,
          expected: "fewer; do aliases multiply them?"
        )
      }
      return nil
    }
    let known = SiteReading.regionKeys
    guard let fields = SiteFields(node, place: place, path: path, known: known, problems: problems) else {
      return nil
    }
    let id = fields.requiredText("id", expected: "the region's name")
    if let id, !seen.insert(id).inserted {
      fields.mistake("id", "this id is taken already", expected: "each region of an application once")
    }
    return region(fields, identifier: id)
  }

  /// A region of a document, whose identifier stands in the address.
  mutating func region(_ node: Node, identifier: String) -> Region? {
    let place = "region \"\(PlainText.cut(identifier, to: 64))\""
    let known = SiteReading.regionKeys
    guard let fields = SiteFields(node, place: place, path: "", known: known, problems: problems) else {
      return nil
    }
    fields.check(identifier: identifier)
    return region(fields, identifier: identifier)
  }

  private mutating func region(_ fields: SiteFields, identifier: String?) -> Region? {
    let identity = identity(fields)
    let subject = subject(fields)
    let presence = presence(fields)
    let notifyOnEntry = fields.flag("notifyOnEntry") ?? true
    let notifyOnExit = fields.flag("notifyOnExit") ?? true
    let notifyEntryStateOnDisplay = fields.flag("notifyEntryStateOnDisplay") ?? false
    let maximumHold = fields.time("maximumHold") ?? Region.defaultMaximumHold
    // Only now: all that is wrong with the entry has been noted.
    guard let identifier, let identity else { return nil }
    return Region(
      identifier: identifier,
      constraint: identity.constraint,
      subject: subject,
      keyedByAddress: identity.keyedByAddress,
      notifyOnEntry: notifyOnEntry,
      notifyOnExit: notifyOnExit,
      notifyEntryStateOnDisplay: notifyEntryStateOnDisplay,
      presence: presence,
      maximumHold: maximumHold
    )
  }

  private mutating func subject(_ fields: SiteFields) -> Region.Subject {
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

  private func presence(_ fields: SiteFields) -> PresencePolicy {
    var policy = PresencePolicy()
    if let enter = fields.fields("enter", known: SiteReading.enterKeys) {
      policy.enterSamples = enter.integer("samples", in: 1...1_000) ?? policy.enterSamples
      policy.enterWithin = enter.time("within")
      policy.enterRSSI = enter.number("rssi", in: SiteReading.levels, unit: "dBm")
      policy.enterDistance = distance(enter)
    }
    if let exit = fields.fields("exit", known: SiteReading.exitKeys) {
      readExit(exit, into: &policy)
      checkHysteresis(policy, exit, in: fields)
    }
    return policy
  }

  private func readExit(_ exit: SiteFields, into policy: inout PresencePolicy) {
    policy.exitRSSI = exit.number("rssi", in: SiteReading.levels, unit: "dBm")
    policy.exitDistance = distance(exit)
    policy.exitDwell = exit.time("dwell", allowingZero: true) ?? policy.exitDwell
    policy.silence = silence(exit) ?? policy.silence
    policy.silenceFloor = exit.time("floor") ?? policy.silenceFloor
    policy.silenceCeiling = exit.time("ceiling") ?? policy.silenceCeiling
    policy.falseExitsPerDay = exit.number("falseExitsPerDay", in: 1e-6...1_000) ?? policy.falseExitsPerDay
    policy.stillInterval = exit.time("stillInterval")
    if policy.silenceFloor > policy.silenceCeiling {
      exit.mistake(
        exit.has("floor") ? "floor" : "ceiling",
        "floor (\(policy.silenceFloor.written)) must not be above ceiling (\(policy.silenceCeiling.written))"
      )
    }
  }

  /// A distance in metres, with its unit; beyond a kilometre no beacon is heard.
  private func distance(_ fields: SiteFields) -> Meters? {
    fields.parsed("distance", expected: "a distance in metres with its unit, as in 3m or 2.5m") { text in
      guard text.hasSuffix("m"), let meters = Double(text.dropLast()) else { return nil }
      return meters > 0 && meters <= 1_000 ? Meters(meters) : nil
    }
  }

  private func silence(_ exit: SiteFields) -> PresencePolicy.Silence? {
    exit.parsed("silence", expected: "adaptive, never or a time such as 30s") { text in
      switch text {
      case "adaptive": .adaptive
      case "never": .never
      default: TimeSpan(written: text).flatMap { $0 > .zero ? .fixed($0) : nil }
      }
    }
  }

  /// Without a gap between the two levels a beacon at the edge would come and go with every fade.
  private func checkHysteresis(_ policy: PresencePolicy, _ exit: SiteFields, in region: SiteFields) {
    if let near = policy.enterDistance, let far = policy.exitDistance, far <= near {
      let (nearest, farthest) = (plain(near.value), plain(far.value))
      problems.mistake(
        "\(region.place): exit.distance (\(farthest)m) must be beyond enter.distance (\(nearest)m)",
        line: exit.line(of: "distance"),
        field: exit.path(of: "distance")
      )
    }
    guard let exitRSSI = policy.exitRSSI else { return }
    guard let enterRSSI = policy.enterRSSI else {
      guard region["enter"]?.mapping?["rssi"] == nil else { return }
      problems.warning(
        "\(region.place): exit.rssi (\(plain(exitRSSI)) dBm) without enter.rssi: a weak beacon enters by its "
          + "samples and leaves by its level, again and again",
        line: exit.line(of: "rssi"),
        field: exit.path(of: "rssi"),
        expected: "an enter.rssi above it"
      )
      return
    }
    guard exitRSSI >= enterRSSI else { return }
    problems.mistake(
      "\(region.place): exit.rssi (\(plain(exitRSSI)) dBm) must be under enter.rssi (\(plain(enterRSSI)) dBm)",
      line: exit.line(of: "rssi"),
      field: exit.path(of: "rssi")
    )
  }

  private func plain(_ number: Double) -> String { SiteFields.plain(number) }
}
