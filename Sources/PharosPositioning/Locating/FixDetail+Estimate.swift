import PharosEvents
import PharosPlaces

extension FixDetail {
  /// What there is to say of an estimate, in the words of its venue.
  init(_ fix: FixEstimate, in venue: Venue) {
    self.init(
      venue: venue.identifier,
      building: fix.floor?.building ?? "",
      level: fix.floor?.level ?? 0,
      floorName: fix.floor.flatMap { venue.floor($0)?.names.first } ?? "",
      latitude: fix.coordinate?.latitude,
      longitude: fix.coordinate?.longitude,
      x: fix.floor == nil ? 0 : fix.point.x,
      y: fix.floor == nil ? 0 : fix.point.y,
      horizontalAccuracy: fix.horizontalAccuracy,
      speed: fix.speed,
      course: fix.course,
      sources: fix.sources,
      age: fix.age,
      satellites: fix.satellites
    )
  }
}
