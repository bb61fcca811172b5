package import PharosModel
package import PharosSpace
import PharosWire

/// The house of a scene with its fixed devices, prepared for playing.
struct IndoorHouse: Sendable {
  /// A beacon at a fixed place.
  struct Beacon: Sendable {
    let frame: AirFrame
    let rhythm: AdvertRhythm
    let station: IndoorAir.Station
    /// Its number among the fixed devices of the house, which selects its shadowing.
    let number: Int
  }

  let scene: IndoorScene
  let air: IndoorAir
  let beacons: [Beacon]
  let accessPoints: [(station: IndoorAir.Station, number: Int)]
  let addresses: [DeviceAddress]
  let observers: [(id: ObserverID, station: IndoorAir.Station, number: Int)]

  init(_ scene: IndoorScene, seed: UInt64) {
    self.scene = scene
    air = IndoorAir(in: scene.venue, radio: scene.radio, storey: scene.storey, seed: seed)
    var beacons: [Beacon] = []
    var points: [(IndoorAir.Station, Int)] = []
    var addresses: [DeviceAddress] = []
    var observers: [(ObserverID, IndoorAir.Station, Int)] = []
    var number = 0
    for (id, floor) in scene.venue.floors {
      for beacon in floor.beacons {
        beacons.append(
          Beacon(
            frame: AirFrame(beacon.beacon, power: scene.emission.beaconPower),
            rhythm: AdvertRhythm(interval: scene.emission.beaconInterval, seed: seed, number: number),
            station: IndoorAir.Station(
              floor: id,
              point: beacon.point,
              isAtHand: scene.exhibits.contains(beacon.beacon)
            ),
            number: number
          )
        )
        number += 1
      }
      for point in floor.accessPoints {
        let station = scene.moved[point.bssid] ?? IndoorAir.Station(floor: id, point: point.point)
        // Networks of one box throw the same shadows.
        if points.last?.0 != station { number += 1 }
        points.append((station, number))
        addresses.append(point.bssid)
      }
      number += 1
      for observer in floor.observers {
        observers.append((observer.observer, IndoorAir.Station(floor: id, point: observer.point), number))
        number += 1
      }
    }
    self.beacons = beacons
    accessPoints = points
    self.addresses = addresses
    self.observers = observers
  }

  /// Returns the level that is expected at a place from a fixed device of the house, in dBm.
  func level(
    from station: IndoorAir.Station,
    number: Int,
    power: Double,
    at place: Journey.Place,
    facing heading: Point,
    bodyLoss: Double
  ) -> Double? {
    guard let loss = air.loss(between: station, number: number, and: place) else { return nil }
    guard let direction = (station.point - place.point).direction else { return power - loss }
    // The body takes nothing from what is before it, all from what is behind it, between them a cosine.
    return power - loss - bodyLoss * (1 - heading.dot(direction)) / 2
  }
}

/// The air of a house between its fixed devices and the people who walk about in it.
///
/// - Complexity: a level costs a look at the walls between two places.
package struct IndoorAir: Sendable {
  /// One end that does not move.
  package struct Station: Hashable, Sendable {
    /// The floor it hangs on.
    package var floor: FloorID
    /// The point at which it hangs.
    package var point: Point
    /// Indicates whether it is at the height of a hand, not overhead.
    package var isAtHand: Bool

    /// Makes a station.
    package init(floor: FloorID, point: Point, isAtHand: Bool = false) {
      self.floor = floor
      self.point = point
      self.isAtHand = isAtHand
    }
  }

  /// The radio propagation model.
  package let radio: IndoorRadio
  /// The same model without what differs from place to place and by chance.
  private let propagation: Radio
  private let seed: UInt64
  private let storey: Double
  private let spaces: [FloorID: FloorSpace]

  /// Creates the air of a venue.
  ///
  /// - Parameters:
  ///   - venue: the house.
  ///   - radio: the radio propagation model.
  ///   - storey: the height of its storeys, in metres.
  ///   - seed: the seed of the shadowing.
  package init(in venue: Venue, radio: IndoorRadio, storey: Double = 4.5, seed: UInt64) {
    self.radio = radio
    propagation = Radio(
      pathLossExponent: radio.pathLossExponent,
      shadowing: nil,
      riceFactor: nil,
      channelDeviation: 0,
      softness: radio.softness
    )
    self.storey = storey
    self.seed = seed
    spaces = Dictionary(uniqueKeysWithValues: venue.floors.map { ($0.id, FloorSpace($0.floor)) })
  }

  /// The vertical distance of a handset in the hand below the devices overhead.
  ///
  /// - Units: metres.
  private static let overhead = 1.5

  /// Returns the loss between a station and a place by distance, walls, floors and shadowing, or nil between buildings.
  ///
  /// Readings scatter around it by ``IndoorRadio/fading``. Nothing is heard between buildings.
  ///
  /// - Units: dB against the level at one metre.
  package func loss(between station: Station, number: Int, and place: Journey.Place) -> Double? {
    guard station.floor.building == place.floor.building else { return nil }
    let across = station.point.distance(to: place.point)
    let above = station.isAtHand ? 0 : IndoorAir.overhead
    let up = Double(station.floor.level) * storey - place.height + above
    let distance = (across * across + up * up).squareRoot()
    var loss = propagation.pathLoss(distance: distance)
    let floors = (station.floor.level - place.floor.level).magnitude
    if floors == 0 {
      loss += spaces[place.floor]?.attenuation(between: station.point, and: place.point) ?? 0
    } else {
      loss += radio.floorLoss + Double(floors - 1) * radio.furtherFloorLoss
    }
    guard radio.shadowing > 0 else { return loss }
    let field = NoiseField(seed: seed, UInt64(number), length: radio.shadowLength)
    return loss + radio.shadowing * field.value(at: place.point, layer: place.floor.level)
  }

  /// Returns one reading of a level, or nil if the frame is lost.
  func reading(of level: Double, _ random: inout RandomStream) -> Double? {
    let read = level + (radio.fading > 0 ? radio.fading * random.normal() : 0)
    guard radio.softness > 0 else { return read >= radio.sensitivity ? read : nil }
    let chance = propagation.receptionChance(level: read, sensitivity: radio.sensitivity)
    return random.chance(chance) ? read : nil
  }
}

