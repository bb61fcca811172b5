package import PharosDocuments
package import PharosFixes
package import PharosModel
import PharosSpace

/// The visits of all subjects: one ``VisitDetector`` for each subject that is located, and one `ZoneStay` for each tag
/// that is not.
///
/// The evidence of a visit is the subject's fixes. A tag without fixes visits the zone that it is in. A tag that begins to
/// be located while a visit of a zone is open ends that visit in the zone's way.
package struct Visits: Sendable {
  /// The state of one subject.
  private struct VisitRow: SubjectRow {
    static let vacant = VisitRow(subject: .none, touched: .distantPast)
    var subject: SubjectID
    /// The machine of the subject's fixes; nil while it has none.
    var detector: VisitDetector?
    /// The stay in a zone of a tag that has no fixes.
    var zone: ZoneStay?
    /// The identity of the visit that is open, and its arrival.
    var open: (id: EventID, counter: UInt64)?
    /// The counter of the last visit.
    var counter: UInt64 = 0
    /// The time of the last input.
    var touched: Timestamp

    /// Indicates whether a visit is open, which would end without having ended.
    var isNeeded: Bool { open != nil }
    var deadline: Timestamp {
      min(detector?.deadline ?? .distantFuture, zone?.deadline ?? .distantFuture)
    }
    var isEmpty: Bool { detector == nil && zone == nil }
  }

  private let stream: String
  private let atlas: VisitAtlas
  private let limit: Int
  /// The settings; nil if no visits are decided.
  private(set) var settings: VisitSettings?
  private var subjects = SubjectTable<VisitRow>()
  /// The display names of the zones.
  private var zoneNames: [String: String] = [:]

  /// Creates the visits of a site, of which there are none yet.
  package init(site: Site, venues: [LocatableVenue], limit: Int) {
    stream = site.stream
    atlas = VisitAtlas(venues)
    settings = site.visits
    self.limit = max(16, limit)
    name(site.zones)
  }

  private mutating func name(_ zones: [Zone]) {
    zoneNames = Dictionary(zones.compactMap { zone in zone.name.map { (zone.identifier, $0) } }) { first, _ in
      first
    }
  }

  // MARK: Inputs

  /// Takes a fix that was published.
  package mutating func receive(_ fix: FixDetail, of event: Event, into events: inout [Event]) {
    guard let settings else { return }
    let place = place(of: event.subject, at: event.decidedAt, into: &events)
    run(place, before: event.decidedAt, into: &events)
    subjects[place].touched = event.decidedAt
    if subjects[place].zone?.isOpen == false { subjects[place].zone = nil }
    // A visit of a zone ends as it began.
    if subjects[place].zone == nil {
      if subjects[place].detector == nil { subjects[place].detector = VisitDetector(settings) }
      let steps = subjects[place].detector?.add(VisitFix(fix, event)) ?? []
      publish(steps, of: place, at: event.decidedAt, into: &events)
    }
    arm(place)
  }

  /// Takes a beacon's change of zone.
  package mutating func receive(
    _ move: ZoneMove,
    of beacon: BeaconID,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    guard let settings, move.to != nil || subjects.place(of: .beacon(beacon)) != nil else { return }
    let place = place(of: .beacon(beacon), at: instant, into: &events)
    run(place, before: instant, into: &events)
    subjects[place].touched = instant
    guard subjects[place].detector == nil else { return }
    if var stay = subjects[place].zone {
      let isOver = stay.update(move, at: instant, settings)
      subjects[place].zone = stay
      if isOver { end(place, at: stay.end(move), instant, settings, into: &events) }
    }
    if subjects[place].zone == nil, let zone = move.to {
      subjects[place].zone = ZoneStay(
        zone: zone,
        enteredAt: move.time,
        probability: move.probability,
        deadline: max(instant, move.time + settings.minimum)
      )
    }
    if subjects[place].isEmpty { subjects.remove(place) } else { arm(place) }
  }

  /// Makes all decisions that are due by an instant, given that every fix and every move up to it has been taken.
  package mutating func advance(to instant: Timestamp, into events: inout [Event]) {
    while let (place, _) = subjects.popDue(through: instant) {
      run(place, before: instant + .oneNanosecond, into: &events)
      if subjects[place].isEmpty { subjects.remove(place) } else { arm(place) }
    }
  }

  /// Applies the settings and the names of an edited site.
  package mutating func adopt(_ site: Site, at instant: Timestamp, into events: inout [Event]) {
    name(site.zones)
    guard site.visits != settings else { return }
    settings = site.visits
    guard let settings else { return dropAll(at: instant, into: &events) }
    for place in subjects.occupied {
      subjects[place].detector?.adopt(settings)
      arm(place)
    }
  }

  /// Ends the stays in zones that beacons are no longer in, though no event reported it.
  ///
  /// - Parameters:
  ///   - zones: The zones that beacons are in.
  ///   - times: The times at which published events said so, if they did.
  ///   - instant: The time of the decision.
  ///   - events: Receives the departures and arrivals that follow.
  package mutating func reconcile(
    with zones: [BeaconID: String],
    times: [BeaconID: Timestamp] = [:],
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    guard let settings else { return }
    for place in subjects.occupied {
      guard case .beacon(let beacon) = subjects[place].subject, let stay = subjects[place].zone,
        stay.unknownSince == nil, zones[beacon] != stay.zone
      else { continue }
      end(place, at: (times[beacon] ?? instant, .leftZone), instant, settings, into: &events)
      if subjects[place].isEmpty { subjects.remove(place) }
    }
    for (beacon, time) in times.sorted(by: { $0.key < $1.key }) {
      guard let zone = zones[beacon], subjects.place(of: .beacon(beacon)) == nil else { continue }
      let move = ZoneMove(from: nil, to: zone, time: time, reason: .margin, probability: nil)
      receive(move, of: beacon, at: instant, into: &events)
    }
  }

  /// Records that nothing more is known of a beacon's zone.
  package mutating func lose(_ beacon: BeaconID, at instant: Timestamp) {
    guard let settings, let place = subjects.place(of: .beacon(beacon)) else { return }
    subjects[place].zone?.lose(at: instant, decided: instant, settings)
    arm(place)
  }

  /// Forgets subjects; no event says so.
  package mutating func forget(_ traces: SubjectTraces) {
    for place in subjects.places(of: traces) { subjects.remove(place) }
  }

  // MARK: Decisions

  /// Makes the decisions of a subject that are due before an instant.
  private mutating func run(_ place: Int, before instant: Timestamp, into events: inout [Event]) {
    guard let settings else { return }
    if let deadline = subjects[place].detector?.deadline, deadline < instant {
      let steps = subjects[place].detector?.expire() ?? []
      publish(steps, of: place, at: deadline, into: &events)
      subjects[place].detector = nil
    }
    while let deadline = subjects[place].zone?.deadline, deadline < instant {
      guard var stay = subjects[place].zone else { return }
      if let since = stay.unknownSince {
        end(place, at: (since, .silence), deadline, settings, into: &events)
      } else {
        stay.isOpen = true
        stay.deadline = .distantFuture
        subjects[place].zone = stay
        arrive(place, detail(stay, nil, .lasting), at: deadline, into: &events)
      }
    }
  }

  /// Ends a stay in a zone; one that was long enough and is not published yet is published whole.
  private mutating func end(
    _ place: Int,
    at end: (time: Timestamp, reason: VisitDetail.Evidence.End),
    _ instant: Timestamp,
    _ settings: VisitSettings,
    into events: inout [Event]
  ) {
    guard let stay = subjects[place].zone else { return }
    subjects[place].zone = nil
    if !stay.isOpen {
      guard end.time - stay.enteredAt >= settings.minimum else { return }
      arrive(place, detail(stay, nil, .lasting), at: instant, into: &events)
    }
    depart(place, detail(stay, max(stay.enteredAt, end.time), end.reason), at: instant, into: &events)
  }

  private mutating func publish(
    _ steps: [VisitDetector.Step],
    of place: Int,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    for (index, step) in steps.enumerated() {
      switch step {
      case .arrive(var stay):
        // A visit that is published whole has one place.
        if index + 1 < steps.count, case .depart(let whole) = steps[index + 1] {
          (stay.center, stay.coordinate, stay.accuracy) = (whole.center, whole.coordinate, whole.accuracy)
        }
        arrive(place, detail(stay), at: instant, into: &events)
      case .depart(let stay): depart(place, detail(stay), at: instant, into: &events)
      }
    }
  }

  private func detail(_ stay: Stay) -> VisitDetail {
    let location = atlas.location(of: stay)
    return VisitDetail(
      visit: EventID(high: 0, low: 0),
      arrival: stay.arrival,
      departure: stay.departure,
      venue: stay.ground.venue,
      floor: location.floor,
      latitude: location.coordinate?.latitude,
      longitude: location.coordinate?.longitude,
      horizontalAccuracy: stay.accuracy,
      place: atlas.place(of: stay),
      evidence: stay.evidence
    )
  }

  private func detail(
    _ stay: ZoneStay,
    _ departure: Timestamp?,
    _ end: VisitDetail.Evidence.End
  ) -> VisitDetail {
    VisitDetail(
      visit: EventID(high: 0, low: 0),
      arrival: stay.enteredAt,
      departure: departure,
      place: VisitDetail.Place(
        kind: .zone,
        identifier: stay.zone,
        name: zoneNames[stay.zone],
        probability: stay.probability
      ),
      evidence: VisitDetail.Evidence(maximumGap: stay.maximumGap, end: end)
    )
  }

  private mutating func arrive(
    _ place: Int,
    _ visit: VisitDetail,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    let counter = max(subjects[place].counter + 1, UInt64(clamping: instant.nanoseconds))
    subjects[place].counter = counter
    var visit = visit
    // The id does not depend on the detail.
    visit.visit = event(.visitArrive, place, visit, visit.arrival, instant, counter).id
    subjects[place].open = (visit.visit, counter)
    events.append(event(.visitArrive, place, visit, visit.arrival, instant, counter))
  }

  private mutating func depart(
    _ place: Int,
    _ visit: VisitDetail,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    guard let open = subjects[place].open else { return }
    subjects[place].open = nil
    var visit = visit
    visit.visit = open.id
    events.append(event(.visitDepart, place, visit, visit.departure ?? instant, instant, open.counter))
  }

  private func event(
    _ kind: EventKind,
    _ place: Int,
    _ visit: VisitDetail,
    _ time: Timestamp,
    _ instant: Timestamp,
    _ counter: UInt64
  ) -> Event {
    Event(
      stream: stream,
      kind: kind,
      time: time,
      decidedAt: instant,
      stage: 2,
      subject: subjects[place].subject,
      region: visit.place?.identifier ?? "",
      counter: counter,
      ordinal: counter,
      detail: .visit(visit)
    )
  }

  private mutating func dropAll(at instant: Timestamp, into events: inout [Event]) {
    for place in subjects.occupied { drop(place, at: instant, into: &events) }
  }

  /// Gives up a subject; a visit that is open ends.
  private mutating func drop(_ place: Int, at instant: Timestamp, into events: inout [Event]) {
    if let step = subjects[place].detector?.drop() { publish([step], of: place, at: instant, into: &events) }
    if let stay = subjects[place].zone, stay.isOpen {
      let end = stay.unknownSince ?? instant
      depart(place, detail(stay, max(stay.enteredAt, end), .dropped), at: instant, into: &events)
    }
    subjects.remove(place)
  }

  // MARK: Subjects

  private mutating func place(
    of id: SubjectID,
    at instant: Timestamp,
    into events: inout [Event]
  ) -> Int {
    if let place = subjects.place(of: id) { return place }
    for place in subjects.evictions(limit: limit) { drop(place, at: instant, into: &events) }
    return subjects.insert(VisitRow(subject: id, touched: instant))
  }

  private mutating func arm(_ place: Int) {
    let due = subjects[place].deadline
    subjects.schedule(place, at: due)
  }
}

