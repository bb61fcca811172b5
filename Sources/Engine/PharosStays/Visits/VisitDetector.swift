// How the visits of a subject are found in its fixes:
//
// 1. The fixes of some seconds are averaged to a sample: a place, its weight, and the costs of its speed in a stay and in a
//    movement.
// 2. `VisitTrack` divides the samples into stays and movements at the least cost. A stay has a centre, a movement a course
//    and a speed; samples cost by their distances from it and by their speeds, and every new segment costs something.
// 3. Arrival: the newest stay has lasted for the shortest visit, and its lead over the best division in which it is a movement
//    exceeds a margin. A stay in the middle of the track, already left, is published with its departure.
// 4. Departure: the best division in which the subject has left beats the one in which it stays by a margin, and the newest
//    samples lie apart from the stay. The times published are the ends of the stay in that division, not those of the decision.
// 5. A change of floors, or the time without a fix that the settings allow, ends a stay as well.

package import PharosDocuments
import PharosFixes
package import PharosModel
package import PharosSpace

/// A fix as the detection of visits takes it.
package struct VisitFix: Hashable, Sendable {
  /// The floor of a building, or the outdoors of a venue.
  package struct Ground: Hashable, Sendable {
    package var venue: String
    /// The building and the number of the floor; nil outdoors.
    package var floor: FloorID?

    package init(venue: String, floor: FloorID?) {
      self.venue = venue
      self.floor = floor
    }
  }

  package var time: Timestamp
  package var decidedAt: Timestamp
  package var ground: Ground
  /// The place on the floor's plane; without meaning outdoors.
  package var point: Point
  /// The place on the Earth, without which a fix outdoors is not used.
  package var coordinate: Coordinate?
  /// The radius that holds 68 % of truths, in metres.
  package var accuracy: Double
  /// The speed in m/s, if known.
  package var speed: Double?

  package init(
    time: Timestamp,
    decidedAt: Timestamp,
    ground: Ground,
    point: Point,
    coordinate: Coordinate? = nil,
    accuracy: Double,
    speed: Double? = nil
  ) {
    self.time = time
    self.decidedAt = decidedAt
    self.ground = ground
    self.point = point
    self.coordinate = coordinate
    self.accuracy = accuracy
    self.speed = speed
  }
}

extension VisitFix {
  /// Creates a fix of a published one.
  package init(_ fix: FixDetail, _ event: Event) {
    let floor = fix.isIndoors ? FloorID(building: fix.building, level: fix.level) : nil
    self.init(
      time: event.time,
      decidedAt: event.decidedAt,
      ground: Ground(venue: fix.venue, floor: floor),
      point: Point(x: fix.x, y: fix.y),
      coordinate: fix.latitude.flatMap { latitude in
        fix.longitude.flatMap { Coordinate(latitude: latitude, longitude: $0) }
      },
      accuracy: fix.horizontalAccuracy,
      speed: fix.speed
    )
  }
}

/// A stay of a subject at one place, as far as it is known.
package struct Stay: Hashable, Sendable {
  package var ground: VisitFix.Ground
  package var arrival: Timestamp
  /// The end, or nil while it lasts.
  package var departure: Timestamp?
  /// The centre on the floor's plane, or on the plane of the outdoors.
  package var center: Point
  /// The centre on the Earth, outdoors alone.
  package var coordinate: Coordinate?
  package var accuracy: Double
  package var evidence: VisitDetail.Evidence
}

