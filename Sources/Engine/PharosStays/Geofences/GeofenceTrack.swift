import PharosDocuments
import PharosFixes
package import PharosModel
package import PharosSpace

/// A position of a subject at one time.
package struct LocatedPosition: Sendable {
  /// The source of a position; errors of different sources have nothing in common.
  package enum Source: UInt8, FieldChoice {
    /// Satellites, or a visual positioning service.
    case outside
    /// Radio on a floor plan.
    case radio
    /// Nothing new: motion alone.
    case motion

    /// The name of the field.
    package static var fieldName: String { "the source of a position" }
  }

  /// The subject.
  package var subject: SubjectID
  /// The time of the position.
  package var time: Timestamp
  /// The time at which it was decided.
  package var decidedAt: Timestamp
  /// The position.
  package var point: MapPoint
  /// The size of a map point there.
  ///
  /// - Units: metres.
  package var scale: Double
  /// The standard deviation along each axis.
  ///
  /// - Units: metres.
  package var deviation: Double
  /// The building, empty outdoors.
  package var building: String
  /// The number of the floor, 0 outdoors.
  package var level: Int
  /// The source.
  package var source: Source
  /// The heights, as far as they are known.
  package var height = LocatedHeight()

  /// Makes a position; nil where the map does not reach or the accuracy is no distance.
  package init?(
    subject: SubjectID,
    time: Timestamp,
    decidedAt: Timestamp,
    latitude: Double,
    longitude: Double,
    accuracy: Double,
    building: String = "",
    level: Int = 0,
    source: Source
  ) {
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude),
      let point = MapPoint(coordinate), accuracy.isFinite, accuracy >= 0
    else { return nil }
    self.subject = subject
    self.time = time
    self.decidedAt = decidedAt
    self.point = point
    scale = MapPoint.metersPerPoint(atLatitude: latitude)
    deviation = max(LocatedPosition.minimumDeviation, accuracy / GeofenceArea.deviationsWithin68)
    self.building = building
    self.level = level
    self.source = source
  }

  /// The position of a fix; nil if the event is none, or its floor is bound to no place on the Earth.
  package init?(_ event: Event) {
    guard case .fix(let fix) = event.detail, let latitude = fix.latitude, let longitude = fix.longitude else {
      return nil
    }
    self.init(
      subject: event.subject,
      time: event.time,
      decidedAt: event.decidedAt,
      latitude: latitude,
      longitude: longitude,
      accuracy: fix.horizontalAccuracy,
      building: fix.building,
      level: fix.level,
      source: fix.sources.isDisjoint(with: [.wifi, .beacons, .observers])
        ? fix.sources.contains(.outside) ? .outside : .motion : .radio
    )
    height = LocatedHeight(
      altitude: fix.altitude,
      ellipsoidalAltitude: fix.ellipsoidalAltitude,
      verticalAccuracy: fix.verticalAccuracy,
      horizontalAccuracy: fix.horizontalAccuracy
    )
  }

  /// The smallest standard deviation: no fix is better than 10 cm.
  fileprivate static let minimumDeviation = 0.1
}

/// The height of a position from each reference from which it is known, and how accurate it is.
package struct LocatedHeight: Sendable {
  /// The height above mean sea level, or nil if it is not known.
  ///
  /// - Units: metres.
  package var altitude: Double?
  /// The height above the WGS 84 ellipsoid, or nil if it is not known.
  ///
  /// - Units: metres.
  package var ellipsoidalAltitude: Double?
  /// The standard deviation.
  ///
  /// - Units: metres.
  fileprivate var deviation = 1.0

  /// Makes an unknown height.
  package init() {}

  /// Makes a height; no height is known without a finite number.
  ///
  /// - Parameters:
  ///   - altitude: metres above mean sea level.
  ///   - ellipsoidalAltitude: metres above the ellipsoid.
  ///   - verticalAccuracy: the difference in metres that holds 68 % of truths, or nil if it is not known.
  ///   - horizontalAccuracy: that along the ground, from which an unknown one is guessed.
  package init(
    altitude: Double?,
    ellipsoidalAltitude: Double?,
    verticalAccuracy: Double?,
    horizontalAccuracy: Double
  ) {
    let accuracy = verticalAccuracy ?? horizontalAccuracy * FixEstimate.heightErrorFactor
    guard accuracy.isFinite, accuracy >= 0 else { return }
    self.altitude = altitude.flatMap { $0.isFinite ? $0 : nil }
    self.ellipsoidalAltitude = ellipsoidalAltitude.flatMap { $0.isFinite ? $0 : nil }
    // One standard deviation to each side holds 68 %.
    deviation = max(LocatedPosition.minimumDeviation, accuracy)
  }
}

