package import PharosDocuments
package import PharosFixes
package import PharosModel
import PharosSpace
package import PharosWays

/// The guidance of subjects to their destinations: a `Guidance` for each that was asked for, fed with the fixes of its
/// subject.
///
/// A destination may be a subject that moves. Each of its fixes that is more than `followed` from the end of the route gives
/// a new route, so that the route is as old as its last fix. Without a fix within `memory` the route leads to the zone that
/// it is in, if the venue has a place of that name. Where neither is known, or those who asked may not learn of it, the
/// guidance holds: it has no route until there is a position again. It ends within 3 m on one floor, and in the same
/// room within `roomReach`.
///
/// The requests are part of the written state; after a restart each subject gets a new route with its first fix.
package struct Guides: Sendable {
  /// Returns the zone that a subject is in, or nil.
  package typealias Zones = (SubjectID) -> String?

  /// Where a subject was last.
  private struct Sighting: Sendable {
    var fix: Guidance.Fix
    var venue: String
    var building: String
    var room: String?

    /// Makes the sighting of a fix; nil if it has no coordinates.
    init?(_ fix: FixDetail, at time: Timestamp) {
      guard let latitude = fix.latitude, let longitude = fix.longitude,
        let coordinate = Coordinate(latitude: latitude, longitude: longitude)
      else { return nil }
      self.init(
        Guidance.Fix(
          time: time,
          coordinate: coordinate,
          level: fix.level,
          accuracy: fix.horizontalAccuracy
        ),
        venue: fix.venue,
        building: fix.building,
        room: fix.room
      )
    }

    init(_ fix: Guidance.Fix, venue: String, building: String, room: String?) {
      (self.fix, self.venue, self.building, self.room) = (fix, venue, building, room)
    }

    /// The place as a destination.
    var destination: GuidanceRequest.Destination {
      .position(
        Itinerary.Waypoint(
          latitude: fix.coordinate.latitude,
          longitude: fix.coordinate.longitude,
          level: fix.level
        )
      )
    }

    /// Returns whether who is here has reached one who is there.
    func reaches(_ other: Sighting) -> Bool {
      guard venue == other.venue, building == other.building, fix.level == other.fix.level else {
        return false
      }
      let isInRoom = room != nil && room == other.room
      let reach = isInRoom ? Guides.roomReach : Guidance.arrivalDistance
      return fix.coordinate.distance(to: other.fix.coordinate) <= reach
    }
  }

  /// The guidance of a subject.
  private struct Session: Sendable {
    var request: GuidanceRequest
    /// Counts its events; it begins with the time of the request in nanoseconds, so that no id is given twice.
    var counter: UInt64
    /// The time of the request, or of a restart since.
    var since: Timestamp
    /// The venue that ``guidance`` is about; empty before the first fix.
    var venue = ""
    var guidance: Guidance?
    /// Indicates whether the subject has arrived, and is not guided until another request.
    var hasArrived = false
    /// Indicates whether the last fix found no way, so that the next one does not report it again.
    var isLost = false
    /// Indicates whether there was a route.
    var hasStarted = false
    /// Indicates whether it waits for the position of a destination that moves.
    var isHeld = false
    /// Where the subject is, and where the route leads, if the destination moves.
    var latest: Sighting?
    var goal: GuidanceRequest.Destination?

    /// Ends the route, of which nothing may be said then.
    mutating func hold() {
      isHeld = true
      (guidance, goal, venue, isLost) = (nil, nil, "", false)
    }
  }

  /// The instant of a change, and of its decision.
  private struct Instant {
    let time: Timestamp
    let decidedAt: Timestamp
  }

  /// The distance of a moving destination from the end of the route beyond which there is a new route.
  ///
  /// - Units: metres. What a person walks in less than a second.
  fileprivate static let followed = 1.0
  /// The distance within which two subjects in one room have met.
  ///
  /// - Units: metres. Across a room; a hall may be one room as well.
  private static let roomReach = 10.0
  /// The age at which a fix no longer says where a subject is.
  private static let memory = TimeSpan.seconds(60)
  /// The time for which a new request waits for the first fix of its destination before it says that there is none.
  private static let grace = TimeSpan.seconds(5)

  private let stream: String
  private let venues: [String: LocatableVenue]
  /// The routers of the venues in which subjects were guided so far.
  private var routers: [String: Router] = [:]
  private let limit: Int
  private var sessions: [SubjectID: Session] = [:]
  /// The subjects that are guided to each subject, in their order.
  private var followers: [SubjectID: [SubjectID]] = [:]
  /// The last fixes of the subjects that others are guided to.
  private var sightings: [SubjectID: Sighting] = [:]

  /// Starts without guidance.
  package init(stream: String, venues: [LocatableVenue], limit: Int) {
    self.stream = stream
    self.limit = limit
    self.venues = Dictionary(venues.map { ($0.venue.identifier, $0) }) { first, _ in first }
  }

  /// Indicates whether no subject is guided.
  package var isEmpty: Bool { sessions.isEmpty }

  /// Guides a subject to another destination, or ends its guidance.
  ///
  /// Beyond the limit on subjects no further subject is guided. A request that differs from the present one only in whether its
  /// destination is withheld changes the present guidance.
  package mutating func set(
    _ request: GuidanceRequest?,
    of subject: SubjectID,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    guard request?.isValid != false, request?.target != subject else { return }
    let now = Instant(time: instant, decidedAt: instant)
    if let request, var session = sessions[subject], session.request.differsInVisibility(from: request) {
      session.request = request
      if request.isWithheld { hold(subject, &session, Guides.withheld, at: now, into: &events) }
      sessions[subject] = session
      return
    }
    if var former = sessions.removeValue(forKey: subject), !former.hasArrived {
      events.append(event(.ended, subject, &former, at: now))
      sessions[subject] = request.map { Session(request: $0, counter: former.counter, since: instant) }
    } else if let request, sessions.count < limit {
      let counter = UInt64(clamping: instant.nanoseconds)
      sessions[subject] = Session(request: request, counter: counter, since: instant)
    }
    gatherFollowers()
    guard request?.isWithheld == true, var session = sessions[subject] else { return }
    hold(subject, &session, Guides.withheld, at: now, into: &events)
    sessions[subject] = session
  }

  /// Takes a fix that was published.
  package mutating func follow(
    _ fix: FixDetail,
    of published: Event,
    zones: Zones,
    into events: inout [Event]
  ) {
    let subject = published.subject
    guard let sighting = Sighting(fix, at: published.time) else { return }
    let instant = Instant(time: published.time, decidedAt: published.decidedAt)
    if let guided = followers[subject] {
      sightings[subject] = sighting
      for follower in guided { pursue(by: follower, isFixed: false, zones, at: instant, into: &events) }
    }
    guard var session = sessions[subject], !session.hasArrived else { return }
    guard session.request.target == nil else {
      session.latest = sighting
      sessions[subject] = session
      pursue(by: subject, isFixed: true, zones, at: instant, into: &events)
      return
    }
    if session.venue != fix.venue {
      session.venue = fix.venue
      session.guidance = guidance(of: session)
    }
    let changes = session.guidance?.update(sighting.fix) ?? []
    report(changes, subject, &session, level: fix.level, at: instant, into: &events)
    sessions[subject] = session
  }

  /// Takes a change of the zone that a beacon is in.
  package mutating func move(
    _ beacon: BeaconID,
    zones: Zones,
    at time: Timestamp,
    decidedAt: Timestamp,
    into events: inout [Event]
  ) {
    let instant = Instant(time: time, decidedAt: decidedAt)
    let subject = SubjectID.beacon(beacon)
    let concerned = (followers[subject] ?? []) + (sessions[subject]?.request.target == nil ? [] : [subject])
    for follower in concerned { pursue(by: follower, isFixed: false, zones, at: instant, into: &events) }
  }

  // MARK: Moving destinations

  /// Goes on with the guidance to a subject after one of both has moved; `isFixed` tells of a fix of the one that is guided.
  private mutating func pursue(
    by subject: SubjectID,
    isFixed: Bool,
    _ zones: Zones,
    at instant: Instant,
    into events: inout [Event]
  ) {
    guard var session = sessions[subject], !session.hasArrived, let own = session.latest,
      case .subject(let moving) = session.request.destination, !moving.isWithheld
    else { return }
    defer { sessions[subject] = session }
    let target = sightings[moving.subject].flatMap { seen in
      instant.time - seen.fix.time <= Guides.memory && seen.venue == own.venue ? seen : nil
    }
    let zone = zones(moving.subject)
    let isNear = target.map { own.reaches($0) } ?? (zone != nil && zone == zones(subject))
    if isNear, instant.time - own.fix.time <= Guides.memory {
      session.guidance?.arrive()
      report([.arrived], subject, &session, level: own.fix.level, at: instant, into: &events)
      return
    }
    guard let goal = target?.destination ?? place(of: zone, in: own.venue, after: session.goal) else {
      if instant.time - session.since >= Guides.grace {
        hold(subject, &session, "It is not known where the destination is.", at: instant, into: &events)
      }
      return
    }
    var changes: [Guidance.Event] = []
    if session.guidance == nil || session.venue != own.venue {
      (session.venue, session.goal) = (own.venue, goal)
      session.guidance = guidance(of: session)
      changes = session.guidance?.update(own.fix) ?? []
    } else if let end = Waypoint(goal), session.goal.map({ $0.isFar(from: goal) }) ?? true {
      changes = session.guidance?.redirect(to: end, from: own.fix) ?? []
      if case .lost? = changes.first {} else { session.goal = goal }
    } else if isFixed {
      changes = session.guidance?.update(own.fix) ?? []
    }
    report(changes, subject, &session, level: own.fix.level, at: instant, into: &events)
  }

  /// The place of a zone in a venue; nil if it has none of that name.
  private mutating func place(
    of zone: String?,
    in venue: String,
    after goal: GuidanceRequest.Destination?
  ) -> GuidanceRequest.Destination? {
    guard let zone else { return nil }
    guard goal != .place(zone) else { return goal }
    return router(of: venue)?.problem(with: .place(zone)) == nil ? .place(zone) : nil
  }

  /// The reason of a guidance that holds because its destination may not be seen.
  private static let withheld = "Those who asked for it may not learn where the destination is."

  /// Ends the route until the destination is known, and says why.
  private func hold(
    _ subject: SubjectID,
    _ session: inout Session,
    _ reason: String,
    at instant: Instant,
    into events: inout [Event]
  ) {
    guard !session.isHeld, !session.hasArrived else { return }
    session.hold()
    events.append(event(.held, subject, &session, reason: reason, at: instant))
  }

  private mutating func gatherFollowers() {
    let pairs = sessions.compactMap { subject, session in
      session.request.target.map { (target: $0, follower: subject) }
    }
    followers = Dictionary(grouping: pairs, by: \.target).mapValues { $0.map(\.follower).sorted() }
    sightings = sightings.filter { followers[$0.key] != nil }
  }

  // MARK: Routes

  private mutating func router(of venue: String) -> Router? {
    if routers[venue] == nil { routers[venue] = venues[venue]?.router() }
    return routers[venue]
  }

  private mutating func guidance(of session: Session) -> Guidance? {
    guard let router = router(of: session.venue) else { return nil }
    let options = RouteOptions(isAccessible: session.request.isAccessible)
    if session.request.target != nil {
      return session.goal.flatMap { Waypoint($0) }.map {
        Guidance(router, toSubjectAt: $0, options: options)
      }
    }
    return Waypoint(session.request.destination).map { Guidance(router, to: $0, options: options) }
  }

  /// The present route of a subject; nil if it has none.
  package func route(of subject: SubjectID) -> WalkingRoute? { sessions[subject]?.guidance?.route }

  /// Forgets the guidance of a subject, and ends the guidance of others to it.
  package mutating func forget(_ traces: SubjectTraces, at instant: Timestamp, into events: inout [Event]) {
    sessions = sessions.filter { !traces.contains($0.key) }
    for (subject, var session) in sessions.sorted(by: { $0.key < $1.key }) {
      guard let target = session.request.target, traces.contains(target) else { continue }
      sessions[subject] = nil
      guard !session.hasArrived else { continue }
      session.hold()
      let ended = event(.ended, subject, &session, at: Instant(time: instant, decidedAt: instant))
      guard case .guidance(var detail) = ended.detail else { continue }
      detail.target = nil
      events.append(ended.with(.guidance(detail)))
    }
    gatherFollowers()
  }

  // MARK: Events

  /// Publishes the changes of a subject's guidance.
  private func report(
    _ changes: [Guidance.Event],
    _ subject: SubjectID,
    _ session: inout Session,
    level: Int,
    at instant: Instant,
    into events: inout [Event]
  ) {
    for change in changes {
      var reason: String?
      let status: GuidanceDetail.Status
      switch change {
      case .started: status = session.hasStarted ? .rerouted : .started
      case .step: status = .step
      case .rerouted: status = .rerouted
      case .arrived:
        status = .arrived
        session.hasArrived = true
      case .lost(let error): (status, reason) = (.lost, error.description)
      }
      session.isHeld = false
      if status == .lost, session.isLost { continue }
      session.isLost = status == .lost
      if status == .started { session.hasStarted = true }
      events.append(event(status, subject, &session, level: level, reason: reason, at: instant))
    }
  }

  private func event(
    _ status: GuidanceDetail.Status,
    _ subject: SubjectID,
    _ session: inout Session,
    level: Int? = nil,
    reason: String? = nil,
    at instant: Instant
  ) -> Event {
    session.counter &+= 1
    let progress = session.guidance?.progress
    let language = RouteLanguage(rawValue: session.request.language) ?? .english
    let instruction = progress.flatMap { progress in
      session.guidance?.route?.steps[progress.step].instruction(in: language)
    }
    return Event(
      stream: stream,
      kind: .guidance,
      time: instant.time,
      decidedAt: instant.decidedAt,
      stage: 2,
      subject: subject,
      counter: session.counter,
      ordinal: session.counter,
      detail: .guidance(
        GuidanceDetail(
          status: status,
          venue: session.venue,
          destination: session.request.target == nil ? session.request.destination.description : "",
          target: session.request.target,
          instruction: reason ?? (status == .ended ? nil : instruction) ?? "",
          level: level,
          distanceToManeuver: progress?.toNextManeuver,
          distanceRemaining: progress?.distanceRemaining,
          durationRemaining: progress.map { .seconds($0.durationRemaining) }
        )
      )
    )
  }

  // MARK: State

  /// The requests.
  package var requests: [SubjectID: GuidanceRequest] { sessions.mapValues(\.request) }

  /// Hands the requests to a coder.
  package mutating func visitState<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let kept = Coder.isReader ? [] : sessions.sorted { $0.key < $1.key }
    var count = kept.count
    try coder.code(count: &count, ofAtLeast: 12)
    if Coder.isReader { sessions = [:] }
    for place in 0..<count {
      let subject = try coder.field(kept[place].key)
      let request = try coder.field(kept[place].value.request)
      let counter = try coder.field(kept[place].value.counter)
      var session = Session(
        request: request,
        counter: counter,
        since: try coder.field(kept[place].value.since)
      )
      session.hasArrived = try coder.field(kept[place].value.hasArrived)
      session.hasStarted = try coder.field(kept[place].value.hasStarted)
      session.isHeld = try coder.field(kept[place].value.isHeld)
      if Coder.isReader { sessions[subject] = session }
    }
    if Coder.isReader { gatherFollowers() }
  }

  /// Continues the counters from the time of a resumption, so that no id is used twice.
  package mutating func resume(floor: UInt64) {
    sessions = sessions.mapValues { session in
      var session = session
      session.counter = max(session.counter, floor)
      session.since = max(session.since, Timestamp(nanoseconds: Int64(clamping: floor)))
      return session
    }
  }
}