/// A state machine that finds the visits of one subject in its fixes.
///
/// Fixes of a few seconds are averaged to samples, and `VisitTrack` divides the samples into stays and movements. A
/// stay is published when it has lasted for the shortest visit and clearly is none of the movements, and ends when a
/// division in which the subject has left is clearly better than one in which it stays. Arrival and departure are the ends
/// of the stay in the best division, not the times of the decisions.
///
/// The machine knows no clock: fixes come in order, and the caller calls ``expire()`` when ``deadline`` has passed without
/// a fix decided by then.
package struct VisitDetector: Sendable {
  /// A decision about a stay.
  package enum Step: Hashable, Sendable {
    /// The subject has arrived.
    case arrive(Stay)
    /// The subject has left; the arrival was decided before.
    case depart(Stay)
  }

  private var scale: VisitScale
  /// The ground of the samples.
  private var ground: VisitFix.Ground?
  /// The zero of the samples' times.
  private var epoch = Timestamp.distantPast
  private var track = VisitTrack()
  /// The fixes that are not a sample yet.
  private var gathered: [VisitFix] = []
  /// The fixes without a speed from which speeds are derived: those of the last ``VisitScale/correlation`` seconds and one
  /// before them.
  private var recent: [VisitFix] = []
  /// The fixes on another floor that do not show a change of floors yet.
  private var elsewhere: [VisitFix] = []
  /// The plane of the outdoors.
  private var plane: GroundPlane?
  /// The arrival of the stay that was published, or nil if there is none.
  private var arrival: Timestamp?
  private var maximumGap = TimeSpan.zero
  /// The time of the last fix at the stay that was published.
  private var lastEvidence = Timestamp.distantPast
  /// The time at which the last fix was decided; downtime since then is added.
  private var lastDecided = Timestamp.distantPast

  /// Creates a machine that knows nothing yet.
  package init(_ settings: VisitSettings) { scale = VisitScale(settings) }

  /// Indicates whether a visit is open.
  package var isStaying: Bool { arrival != nil }

  /// The time at which the machine gives up waiting for a fix.
  package var deadline: Timestamp {
    guard lastDecided != .distantPast else { return .distantFuture }
    return lastDecided + (isStaying ? scale.settings.hold : VisitScale.memory)
  }

  /// Takes the next fix of the subject.
  ///
  /// - Returns: the decisions, an arrival before a departure; at most one of each.
  package mutating func add(_ fix: VisitFix) -> [Step] {
    lastDecided = max(lastDecided, fix.decidedAt)
    guard fix.accuracy.isFinite, fix.accuracy > 0, fix.point.x.isFinite, fix.point.y.isFinite else {
      return []
    }
    if let ground, ground != fix.ground { return consider(fix) }
    elsewhere.removeAll()
    if ground == nil { start(on: fix) }
    guard let point = place(of: fix) else { return [] }
    var located = fix
    located.point = point
    if let first = gathered.first, (fix.time - first.time).seconds >= scale.grain {
      let steps = extend()
      gathered.append(located)
      return steps
    }
    gathered.append(located)
    return []
  }

  /// Ends the wait for a fix: a visit that is open ends at its last evidence, and the track is forgotten.
  package mutating func expire() -> [Step] {
    var steps = extend()
    if isStaying {
      steps.append(.depart(closed(at: leaving ?? lastEvidence, leaving == nil ? .silence : .moved)))
    }
    reset()
    return steps
  }

  /// Gives up a visit that is open.
  package mutating func drop() -> Step? {
    guard isStaying else { return nil }
    defer { reset() }
    return .depart(closed(at: lastEvidence, .dropped))
  }

  /// Applies the settings of an edited site.
  package mutating func adopt(_ settings: VisitSettings) { scale = VisitScale(settings) }

  // MARK: Floors

  private mutating func start(on fix: VisitFix) {
    ground = fix.ground
    epoch = fix.time
    track = VisitTrack()
    plane = nil
  }

  private mutating func place(of fix: VisitFix) -> Point? {
    guard fix.ground.floor == nil else { return fix.point }
    guard let coordinate = fix.coordinate else { return nil }
    if plane == nil { plane = GroundPlane(origin: coordinate) }
    return plane?.point(of: coordinate)
  }

  /// Takes a fix on another floor, which is one of a few that err, or shows a change of floors.
  private mutating func consider(_ fix: VisitFix) -> [Step] {
    if elsewhere.last?.ground != fix.ground { elsewhere.removeAll() }
    elsewhere.append(fix)
    guard let first = elsewhere.first, elsewhere.count >= VisitScale.floorChange.fixes,
      (fix.time - first.time).seconds >= VisitScale.floorChange.seconds
    else { return [] }
    var steps = extend()
    if isStaying {
      // Without a movement before it, the last fix on this floor is the last evidence.
      let silence = (first.time - lastEvidence).seconds
      let end: VisitDetail.Evidence.End = silence > VisitScale.datableGap ? .silence : .changedFloor
      steps.append(.depart(closed(at: leaving ?? (end == .silence ? lastEvidence : first.time), end)))
    } else if steps.isEmpty, let last = track.segments.last, last.isStay, isLong(last, scale.tolerated),
      track.stayLead >= arrivalMargin, !isMoving(last)
    {
      steps = visit(last, until: min(first.time, time(endOf: last.samples.upperBound - 1)), .changedFloor)
    }
    let fixes = elsewhere
    reset()
    for fix in fixes { steps += add(fix) }
    return steps
  }

  private mutating func reset() {
    ground = nil
    track = VisitTrack()
    gathered.removeAll()
    recent.removeAll()
    elsewhere.removeAll()
    plane = nil
    arrival = nil
    maximumGap = .zero
  }

  // MARK: Samples

  /// Makes a sample of the fixes that were gathered, and decides.
  private mutating func extend() -> [Step] {
    guard let first = gathered.first, let last = gathered.last else { return [] }
    let count = Double(gathered.count)
    var (time, x, y, square, accuracy) = (0.0, 0.0, 0.0, 0.0, 0.0)
    var (still, moving, readings) = (0.0, 0.0, 0.0)
    var isMeasured = false
    var derived = DerivedSpeeds()
    for fix in gathered {
      time += (fix.time - epoch).seconds / count
      x += fix.point.x / count
      y += fix.point.y / count
      let deviation = max(VisitScale.minimumDeviation, fix.accuracy / VisitScale.radiusOfDeviation)
      square += deviation * deviation / count
      accuracy += fix.accuracy / count
      let speed: Double
      var share = 1.0
      if let measured = fix.speed {
        speed = measured
        isMeasured = true
      } else if let shown = derivedSpeed(of: fix) {
        // Of ten seconds that it is derived from one is new.
        speed = shown
        share = 1 / VisitScale.correlation
        derived.add(shown)
      } else {
        continue
      }
      let excess = speed / VisitScale.speedEvidence.deviation
      let lack = max(0, 2 * VisitScale.speeds.lowerBound - speed) / VisitScale.speedEvidence.deviation
      still += share * min(1, excess * excess / 4)
      moving += share * min(1, lack * lack / 4)
      readings += 1
    }
    let before =
      track.samples.last?.end ?? (lastEvidence == .distantPast ? nil : (lastEvidence - epoch).seconds)
    let span = min(
      2 * VisitScale.correlation,
      max(0, (last.time - epoch).seconds - (before ?? -.infinity)),
      60
    )
    let covered = max(span, (last.time - first.time).seconds)
    // What lies within the time for which an error persists is hardly independent.
    let independent = min(1, covered / (2 * VisitScale.correlation))
    let perSecond = VisitScale.speedEvidence.costPerSecond * min(covered, scale.grain)
    let sample = VisitSample(
      time: time,
      point: Point(x: x, y: y),
      weight: max(independent, 0.01) / (square + scale.wander),
      accuracy: accuracy,
      fixes: gathered.count,
      end: (last.time - epoch).seconds,
      isMeasured: isMeasured,
      stillCost: readings > 0 ? perSecond * still / readings : 0,
      movingCost: readings > 0 ? perSecond * moving / readings : 0,
      derived: derived
    )
    gathered.removeAll(keepingCapacity: true)
    track.append(sample)
    return isStaying ? decideDeparture(sample) : decideArrival()
  }

  /// Returns the speed at which a subject came to a fix, by the fix of ten seconds before.
  private mutating func derivedSpeed(of fix: VisitFix) -> Double? {
    let reach = fix.time - .seconds(VisitScale.correlation)
    if let first = recent.firstIndex(where: { $0.time > reach }) {
      recent.removeFirst(max(0, first - 1))
    } else {
      recent.removeFirst(max(0, recent.count - 1))
    }
    defer { recent.append(fix) }
    guard let before = recent.first else { return nil }
    let span = (fix.time - before.time).seconds
    guard span >= VisitScale.correlation, span <= VisitScale.datableGap else { return nil }
    return before.point.distance(to: fix.point) / span
  }

  private var arrivalMargin: Double {
    track.isMeasured ? VisitScale.arrivalMargin.measured : VisitScale.arrivalMargin.unmeasured
  }

  private mutating func decideArrival() -> [Step] {
    guard track.samples.count >= VisitScale.minimumSamples else { return [] }
    let segments = track.segments
    for (place, stay) in segments.enumerated() where stay.isStay {
      guard place < segments.count - 1 else {
        guard isLong(stay, scale.minimum), track.stayLead >= arrivalMargin,
          !isMoving(stay)
        else { return [] }
        arrive(stay)
        return [.arrive(present)]
      }
      // It has left already: a way on that is the newest segment must be as certain as the stay.
      let isCertain =
        place < segments.count - 2
        || (segments[place + 1].samples.count >= VisitScale.minimumSamples
          && -track.stayLead >= arrivalMargin)
      guard isCertain, isLong(stay, scale.tolerated), track.advantage(of: stay) >= arrivalMargin,
        !isMoving(stay)
      else { continue }
      var sums = StaySums()
      sums.add(track.samples[stay.samples])
      // A hesitation beside it ends no visit.
      guard isAway(from: sums, behind: stay.samples.upperBound) else { return [] }
      let steps = visit(stay, until: departure(from: stay.samples), .moved)
      track = track.suffix(from: stay.samples.upperBound)
      return steps
    }
    return []
  }

  private mutating func decideDeparture(_ sample: VisitSample) -> [Step] {
    let stayed = stayed
    if stayed == track.samples.count {
      let time = epoch + .seconds(sample.end)
      maximumGap = max(maximumGap, time - lastEvidence)
      lastEvidence = time
      return []
    }
    guard track.baseLead <= -VisitScale.departureMargin, isAway(from: sums, behind: stayed) else { return [] }
    let isSilent = gap(behind: 0..<stayed) > VisitScale.datableGap
    let step = Step.depart(closed(at: departure(from: 0..<stayed), isSilent ? .silence : .moved))
    track = track.suffix(from: stayed)
    arrival = nil
    maximumGap = .zero
    return [step]
  }

  /// Returns whether the newest samples are far enough from a stay.
  private func isAway(from stay: StaySums, behind stayed: Int) -> Bool {
    let newest = track.samples[max(stayed, track.samples.count - VisitScale.minimumSamples)...]
    var sums = StaySums()
    sums.add(newest)
    return scale.isApart(stay, sums)
  }

  // MARK: Stays

  /// Returns whether a stay was seen for a time, and for at least half of its length.
  private func isLong(_ stay: VisitTrack.Segment, _ minimum: Double) -> Bool {
    guard stay.samples.count >= VisitScale.minimumSamples, let last = stay.samples.last else { return false }
    var covered = min(scale.grain, scale.coverage)
    for place in stay.samples.dropFirst() {
      covered += min(track.samples[place].time - track.samples[place - 1].time, scale.coverage)
    }
    let length = track.samples[last].time - track.samples[stay.samples.lowerBound].time
    return covered >= max(minimum, length / 2)
  }

  /// Returns whether the fixes of a stay move on, as in a queue, or to and fro all the time.
  ///
  /// The speeds that the fixes themselves show count for going to and fro. Readings that begin before the stay show the way
  /// to it.
  private func isMoving(_ stay: VisitTrack.Segment) -> Bool {
    let drift = track.drift(of: stay)
    if drift.improvement >= VisitScale.drift, drift.distance >= 2 * scale.settings.radius { return true }
    let samples = track.samples[stay.samples]
    let steadyTime = (samples.first?.time ?? 0) + VisitScale.correlation
    var derived = DerivedSpeeds()
    for sample in samples where sample.time >= steadyTime { derived.add(sample.derived) }
    return derived.rootMeanSquare >= VisitScale.speeds.lowerBound
  }

  /// Begins a visit with a stay that lasts.
  private mutating func arrive(_ stay: VisitTrack.Segment) {
    arrival = time(startOf: stay.samples.lowerBound)
    let samples = Array(track.samples[stay.samples])
    maximumGap = gap(in: stay.samples)
    lastEvidence = epoch + .seconds(samples.last?.end ?? 0)
    track = VisitTrack(in: StaySums(), samples)
  }

  /// Begins and ends a visit.
  private mutating func visit(
    _ stay: VisitTrack.Segment,
    until departure: Timestamp,
    _ end: VisitDetail.Evidence.End
  ) -> [Step] {
    var sums = StaySums()
    sums.add(track.samples[stay.samples])
    let start = time(startOf: stay.samples.lowerBound)
    let gap = gap(in: stay.samples)
    let open = self.stay(sums, from: start, to: nil, gap: gap, .lasting)
    return [.arrive(open), .depart(self.stay(sums, from: start, to: max(start, departure), gap: gap, end))]
  }

  private func gap(in samples: Range<Int>) -> TimeSpan {
    var maximum = 0.0
    for place in samples.dropFirst() {
      maximum = max(maximum, track.samples[place].end - track.samples[place - 1].end)
    }
    return .seconds(maximum)
  }

  /// The moment at which the subject has left by the best division, though that is not certain; nil if it stays.
  private var leaving: Timestamp? {
    guard isStaying else { return nil }
    let stayed = stayed
    guard stayed < track.samples.count, stayed > 0 else { return nil }
    return departure(from: 0..<stayed)
  }

  /// The sums of the visit that is open.
  private var sums: StaySums {
    var sums = track.base ?? StaySums()
    sums.add(track.samples[..<stayed])
    return sums
  }

  /// The number of samples that belong to the visit that is open, by the best division.
  ///
  /// A stay within the distance of a departure is the same one: errors that persist move its centre.
  private var stayed: Int {
    var end = 0
    var all = track.base ?? StaySums()
    for segment in track.segments where segment.isStay {
      var sums = StaySums()
      sums.add(track.samples[segment.samples])
      let way = track.samples[end..<max(end, segment.samples.lowerBound)]
      let walked = way.reduce(0) { $0 + $1.stillCost - $1.movingCost } >= VisitScale.walkEvidence
      guard segment.samples.lowerBound == 0 || !scale.isApart(all, sums, walked: walked) else { break }
      // A queue that moves on must not draw the centre along.
      if sums.weight > all.weight || end == 0 { all.add(track.samples[end..<segment.samples.upperBound]) }
      end = segment.samples.upperBound
    }
    return end
  }

  private var present: Stay { stay(sums, from: arrival ?? epoch, to: nil, gap: maximumGap, .lasting) }

  private func closed(at departure: Timestamp, _ end: VisitDetail.Evidence.End) -> Stay {
    let start = arrival ?? epoch
    return stay(sums, from: start, to: max(start, departure), gap: maximumGap, end)
  }

  private func stay(
    _ sums: StaySums,
    from start: Timestamp,
    to departure: Timestamp?,
    gap: TimeSpan,
    _ end: VisitDetail.Evidence.End
  ) -> Stay {
    Stay(
      ground: ground ?? VisitFix.Ground(venue: "", floor: nil),
      arrival: start,
      departure: departure,
      center: sums.center,
      coordinate: plane?.coordinate(of: sums.center),
      accuracy: sums.accuracy,
      evidence: VisitDetail.Evidence(fixes: sums.fixes, spread: sums.spread, maximumGap: gap, end: end)
    )
  }

  // MARK: Moments

  private func time(endOf place: Int) -> Timestamp { epoch + .seconds(track.samples[place].end) }

  /// The time at which a stay begins: between its first sample and the one before it.
  private func time(startOf place: Int) -> Timestamp {
    let first = track.samples[place]
    guard place > 0 else {
      return epoch + .seconds(first.time - min(scale.grain / 2, first.end - first.time))
    }
    let before = track.samples[place - 1]
    guard first.time - before.time > 2 * scale.grain else {
      return epoch + .seconds((before.time + first.time) / 2)
    }
    let way = before.point.distance(to: first.point) / VisitScale.walk
    return epoch + .seconds(min(first.time, before.end + way))
  }

  /// The time between the last evidence of a stay and the next sample, in seconds.
  private func gap(behind stay: Range<Int>) -> Double {
    guard stay.upperBound < track.samples.count else { return 0 }
    return track.samples[stay.upperBound].time - end(of: stay)
  }

  /// The time of the last evidence of a stay, in seconds.
  private func end(of stay: Range<Int>) -> Double {
    stay.isEmpty ? (lastEvidence - epoch).seconds : track.samples[stay.upperBound - 1].end
  }

  /// The time at which a stay ends: between its last sample and the next one.
  ///
  /// In a gap it is as late as a walk to the next place allows; in a long gap it is the time of the last evidence.
  private func departure(from stay: Range<Int>) -> Timestamp {
    let end = end(of: stay)
    let gap = gap(behind: stay)
    guard stay.upperBound < track.samples.count, gap <= VisitScale.datableGap else {
      return epoch + .seconds(end)
    }
    let next = track.samples[stay.upperBound]
    let from = stay.isEmpty ? sums.center : track.samples[stay.upperBound - 1].point
    guard gap > 2 * scale.grain else {
      let last = stay.isEmpty ? end : track.samples[stay.upperBound - 1].time
      return epoch + .seconds((last + next.time) / 2)
    }
    return epoch + .seconds(max(end, next.time - from.distance(to: next.point) / VisitScale.walk))
  }
}

