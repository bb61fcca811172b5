import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosIngest
import PharosModel
import PharosPresence
import PharosSecurity

/// The transmitters, tracks and rangings of observers.
struct HearingResource: Resource {
  let server: PharosServer
  let registrar: Registrar
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/heard",
        Operation("listHeard", .observers, "All that is heard, registered or not")
          .with(
            .query("unregistered", .flag, "Only what nothing in the site asks about."),
            .query("identified", .flag, "Only those whose adverts carry the identity of a beacon."),
            .observers,
            .cursor,
            .limit
          )
          .answering(.page("beacons", of: .heardBeacon))
          .failing(.unavailable),
        access: .operation,
        handler: heard
      ),
      Route(
        .get,
        "/v1/tracks",
        Operation(
          "listTracks",
          .observers,
          "What is known about beacons at observers, and what is waited for"
        )
        .with(
          .query("observer", .name, "Only at this observer."),
          .query("beacon", .name, "Only of this beacon."),
          .cursor,
          .limit
        )
        .answering(.page("tracks", of: .track))
        .failing(.unavailable),
        access: .operation,
        handler: tracks
      ),
      Route(
        .get,
        "/v1/ranging",
        Operation("getRangings", .ranging, "What was last ranged, by observer and constraint")
          .with(.query("application", "Only for these applications."), .observers)
          .answering(.list("ranging", of: .ranging))
          .failing(.unavailable),
        access: .anyToken,
        handler: ranging
      ),
    ]
  }

  private func heard(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let onlyUnregistered = query.bool("unregistered") ?? false
    let onlyIdentified = query.bool("identified") ?? false
    let observers = query.observers("observer")
    let limit = query.limit()
    let after = Page.key(&query, HeardKey.init)
    try query.finish()
    let asked = KnownDevices(registrar.site)
    let gate = commitPublisher.presentGate(for: request.principal)
    let heard = try await server.snapshot().heard.beacons
      .filter { $0.subjects.allSatisfy { gate.shows($0) } }
      .filter { observers?.contains($0.observer) ?? true }
      .filter { !onlyIdentified || !$0.identities.isEmpty || $0.iBeaconCompany != nil }
      .map { (key: HeardKey($0), beacon: $0, isRegistered: asked.name($0)) }
      .filter { !onlyUnregistered || !$0.isRegistered }
      .sorted { $0.key < $1.key }
    let page = Page.cut(heard, limit: limit, isBehind: after.map { key in { key < $0.key } }) {
      $0.key.parts
    }
    let names = registrar.names
    let rooms = try await cache.rooms(of: page.entries.flatMap { $0.beacon.subjects.dropFirst() }, by: names)
    return .json(names: names) { json in
      json.objects("beacons", page.entries) {
        HearingResource.write($1.beacon, in: rooms, isRegistered: $1.isRegistered, to: &$0)
      }
      json.next(page.next)
    }
  }

  private static func write(
    _ beacon: HeardBeacon,
    in rooms: SubjectRooms,
    isRegistered: Bool,
    to json: inout JSONText
  ) {
    json.identity("observer", beacon.observer)
    json.member("address", ifPresent: beacon.address?.description)
    json.member("pseudonym", ifPresent: beacon.pseudonym?.description)
    json.strings("identities", beacon.identities.map(\.description))
    if let company = beacon.iBeaconCompany { json.member("iBeaconCompany", company) }
    let (names, identities) = (json.siteNames, beacon.subjects.dropFirst())
    json.member("name", ifPresent: identities.lazy.compactMap { names?.given(to: $0) }.first ?? beacon.name)
    json.member("room", ifPresent: identities.lazy.compactMap { rooms[$0] }.first)
    if let rssi = beacon.rssi { json.member("rssi", rssi.dBm) }
    if let rate = beacon.advertsPerSecond { json.member("advertsPerSecond", rate, decimals: 2) }
    json.member("firstHeard", beacon.firstHeard.rfc3339)
    json.member("lastHeard", beacon.lastHeard.rfc3339)
    json.member("registered", isRegistered)
  }

  private func tracks(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let observers = query.observers("observer")
    if (observers?.count ?? 0) > 1 {
      query.wrong("observer", "is given more than once", expected: "one observer")
    }
    let beacons = query.texts("beacon").map { texts in texts.compactMap { BeaconID($0) } }
    if beacons.map({ $0.count != 1 }) ?? false {
      query.wrong(
        "beacon",
        "is not one beacon",
        expected: "one beacon as events name it, as UUID/1/2"
      )
    }
    let limit = query.limit()
    let after = Page.key(&query) { parts -> TrackQuery.Key? in
      guard parts.count == 2, let observer = ObserverID(parts[0]), let beacon = BeaconID(parts[1])
      else {
        return nil
      }
      return TrackQuery.Key(observer: observer, beacon: beacon)
    }
    try query.finish()
    let tracks = try await server.tracks(
      TrackQuery(observer: observers?.first, beacon: beacons?.first, after: after, limit: limit)
    )
    let gate = commitPublisher.presentGate(for: request.principal)
    let names = registrar.names
    let shown = tracks.filter { $0.isShown(through: gate) }
    let rooms = try await cache.rooms(of: shown.map { .beacon($0.beacon) }, by: names)
    return .json(names: names) { json in
      json.objects("tracks", shown) { $1.write(to: &$0, in: rooms, through: gate) }
      let last = tracks.count == limit ? tracks.last?.key : nil
      json.next(last.map { Page.cursor(after: [$0.observer.description, $0.beacon.description]) })
    }
  }

  private func ranging(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let applications = query.texts("application")
    let observers = query.observers("observer")
    try query.finish()
    let gate = commitPublisher.presentGate(for: request.principal)
    // A request that was removed ranges no longer, whatever was ranged last.
    let asked = RangingRequests(registrar.applications)
    let words = try await cache.read { $0.ranging }
      .filter { request.principal.mayUse(application: $0.key.application) && asked.contains($0.key) }
      .filter { applications?.contains($0.key.application) ?? true }
      .filter { observers?.contains($0.key.observer) ?? true }
      .compactMap { $0.passed(gate) }
    let names = registrar.names
    let beacons = words.flatMap { $0.beacons.map { SubjectID.beacon($0.beacon) } }
    let rooms = try await cache.rooms(of: beacons, by: names)
    return .json(names: names) { json in
      json.objects("ranging", words) { $1.write(to: &$0, in: rooms) }
    }
  }
}

