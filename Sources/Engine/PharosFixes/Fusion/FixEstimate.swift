package import PharosModel
package import PharosSpace

/// The location of a subject at a time, as estimated by its ``Locator``.
package struct FixEstimate: Hashable, Sendable {
  /// The time at which the subject was there: nothing that happened later was used.
  package var time: Timestamp
  /// The floor, or nil outdoors.
  package var floor: FloorID?
  /// The place on the floor's plane; the origin outdoors.
  package var point: Point
  /// The place on the Earth, or nil where the floor's plane does not reach.
  package var coordinate: Coordinate?
  /// The radius meant to hold 68 % of truths.
  ///
  /// - Units: metres.
  package var horizontalAccuracy: Double
  /// The speed of the subject, if known.
  ///
  /// - Units: m/s.
  package var speed: Double?
  /// The direction of its movement, if known.
  ///
  /// - Units: radians from north clockwise.
  package var course: Double?
  /// The sources of the fix.
  package var sources: FixSources
  /// The age of the newest radio or outside evidence at the fix's time.
  package var age: TimeSpan
  /// The advice on whether the handset should keep its satellite receiver on.
  package var satellites: SatelliteAdvice
  /// The place along the itinerary, or nil if there is none or the subject is not near it.
  package var progress: ItineraryProgress?
  /// The probability that the floor is the right one; nil outdoors.
  package var floorCertainty: Double?
  /// The height, if the floor or a location from outside gives it.
  package var height: Height?
  /// The difference in height that holds 68 % of truths, if known.
  ///
  /// - Units: metres.
  package var verticalAccuracy: Double?
  /// The difference that holds 68 % of true speeds, if known.
  ///
  /// - Units: m/s.
  package var speedAccuracy: Double?
  /// The angle that holds 68 % of true courses, if known.
  ///
  /// - Units: radians.
  package var courseAccuracy: Double?
  /// The direction that the handset points in, if known.
  ///
  /// - Units: radians from north clockwise.
  package var heading: Double?
  /// The angle that holds 68 % of true headings, if known.
  ///
  /// - Units: radians.
  package var headingAccuracy: Double?
  /// Statements about the making of the fix.
  package var information: SourceInformation = []
  /// The rotation from the handset's axes to east, north and up, if known.
  package var attitude: Rotation?

  /// The factor of the errors of satellites in height to those along the ground, for a height without an accuracy.
  package static let heightErrorFactor = 2.0

  /// A height in metres, and what it is measured from.
  package enum Height: Hashable, Sendable {
    /// Above mean sea level.
    case sea(Double)
    /// Above the WGS 84 ellipsoid.
    case ellipsoid(Double)
  }
}

extension Locator {
  /// The middle of the belief on its most probable floor.
  struct Middle {
    var floor: Int
    var point: Point
    /// The root of the mean square distance of the particles, in metres.
    var spread: Float
    /// The probability of the floor.
    var share: Float
    /// The probability of its building.
    var building: Float
    /// The probability of each floor.
    var shares: [Float]
  }

  /// Returns the middle of the belief, or nil while there is no belief.
  ///
  /// The floor of the last fix is kept unless another floor is ``FusionRules/floorMargin`` times as probable.
  func middle(keepingTo reported: Int? = nil) -> Middle? {
    guard !cloud.isEmpty else { return nil }
    let shares = cloud.shares()
    var floors = [Float](repeating: 0, count: content.floors.count)
    for index in 0..<cloud.count { floors[Int(cloud.floor[index])] += shares[index] }
    guard let best = floors.indices.max(by: { floors[$0] < floors[$1] }), floors[best] > 0 else { return nil }
    let floor = reported.flatMap { floors[best] < rules.floorMargin * floors[$0] ? $0 : nil } ?? best
    var (east, north): (Float, Float) = (0, 0)
    for index in 0..<cloud.count where Int(cloud.floor[index]) == floor {
      east += shares[index] * cloud.east[index]
      north += shares[index] * cloud.north[index]
    }
    east /= floors[floor]
    north /= floors[floor]
    var square: Float = 0
    for index in 0..<cloud.count where Int(cloud.floor[index]) == floor {
      let (dx, dy) = (cloud.east[index] - east, cloud.north[index] - north)
      square += shares[index] * (dx * dx + dy * dy)
    }
    return Middle(
      floor: floor,
      point: Point(x: Double(east), y: Double(north)),
      spread: (square / floors[floor]).squareRoot(),
      share: floors[floor],
      building: floors.indices.reduce(0) { sum, other in
        sum + (content.floors[other].id.building == content.floors[floor].id.building ? floors[other] : 0)
      },
      shares: floors
    )
  }