extension VisitDetector: FieldParts {
  /// Hands a visit that is open to a coder; the track before and after it is found again.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let venue = try coder.field(ground?.venue ?? "")
    let building = try coder.field(ground?.floor?.building)
    let level = try coder.field(ground?.floor?.level ?? 0)
    let latitude = try coder.field(plane?.origin.latitude)
    let longitude = try coder.field(plane?.origin.longitude)
    try coder.code(&arrival)
    try coder.code(&maximumGap)
    try coder.code(&lastEvidence)
    try coder.code(&lastDecided)
    var sums = Coder.isReader ? StaySums() : sums
    try coder.code(parts: &sums)
    guard Coder.isReader else { return }
    restore(
      VisitFix.Ground(venue: venue, floor: building.map { FloorID(building: $0, level: level) }),
      origin: latitude.flatMap { latitude in
        longitude.flatMap { Coordinate(latitude: latitude, longitude: $0) }
      },
      sums
    )
  }

  /// Creates a machine from a visit that was published and has not ended.
  init(resuming visit: VisitDetail, decidedAt: Timestamp, _ settings: VisitSettings) {
    self.init(settings)
    arrival = visit.arrival
    maximumGap = visit.evidence.maximumGap
    lastEvidence = decidedAt
    lastDecided = decidedAt
    var sums = StaySums()
    let deviation = max(visit.horizontalAccuracy ?? 10, 1) / VisitScale.radiusOfDeviation
    let center = visit.floor.map { Point(x: $0.x, y: $0.y) } ?? .origin
    sums.weight = 1 / (deviation * deviation)
    (sums.x, sums.y) = (center.x * sums.weight, center.y * sums.weight)
    sums.fixes = visit.evidence.fixes
    sums.accuracies = Double(sums.fixes) * (visit.horizontalAccuracy ?? 10)
    let spread = visit.evidence.spread ?? 0
    sums.square = spread * spread * sums.weight
    restore(
      VisitFix.Ground(
        venue: visit.venue,
        floor: visit.floor.map { FloorID(building: $0.building, level: $0.level) }
      ),
      origin: visit.latitude.flatMap { latitude in
        visit.longitude.flatMap { Coordinate(latitude: latitude, longitude: $0) }
      },
      sums
    )
  }

  private mutating func restore(_ ground: VisitFix.Ground, origin: Coordinate?, _ sums: StaySums) {
    self.ground = ground
    epoch = lastEvidence
    if ground.floor == nil { plane = origin.map { GroundPlane(origin: $0) } }
    track = VisitTrack(in: sums)
  }

  /// Goes on after a downtime, which is no evidence of anything.
  mutating func resume(after downtime: TimeSpan) {
    guard isStaying, let ground else { return reset() }
    let (sums, origin) = (sums, plane?.origin)
    gathered.removeAll()
    recent.removeAll()
    elsewhere.removeAll()
    lastDecided = lastDecided + downtime
    restore(ground, origin: origin, sums)
  }
}

