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
      }
    )
  }

  /// Makes the fix for a time up to which everything has been weighed, or returns nil if the belief is missing or too
  /// vague.
  package mutating func estimate(at time: Timestamp) -> FixEstimate? {
    let sources = evidence.sources
    evidence.sources = []
    let age = max(.zero, time - evidence.newest)
    let isWalking = (isCarried(at: time) ? !gait.rests : time - gait.step < .seconds(2)) && gait.speed > 0
    let speed = seesMotion(at: time) ? (isWalking ? Double(gait.speed) : 0) : sky.speed(at: time)
    if let far = sky.far(at: time) {
      return FixEstimate(
        time: time,
        floor: nil,
        point: .origin,
        coordinate: far.coordinate,
        horizontalAccuracy: far.radius + (time - far.time).seconds * (speed ?? Double(rules.blindWalk)),
        speed: speed,
        sources: sources,
        age: age,
        satellites: .needed
      )
    }
    guard let middle = middle(keepingTo: evidence.reportedFloor), middle.building >= Locator.minimumBuilding
    else {
      return nil
    }
    let floor = content.floors[middle.floor]
    let radius = radius(of: middle, at: time)
    guard radius <= rules.vaguest else { return nil }
    evidence.reportedFloor = middle.floor
    let course = isWalking ? course() : nil
    let isOutside = sky.isOutside
    let point = isOutside ? middle.point : floor.nearest(to: geometricMedian(from: middle))
    return FixEstimate(
      time: time,
      floor: isOutside ? nil : floor.id,
      point: isOutside ? .origin : point,
      coordinate: floor.plane.coordinate(of: point),
      horizontalAccuracy: Double(radius),
      speed: speed,
      course: course,
      sources: sources,
      age: age,
      satellites: sky.advice
    )
  }

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

  /// Returns the direction in which the subject walks: the direction from its sensors, turned by the estimated bias.
  private func course() -> Double? {
    guard gait.reference != nil || carriage.leads, gait.east != 0 || gait.north != 0 else { return nil }
    let shares = cloud.shares()
    let turns = carried.turns
    var (sine, cosine): (Float, Float) = (0, 0)
    for index in 0..<cloud.count {
      let turned = Bearing.eastAndNorth(turns[index])
      sine += shares[index] * turned.east
      cosine += shares[index] * turned.north
    }
    let angle = Bearing.of(east: gait.east, north: gait.north) + Bearing.of(east: sine, north: cosine)
    let wrapped = Double(Bearing.wrapped(angle))
    return wrapped < 0 ? wrapped + 2 * .pi : wrapped
  }
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
  }
}
