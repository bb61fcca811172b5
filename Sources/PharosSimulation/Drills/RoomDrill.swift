package import PharosReports

/// What several observers hear of tags whose room is known: what rules about rooms are judged with.
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
    /// From where to where it goes eastwards.
    ///
    /// - Units: metres.
    package var x: ClosedRange<Double>
    /// From where to where it goes northwards.
    ///
    /// - Units: metres.
    package var y: ClosedRange<Double>
    /// The rooms that one can walk to from it, by their place in ``RoomDrill/rooms``.
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

  /// An observer that hangs somewhere.
  package struct Station: Hashable, Sendable {
    /// The room it is in, by its place in ``RoomDrill/rooms``.
    package var room: Int
    /// How far east it is, in metres.
    package var x: Double
    /// How far north it is, in metres.
    package var y: Double
    /// By how much it hears everything louder than others do.
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

  /// What a table calls it.
  package var name: String
  /// The rooms.
  package var rooms: [Room]
  /// The observers, whose numbers are their places here.
  package var observers: [Station]
  /// How many tags there are.
  package var subjects: Int
  /// How long it lasts.
  package var length: TimeSpan
  /// How often a tag advertises; 0 to 10 ms are added each time.
  package var interval: TimeSpan
  /// How long a tag lies before it is carried to a neighbouring room, any length being as likely as any other; nil for
  /// one that lies where it is.
  package var rest: ClosedRange<TimeSpan>?
  /// How levels scatter.
  package var noise: Drill.Noise
  /// The chance that an advert comes by a second way, and what that takes from it in dB.
  package var multipath: Multipath
  /// What a ceiling takes.
  ///
  /// - Units: dB.
  package var ceiling: Double
  /// The share of adverts that an observer loses whatever the level.
  package var loss: Double

  /// Adverts that come by a second way.
  package struct Multipath: Hashable, Sendable {
    /// The chance that an advert does.
    package var share: Double
    /// What that takes.
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
  /// The path-loss exponent: that of ESPresense's default absorption.
  package static let exponent = 2.7

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
