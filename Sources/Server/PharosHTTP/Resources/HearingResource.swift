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
        access: .operation,
        query: ["unregistered", "identified", "observer", "cursor", "limit"],
        handler: heard
      ),
      Route(
        .get,
        "/v1/tracks",
        access: .operation,
        query: ["observer", "beacon", "cursor", "limit"],
        handler: tracks
      ),
      Route(.get, "/v1/ranging", access: .anyToken, query: ["application", "observer"], handler: ranging),
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
