import PharosCaptures
import PharosModel

/// A time in which a walker was truly near a beacon and heard it.
struct RealStretch: Sendable {
  /// Which walk, counted from zero.
  var walk: Int
  /// Which beacon.
  var beacon: DeviceAddress
  /// From the first advert heard within the stretch.
  var start: Timestamp
  /// To the instant at which the walker goes too far away, or at which the truth ends.
  var end: Timestamp
  /// When the beacon was heard within it.
  var heard: [Timestamp]

  /// The stretch's length.
  var minutes: Double { (end - start).seconds / 60 }

  /// How near a walker must be.
  static let radius = Meters(10)
  /// The grain in which a walker's way is looked at: 15 cm of it.
  private static let grain = TimeSpan.milliseconds(100)

  /// All stretches of a walk, given where the beacons hang.
  static func all(
    of walk: RealWalk,
    _ index: Int,
    _ places: [DeviceAddress: RealGapsMap.Place]
  ) -> [RealStretch] {
    let heard = Dictionary(grouping: walk.beacons.filter { $0.beacon == RealWalk.family }, by: \.address)
    var way: [(time: Timestamp, x: Double, y: Double)] = []
    var time = walk.span.lowerBound
    while let position = walk.position(at: time) {
      way.append((time, position.x, position.y))
      time = time + grain
    }
    var stretches: [RealStretch] = []
    for (beacon, adverts) in heard.sorted(by: { $0.key < $1.key }) {
      guard let place = places[beacon], place.floor == walk.floor else { continue }
      var began: Timestamp?
      for point in way {
        let (dx, dy) = (point.x - place.x, point.y - place.y)
        if dx * dx + dy * dy < radius.value * radius.value {
          began = began ?? point.time
        } else if let start = began {
          stretches += stretch(index, beacon, start, point.time, adverts)
          began = nil
        }
      }
      if let start = began { stretches += stretch(index, beacon, start, walk.span.upperBound, adverts) }
    }
    return stretches
  }

  /// The stretch between two instants, or none if nothing was heard in it.
  private static func stretch(
    _ walk: Int,
    _ beacon: DeviceAddress,
    _ start: Timestamp,
    _ end: Timestamp,
    _ adverts: [IndoorTrace.BeaconHeard]
  ) -> [RealStretch] {
    let heard = adverts.map(\.time).filter { start <= $0 && $0 < end }
    guard let first = heard.first else { return [] }
    return [RealStretch(walk: walk, beacon: beacon, start: first, end: end, heard: heard)]
  }
}