/// An estimate of a height: it follows those of the fixes, and is never more accurate than they are.
struct HeightEstimate: Sendable {
  /// The height in metres.
  var height: Double
  /// The variance of the heights that it was made from.
  var variance: Double
  /// The time of the last of them.
  var time: Timestamp

  /// The distance in metres that a subject may rise or sink in a second: in a lift, or on a drone.
  private static let pace = 2.0
  /// The time for which a height counts while fixes state none.
  private static let life = TimeSpan.seconds(10)

  /// Returns the estimate with a further height; with none, or a first one, what there is.
  static func following(
    _ former: HeightEstimate?,
    _ height: Double?,
    deviation: Double,
    at time: Timestamp
  ) -> HeightEstimate? {
    guard let height else { return former }
    let own = deviation * deviation
    guard let now = former?.grown(until: time) else {
      return HeightEstimate(height: height, variance: own, time: time)
    }
    let gain = now.variance / (now.variance + own)
    let variance = former?.variance ?? own
    return HeightEstimate(
      height: now.height + gain * (height - now.height),
      variance: variance + gain * (own - variance),
      time: time
    )
  }

  /// Returns the estimate for a later time, by which the subject may have risen or sunk; nil if it is too old.
  func grown(until later: Timestamp) -> HeightEstimate? {
    guard later - time <= HeightEstimate.life else { return nil }
    let step = HeightEstimate.pace * (later - time).seconds
    return HeightEstimate(height: height, variance: variance + step * step, time: later)
  }
}

/// The state of one subject in one geofence that is near it, that it is in, or that is not decided.
struct GeofenceRow: Sendable {
  /// A run of fixes that speak for the same change.
  struct Run: Sendable {
    /// The state that they speak for.
    var state: RegionState
    /// The time of the first of them.
    var since: Timestamp
    /// The number of fixes.
    var fixes: Int
    /// Indicates whether one of them is finer than the geofence.
    var isFine: Bool
  }

  /// The geofence's place among the regions.
  var fence: Int
  /// The state.
  var machine: RegionMachine
  /// Counts the transitions: a part of every event's id.
  var counter: UInt64
  /// The run of fixes that may lead to a change.
  var run: Run?
  /// The last position before the subject came near, from which a passage is judged.
  var approach: TrackedPosition?
  /// The time at which an alarm about a tag that is unmonitored is due.
  var holdDeadline = Timestamp.distantFuture
  /// Indicates whether an event has stated where the subject stands.
  var isPublished = false

  /// The state.
  var state: RegionState { machine.state }
  /// Indicates whether an event must state where the subject stands, before one says that it is outside of all others.
  var isOpen: Bool { !isPublished && state != .outside }

  /// Returns whether the subject is outside, and no later change can be older than the last one.
  func isNeedless(at time: Timestamp) -> Bool { state == .outside && machine.changedAt <= time }
}

/// A position as a track keeps it.
struct TrackedPosition: Sendable {
  var time: Timestamp
  var point: MapPoint
  var deviation: Double
  var source: LocatedPosition.Source

  init(_ position: LocatedPosition) {
    time = position.time
    point = position.point
    deviation = position.deviation
    source = position.source
  }
}

/// The recent positions of one subject, and its states.
///
/// The errors of successive fixes are much the same: so the track follows the fixes closely, as far as a walk may go between
/// two of them, and never takes itself to be more accurate than they are.
struct GeofenceTrack: Sendable {
  /// The subject.
  var subject: SubjectID
  /// The decision time of the first fix.
  var since: Timestamp
  /// The decision time of the last fix.
  var decidedAt: Timestamp
  /// The last fix; nil after a restart and while none comes.
  var last: TrackedPosition?
  /// The estimated position.
  var point: MapPoint
  /// The variance of the fixes that the estimate was made from.
  var variance = 0.0
  /// The variance with which the next fix is weighed.
  var gainVariance = 0.0
  /// The mean time between two fixes.
  var gap = TimeSpan.zero
  /// The source before the last change of it, and the variance that it adds until ``blendedUntil``.
  var otherVariance = 0.0
  /// The end of the time after a change of source in which the errors of both count.
  var blendedUntil = Timestamp.distantPast
  /// The floor that the subject is on.
  var floor: Floor
  /// Another floor that the last fixes are on.
  var nextFloor: Floor?
  /// The time since which they are.
  var nextFloorSince = Timestamp.distantPast
  /// The estimated height above mean sea level.
  var altitude: HeightEstimate?
  /// The estimated height above the ellipsoid.
  var ellipsoidalAltitude: HeightEstimate?
  /// The decision time of the fix at which an event said that the subject is outside of all other geofences.
  ///
  /// It is outside of those that were monitored by then and for which it has no row.
  var statedAt: Timestamp?
  /// The decision time of the last fix that changed a state.
  var publishedAt = Timestamp.distantPast
  /// The states, in the order of ``GeofenceRow/fence``.
  var rows: [GeofenceRow] = []
  /// Indicates whether no fix has come for longer than expected.
  var isStale = false

