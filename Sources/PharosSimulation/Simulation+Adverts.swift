import PharosPlaces
import PharosReports

/// What a transmitter has done so far.
struct TransmitterState: Sendable {
  var random: RandomStream
  /// How many adverts it has sent: which payload is next.
  var advertsSent = 0

  init(seed: UInt64, index: Int) { random = RandomStream(seed: seed, 2, UInt64(index)) }
}

extension Simulation {
  /// Sends one advert on its three channels to every observer that is scanning, and schedules the next one.
  mutating func advertise(transmitter index: Int, at time: TimeSpan) {
    let transmitter = scene.transmitters[index]
    guard time < transmitter.onAir.until else { return }
    let payload = transmitters[index].advertsSent % transmitter.payloads.count
    transmitters[index].advertsSent += 1
    let place = transmitter.path.position(at: time)
    for observer in scene.observers.indices {
      let heard = receive(transmitter: transmitter, index, at: place, observer: observer, time: time)
      guard let (level, channel) = heard else { continue }
      let sighting = Sighting(
        time: time,
        transmitter: index,
        payload: payload,
        level: level,
        channel: channel
      )
      note(sighting, observer: observer)
    }
    let delay = transmitter.advertDelay * transmitters[index].random.uniform()
    agenda.add(.advertise(transmitter: index), at: transmitter.nextAdvert(after: time) + delay)
  }

  private mutating func receive(
    transmitter: Scene.Transmitter,
    _ transmitterIndex: Int,
    at place: Point,
    observer index: Int,
    time: TimeSpan
  ) -> (level: Int8, channel: UInt8)? {
    guard observers[index].isPowered, let channel = channel(observer: index, at: time) else { return nil }
    let observer = scene.observers[index]
    guard !observer.has(.radio, at: time) else { return nil }
    let listener = observer.path.position(at: time)
    let ends = Link.Ends(
      transmitter: place,
      observer: listener,
      power: transmitter.power + observer.gain
        - transmitter.bodyLoss * shade(from: place, facing: transmitter.path.heading(at: time), to: listener)
        - observer.bodyLoss * shade(from: listener, facing: observer.path.heading(at: time), to: place),
      sensitivity: observer.sensitivity
    )
    let link = transmitterIndex * scene.observers.count + index
    guard let level = links[link].receive(at: time, channel: channel, ends: ends, scene: scene) else {
      return nil
    }
    return (reported(level, observer: index, noise: observer.noise), channel)
  }

  /// The level as the radio reports it: with an error, in whole dB, and never one of the values for "none".
  private mutating func reported(_ level: Double, observer: Int, noise: Double) -> Int8 {
    let read = (level + noise * observers[observer].random.normal()).rounded()
    return Int8(Swift.min(-1, Swift.max(-126, read)))
  }

  /// The channel that an observer listens on at a time, or nil between its windows.
  private func channel(observer index: Int, at time: TimeSpan) -> UInt8? {
    let scan = scene.observers[index].scan
    let local = time.nanoseconds &+ observers[index].scanPhase.nanoseconds
    guard local % scan.interval.nanoseconds < scan.window.nanoseconds else { return nil }
    return 37 + UInt8(local / scan.interval.nanoseconds % 3)
  }

  /// How much a body stands in the way: 0 in front of its carrier, 1 behind, between them a cosine.
  private func shade(from place: Point, facing heading: Point?, to other: Point) -> Double {
    guard let heading, let direction = (other - place).direction else { return 0 }
    return (1 - heading.dot(direction)) / 2
  }
}
