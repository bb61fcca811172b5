import PharosModel
import PharosSimulation
import PharosSpace

/// All that came out of a scene, for tests to look at.
struct Playback {
  /// An advert as the server learns of it.
  struct Sighting {
    let observer: ObserverID
    let address: DeviceAddress?
    let level: Double
    let channel: UInt8
    /// When it was received by the server, in seconds of the scene.
    let received: Double
    /// When it was heard, in seconds of the scene.
    let heard: Double
    let age: TimeSpan
  }

  let items: [SimulationItem]
  let datagrams: [SimulatedDatagram]
  let truth: [TruthEvent]
  let sightings: [Sighting]

  init(_ scene: Scene, seed: UInt64 = 1) {
    items = Array(Simulation(scene, seed: seed))
    datagrams = items.compactMap { if case .datagram(let datagram) = $0 { datagram } else { nil } }
    truth = items.compactMap { if case .truth(let event) = $0 { event } else { nil } }
    sightings = datagrams.flatMap { datagram in
      datagram.reports.reports.compactMap { report in
        guard case .advert(let advert) = report.body, case .age(let age) = report.timing else { return nil }
        guard let rssi = advert.rssi else { return nil }
        return Sighting(
          observer: datagram.observer,
          address: advert.address,
          level: Double(rssi.dBm),
          channel: advert.channel,
          received: (report.received - scene.start).seconds,
          heard: (report.received - age - scene.start).seconds,
          age: age
        )
      }
    }
  }

  /// The heartbeats with the times of their receipt, in seconds since a time.
  func heartbeats(of observer: ObserverID, since start: Timestamp) -> [(received: Double, Heartbeat)] {
    datagrams.filter { $0.observer == observer }.flatMap { datagram in
      datagram.reports.reports.compactMap { report in
        guard case .heartbeat(let heartbeat) = report.body else { return nil }
        return ((report.received - start).seconds, heartbeat)
      }
    }
  }
}

/// The smallest scenes there are, to look at one thing at a time.
enum Bench {
  static let observerID = ObserverID.eui48(0xAC23_3FA0_00FF)

  /// A transmitter with a payload of four bytes and the given number in its address.
  static func transmitter(
    _ number: UInt64 = 1,
    at path: Path = Path(at: Point(x: 3, y: 0)),
    interval: TimeSpan = .milliseconds(100)
  ) -> Scene.Transmitter {
    let address = DeviceAddress(bits: 0xC000_0000_0000 | number, kind: .random)
    return Scene.Transmitter(
      name: "t\(number)",
      address: address,
      payloads: [[0x03, 0xFF, UInt8(truncatingIfNeeded: number), 0x00]],
      path: path,
      interval: interval
    )
  }

  /// An exact observer at the origin that sends at once over a network without chance.
  static func observer(_ id: ObserverID = observerID) -> Scene.Observer {
    var observer = Scene.Observer(id: id, sourceAddress: "192.0.2.1", path: Path(at: .origin))
    observer.batchPeriod = .zero
    observer.heartbeats = nil
    observer.noise = 0
    observer.network = Network(delay: .zero, jitter: .zero)
    return observer
  }

  static func scene(
    seconds: Double,
    radio: Radio = .ideal,
    transmitters: [Scene.Transmitter] = [transmitter()],
    observers: [Scene.Observer] = [observer()]
  ) -> Scene {
    Scene(
      name: "bench",
      duration: .seconds(seconds),
      transmitters: transmitters,
      observers: observers,
      radio: radio
    )
  }
}
