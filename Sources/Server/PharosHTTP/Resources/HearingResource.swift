import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosIngest
import PharosModel
import PharosPresence
import PharosSecurity
import PharosSite

/// The transmitters, tracks and rangings of observers.
struct HearingResource: Resource {
  let server: PharosServer
  let owner: SiteOwner
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
    let asked = KnownDevices(owner.site)
    let gate = commitPublisher.presentGate(for: request.principal)
    let heard = try await server.snapshot().heard.beacons
      .filter { $0.subjects.allSatisfy { gate.showsFully($0) } }
      .filter { observers?.contains($0.observer) ?? true }
      .filter { !onlyIdentified || !$0.identities.isEmpty || $0.iBeaconCompany != nil }
      .map { (key: HeardKey($0), beacon: $0, isRegistered: asked.name($0)) }
      .filter { !onlyUnregistered || !$0.isRegistered }
      .sorted { $0.key < $1.key }
    let page = Page.cut(heard, limit: limit, isBehind: after.map { key in { key < $0.key } }) {
      $0.key.parts
    }
    let names = owner.names
    let rooms = try await cache.rooms(
      of: page.entries.flatMap { $0.beacon.subjects.dropFirst() },
      by: names,
      through: gate
    )
    return .json(names: names) { json in
      let rows = page.entries.map { HeardRow(beacon: $0.beacon, isRegistered: $0.isRegistered, rooms: rooms) }
      json.objects("beacons", rows, HeardRow.members)
      json.next(page.next)
    }
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
    let names = owner.names
    let shown = tracks.filter { $0.isShown(through: gate) }
    let rooms = try await cache.rooms(of: shown.map { .beacon($0.beacon) }, by: names, through: gate)
    return .json(names: names) { json in
      let rows = shown.map { TrackRow(track: $0, rooms: rooms, gate: gate) }
      json.objects("tracks", rows, TrackRow.members)
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
    let asked = RangingRequests(owner.applications)
    let words = try await cache.read { $0.ranging }
      .filter { request.principal.mayUse(application: $0.key.application) && asked.contains($0.key) }
      .filter { applications?.contains($0.key.application) ?? true }
      .filter { observers?.contains($0.key.observer) ?? true }
      .compactMap { $0.passed(gate) }
    let names = owner.names
    let beacons = words.flatMap { $0.beacons.map { SubjectID.beacon($0.beacon) } }
    let rooms = try await cache.rooms(of: beacons, by: names, through: gate)
    return .json(names: names) { json in
      json.objects("ranging", words.map { RangingRow(word: $0, rooms: rooms) }, RangingRow.members)
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
    gate.showsFully(.observer(observer), of: application)
      && gate.showsFully(.beacon(beacon), of: application)
  }

}

/// A transmitter in a listing.
private struct HeardRow {
  let beacon: HeardBeacon
  let isRegistered: Bool
  let rooms: SubjectRooms

  private static let unasked = "devices that nothing in the site asks about"

  static let members: [DocumentField<HeardRow>] = [
    .identity("observer") { .observer($0.beacon.observer) },
    .sometimes("address", .text, "Missing where it has none, and for \(unasked).") {
      $0.beacon.address?.description
    },
    .sometimes(
      "pseudonym",
      .text(.pattern("^~[0-9a-f]{12}$")),
      """
      What stands for the address of a device that nothing in the site asks about: it says nothing beyond \
      this run of the server, and is forgotten ten minutes after the device was last heard.
      """
    ) { $0.beacon.pseudonym?.description },
    .always("identities", .list(.text)) { $0.beacon.identities.map(\.description) },
    .sometimes(
      "iBeaconCompany",
      .integer(in: 0...65_535),
      """
      The company under which it advertises in the layout of an iBeacon; the site file's `iBeaconCompanies` \
      reads it.
      """
    ) { $0.beacon.iBeaconCompany },
    DocumentField(
      writing: [
        .optional(
          "name",
          .text,
          "The name that the site gives it, else the one that it advertises; missing for \(unasked)."
        )
      ]
    ) { row, json in
      let given = row.identities.lazy.compactMap { [names = json.siteNames] in names?.given(to: $0) }.first
      json.member("name", ifPresent: given ?? row.beacon.name)
    },
    .sometimes("room", .text(.presentRoom)) { row in
      row.identities.lazy.compactMap { row.rooms[$0] }.first
    },
    .sometimes("rssi", .integer, "dBm.") { $0.beacon.rssi?.dBm },
    .sometimes("advertsPerSecond", .number(decimals: 2)) { $0.beacon.advertsPerSecond },
    .always("firstHeard", .moment) { $0.beacon.firstHeard },
    .always("lastHeard", .moment) { $0.beacon.lastHeard },
    .always("registered", .flag, "Whether some region, ranging, zone or directory entry names it.") {
      $0.isRegistered
    },
  ]

