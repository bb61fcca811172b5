import PharosPlaces
import PharosReports

/// The house of a scene with all that hangs in it, made ready for playing.
struct IndoorHouse: Sendable {
  /// A beacon that hangs somewhere.
  struct Beacon: Sendable {
    let frame: AirFrame
    let rhythm: AdvertRhythm
    let station: IndoorAir.Station
    /// Its number among all that hangs in the house: which shadows it throws.
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
            station: IndoorAir.Station(floor: id, point: beacon.point),
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

  /// The level that is expected at a place from something that hangs in the house, in dBm.
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