/// The constraints that applications range now.
private struct RangingRequests {
  private let constraints: [String: Set<BeaconConstraint>]

  init(_ applications: [RegisteredApplication]) {
    constraints = Dictionary(
      applications.map { ($0.identifier, Set($0.ranging.map(\.request.constraint))) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  func contains(_ key: StateCache.RangingKey) -> Bool {
    constraints[key.application]?.contains(key.constraint) ?? false
  }
}

/// The sort key of a heard transmitter in a listing.
private struct HeardKey: Comparable {
  let observer: ObserverID
  let address: String
  let identity: String

  init(_ beacon: HeardBeacon) {
    observer = beacon.observer
    address = beacon.address?.description ?? beacon.pseudonym?.description ?? ""
    identity = address.isEmpty ? beacon.identities.first?.description ?? "" : ""
  }

  init?(_ parts: [String]) {
    guard parts.count == 3, let observer = ObserverID(parts[0]) else { return nil }
    self.observer = observer
    address = parts[1]
    identity = parts[2]
  }

  var parts: [String] { [observer.description, address, identity] }

  static func < (left: HeardKey, right: HeardKey) -> Bool {
    (left.observer, left.address, left.identity) < (right.observer, right.address, right.identity)
  }
}

extension KnownDevices {
  /// Returns whether a transmitter is registered: others are only heard.
  fileprivate func name(_ beacon: HeardBeacon) -> Bool {
    (beacon.address.map { contains($0) } ?? false) || beacon.identities.contains { contains($0) }
  }
}

extension HeardBeacon {
  /// All that a row about it names.
  fileprivate var subjects: [SubjectID] {
    let beacons = identities + (address.map { [.address($0)] } ?? [])
    return [.observer(observer)] + beacons.map { .beacon($0) }
  }
}

extension TrackInsight {
  /// Returns whether a reader may learn of the track.
  func isShown(through gate: Gate, of application: String = "") -> Bool {
    gate.shows(.observer(observer), of: application) && gate.shows(.beacon(beacon), of: application)
  }

  /// Writes all that is known; times in seconds, levels in dBm.
  fileprivate func write(to json: inout JSONText, in rooms: SubjectRooms, through gate: Gate) {
    json.identity("observer", observer)
    json.identity("beacon", .beacon(beacon))
    json.member("room", ifPresent: rooms[.beacon(beacon)])
    json.member("lastHeard", lastHeard.rfc3339)
    json.member("samples", samples)
    if let level { json.member("level", level, decimals: 2) }
    if let levelDeviation { json.member("levelDeviation", levelDeviation, decimals: 2) }
    json.member("interval", ifPresent: interval)
    json.member("slowestInterval", ifPresent: slowestInterval)
    json.member("declaredInterval", ifPresent: declaredInterval)
    if let receptionShare { json.member("receptionShare", receptionShare, decimals: 3) }
    if let lossRun { json.member("lossRun", lossRun, decimals: 2) }
    json.member("telling", isTelling)
    if silenceFrom != .distantPast { json.member("silenceFrom", silenceFrom.rfc3339) }
    let regions = regions.filter { isShown(through: gate, of: $0.application) }
    json.objects("regions", regions) { $1.write(to: &$0) }
  }
}

extension RegionInsight {
  fileprivate func write(to json: inout JSONText) {
    json.member("application", application)
    json.member("region", region)
    json.member("subject", isAboutBeacons ? "beacon" : "observer")
    json.member("state", state.name)
    json.member("since", ifPresent: since?.rfc3339)
    json.member("allowedGap", ifPresent: allowedGap)
    json.member("silenceDeadline", ifPresent: silenceDeadline?.rfc3339)
    json.member("levelDeadline", ifPresent: levelDeadline?.rfc3339)
    json.member("waitingForProof", isWaitingForProof)
    if let enterLevel { json.member("enterLevel", enterLevel, decimals: 2) }
    if let exitLevel { json.member("exitLevel", exitLevel, decimals: 2) }
    if let entry {
      json.openObject("entry")
      json.member("heard", entry.heard)
      json.member("span", entry.span.seconds, decimals: 3)
      json.member("needed", entry.needed)
      json.member("window", entry.window.seconds, decimals: 3)
      json.member("nextIsEnough", entry.isNextEnough)
      json.closeObject()
    }
  }
}

extension StateCache.RangingWord {
  /// Writes the ranging as events tell it.
  fileprivate func write(to json: inout JSONText, in rooms: SubjectRooms) {
    json.member("application", key.application)
    json.identity("observer", key.observer)
    json.member("constraint", key.constraint.description)
    json.member("time", time.rfc3339)
    json.objects("beacons", beacons) { json, reading in
      json.identity("beacon", .beacon(reading.beacon))
      json.member("room", ifPresent: rooms[.beacon(reading.beacon)])
      json.member("proximity", reading.proximity.rawValue)
      json.member("rssi", reading.rssi, decimals: 1)
      json.member("accuracy", reading.accuracy, decimals: 2)
      json.member("deviation", reading.deviation, decimals: 2)
      json.member("samples", reading.samples)
    }
  }
}

extension JSONText {
  /// Writes a span in seconds, or nothing for nil.
  mutating func member(_ key: StaticString, ifPresent span: TimeSpan?) {
    if let span { member(key, span.seconds, decimals: 3) }
  }
}

extension Operation.Parameter {
  fileprivate static let observers = query("observer", "Only by these observers.")
}

extension Schema {
  static let heardBeacon = Schema.object([
    .required("observer", .text),
    .optional("observerName", .givenName),
    .optional(
      "address",
      .text,
      "Missing where it has none, and for devices that nothing in the site asks about."
    ),
    .optional(
      "pseudonym",
      .pattern("^~[0-9a-f]{12}$"),
      """
      What stands for the address of a device that nothing in the site asks about: it says nothing beyond \
      this run of the server, and is forgotten ten minutes after the device was last heard.
      """
    ),
    .required("identities", .list(.text)),
    .optional(
      "iBeaconCompany",
      .integer(0...65_535),
      """
      The company under which it advertises in the layout of an iBeacon; the site file's `iBeaconCompanies` \
      reads it.
      """
    ),
    .optional(
      "name",
      .text,
      """
      The name that the site gives it, else the one that it advertises; missing for devices that nothing in \
      the site asks about.
      """
    ),
    .optional("room", .presentRoom),
    .optional("rssi", .integer, "dBm."),
    .optional("advertsPerSecond", .number),
    .required("firstHeard", .time),
    .required("lastHeard", .time),
    .required("registered", .flag, "Whether some region, ranging, zone or directory entry names it."),
  ]).named("HeardBeacon")

  static let track = Schema.object([
    .required("observer", .text),
    .optional("observerName", .givenName),
    .required("beacon", .text),
    .optional("name", .givenName),
    .optional("room", .presentRoom),
    .required("lastHeard", .time),
    .required("samples", .count),
    .optional("level", .number, "dBm."),
    .optional("levelDeviation", .number, "dB."),
    .optional("interval", .number, "Seconds."),
    .optional("slowestInterval", .number, "Seconds."),
    .optional("declaredInterval", .number, "Seconds."),
    .optional("receptionShare", .number),
    .optional("lossRun", .number),
    .required("telling", .flag, "Whether silence says anything now."),
    .optional("silenceFrom", .time),
    .required(
      "regions",
      .list(
        .object([
          .required("application", .text),
          .required("region", .text),
          .required("subject", .words(["observer", "beacon"])),
          .required("state", .regionState),
          .optional("since", .time),
          .optional("allowedGap", .number, "Seconds."),
          .optional("silenceDeadline", .time),
          .optional("levelDeadline", .time),
          .required("waitingForProof", .flag),
          .optional("enterLevel", .number, "dBm."),
          .optional("exitLevel", .number, "dBm."),
          .optional(
            "entry",
            .object([
              .required("heard", .integer, "The latest adverts that belong together."),
              .required("span", .number, "Seconds from the first of them to the last."),
              .required("needed", .integer, "The number of adverts that it takes."),
              .required("window", .number, "Seconds within which they must fall."),
              .required(
                "nextIsEnough",
                .flag,
                "Whether one more in regular distance is enough, even outside the window."
              ),
            ]),
            "While outside: the adverts that count towards entering."
          ),
        ])
      )
    ),
  ]).named("Track")
}