  private var identities: ArraySlice<SubjectID> { beacon.subjects.dropFirst() }
}

/// A track in a listing: times in seconds, levels in dBm.
private struct TrackRow {
  let track: TrackInsight
  let rooms: SubjectRooms
  let gate: Gate

  static let members: [DocumentField<TrackRow>] = [
    .identity("observer") { .observer($0.track.observer) },
    .identity("beacon") { .beacon($0.track.beacon) },
    .sometimes("room", .text(.presentRoom)) { $0.rooms[.beacon($0.track.beacon)] },
    .always("lastHeard", .moment) { $0.track.lastHeard },
    .always("samples", .count) { $0.track.samples },
    .sometimes("level", .number(decimals: 2), "dBm.") { $0.track.level },
    .sometimes("levelDeviation", .number(decimals: 2), "dB.") { $0.track.levelDeviation },
    .sometimes("interval", .seconds, "Seconds.") { $0.track.interval },
    .sometimes("slowestInterval", .seconds, "Seconds.") { $0.track.slowestInterval },
    .sometimes("declaredInterval", .seconds, "Seconds.") { $0.track.declaredInterval },
    .sometimes("receptionShare", .number(decimals: 3)) { $0.track.receptionShare },
    .sometimes("lossRun", .number(decimals: 2)) { $0.track.lossRun },
    .always("silenceIsEvidence", .flag, "Indicates whether silence is evidence now.") {
      $0.track.silenceIsEvidence
    },
    .sometimes("silenceFrom", .moment) {
      $0.track.silenceFrom == .distantPast ? nil : $0.track.silenceFrom
    },
    .always("regions", .list(.object(RegionInsight.members))) { row in
      row.track.regions.filter { row.track.isShown(through: row.gate, of: $0.application) }
    },
  ]
}

extension RegionInsight {
  fileprivate static let members: [DocumentField<RegionInsight>] = [
    .always("application", .text) { $0.application },
    .always("region", .text) { $0.region },
    .always("subject", .text(.words(["observer", "beacon"]))) { $0.isAboutBeacons ? "beacon" : "observer" },
    .always("state", .text(.regionState)) { $0.state.name },
    .sometimes("since", .moment) { $0.since },
    .sometimes("allowedGap", .seconds, "Seconds.") { $0.allowedGap },
    .sometimes("silenceDeadline", .moment) { $0.silenceDeadline },
    .sometimes("levelDeadline", .moment) { $0.levelDeadline },
    .always("waitingForProof", .flag) { $0.isWaitingForProof },
    .sometimes("enterLevel", .number(decimals: 2), "dBm.") { $0.enterLevel },
    .sometimes("exitLevel", .number(decimals: 2), "dBm.") { $0.exitLevel },
    .sometimes(
      "entry",
      .object([
        .always("heard", .integer, "The latest adverts that belong together.") { $0.heard },
        .always("span", .seconds, "Seconds from the first of them to the last.") { $0.span },
        .always("needed", .integer, "The number of adverts that it takes.") { $0.needed },
        .always("window", .seconds, "Seconds within which they must fall.") { $0.window },
        .always(
          "nextIsEnough",
          .flag,
          "Whether one more in regular distance is enough, even outside the window."
        ) { $0.isNextEnough },
      ]),
      "While outside: the adverts that count towards entering."
    ) { $0.entry },
  ]
}

/// A ranging in a listing, as events state it.
private struct RangingRow {
  let word: StateCache.RangingWord
  let rooms: SubjectRooms

  static let members: [DocumentField<RangingRow>] = [
    .always("application", .text) { $0.word.key.application },
    .identity("observer") { .observer($0.word.key.observer) },
    .always("constraint", .text) { $0.word.key.constraint.description },
    .always("time", .moment) { $0.word.time },
    .always("beacons", .list(.object(RangedRow.members))) { row in
      row.word.beacons.map { RangedRow(reading: $0, room: row.rooms[.beacon($0.beacon)]) }
    },
  ]
}

/// A beacon of a ranging.
private struct RangedRow {
  let reading: RangedReading
  let room: String?

  static let members: [DocumentField<RangedRow>] = [
    .identity("beacon") { .beacon($0.reading.beacon) },
    .sometimes("room", .text(.presentRoom)) { $0.room },
    .always("proximity", .text(.proximity)) { $0.reading.proximity.rawValue },
    .always("rssi", .number(decimals: 1), "dBm; 0 if there was no sample.") { $0.reading.rssi },
    .always("accuracy", .number(decimals: 2), "Metres; -1 if undetermined.") { $0.reading.accuracy },
    .always("deviation", .number(decimals: 2), "Metres either way in 68 of 100 cases; -1 if undetermined.") {
      $0.reading.deviation
    },
    .always("samples", .count) { $0.reading.samples },
  ]
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
  static let heardBeacon = Schema.object(HeardRow.members).named("HeardBeacon")

  static let track = Schema.object(TrackRow.members).named("Track")
  static let ranging = Schema.object(RangingRow.members).named("Ranging")
}