extension Visits {
  /// Hands the visits that are open and the stays in zones to a coder; tracks are found again.
  package mutating func visitState<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    // A site that no longer asks for visits ends them when it resumes.
    let scale = settings ?? Visits.minimalSettings
    var kept =
      Coder.isReader
      ? [] : subjects.rows.filter { $0.open != nil || $0.zone != nil }.sorted { $0.subject < $1.subject }
    try coder.code(list: &kept, ofAtLeast: 16, into: .vacant) { (row, coder) throws(Coder.Failure) in
      try coder.code(&row.subject)
      try coder.code(counter: &row.counter)
      try coder.code(&row.touched)
      var (open, counter) = (row.open?.id, row.open?.counter ?? 0)
      try coder.code(&open)
      try coder.code(counter: &counter)
      row.open = open.map { ($0, counter) }
      try coder.code(&row.zone)
      guard try coder.field(row.zone == nil && row.detector?.isStaying == true) else { return }
      var detector = row.detector ?? VisitDetector(scale)
      try coder.code(parts: &detector)
      row.detector = detector
    }
    guard Coder.isReader else { return }
    for row in kept {
      try coder.check(subjects.place(of: row.subject) == nil, "a subject with a visit")
      arm(subjects.insert(row))
    }
  }

  /// The scale of visits of a site that asks for none.
  private static var minimalSettings: VisitSettings {
    VisitSettings(minimum: VisitSettings.minimums.lowerBound)
  }

  /// Resumes after a restart: downtime is no evidence, and where an event is newer than the state, the event wins.
  package mutating func resume(
    after downtime: TimeSpan,
    published: [PublishedState.VisitRecord],
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    for record in published { restore(record) }
    for place in subjects.occupied {
      subjects[place].detector?.resume(after: downtime)
      if subjects[place].detector?.isStaying == false { subjects[place].detector = nil }
      subjects[place].zone?.resume(after: downtime, at: instant)
      subjects[place].touched = instant
      if subjects[place].isEmpty { subjects.remove(place) }
    }
    guard settings != nil else { return dropAll(at: instant, into: &events) }
    subjects.cancelDeadlines()
    for place in subjects.occupied { arm(place) }
  }

  /// Restores the visit of a subject from its last event.
  private mutating func restore(_ record: PublishedState.VisitRecord) {
    if let place = subjects.place(of: record.subject) {
      let isKnown = subjects[place].open?.id == record.visit.visit
      guard record.visit.departure != nil || !isKnown else { return }
      subjects.remove(place)
    }
    guard record.visit.departure == nil else { return }
    var subject = VisitRow(subject: record.subject, touched: record.decidedAt)
    // The arrival's counter is the time of its decision, or one more than the last: it need not be found again, since
    // a departure has a kind of its own.
    let counter = UInt64(clamping: record.decidedAt.nanoseconds)
    subject.counter = counter
    subject.open = (record.visit.visit, counter)
    if let place = record.visit.place, place.kind == .zone, record.visit.floor == nil {
      subject.zone = ZoneStay(
        zone: place.identifier,
        enteredAt: record.visit.arrival,
        probability: place.probability,
        deadline: .distantFuture,
        isOpen: true
      )
    } else {
      subject.detector = VisitDetector(
        resuming: record.visit,
        decidedAt: record.decidedAt,
        settings ?? Visits.minimalSettings
      )
    }
    _ = subjects.insert(subject)
  }
}

extension Visits {
  /// Hands all subjects to a coder as they are, also those without a visit, for a stage that continues exactly.
  package mutating func visitAll<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    let scale = settings ?? Visits.minimalSettings
    if C.isReader { subjects = SubjectTable() }
    try subjects.visitRows(&coder) { (value, coder) throws(C.Failure) in
      var row = C.isReader ? .vacant : value()
      try coder.code(&row.subject)
      try coder.code(counter: &row.counter)
      try coder.code(&row.touched)
      var (open, counter) = (row.open?.id, row.open?.counter ?? 0)
      try coder.code(&open)
      try coder.code(counter: &counter)
      row.open = open.map { ($0, counter) }
      try coder.code(&row.zone)
      try coder.code(optional: &row.detector, VisitDetector(scale)) { (detector, coder) throws(C.Failure) in
        try detector.visitAll(&coder)
      }
      return row
    }
  }
}