extension StaySums: FieldParts {
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(finite: &weight)
    try coder.code(finite: &x)
    try coder.code(finite: &y)
    try coder.code(finite: &square)
    try coder.code(finite: &stillCost)
    try coder.code(place: &fixes)
    try coder.code(finite: &accuracies)
    try coder.check(weight >= 0 && square >= 0, "the sums of a visit")
  }
}

extension VisitDetector {
  /// Hands everything to a coder but the scale, for a machine that continues exactly.
  mutating func visitAll<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(optional: &ground, VisitFix.blank.ground) { (ground, coder) throws(C.Failure) in
      try ground.visitFields(&coder)
    }
    try coder.code(&epoch)
    try track.visitFields(&coder)
    try VisitDetector.visit(&gathered, &coder)
    try VisitDetector.visit(&recent, &coder)
    try VisitDetector.visit(&elsewhere, &coder)
    var origin = plane?.origin
    try coder.code(coordinate: &origin)
    if C.isReader { plane = origin.map { GroundPlane(origin: $0) } }
    try coder.code(&arrival)
    try coder.code(&maximumGap)
    try coder.code(&lastEvidence)
    try coder.code(&lastDecided)
  }

  private static func visit<C: FieldCoder>(_ fixes: inout [VisitFix], _ coder: inout C) throws(C.Failure) {
    try coder.code(list: &fixes, into: VisitFix.blank) { (fix, coder) throws(C.Failure) in
      try coder.code(&fix.time)
      try coder.code(&fix.decidedAt)
      try fix.ground.visitFields(&coder)
      try coder.code(&fix.point.x)
      try coder.code(&fix.point.y)
      try coder.code(coordinate: &fix.coordinate)
      try coder.code(&fix.accuracy)
      try coder.code(&fix.speed)
    }
  }
}

extension VisitFix {
  /// A fix whose fields are still to be read.
  fileprivate static let blank = VisitFix(
    time: .distantPast,
    decidedAt: .distantPast,
    ground: Ground(venue: "", floor: nil),
    point: .origin,
    accuracy: 0
  )
}

extension VisitFix.Ground {
  fileprivate mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&venue)
    let building = try coder.field(floor?.building)
    let level = try coder.field(floor?.level ?? 0)
    floor = building.map { FloorID(building: $0, level: level) }
  }
}

extension FieldCoder {
  /// Codes a place on the Earth that may be missing.
  fileprivate mutating func code(coordinate: inout Coordinate?) throws(Failure) {
    let latitude = try field(coordinate?.latitude)
    let longitude = try field(coordinate?.longitude)
    guard Self.isReader else { return }
    coordinate = latitude.flatMap { latitude in
      longitude.flatMap { Coordinate(latitude: latitude, longitude: $0) }
    }
  }
}
