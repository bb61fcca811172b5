package import PharosModel
package import PharosSpace

/// A house of several floors with people in it: handsets that hear what hangs there, and tags that observers there hear.
///
/// Beacons, observers and access points are those that the venue's floors place. A scene has no randomness; together
/// with a seed it becomes an ``IndoorSimulation``.
package struct IndoorScene: Hashable, Sendable {
  /// The transmission parameters of the beacons and access points in the house.
  package struct Emission: Hashable, Sendable {
    /// The level of beacons at one metre, in dBm.
    package var beaconPower: Double
    /// The time from one advert of a beacon to the next.
    package var beaconInterval: TimeSpan
    /// The level of access points at one metre, in dBm.
    package var accessPointPower: Double
    /// The centre frequency of access points, in MHz.
    package var frequency: UInt16

    /// Makes an emission; the defaults are what such devices have.
    package init(
      beaconPower: Double = -59,
      beaconInterval: TimeSpan = .milliseconds(300),
      accessPointPower: Double = -38,
      frequency: UInt16 = 2_437
    ) {
      self.beaconPower = beaconPower
      self.beaconInterval = beaconInterval
      self.accessPointPower = accessPointPower
      self.frequency = frequency
    }
  }

  /// A name of one word, as on a command line.
  package var name: String
  /// A description of the scene, in one sentence.
  package var summary: String
  /// The start time.
  package var start: Timestamp
  /// The duration.
  package var duration: TimeSpan
  /// The house.
  package var venue: Venue
  /// The height of its storeys, in metres.
  package var storey: Double
  /// The radio propagation model.
  package var radio: IndoorRadio
  /// The transmission parameters of the beacons and access points.
  package var emission: Emission
  /// The true places of the access points that are elsewhere than the venue says.
  package var moved: [DeviceAddress: IndoorAir.Station]
  /// The beacons at the height of a hand, beside the things that they are about; all others hang overhead.
  package var exhibits: Set<BeaconID>
  /// The handsets, each identity once.
  package var handsets: [Handset]
  /// The tags, each identity once.
  package var tags: [CarriedTag]

  /// Makes a scene.
  package init(
    name: String,
    summary: String = "",
    start: Timestamp = Scene.defaultStart,
    duration: TimeSpan,
    venue: Venue,
    storey: Double = 4.5,
    radio: IndoorRadio = IndoorRadio(),
    emission: Emission = Emission(),
    moved: [DeviceAddress: IndoorAir.Station] = [:],
    exhibits: Set<BeaconID> = [],
    handsets: [Handset] = [],
    tags: [CarriedTag] = []
  ) {
    self.name = name
    self.summary = summary
    self.start = start
    self.duration = duration
    self.venue = venue
    self.storey = storey
    self.radio = radio
    self.emission = emission
    self.moved = moved
    self.exhibits = exhibits
    self.handsets = handsets
    self.tags = tags
  }
}

/// A tag that a person carries about, received by the observers of a venue.
package struct CarriedTag: Hashable, Sendable {
  /// Its identity: proximity UUID, major and minor, or an address.
  package var beacon: BeaconID
  /// The way of its carrier.
  package var journey: Journey
  /// The level that it has at one metre, in dBm.
  package var power: Double
  /// The time from one advert to the next.
  package var interval: TimeSpan
  /// The attenuation by its carrier's body straight behind the carrier, in dB.
  package var bodyLoss: Double

  /// Makes a tag.
  package init(
    beacon: BeaconID,
    journey: Journey,
    power: Double = -59,
    interval: TimeSpan = .milliseconds(500),
    bodyLoss: Double = 5
  ) {
    self.beacon = beacon
    self.journey = journey
    self.power = power
    self.interval = interval
    self.bodyLoss = bodyLoss
  }
}

extension IndoorScene {
  /// All that keeps the scene from being played, in the order of its parts; empty if it can be.
  package var mistakes: [SceneMistake] {
    var found: [SceneMistake] = []
    func check(_ isRight: Bool, _ place: String, _ problem: @autoclosure () -> String) {
      if !isRight { found.append(SceneMistake(place, problem())) }
    }
    check(!name.isEmpty, "name", "is empty; give the scene a name of one word")
    check(duration > .zero, "duration", "is \(duration.seconds) s; it must be longer than 0 s")
    check(storey > 0 && storey.isFinite, "storey", "is \(storey) m; it must be above 0")
    check(!handsets.isEmpty || !tags.isEmpty, "handsets", "are missing; a scene needs a handset or a tag")
    check(
      tags.isEmpty || venue.floors.contains { !$0.floor.observers.isEmpty },
      "tags",
      "have no observer to hear them; place one on a floor of the venue"
    )
    check(emission.beaconInterval > .zero, "beaconInterval", "must be longer than 0 s")
    var seen: Set<String> = []
    for handset in handsets {
      let place = "handset \"\(handset.id)\""
      check(seen.insert(handset.id.description).inserted, place, "occurs twice; each needs its own identity")
      check(handset.period > .zero, "\(place): period", "must be longer than 0 s")
      check(
        (handset.wiFi?.period ?? handset.period) > .zero,
        "\(place): wiFi",
        "needs a period longer than 0 s"
      )
      if case .raw(let sensors) = handset.motion {
        check(
          (1...1_000).contains(sensors.rate),
          "\(place): motion",
          "has \(sensors.rate) samples a second; 1 to 1000"
        )
      }
    }
    for tag in tags {
      let place = "tag \"\(tag.beacon)\""
      check(seen.insert(tag.beacon.description).inserted, place, "occurs twice; each needs its own identity")
      check(tag.interval > .zero, "\(place): interval", "must be longer than 0 s")
    }
    return found
  }
}