  /// Makes the fix for a time up to which everything has been weighed, or returns nil if the belief is missing or too
  /// vague.
  package mutating func estimate(at time: Timestamp) -> FixEstimate? {
    var fix = FixEstimate(
      time: time,
      floor: nil,
      point: .origin,
      horizontalAccuracy: 0,
      sources: evidence.sources,
      age: max(.zero, time - evidence.newest),
      satellites: .needed
    )
    evidence.sources = []
    addMovement(to: &fix)
    addSource(to: &fix)
    if let far = sky.far(at: time) {
      fix.coordinate = far.coordinate
      let speed = fix.speed ?? Double(rules.blindWalk)
      fix.horizontalAccuracy = far.radius + (time - far.time).seconds * speed
      addHeight(to: &fix)
      return fix
    }
    guard let middle = middle(keepingTo: evidence.reportedFloor), middle.building >= Locator.minimumBuilding
    else {
      return nil
    }
    let floor = content.floors[middle.floor]
    let radius = radius(of: middle, at: time)
    guard radius <= rules.vaguest else { return nil }
    evidence.reportedFloor = middle.floor
    let point = sky.isOutside ? middle.point : floor.nearest(to: geometricMedian(from: middle))
    fix.coordinate = floor.plane.coordinate(of: point)
    fix.horizontalAccuracy = Double(radius)
    fix.satellites = sky.advice
    if sky.isOutside {
      addHeight(to: &fix)
    } else {
      (fix.floor, fix.point) = (floor.id, point)
      fix.floorCertainty = Locator.floorTrust * Double(middle.share)
      addHeight(to: &fix, on: middle)
    }
    return fix
  }

  /// The share of right floors where all particles agree: no particle shows what the radio map has wrong.
  ///
  /// - Source: 99 % of the fixes of held-back walks of a mall where other walks had passed have the right floor.
  private static let floorTrust = 0.99

  /// Returns the geometric median of the particles on the middle's floor, from which their mean distance is the least.
  ///
  /// If the belief is divided between two corridors, the median lies in the more probable one, while the middle lies
  /// between them. On held-back walks the mean error of the median is 1 % smaller than that of the middle, and the
  /// median error 2 %. What the filter learns depends on the middle.
  ///
  /// - Source: Weiszfeld, "Sur le point pour lequel la somme des distances de n points donnés est minimum", Tôhoku Math. J. 43
  ///   (1937).
  private func geometricMedian(from middle: Middle) -> Point {
    let shares = cloud.shares()
    var east = Float(middle.point.x)
    var north = Float(middle.point.y)
    for _ in 0..<Locator.medianRounds {
      var (eastSum, northSum, sum): (Float, Float, Float) = (0, 0, 0)
      for index in 0..<cloud.count where Int(cloud.floor[index]) == middle.floor {
        let (dx, dy) = (cloud.east[index] - east, cloud.north[index] - north)
        let square = dx * dx + dy * dy + Locator.minimumApart * Locator.minimumApart
        let weight = shares[index] / square.squareRoot()
        eastSum += weight * cloud.east[index]
        northSum += weight * cloud.north[index]
        sum += weight
      }
      guard sum > 0 else { break }
      east = eastSum / sum
      north = northSum / sum
    }
    return Point(x: Double(east), y: Double(north))
  }

  /// The number of iterations of the geometric median.
  ///
  /// 6: enough for fixes to improve; other values were not tried.
  private static let medianRounds = 6
  /// The minimum distance as which a particle counts, so that one at the median itself does not take all the weight.
  ///
  /// - Units: metres. With 3 m, held-back walks are placed as well.
  private static let minimumApart: Float = 1

