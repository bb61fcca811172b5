package import PharosModel

/// A test of room rules: the adverts that several observers receive from tags whose rooms are known.
///
/// - Source: the built-in drills of a house follow the accuracy test of ESPresense-companion: four nodes in 6 × 4 m, levels
///   that scatter by 2.5 dB, one advert in ten 6 dB weaker for a second way.
package struct RoomDrill: Hashable, Sendable {
  /// A rectangle on a floor.
  package struct Room: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// Its floor, counted from the ground floor, 0.
    package var floor: Int
    /// The extent from west to east.
    ///
    /// - Units: metres.
    package var x: ClosedRange<Double>
    /// The extent from south to north.
    ///
    /// - Units: metres.
    package var y: ClosedRange<Double>
    /// The rooms that are directly reachable from it, by their place in ``RoomDrill/rooms``.
    package var neighbours: [Int]

    /// Makes a room.
    package init(
      name: String,
      floor: Int = 0,
      x: ClosedRange<Double>,
      y: ClosedRange<Double>,
      neighbours: [Int]
    ) {
      self.name = name
      self.floor = floor
      self.x = x
      self.y = y
      self.neighbours = neighbours
    }
  }

  /// An observer at a fixed place.
  package struct Station: Hashable, Sendable {
    /// The room it is in, by its place in ``RoomDrill/rooms``.
    package var room: Int
    /// The coordinate eastwards, in metres.
    package var x: Double
    /// The coordinate northwards, in metres.
    package var y: Double
    /// The gain relative to other observers.
    ///
    /// - Units: dB.
    package var gain: Double

    /// Makes a station.
    package init(room: Int, x: Double, y: Double, gain: Double = 0) {
      self.room = room
      self.x = x
      self.y = y
      self.gain = gain
    }
  }

  /// The name that tables show.
  package var name: String
  /// The rooms.
  package var rooms: [Room]
  /// The observers, whose numbers are their places here.
  package var observers: [Station]
  /// The number of tags.
  package var subjects: Int
  /// The length of the drill.
  package var length: TimeSpan
  /// The advertising interval of a tag; 0 to 10 ms are added each time.
  package var interval: TimeSpan
  /// The time that a tag rests before it is carried to a neighbouring room, drawn uniformly; nil for tags that are
  /// never carried.
  package var rest: ClosedRange<TimeSpan>?
  /// The noise of the levels.
  package var noise: Drill.Noise
  /// The chance that an advert arrives by a second path, and the attenuation of that path in dB.
  package var multipath: Multipath
  /// The attenuation by a ceiling.
  ///
  /// - Units: dB.
  package var ceiling: Double
  /// The share of adverts that an observer loses whatever the level.
  package var loss: Double

  /// Adverts that arrive by a second path.
  package struct Multipath: Hashable, Sendable {
    /// The chance that an advert does.
    package var share: Double
    /// The attenuation of that path.
    ///
    /// - Units: dB.
    package var attenuation: Double

    /// Makes it.
    package init(share: Double, attenuation: Double) {
      self.share = share
      self.attenuation = attenuation
    }
  }

  /// The level at one metre, in dBm.
  package static let measuredPower = -59.0

  /// Makes a drill; the defaults are those of the house.
  package init(
    name: String,
    rooms: [Room],
    observers: [Station],
    subjects: Int = 16,
    length: TimeSpan = .minutes(60),
    interval: TimeSpan = .milliseconds(250),
    rest: ClosedRange<TimeSpan>? = nil,
    noise: Drill.Noise = Drill.Noise(slow: 0, time: .seconds(1), fast: 2.5),
    multipath: Multipath = Multipath(share: 0.1, attenuation: 6),
    ceiling: Double = 15,
    loss: Double = 0.1
  ) {
    self.name = name
    self.rooms = rooms
    self.observers = observers
    self.subjects = subjects
    self.length = length
    self.interval = interval
    self.rest = rest
    self.noise = noise
    self.multipath = multipath
    self.ceiling = ceiling
    self.loss = loss
  }

  /// Plays the drill: the same seed gives the same items.
  package func play(seed: UInt64) -> RoomDrillPlay { RoomDrillPlay(self, seed: seed) }
}

extension RoomDrill {
  /// A house of 6 × 4 m with four rooms of 3 × 2 m and an observer in the outer corner of each; tags lie still.
  package static let house = RoomDrill(
    name: "house, still",
    rooms: houseRooms,
    observers: houseObservers
  )

  /// The same house; tags are carried to a neighbouring room every minute or two.
  package static let carried = RoomDrill(
    name: "house, carried",
    rooms: houseRooms,
    observers: houseObservers,
    rest: .seconds(40)...(.seconds(120))
  )

  /// The same house; what scatters the levels of still tags changes slowly: people, doors and hands.
  package static let restless = RoomDrill(
    name: "house, still, slow noise",
    rooms: houseRooms,
    observers: houseObservers,
    noise: Drill.Noise(slow: 2.5, time: .seconds(20), fast: 2.5)
  )

  /// Three floors of two rooms of 8 × 6 m with an observer in the middle of each; tags lie still.
  ///
  /// One observer of the highest floor hears everything 12 dB louder than the others do.
  package static let building = RoomDrill(
    name: "three floors, still",
    rooms: buildingRooms,
    observers: buildingObservers
  )

  /// The same building; tags are carried to the next room, also up and down the stairs.
  package static let stairs = RoomDrill(
    name: "three floors, carried",
    rooms: buildingRooms,
    observers: buildingObservers,
    rest: .seconds(60)...(.seconds(240))
  )

  /// All of them.
  package static let all = [house, restless, carried, building, stairs]

  private static let houseRooms = [
    Room(name: "kitchen", x: 0...3, y: 0...2, neighbours: [1, 2]),
    Room(name: "bath", x: 3...6, y: 0...2, neighbours: [0, 3]),
    Room(name: "living", x: 0...3, y: 2...4, neighbours: [0, 3]),
    Room(name: "bedroom", x: 3...6, y: 2...4, neighbours: [1, 2]),
  ]

  private static let houseObservers = [
    Station(room: 0, x: 0.2, y: 0.2), Station(room: 1, x: 5.8, y: 0.2), Station(room: 2, x: 0.2, y: 3.8),
    Station(room: 3, x: 5.8, y: 3.8),
  ]

  private static let buildingRooms = (0..<3).flatMap { floor in
    let base = 2 * floor
    let stairs = [base - 2, base + 2].filter { (0..<6).contains($0) }
    return [
      Room(name: "west \(floor)", floor: floor, x: 0...8, y: 0...6, neighbours: [base + 1] + stairs),
      Room(name: "east \(floor)", floor: floor, x: 8...16, y: 0...6, neighbours: [base]),
    ]
  }

  private static let buildingObservers = (0..<6).map { room in
    Station(room: room, x: room % 2 == 0 ? 4 : 12, y: 3, gain: room == 4 ? 12 : 0)
  }
}