extension GuidanceRequest {
  /// Indicates whether the destination is a subject of which those who asked may not learn where it is.
  fileprivate var isWithheld: Bool {
    if case .subject(let moving) = destination { moving.isWithheld } else { false }
  }

  /// Returns whether the other request is the same but for ``isWithheld``.
  fileprivate func differsInVisibility(from other: GuidanceRequest) -> Bool {
    guard self != other, case .subject(var moving) = destination else { return false }
    moving.isWithheld.toggle()
    var same = self
    same.destination = .subject(moving)
    return same == other
  }
}

extension GuidanceRequest.Destination {
  /// Returns whether a route to this place is none to another.
  fileprivate func isFar(from other: GuidanceRequest.Destination) -> Bool {
    guard case .position(let here) = self, case .position(let there) = other, here.level == there.level,
      let start = Coordinate(latitude: here.latitude, longitude: here.longitude),
      let end = Coordinate(latitude: there.latitude, longitude: there.longitude)
    else { return self != other }
    return start.distance(to: end) > Guides.followed
  }
}

extension Guides {
  /// Hands the subjects' progress on their routes to a coder, behind the written state, for a stage that continues exactly.
  package mutating func visitRoutes<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    let seen = C.isReader ? [] : sightings.sorted { $0.key < $1.key }
    var count = seen.count
    try coder.code(count: &count, ofAtLeast: 12)
    if C.isReader { sightings = [:] }
    for place in 0..<count {
      let subject = try coder.field(seen[place].key)
      let sighting = try Guides.coded(seen.isEmpty ? nil : seen[place].value, by: &coder)
      if C.isReader { sightings[subject] = sighting }
    }
    for subject in sessions.keys.sorted() {
      guard var session = sessions[subject] else { continue }
      try coder.code(&session.venue)
      try coder.code(&session.isLost)
      try coder.code(&session.goal)
      let latest = session.latest
      session.latest = try coder.field(latest != nil) ? try Guides.coded(latest, by: &coder) : nil
      let before = session.guidance?.standing
      let standing = try coder.field(before != nil) ? try Guides.coded(before, by: &coder) : nil
      guard C.isReader else { continue }
      session.guidance = guidance(of: session)
      let isRestored = standing.map { session.guidance?.restore($0) ?? false } ?? true
      try coder.check(isRestored, "a route")
      sessions[subject] = session
    }
  }

  /// Hands a sighting to a coder; nil if it was read and is nowhere on the Earth, which is refused.
  private static func coded<C: FieldCoder>(
    _ value: Sighting?,
    by coder: inout C
  ) throws(C.Failure) -> Sighting? {
    let fix = try coded(value?.fix, by: &coder)
    let venue = try coder.field(value?.venue ?? "")
    let building = try coder.field(value?.building ?? "")
    let room = try coder.field(value?.room)
    return fix.map { Sighting($0, venue: venue, building: building, room: room) }
  }

  /// Hands a fix to a coder; nil if it was read and is nowhere on the Earth, which is refused.
  private static func coded<C: FieldCoder>(
    _ value: Guidance.Fix?,
    by coder: inout C
  ) throws(C.Failure) -> Guidance.Fix? {
    let time = try coder.field(value?.time ?? .distantPast)
    let latitude = try coder.field(value?.coordinate.latitude ?? 0)
    let longitude = try coder.field(value?.coordinate.longitude ?? 0)
    let level = try coder.field(value?.level ?? 0)
    let accuracy = try coder.field(value?.accuracy ?? 0)
    let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    try coder.check(coordinate != nil, "a coordinate")
    return coordinate.map { Guidance.Fix(time: time, coordinate: $0, level: level, accuracy: accuracy) }
  }

  /// Hands a standing to a coder; nil if it was read and its origin is nowhere on the Earth, which is refused.
  private static func coded<C: FieldCoder>(
    _ value: Guidance.Standing?,
    by coder: inout C
  ) throws(C.Failure) -> Guidance.Standing? {
    let origin = try coded(value?.origin, by: &coder)
    let progress = Guidance.Progress(
      step: try coder.field(value?.progress.step ?? 0),
      toNextManeuver: try coder.field(value?.progress.toNextManeuver ?? 0),
      distanceRemaining: try coder.field(value?.progress.distanceRemaining ?? 0),
      durationRemaining: try coder.field(value?.progress.durationRemaining ?? 0),
      deviation: try coder.field(value?.progress.deviation ?? 0)
    )
    let leftAt = try coder.field(value?.leftAt)
    return origin.map { Guidance.Standing(origin: $0, progress: progress, leftAt: leftAt) }
  }
}