  /// A floor of a building; outdoors, floor 0 of none.
  struct Floor: Hashable, Sendable {
    var building: String
    var level: Int
  }

  /// The distance that a subject may go in a second.
  ///
  /// 4 m: a person who runs. So the estimate lags a second behind fixes that are 7 m accurate, and less behind better
  /// ones.
  private static let pace = 4.0
  /// The time after which the estimate starts again from the next fix.
  private static let memory = TimeSpan.seconds(60)
  /// The time after a change of source in which the errors of both count.
  ///
  /// 10 s: about as long as fixes take to settle after a door.
  private static let blend = TimeSpan.seconds(10)
  /// The time for which fixes must be on another floor before the subject is: a single fix on a wrong floor is common.
  private static let floorDwell = TimeSpan.seconds(3)
  /// The bounds of the time without a fix after which a subject counts as not located, and its factor to the usual gap.
  private static let patience = (minimum: TimeSpan.seconds(30), maximum: TimeSpan.minutes(10), gaps: 6.0)

  /// Starts with a first fix.
  init(_ fix: LocatedPosition) {
    subject = fix.subject
    since = fix.decidedAt
    decidedAt = fix.decidedAt
    point = fix.point
    floor = Floor(building: fix.building, level: fix.level)
  }

  /// The time at which the subject counts as not located, unless a fix comes.
  var staleAt: Timestamp {
    let patience = GeofenceTrack.patience
    return decidedAt + min(patience.maximum, max(patience.minimum, gap * patience.gaps))
  }

  /// Takes a fix into the estimate.
  mutating func add(_ fix: LocatedPosition) {
    record(Floor(building: fix.building, level: fix.level), at: fix.time)
    record(fix.height, at: fix.time)
    var own = fix.deviation * fix.deviation
    defer {
      last = TrackedPosition(fix)
      decidedAt = fix.decidedAt
      isStale = false
    }
    guard let last, fix.time - last.time <= GeofenceTrack.memory else {
      point = fix.point
      variance = own
      gainVariance = own
      return
    }
    let span = fix.time - last.time
    gap = gap == .zero ? span : .seconds(gap.seconds + (span.seconds - gap.seconds) / 5)
    if last.source != fix.source, last.source != .motion, fix.source != .motion {
      otherVariance = last.deviation * last.deviation
      blendedUntil = fix.time + GeofenceTrack.blend
    }
    if fix.time < blendedUntil { own += otherVariance }
    let step = GeofenceTrack.pace * span.seconds
    let predicted = gainVariance + step * step
    let gain = predicted / (predicted + own)
    let (east, south) = fix.point.offset(from: point)
    point = MapPoint(x: point.x + gain * east, y: point.y + gain * south)
    gainVariance = (1 - gain) * predicted
    variance += gain * (own - variance)
  }

  private mutating func record(_ seen: LocatedHeight, at time: Timestamp) {
    let deviation = seen.deviation
    altitude = .following(altitude, seen.altitude, deviation: deviation, at: time)
    ellipsoidalAltitude = .following(
      ellipsoidalAltitude,
      seen.ellipsoidalAltitude,
      deviation: deviation,
      at: time
    )
  }

  /// Returns the estimated height from a reference at a time, or nil if it is not known.
  func height(_ reference: Geofence.AltitudeRange.Reference, at time: Timestamp) -> HeightEstimate? {
    switch reference {
    case .seaLevel: altitude?.grown(until: time)
    case .ellipsoid: ellipsoidalAltitude?.grown(until: time)
    }
  }

  /// Returns the state towards a geofence for which there is no row.
  func stateWithoutRow(of entry: BeaconRegions.Entry) -> RegionState {
    statedAt.map { entry.since <= $0 } ?? false ? .outside : entry.assuming
  }