  /// Returns the radius meant to hold 68 % of truths.
  ///
  /// The spread of the belief shows the uncertainty that readings and steps leave. It does not show the errors of the
  /// map, which grow with the distance to the nearest surveyed place and appear in readings that fit worse than usual.
  /// The factor of the radio map corrects the whole for the venue.
  private func radius(of middle: Middle, at time: Timestamp) -> Float {
    if isCarried(at: time), carriage.scanned != .distantPast {
      let (spread, hidden) = (middle.spread, rules.visualHiddenError)
      return (spread * spread + hidden * hidden).squareRoot()
    }
    let away = content.floors[middle.floor].radio.map { content.remoteness(of: middle.point, floor: $0) } ?? 0
    let misfit = min(Locator.maximumMisfitting, max(0, evidence.misfit - LocatorEvidence.usualMisfit))
    let isSeen = seesMotion(at: time)
    let minimum = isSeen ? rules.hiddenError : offset.isOpen ? 0 : rules.blindHiddenError
    let hidden = minimum + rules.remoteError * min(away, Locator.maximumRemote) + rules.misfitError * misfit
    let spread = middle.spread * (isSeen ? rules.spreadFactor : 1)
    let factor = offset.isOpen ? 1 : content.radiusFactors[isSeen ? .moving : .blind] ?? 1
    return factor * (spread * spread + hidden * hidden).squareRoot()
  }

  /// The misfit beyond the usual above which the radius no longer grows with it.
  private static let maximumMisfitting: Float = 3
  /// The distance from the survey beyond which the radius no longer grows with it.
  ///
  /// - Units: metres.
  private static let maximumRemote: Float = 30

  /// The minimum probability of the building for a fix: a point between two buildings is in neither.
  private static let minimumBuilding: Float = 0.6
}

/// What a fix says besides the place.
extension Locator {
  /// Adds the speed and the course, with their accuracies.
  private func addMovement(to fix: inout FixEstimate) {
    let time = fix.time
    let outside = sky.recent(at: time)
    guard seesMotion(at: time) else {
      fix.speed = sky.speed(at: time)
      fix.speedAccuracy = fix.speed.flatMap { _ in outside?.speedAccuracy.map(Double.init) }
      fix.course = outside?.course.map { Double($0) * .pi / 180 }
      fix.courseAccuracy = fix.course.flatMap { _ in outside?.courseAccuracy.map { Double($0) * .pi / 180 } }
      return
    }
    let isCarried = isCarried(at: time)
    let isWalking = (isCarried ? !gait.rests : time - gait.step < .seconds(2)) && gait.speed > 0
    let speed = isWalking ? gait.speed : 0
    fix.speed = Double(speed)
    // Of the variation of single steps a mean over some of them keeps a fifth.
    let step = rules.scaleDeviation * rules.scaleDeviation + MotionRules.stepNoise * MotionRules.stepNoise / 5
    let share = isCarried ? rules.odometryDrift * rules.odometryDrift : step
    let rest = LocatorGait.restSpeed * LocatorGait.restSpeed
    fix.speedAccuracy = Double((share * speed * speed + rest).squareRoot())
    guard isWalking, let course = course() else { return }
    (fix.course, fix.courseAccuracy) = (course.radians, course.accuracy)
  }

  /// Returns the direction in which the subject walks, and one standard deviation of it: the direction from its sensors, turned
  /// by the estimated bias.
  private func course() -> (radians: Double, accuracy: Double)? {
    guard gait.reference != nil || carriage.leads, gait.east != 0 || gait.north != 0 else { return nil }
    guard !cloud.isEmpty else { return nil }
    let shares = cloud.shares()
    let turns = carried.turns
    var (sine, cosine): (Float, Float) = (0, 0)
    for index in 0..<cloud.count {
      let turned = Bearing.eastAndNorth(turns[index])
      sine += shares[index] * turned.east
      cosine += shares[index] * turned.north
    }
    let angle = Bearing.of(east: gait.east, north: gait.north) + Bearing.of(east: sine, north: cosine)
    let length = min(1, (sine * sine + cosine * cosine).squareRoot())
    let noise = MotionRules.headingNoise * MotionRules.headingNoise
    return (Locator.direction(angle), Double((2 * (1 - length) + noise).squareRoot()))
  }

  /// Returns a direction within 0 to 2π.
  private static func direction(_ angle: Float) -> Double {
    let wrapped = Double(Bearing.wrapped(angle))
    return wrapped < 0 ? wrapped + 2 * .pi : wrapped
  }