/// The radio propagation model of a house of several floors.
package struct IndoorRadio: Hashable, Sendable {
  /// The path-loss exponent: the level falls by 10 × this many dB for each tenfold distance.
  package var pathLossExponent: Double
  /// The attenuation by the first floor between two places, in dB.
  ///
  /// - Source: ITU-R P.1238-10, table 3: 15 + 4 (n − 1) dB in offices at 2.4 GHz; malls with atria less.
  package var floorLoss: Double
  /// The attenuation by each further floor, in dB.
  package var furtherFloorLoss: Double
  /// The deviation of levels from the loss by distance and walls, by surrounding objects; the same at each visit.
  ///
  /// - Units: dB, one standard deviation.
  package var shadowing: Double
  /// The distance within which the shadowing is correlated.
  ///
  /// - Units: metres. The default is that of surveyed levels of malls.
  package var shadowLength: Double
  /// The deviation of single readings from the mean at one place: fading, and the error of the receiver.
  ///
  /// - Units: dB, one standard deviation.
  package var fading: Double
  /// The level at which every second frame is received, and how soft that edge is.
  ///
  /// - Units: dBm and dB, as in ``Radio/softness``.
  package var sensitivity: Double
  /// See ``sensitivity``.
  package var softness: Double

  /// Makes a radio; the defaults are those of a mall or a museum.
  package init(
    pathLossExponent: Double = 2.6,
    floorLoss: Double = 15,
    furtherFloorLoss: Double = 10,
    shadowing: Double = 4,
    shadowLength: Double = 7,
    fading: Double = 4,
    sensitivity: Double = -92,
    softness: Double = 2
  ) {
    self.pathLossExponent = pathLossExponent
    self.floorLoss = floorLoss
    self.furtherFloorLoss = furtherFloorLoss
    self.shadowing = shadowing
    self.shadowLength = shadowLength
    self.fading = fading
    self.sensitivity = sensitivity
    self.softness = softness
  }

  /// Distance, walls and floors alone decide.
  package static let ideal = IndoorRadio(pathLossExponent: 2, shadowing: 0, fading: 0, softness: 0)
}

/// The frame of a beacon or a tag, which always sends the same frame from the same address.
package struct AirFrame: Sendable {
  let beacon: BeaconID
  package let address: DeviceAddress
  let payload: [UInt8]

  /// Makes the frame of an identity that claims a level at one metre.
  ///
  /// An identity that is neither an iBeacon nor an Eddystone-UID sends manufacturer data.
  package init(_ beacon: BeaconID, power: Double) {
    self.beacon = beacon
    let claimed = Int8(max(-127, min(20, power.rounded())))
    let words = beacon.words
    // Static random addresses begin with two ones.
    let made = 0xC000_0000_0000 | (words.high ^ words.low ^ words.tail &* 0x9E37_79B9) & 0x3FFF_FFFF_FFFF
    address =
      beacon.address.map { DeviceAddress(bits: $0.bits, kind: .random) }
      ?? DeviceAddress(bits: made, kind: .random)
    if let uuid = beacon.uuid, let major = beacon.major, let minor = beacon.minor {
      let frame = IBeacon(uuid: uuid, major: major, minor: minor, measuredPower: claimed)
      payload = Frame.iBeacon(frame).legacyPayload
    } else if let namespace = beacon.namespace, let instance = beacon.instance {
      // Eddystone claims the level at no distance, 41 dB above that at a metre.
      let frame = EddystoneUID(
        namespace: namespace,
        instance: instance,
        transmitPower: Int8(max(-100, min(20, power.rounded() + 41)))
      )
      payload = Frame.eddystoneUID(frame).legacyPayload
    } else {
      payload = [0x05, 0xFF, 0xFF, 0xFF, 0x01, 0x00]
    }
  }
}

/// The advertising schedule of a device: one advert each interval, with a small random delay.
package struct AdvertRhythm: Sendable {
  private let interval: TimeSpan
  private let phase: TimeSpan
  private let delays: NoiseField

  /// Half of the longest random delay of 10 ms.
  ///
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.2.1.
  private static let delay = TimeSpan.milliseconds(5)

  package init(interval: TimeSpan, seed: UInt64, number: Int) {
    var random = RandomStream(seed: seed, 22, UInt64(number))
    self.interval = interval
    phase = interval * random.uniform()
    delays = NoiseField(seed: random.next(), 0, length: 1)
  }

  /// The times of the adverts from one time until another, the end left out.
  package func times(from start: TimeSpan, until end: TimeSpan) -> [TimeSpan] {
    var found: [TimeSpan] = []
    var number = max(0, (start - phase).nanoseconds / max(1, interval.nanoseconds) - 1)
    while true {
      let nominal = phase + TimeSpan(nanoseconds: number * interval.nanoseconds)
      if nominal >= end { return found }
      let late = AdvertRhythm.delay * max(0, min(2, 1 + delays.value(at: Double(number)) / 2))
      let time = nominal + late
      if time >= start, time < end { found.append(time) }
      number += 1
    }
  }
}
