import PharosEvents
import PharosPlaces
import PharosReports

extension Locator {
  /// Takes a location from outside: it leads outdoors and fades indoors.
  mutating func look(at fix: OutsideFix, _ time: Timestamp) {
    guard let coordinate = Coordinate(latitude: fix.latitude, longitude: fix.longitude) else { return }
    weigh(at: time)
    evidence.newest = max(evidence.newest, time)
    evidence.sources.insert(.outside)
    let places = content.floors.map { floor in
      floor.plane.point(of: coordinate)
    }
    let nearest = nearestDoorstep(places)
    sky.look(at: fix, distance: nearest?.distance ?? .infinity, rules, at: time)
    guard let nearest, sky.far(at: time) == nil else { return cloud.removeAll() }
    // Accuracies are radii that hold 68 %: 1.5 standard deviations along an axis.
    let deviation = max(0.5, Float(fix.horizontalAccuracy.value) / 1.5)
    let isLost = sky.isOutside && isFar(from: places, deviation)
    if cloud.isEmpty || isLost { return begin(at: nearest, deviation) }
    let trust = fix.source == .vps ? 1 : sky.share
    guard trust > 0.02 else { return }
    let factor = -0.5 * trust / (deviation * deviation)
    for index in 0..<cloud.count {
      guard let place = places[Int(cloud.floor[index])] else { continue }
      let east = cloud.east[index] - Float(place.x)
      let north = cloud.north[index] - Float(place.y)
      cloud.weight[index] += max(-6, factor * (east * east + north * north))
    }
    cloud.resample(rules, &noise)
  }

  /// A floor that one comes onto from outside, and the place there.
  private struct Doorstep {
    var floor: Int
    var point: Point
    var distance: Double
  }

  /// The floor nearest to a place among those at ground level, or with doors; of all floors where none is.
  private func nearestDoorstep(_ places: [Point?]) -> Doorstep? {
    let open = content.floors.indices.filter {
      content.floors[$0].id.level == 0 || !content.floors[$0].entrances.isEmpty
    }
    let candidates = open.isEmpty ? Array(content.floors.indices) : open
    return candidates.compactMap { number in
      places[number].map { point in
        Doorstep(floor: number, point: point, distance: content.floors[number].distance(to: point))
      }
    }
    .min { ($0.distance, $0.floor) < ($1.distance, $1.floor) }
  }

  private func isFar(from places: [Point?], _ deviation: Float) -> Bool {
    guard let middle = middle(), let place = places[middle.floor] else { return true }
    return middle.point.distance(to: place) > Double(3 * (deviation + middle.spread)) + 10
  }

  private mutating func begin(at doorstep: Doorstep, _ deviation: Float) {
    cloud.removeAll()
    cloud.reserve(rules.particles)
    // What satellites say is no guess among all places: particles carry it on at once.
    born = .distantPast
    for _ in 0..<rules.particles {
      cloud.append(
        east: Float(doorstep.point.x) + deviation * noise.normal(),
        north: Float(doorstep.point.y) + deviation * noise.normal(),
        bias: drawBias(),
        scale: ParticleCloud.held(1 + rules.scaleDeviation * noise.normal()),
        floor: UInt8(truncatingIfNeeded: doorstep.floor)
      )
    }
  }
}

extension GroundFloor {
  /// How far a place lies from the floor in metres; 0 on it.
  func distance(to point: Point) -> Double {
    if let extent {
      let (low, high) = (extent.southWest, extent.northEast)
      let outside = Point(
        x: max(0, low.x - point.x, point.x - high.x),
        y: max(0, low.y - point.y, point.y - high.y)
      )
      // Far away the rectangle says enough, and asking the floor's lines would be dear.
      if outside.length > 100 { return outside.length }
      if space.isWalkable(point) { return 0 }
    }
    return space.nearestWalkable(to: point)?.distance(to: point) ?? .infinity
  }
}
