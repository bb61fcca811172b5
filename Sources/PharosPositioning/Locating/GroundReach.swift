import PharosEvents
import PharosPlaces
import PharosReports

/// How many of the things that somebody heard each ground knows: where to look for them.
struct GroundReach {
  /// For each ground how many it knows.
  let known: [Int]
  /// The ground that knows most; the first of equals.
  let best: Int
  /// Whether anything was heard that a ground could know.
  let isTelling: Bool

  /// The only ground: wherever somebody is, it is looked for there.
  private static let sole = GroundReach(known: [1], isTelling: false)

  /// How many the best ground knows.
  var mostKnown: Int { known[best] }

  /// The distance from the floors of a venue within which a location from outside counts for the venue.
  ///
  /// 1 km: the walk from the station, so that a subject is assigned to the venue before it reaches the first door.
  ///
  /// - Units: metres.
  static let approach = 1_000.0

  /// How many access points of a scan are looked up at most, where there are several grounds.
  ///
  /// 64: a scan in a mall has hundreds, and any few of them tell the house.
  static let mostLookedUp = 64

  /// What a sensing tells; where there is one ground only, nothing is asked.
  init(_ body: Sensing.Body, _ grounds: [Ground]) {
    guard grounds.count > 1 else {
      self = GroundReach.sole
      return
    }
    switch body {
    case .accessPoints(let points):
      let some = points.prefix(GroundReach.mostLookedUp)
      self.init(
        known: grounds.map { ground in
          some.count { ground.content.emitter(.accessPoint($0.bssid)) != nil }
        },
        isTelling: true
      )
    case .beacon(let beacon, let address, rssi: _, accuracy: _):
      self.init(
        known: grounds.map { $0.content.emitter(ofBeacon: beacon, address: address) == nil ? 0 : 1 },
        isTelling: true
      )
    case .outside(let fix):
      let place = Coordinate(latitude: fix.latitude, longitude: fix.longitude)
      self.init(
        known: grounds.map { ground in
          place.map { ground.isNear($0, within: GroundReach.approach) } == true ? 1 : 0
        },
        isTelling: true
      )
    case .motion:
      self.init(known: grounds.map { _ in 0 }, isTelling: false)
    }
  }

  /// Which grounds know a fixed observer.
  init(_ observer: ObserverID, _ grounds: [Ground]) {
    self.init(
      known: grounds.map { $0.content.emitter(.observer(observer)) == nil ? 0 : 1 },
      isTelling: grounds.count > 1
    )
  }

  private init(known: [Int], isTelling: Bool) {
    self.known = known
    self.isTelling = isTelling
    var best = 0
    for ground in known.indices where known[ground] > known[best] { best = ground }
    self.best = best
  }
}

extension Ground {
  /// Whether a place is within so many metres of what is drawn of any floor that is bound to the Earth.
  fileprivate func isNear(_ place: Coordinate, within meters: Double) -> Bool {
    venue.floors.contains { _, floor in
      guard let point = floor.plane.point(of: place), let extent = floor.extent else { return false }
      return point.x >= extent.southWest.x - meters && point.x <= extent.northEast.x + meters
        && point.y >= extent.southWest.y - meters && point.y <= extent.northEast.y + meters
    }
  }
}
