package import PharosDocuments
package import PharosFixes
package import PharosModel
import PharosSpace
import PharosWays

/// The guidance of subjects to their destinations: a `Guidance` for each that was asked for, fed with the fixes of its
/// subject.
///
/// The requests are part of the written state; after a restart each subject gets a new route with its first fix.
package struct Guides: Sendable {
  /// The guidance of a subject.
  private struct Session: Sendable {
    let request: GuidanceRequest
    /// Counts its events; it begins with the time of the request in nanoseconds, so that no id is given twice.
    var counter: UInt64
    /// The venue that ``guidance`` is about; empty before the first fix.
    var venue = ""
    var guidance: Guidance?
    /// Indicates whether the subject has arrived, and is not guided until another request.
    var hasArrived = false
    /// Indicates whether the last fix found no way, so that the next one does not report it again.
    var isLost = false
  }

  private let stream: String
  private let venues: [String: LocatableVenue]
  /// The routers of the venues in which subjects were guided so far.
  private var routers: [String: Router] = [:]
  private let limit: Int
  private var sessions: [SubjectID: Session] = [:]

  /// Starts without guidance.
  package init(stream: String, venues: [LocatableVenue], limit: Int) {
    self.stream = stream
    self.limit = limit
    self.venues = Dictionary(venues.map { ($0.venue.identifier, $0) }) { first, _ in first }
  }

  /// Guides a subject to another destination, or ends its guidance.
  ///
  /// Beyond the limit on subjects no further subject is guided.
  package mutating func set(
    _ request: GuidanceRequest?,
    of subject: SubjectID,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    guard request?.isValid != false else { return }
    if var former = sessions.removeValue(forKey: subject), !former.hasArrived {
      events.append(event(.ended, subject, &former, time: instant, decidedAt: instant))
      sessions[subject] = request.map { Session(request: $0, counter: former.counter) }
    } else if let request, sessions.count < limit {
      sessions[subject] = Session(request: request, counter: UInt64(clamping: instant.nanoseconds))
    }
  }

  /// Takes a fix that was published.
  package mutating func follow(_ fix: FixDetail, of published: Event, into events: inout [Event]) {
    guard var session = sessions[published.subject], !session.hasArrived,
      let latitude = fix.latitude, let longitude = fix.longitude,
      let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    else { return }
    if session.venue != fix.venue {
      session.venue = fix.venue
      session.guidance = guidance(by: session.request, in: fix.venue)
    }
    let changes =
      session.guidance?.update(
        Guidance.Fix(
          time: published.time,
          coordinate: coordinate,
          level: fix.level,
          accuracy: fix.horizontalAccuracy
        )
      ) ?? []
    for change in changes {
      var reason: String?
      let status: GuidanceDetail.Status
      switch change {
      case .started: status = .started
      case .step: status = .step
      case .rerouted: status = .rerouted
      case .arrived:
        status = .arrived
        session.hasArrived = true
      case .lost(let error): (status, reason) = (.lost, error.description)
      }
      if status == .lost, session.isLost { continue }
      session.isLost = status == .lost
      events.append(
        event(
          status,
          published.subject,
          &session,
          level: fix.level,
          reason: reason,
          time: published.time,
          decidedAt: published.decidedAt
        )
      )
    }
    sessions[published.subject] = session
  }

  private mutating func guidance(by request: GuidanceRequest, in venue: String) -> Guidance? {
    if routers[venue] == nil { routers[venue] = venues[venue]?.router() }
    return routers[venue].map { router in
      Guidance(
        router,
        to: Waypoint(request.destination),
        options: RouteOptions(isAccessible: request.isAccessible)
      )
    }
  }

  /// Forgets the guidance of a subject.
  package mutating func forget(_ traces: SubjectTraces) {
    sessions = sessions.filter { !traces.contains($0.key) }
  }

  // MARK: Events

  private func event(
    _ status: GuidanceDetail.Status,
    _ subject: SubjectID,
    _ session: inout Session,
    level: Int? = nil,
    reason: String? = nil,
    time: Timestamp,
    decidedAt: Timestamp
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
      time: time,
      decidedAt: decidedAt,
      stage: 2,
      subject: subject,
      counter: session.counter,
      ordinal: session.counter,
      detail: .guidance(
        GuidanceDetail(
          status: status,
          venue: session.venue,
          destination: session.request.destination.description,
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
      var session = Session(request: request, counter: try coder.field(kept[place].value.counter))
      session.hasArrived = try coder.field(kept[place].value.hasArrived)
      if Coder.isReader { sessions[subject] = session }
    }
  }

  /// Continues the counters from the time of a resumption, so that no id is used twice.
  package mutating func resume(floor: UInt64) {
    sessions = sessions.mapValues { session in
      var session = session
      session.counter = max(session.counter, floor)
      return session
    }
  }
}

extension Guides {
  /// Hands the subjects' progress on their routes to a coder, behind the written state, for a stage that continues exactly.
  package mutating func visitRoutes<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    for subject in sessions.keys.sorted() {
      guard var session = sessions[subject] else { continue }
      try coder.code(&session.venue)
      try coder.code(&session.isLost)
      let before = session.guidance?.standing
      let standing = try coder.field(before != nil) ? try Guides.coded(before, by: &coder) : nil
      guard C.isReader else { continue }
      session.guidance = guidance(by: session.request, in: session.venue)
      let isRestored = standing.map { session.guidance?.restore($0) ?? false } ?? true
      try coder.check(isRestored, "a route")
      sessions[subject] = session
    }
  }

  /// Hands a standing to a coder; nil if it was read and its origin is nowhere on the Earth, which is refused.
  private static func coded<C: FieldCoder>(
    _ value: Guidance.Standing?,
    by coder: inout C
  ) throws(C.Failure) -> Guidance.Standing? {
    let time = try coder.field(value?.origin.time ?? .distantPast)
    let latitude = try coder.field(value?.origin.coordinate.latitude ?? 0)
    let longitude = try coder.field(value?.origin.coordinate.longitude ?? 0)
    let level = try coder.field(value?.origin.level ?? 0)
    let accuracy = try coder.field(value?.origin.accuracy ?? 0)
    let progress = Guidance.Progress(
      step: try coder.field(value?.progress.step ?? 0),
      toNextManeuver: try coder.field(value?.progress.toNextManeuver ?? 0),
      distanceRemaining: try coder.field(value?.progress.distanceRemaining ?? 0),
      durationRemaining: try coder.field(value?.progress.durationRemaining ?? 0),
      deviation: try coder.field(value?.progress.deviation ?? 0)
    )
    let leftAt = try coder.field(value?.leftAt)
    let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    try coder.check(coordinate != nil, "a coordinate")
    return coordinate.map { coordinate in
      Guidance.Standing(
        origin: Guidance.Fix(time: time, coordinate: coordinate, level: level, accuracy: accuracy),
        progress: progress,
        leftAt: leftAt
      )
    }
  }
}