  /// Adds where the handset points, and what is known of the making of the fix.
  private func addSource(to fix: inout FixEstimate) {
    let time = fix.time
    if let handset = handset(at: time) {
      fix.heading = Locator.direction(handset.orientation.bearing)
      fix.headingAccuracy = Double(handset.deviation)
      fix.attitude = handset.orientation.rotation
    }
    fix.information = sky.information(at: time)
    let isScanned = carriage.scanned != .distantPast
    if isScanned, isCarried(at: time) || time - carriage.scanned <= VisualSource.life {
      fix.information.insert(.visualPositioning)
    }
  }

  /// Returns the orientation of the handset: by visual positioning, or else by its own sensors.
  private func handset(at time: Timestamp) -> (orientation: Orientation, deviation: Float)? {
    if let visual = visual.attitude(at: time) { return (Orientation(visual.rotation), visual.deviation) }
    return tracker.compass.orientation(at: time)
  }

  /// Adds the height: that of the floor, or else of the last location from outside.
  ///
  /// Indoors the belief is finer than such a location, which is therefore no measure of the error of its height.
  private func addHeight(to fix: inout FixEstimate, on middle: Middle? = nil) {
    if let middle, let altitude = content.floors[middle.floor].altitude {
      fix.height = .sea(altitude)
      fix.verticalAccuracy = verticalAccuracy(of: middle, at: altitude)
    } else if let outside = sky.recent(at: fix.time), let altitude = outside.altitude {
      fix.height = .ellipsoid(altitude.value)
      let guess = middle.map { _ in outside.horizontalAccuracy.value * FixEstimate.heightErrorFactor }
      fix.verticalAccuracy = outside.verticalAccuracy?.value ?? guess
    }
  }

  /// Returns the difference in height that holds 68 % of truths: that of a hand from its floor, and to as many other floors as
  /// the belief needs.
  private func verticalAccuracy(of middle: Middle, at altitude: Double) -> Double {
    var sum = middle.share
    guard sum < Locator.held else { return Locator.carriedHeight }
    let own = content.floors[middle.floor]
    let others = content.floors.indices.filter { $0 != middle.floor && middle.shares[$0] > 0 }.map { index in
      let floor = content.floors[index]
      let storeys = Double(rules.storey) * Double(floor.id.level - own.id.level)
      return (gap: abs((floor.altitude ?? altitude + storeys) - altitude), share: middle.shares[index])
    }
    for other in others.sorted(by: { $0.gap < $1.gap }) {
      sum += other.share
      if sum >= Locator.held { return other.gap + Locator.carriedHeight }
    }
    return (others.map(\.gap).max() ?? 0) + Locator.carriedHeight
  }

  /// The share of truths that an accuracy holds.
  private static let held: Float = 0.68
  /// The height above the floor up to which handsets are carried, and tags are worn.
  ///
  /// - Units: metres.
  private static let carriedHeight = 1.5
}

extension FixDetail {
  /// Creates the detail of an estimate, with the names of its venue.
  init(_ fix: FixEstimate, in content: LocatableVenue.Content) {
    let names = fix.floor.flatMap { content.named[$0]?.names(at: fix.point) }
    self.init(
      venue: content.venue.identifier,
      building: fix.floor?.building ?? "",
      level: fix.floor?.level ?? 0,
      floorName: fix.floor.flatMap { content.venue.floor($0)?.names.first } ?? "",
      room: names?.room,
      place: names?.place,
      latitude: fix.coordinate?.latitude,
      longitude: fix.coordinate?.longitude,
      x: fix.floor == nil ? 0 : fix.point.x,
      y: fix.floor == nil ? 0 : fix.point.y,
      horizontalAccuracy: fix.horizontalAccuracy,
      speed: fix.speed,
      course: fix.course,
      sources: fix.sources,
      age: fix.age,
      satellites: fix.satellites,
      progress: fix.progress
    )
    floorCertainty = fix.floorCertainty
    let geoid = content.venue.geoidHeight
    switch fix.height {
    case .sea(let height): (altitude, ellipsoidalAltitude) = (height, geoid.map { height + $0 })
    case .ellipsoid(let height): (altitude, ellipsoidalAltitude) = (geoid.map { height - $0 }, height)
    case nil: break
    }
    verticalAccuracy = fix.verticalAccuracy
    speedAccuracy = fix.speedAccuracy
    courseAccuracy = fix.courseAccuracy
    heading = fix.heading
    headingAccuracy = fix.headingAccuracy
    sourceInformation = fix.information
    attitude = fix.attitude
  }
}
