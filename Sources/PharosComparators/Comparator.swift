package import PharosReports

/// One advert as the input of a peer's rule: the observer, the beacon, the time and the level.
///
/// The caller numbers observers and beacons, so that a rule hashes nothing but small numbers.
package struct Sighting: Hashable, Sendable {
  /// Who heard it.
  package var observer: Int32
  /// Which beacon.
  package var beacon: Int32
  /// When.
  package var time: Timestamp
  /// How loud.
  ///
  /// - Units: dBm.
  package var level: Double
  /// How loud the beacon is at one metre.
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

/// What a rule decided.
package struct Verdict: Hashable, Sendable {
  /// What it says about the beacon.
  package enum Change: Hashable, Sendable {
    /// The beacon came: to this observer, or to the site where the rule knows no observers.
    case enter(observer: Int32?)
    /// The beacon left.
    case exit(observer: Int32?)
    /// The beacon is in this room now; nil for none.
    case room(Int32?)
  }

  /// Which beacon.
  package var beacon: Int32
  /// When the rule takes it to have happened, which is when it would have told.
  package var time: Timestamp
  /// What it says.
  package var change: Change

  /// Makes a verdict.
  package init(beacon: Int32, time: Timestamp, change: Change) {
    self.beacon = beacon
    self.time = time
    self.change = change
  }
}

/// A rule that a peer uses to say who is here and in which room, told one advert after another.
///
/// Rules keep their own state and have no clock: time comes with each sighting and with ``advance(to:into:)``.
package protocol Comparator: Sendable {
  /// What a table calls it, with the constant that makes it what it is: `AltBeacon 30 s`.
  var name: String { get }

  /// Whether it says enter and exit.
  var decidesPresence: Bool { get }

  /// Whether it says which room.
  var decidesRooms: Bool { get }

  /// Takes an advert; times never go back.
  mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict])

  /// Advances the time and appends every verdict that is due at or before that time.
  mutating func advance(to time: Timestamp, into verdicts: inout [Verdict])
}

/// Where an observer stands, for the rules that compare observers.
package struct ComparatorObserver: Hashable, Sendable {
  /// The room it stands in, or nil if it is in none.
  package var room: Int32?
  /// Its floor, counted from the ground floor, 0.
  package var floor: Int
  /// Its place on the floor, or nil if that is not known.
  ///
  /// - Units: metres, x east and y north.
  package var place: (x: Double, y: Double)? {
    get { x.isNaN ? nil : (x, y) }
    set {
      x = newValue?.x ?? .nan
      y = newValue?.y ?? .nan
    }
  }

  private var x: Double
  private var y: Double

  /// Makes an observer.
  package init(room: Int32?, floor: Int = 0, place: (x: Double, y: Double)? = nil) {
    self.room = room
    self.floor = floor
    x = place?.x ?? .nan
    y = place?.y ?? .nan
  }
}

/// The rules that peers use, ready to be told what was heard.
package enum ComparatorCatalog {
  /// The rules of presence, the peers' own time-outs, in the order in which tables show them.
  ///
  /// The rules that can decide rooms see all the site's observers as one here; only ``rooms(observers:)`` makes them
  /// compare observers.
  package static func presence() -> [any Comparator] {
    [
      AltBeacon.thirtySeconds(), AltBeacon.tenSeconds(), CoreLocationLike(), ReelyActive(), RoomAssistant(),
      Bermuda(), ESPresense(),
    ]
  }

  /// The rules that say which room, for these observers.
  ///
  /// - Parameter observers: by number; a sighting by an observer that is not among them decides no room.
  /// - Returns: the rules; the companion's falls back to the nearest node where a place is not known, and its name says
  ///   so.
  package static func rooms(observers: [ComparatorObserver]) -> [any Comparator] {
    [
      ReelyActive(observers: observers), RoomAssistant(observers: observers), Bermuda(observers: observers),
      ESPresense(observers: observers),
    ]
  }
}
