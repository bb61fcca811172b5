package import PharosPlaces
package import PharosReports

/// What a handset's satellite receiver makes of the sky: a good one outdoors, a spoilt one behind a door, none deep inside.
package struct SkyView: Sendable {
  private let venue: Venue
  private let east, north: NoiseField

  /// The accuracy under the open sky.
  ///
  /// - Units: metres; 4 to 5 for handsets: van Diggelen and Enge, ION GNSS+ 2015.
  private static let open = 4.0
  /// By how much accuracy is spoilt with each metre behind a door.
  private static let spoilt = 3.0
  /// How far behind a door there are fixes at all.
  ///
  /// - Units: metres.
  private static let reach = 12.0
  /// Over which time errors are alike, in seconds: paths by way of walls change as slowly as one walks.
  private static let slow = 20.0
  /// How many deviations along one axis hold 68 % of what scatters along two.
  private static let radius = 1.51

  package init(venue: Venue, handset: ObserverID, seed: UInt64) {
    self.venue = venue
    east = NoiseField(seed: seed ^ handset.stableHash, 41, length: SkyView.slow)
    north = NoiseField(seed: seed ^ handset.stableHash, 42, length: SkyView.slow)
  }

  /// The fix of a time, if there is one.
  package func fix(of place: Journey.Place, speed: Double, at time: TimeSpan) -> OutsideFix? {
    guard let floor = venue.floor(place.floor) else { return nil }
    let depth =
      place.isOutdoors ? 0 : floor.entrances.map { $0.point.distance(to: place.point) }.min() ?? .infinity
    guard depth < SkyView.reach else { return nil }
    let accuracy = SkyView.open + SkyView.spoilt * depth
    let error =
      Point(x: east.value(at: time.seconds), y: north.value(at: time.seconds)) * (accuracy / SkyView.radius)
    guard let coordinate = floor.plane.coordinate(of: place.point + error) else { return nil }
    return OutsideFix(
      latitude: coordinate.latitude,
      longitude: coordinate.longitude,
      horizontalAccuracy: Meters(Double(Float(accuracy))),
      speed: Float(place.manner == .walking ? speed : 0),
      source: .gnss
    )
  }
}
