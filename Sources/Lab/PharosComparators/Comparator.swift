package import PharosModel

/// One advert as the input of a peer's rule: the observer, the beacon, the time and the level.
///
/// The caller numbers observers and beacons, so that a rule hashes nothing but small numbers.
package struct Sighting: Hashable, Sendable {
  /// The observer that received the advert.
  package var observer: Int32
  /// The beacon.
  package var beacon: Int32
  /// The time of reception.
  package var time: Timestamp
  /// The received level.
  ///
  /// - Units: dBm.
  package var level: Double
  /// The level of the beacon at one metre.
  ///
  /// - Units: dBm.
  package var measuredPower: Double

  /// Makes a sighting.
  package init(observer: Int32, beacon: Int32, time: Timestamp, level: Double, measuredPower: Double) {
    self.observer = observer
    self.beacon = beacon
    self.time = time
    self.level = level
    self.measuredPower = measuredPower
  }
}

/// A decision of a rule.
package struct Verdict: Hashable, Sendable {
  /// A change of a beacon's presence or room.
  package enum Change: Hashable, Sendable {
    /// The beacon came: to this observer, or to the site where the rule knows no observers.
    case enter(observer: Int32?)
    /// The beacon left.
    case exit(observer: Int32?)
    /// The beacon is in this room now; nil for none.
    case room(Int32?)
  }

  /// The beacon.
  package var beacon: Int32
  /// The time that the rule assigns to the change, which is the time at which the rule would report it.
  package var time: Timestamp
  /// The change that the rule decided.
  package var change: Change
}

/// A peer's rule that decides presence and rooms from one advert after another.
///
/// Rules keep their own state and have no clock: time comes with each sighting and with ``advance(to:into:)``.
package protocol Comparator: Sendable {
  /// The name that tables show, with the rule's characteristic constant: `AltBeacon 30 s`.
  var name: String { get }

  /// Takes an advert; times never go back.
  mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict])

  /// Advances the time and appends every verdict that is due at or before that time.
  mutating func advance(to time: Timestamp, into verdicts: inout [Verdict])
}

/// The position of an observer, for the rules that compare observers.
package struct ComparatorObserver: Sendable {
  /// The room it stands in, or nil if it is in none.
  package var room: Int32?
  /// Its floor, counted from the ground floor, 0.
  package var floor: Int
  /// Its place on the floor, or nil if that is not known.
  ///
  /// - Units: metres, x east and y north.
  package var place: (x: Double, y: Double)?

  /// Makes an observer.
  package init(room: Int32?, floor: Int = 0, place: (x: Double, y: Double)? = nil) {
    self.room = room
    self.floor = floor
    self.place = place
  }
}

/// The rules that peers use, in their initial state.
package enum ComparatorCatalog {
  /// The rules of presence, the peers' own time-outs, in the order in which tables show them.
  ///
  /// The rules that can decide rooms see all the site's observers as one here; only ``rooms(observers:)`` makes them
  /// compare observers.
  package static func presence() -> [any Comparator] {
    [
      SilenceRule.altBeacon(seconds: 30), SilenceRule.altBeacon(seconds: 10), SilenceRule.coreLocationLike,
      ReelyActive(), RoomAssistant(), Bermuda(), ESPresense<NearestNode>(),
    ]
  }

  /// Returns the rules that decide rooms, for these observers.
  ///
  /// - Parameter observers: the observers, by number; a sighting by any other observer decides no room.
  /// - Returns: the rules.
  package static func rooms(observers: [ComparatorObserver]) -> [any Comparator] {
    [
      ReelyActive(observers: observers), RoomAssistant(observers: observers), Bermuda(observers: observers),
      ESPresense<NearestNode>(observers: observers),
    ]
  }
}