  private mutating func record(_ seen: Floor, at time: Timestamp) {
    guard last != nil, seen != floor else {
      floor = seen
      nextFloor = nil
      return
    }
    if nextFloor != seen {
      nextFloor = seen
      nextFloorSince = time
    } else if time - nextFloorSince >= GeofenceTrack.floorDwell {
      floor = seen
      nextFloor = nil
    }
  }

  /// Returns whether the subject is on the floor of a geofence; nil while its fixes disagree.
  func isOnFloor(of geofence: Geofence) -> Bool? {
    let isOn = geofence.holds(floor)
    return nextFloor.map(geofence.holds) ?? isOn == isOn ? isOn : nil
  }

  /// Forgets where the subject was, not what it is in.
  mutating func forgetPosition() {
    last = nil
    nextFloor = nil
    (altitude, ellipsoidalAltitude) = (nil, nil)
    blendedUntil = .distantPast
    for index in rows.indices {
      rows[index].run = nil
      rows[index].approach = nil
    }
  }
}

extension Geofence {
  /// Returns whether the geofence lies on a floor.
  func holds(_ floor: GeofenceTrack.Floor) -> Bool {
    (building.map { $0 == floor.building } ?? true) && (level.map { $0 == floor.level } ?? true)
  }
}

// MARK: Checkpoints

extension GeofenceRow.Run: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      state: try coder.field(value().state),
      since: try coder.field(value().since),
      fixes: try coder.field(value().fixes),
      isFine: try coder.field(value().isFine)
    )
  }
}

extension GeofenceRow: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(fence: 0, machine: RegionMachine(assuming: .unknown, since: .distantPast), counter: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &fence)
    try coder.code(&machine)
    try coder.code(counter: &counter)
    try coder.code(&run)
    try coder.code(&approach)
    try coder.code(&holdDeadline)
    try coder.code(&isPublished)
  }
}

extension HeightEstimate: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let estimate = Self(
      height: try coder.field(value().height),
      variance: try coder.field(value().variance),
      time: try coder.field(value().time)
    )
    try coder.check(estimate.height.isFinite && estimate.variance.isFinite, "a height")
    try coder.check(estimate.variance >= 0, "a variance")
    return estimate
  }
}

extension TrackedPosition: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(time: .distantPast, point: MapPoint(x: 0, y: 0), deviation: 1, source: .motion) }

  private init(time: Timestamp, point: MapPoint, deviation: Double, source: LocatedPosition.Source) {
    (self.time, self.point, self.deviation, self.source) = (time, point, deviation, source)
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&time)
    try coder.code(finite: &point.x)
    try coder.code(finite: &point.y)
    try coder.code(finite: &deviation)
    try coder.check(deviation > 0, "a deviation")
    try coder.code(&source)
  }
}

extension GeofenceTrack.Floor: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      building: try coder.field(value().building),
      level: try coder.field(value().level)
    )
  }
}

extension GeofenceTrack: SubjectRow {
  /// The content of a place that no subject occupies.
  static var vacant: GeofenceTrack { GeofenceTrack() }
  /// The decision time of the last fix.
  var touched: Timestamp { decidedAt }
  /// Indicates that the next fixes locate the subject again.
  var isNeeded: Bool { false }
}

/// A track without its place and its deadline, which the reader gives it.
extension GeofenceTrack: FieldStruct {
  init() {
    subject = .none
    since = .distantPast
    decidedAt = .distantPast
    point = MapPoint(x: 0, y: 0)
    floor = Floor(building: "", level: 0)
  }

  /// Starts with a state that is known from an event alone.
  init(_ subject: SubjectID, at instant: Timestamp) {
    self.init()
    self.subject = subject
    since = instant
    decidedAt = instant
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&subject)
    try coder.code(&since)
    try coder.code(&decidedAt)
    try coder.code(&last)
    try coder.code(finite: &point.x)
    try coder.code(finite: &point.y)
    try coder.code(finite: &variance)
    try coder.code(finite: &gainVariance)
    try coder.check(variance >= 0 && gainVariance >= 0, "a variance")
    try coder.code(&gap)
    try coder.code(finite: &otherVariance)
    try coder.code(&blendedUntil)
    try coder.code(&floor)
    try coder.code(&nextFloor)
    try coder.code(&nextFloorSince)
    try coder.code(&isStale)
    try coder.code(&altitude)
    try coder.code(&ellipsoidalAltitude)
    try coder.code(&statedAt)
    try coder.code(&publishedAt)
    try coder.code(&rows)
  }
}
