import PharosFixes
import PharosModel
import PharosSpace

/// One geofence, prepared for decisions.
struct PreparedGeofence: Sendable {
  let application: String
  let area: GeofenceArea
  let isAboutBeacons: Bool
  /// The places of the geofences of the same application that it lies within.
  var parents: [Int] = []
}

/// What the fixes of a subject say about one geofence.
struct GeofenceSight: Sendable {
  /// The probability that the subject is within; without regard to heights where its own is not known.
  let belief: Double
  /// Indicates whether the subject is on the geofence's floor; nil while its fixes disagree.
  let isOnFloor: Bool?
  /// The probability that the subject is between the geofence's heights; 1 without a range, 0 without a known height.
  let heightBelief: Double
  /// Indicates whether the geofence has no range of heights, or the subject's height is known.
  let isHeightKnown: Bool
  /// Indicates whether the fixes are too coarse to say that the subject may be within.
  let isTooCoarse: Bool
  /// Indicates whether the last fix is as fine as the geofence.
  let isFine: Bool
  /// The estimated position on the geofence's plane.
  let point: Point
  /// The radius in metres that is meant to hold 68 % of true positions.
  let accuracy: Double

  /// The factor to a geofence's radius, and to half of its height, above which a fix is too coarse.
  private static let coarsest = 4.0

  init(_ track: borrowing GeofenceTrack, _ fix: LocatedPosition, _ geofence: Geofence, _ area: GeofenceArea) {
    let deviation = track.variance.squareRoot()
    accuracy = deviation * GeofenceArea.deviationsWithin68
    point = area.plane.point(of: track.point)
    isOnFloor = track.isOnFloor(of: geofence)
    var belief = isOnFloor == false ? 0 : area.belief(around: point, deviation: deviation)
    var isTooCoarse = accuracy > GeofenceSight.coarsest * area.radius
    var isFine = fix.deviation * GeofenceArea.deviationsWithin68 <= area.radius
    var (isHeightKnown, heightBelief) = (true, 1.0)
    if let range = geofence.altitude {
      if let estimate = track.height(range.reference, at: fix.time) {
        let deviation = estimate.variance.squareRoot()
        heightBelief = range.belief(around: estimate.height, deviation: deviation)
        belief *= heightBelief
        isTooCoarse = isTooCoarse || deviation > GeofenceSight.coarsest * range.halfHeight
        isFine = isFine && deviation <= range.halfHeight
      } else {
        (isHeightKnown, heightBelief) = (false, 0)
      }
    }
    self.belief = belief
    self.isTooCoarse = isTooCoarse
    self.isFine = isFine || isOnFloor == false
    self.isHeightKnown = isHeightKnown
    self.heightBelief = heightBelief
  }

  /// Returns whether the subject is surely outside, as one fix says it.
  func isOutside(by policy: Geofence.Policy) -> Bool { isOnFloor != nil && belief < policy.exitProbability }

  /// Returns the state that the fixes speak for; nil if they speak for none.
  ///
  /// Without a height they speak for no `inside`, but against what was `outside`.
  func wanted(from state: RegionState, by policy: Geofence.Policy) -> RegionState? {
    if belief < policy.exitProbability { return .outside }
    guard belief > policy.enterProbability else { return nil }
    if isHeightKnown { return .inside }
    return state == .outside ? .unknown : nil
  }
}

/// A fix of a subject that is judged against one geofence.
struct GeofenceTrial {
  /// The fix.
  let fix: LocatedPosition
  /// The fix before it.
  let before: TrackedPosition?
  /// The geofence's place among the regions.
  let place: Int
  /// The geofence, prepared.
  let fence: PreparedGeofence
  /// The region.
  let entry: BeaconRegions.Entry
  /// The rules for changes.
  let policy: Geofence.Policy
  /// What the fixes say.
  let sight: GeofenceSight
  /// The state if there is no row.
  let start: RegionState

  /// A row that starts in a state.
  func row(assuming state: RegionState) -> GeofenceRow {
    GeofenceRow(
      fence: place,
      machine: RegionMachine(assuming: state, since: fix.time),
      counter: UInt64(bitPattern: fix.decidedAt.nanoseconds)
    )
  }

  /// The position, as evidence of so many fixes.
  func basis(dwell: TimeSpan = .zero, fixes: Int = 1) -> GeofenceBasis {
    GeofenceBasis(
      probability: sight.belief,
      edgeDistance: fence.area.edgeDistance(of: sight.point),
      accuracy: sight.accuracy,
      dwell: dwell,
      fixes: fixes
    )
  }

  /// Returns the way from an earlier fix through the geofence; nil if it did not lead through, or at another height.
  func passage(from start: TrackedPosition?) -> GeofencePassage? {
    guard let start, sight.isOnFloor == true, sight.heightBelief > policy.enterProbability else { return nil }
    return GeofencePassage(from: start, to: fix, through: fence.area)
  }
}

/// The passage of a subject through a geofence between two fixes that both lie outside.
struct GeofencePassage {
  /// The time at which it entered.
  let entered: Timestamp
  /// The time at which it left.
  let left: Timestamp
  /// The probability that its way led through the geofence rather than past it.
  let probability: Double

  /// The longest time between two fixes that a straight way is drawn between.
  static let maximumTime = TimeSpan.seconds(10)
  /// The greatest speed of a subject on its feet or wheels.
  ///
  /// - Units: m/s.
  private static let fastest = 5.0
  /// The probability of being within below which a fix lies outside.
  private static let outside = 0.1
  /// Deviations to the side up to which the way may be moved, with the share of ways between them.
  private static let sides = [(1.645, 0.9), (1.96, 0.95), (2.576, 0.99)]

  /// Draws the way between two fixes; nil if it may have led past the geofence, or the fixes are no two points of one way.
  init?(from start: TrackedPosition, to fix: LocatedPosition, through area: GeofenceArea) {
    let end = TrackedPosition(fix)
    let span = end.time - start.time
    guard span > .zero, span <= GeofencePassage.maximumTime, start.source == end.source else { return nil }
    let way = Segment(from: area.plane.point(of: start.point), to: area.plane.point(of: end.point))
    let deviation = max(start.deviation, end.deviation)
    guard way.length >= 2 * deviation * GeofenceArea.deviationsWithin68,
      way.length <= GeofencePassage.fastest * span.seconds, let shares = area.passage(of: way),
      let along = (way.end - way.start).direction
    else { return nil }
    let aside = Point(x: -along.y, y: along.x)
    var share: Double?
    for (deviations, probability) in GeofencePassage.sides {
      let isThrough = [-1.0, 1].allSatisfy { side in
        let move = aside * (side * deviations * deviation)
        return area.passage(of: Segment(from: way.start + move, to: way.end + move)) != nil
      }
      guard isThrough else { break }
      share = probability
    }
    guard let share,
      area.probability(around: way.start, deviation: start.deviation) < GeofencePassage.outside,
      area.probability(around: way.end, deviation: end.deviation) < GeofencePassage.outside
    else { return nil }
    entered = start.time + span * shares.lowerBound
    left = start.time + span * shares.upperBound
    probability = share
  }
}
