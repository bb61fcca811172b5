import PharosPlaces
import PharosReports

/// What a handset has done so far.
struct HandsetState: Sendable {
  private let handset: Handset
  private let sky: SkyView
  private var motion: MotionBench
  private var memory: ScanMemory
  private var random: RandomStream
  /// When the first scan ends: handsets are switched on at any time.
  private let scanPhase: TimeSpan
  private var sender: IndoorSender

  init(_ handset: Handset, in house: IndoorHouse, seed: UInt64) {
    self.handset = handset
    sky = SkyView(venue: house.scene.venue, handset: handset.id, seed: seed)
    motion = MotionBench(handset, seed: seed)
    memory = ScanMemory(accessPoints: house.addresses.count)
    var random = RandomStream(seed: seed, 51, handset.id.stableHash)
    // A handset that begins to report has a scan within the first seconds even where later ones are throttled.
    scanPhase = min(handset.wiFi?.period ?? .zero, .seconds(2)) * random.uniform()
    self.random = random
    sender = IndoorSender(
      observer: handset.id,
      sourceAddress: handset.sourceAddress,
      network: handset.network
    )
  }

  /// What it sends at the end of a period.
  mutating func datagrams(
    from start: TimeSpan,
    until end: TimeSpan,
    in house: IndoorHouse
  ) -> [SimulatedDatagram] {
    var writer = DatagramWriter(observer: handset.id)
    writer.append(motion: motion.samples(from: start, until: end), age: .zero)
    scan(from: start, until: end, in: house, to: &writer)
    hearBeacons(from: start, until: end, in: house, to: &writer)
    lookUp(from: start, until: end, to: &writer)
    return sender.send(writer, at: end, of: house.scene, &random)
  }

  private mutating func scan(
    from start: TimeSpan,
    until end: TimeSpan,
    in house: IndoorHouse,
    to writer: inout DatagramWriter
  ) {
    guard let wiFi = handset.wiFi else { return }
    for time in HandsetState.times(every: wiFi.period, phase: scanPhase, from: start, until: end) {
      for number in house.accessPoints.indices where random.chance(wiFi.hearing) {
        // A scan steps through the channels for most of a second before the handset reports its result.
        let heard = max(.zero, time - .seconds(random.uniform(0.05, 0.8)))
        let point = house.accessPoints[number]
        let level = house.level(
          from: point.station,
          number: point.number,
          power: house.scene.emission.accessPointPower + handset.gain,
          at: handset.journey.place(at: heard),
          facing: handset.journey.heading(at: heard),
          bodyLoss: handset.bodyLoss
        )
        guard let level, let read = house.air.reading(of: level, &random) else { continue }
        memory.hear(number, level: read, at: heard)
      }
      let list = memory.list(
        at: time,
        memory: wiFi.memory,
        addresses: house.addresses,
        frequency: house.scene.emission.frequency
      )
      writer.append(scan: list, age: end - time)
    }
  }

  private mutating func hearBeacons(
    from start: TimeSpan,
    until end: TimeSpan,
    in house: IndoorHouse,
    to writer: inout DatagramWriter
  ) {
    guard handset.beacons != .none else { return }
    var heard: [(time: TimeSpan, beacon: Int, level: Double)] = []
    for (number, beacon) in house.beacons.enumerated() {
      for time in beacon.rhythm.times(from: start, until: end) {
        let level = house.level(
          from: beacon.station,
          number: beacon.number,
          power: house.scene.emission.beaconPower + handset.gain,
          at: handset.journey.place(at: time),
          facing: handset.journey.heading(at: time),
          bodyLoss: handset.bodyLoss
        )
        guard let level, let read = house.air.reading(of: level, &random) else { continue }
        heard.append((time, number, max(-126, min(-1, read.rounded()))))
      }
    }
    heard.sort { ($0.time, $0.beacon) < ($1.time, $1.beacon) }
    if handset.beacons == .ranged { return range(heard, in: house, to: &writer) }
    for entry in heard {
      let frame = house.beacons[entry.beacon].frame
      let advert = Advert(
        address: frame.address,
        rssi: RSSI(dBm: Int8(entry.level)),
        pdu: .nonConnectable,
        payload: 0..<0
      )
      writer.append(advert, payload: frame.payload, age: end - entry.time)
    }
  }

  /// The beacons of a period with the mean of their levels, in the order first heard.
  private func range(
    _ heard: [(time: TimeSpan, beacon: Int, level: Double)],
    in house: IndoorHouse,
    to writer: inout DatagramWriter
  ) {
    var means: [(beacon: Int, sum: Double, count: Double)] = []
    for entry in heard {
      if let known = means.firstIndex(where: { $0.beacon == entry.beacon }) {
        means[known].sum += entry.level
        means[known].count += 1
      } else {
        means.append((entry.beacon, entry.level, 1))
      }
    }
    for entry in means {
      let mean = entry.sum / entry.count
      let distance = Radio.ideal.distance(pathLoss: house.scene.emission.beaconPower - mean)
      let ranged = RangedBeacon(
        beacon: house.beacons[entry.beacon].frame.beacon,
        rssi: RSSI(dBm: Int8(mean.rounded())),
        accuracy: Meters(Double(Float(distance)))
      )
      writer.append(.rangedBeacon(ranged), age: .zero)
    }
  }

  /// What satellites say, once a second.
  private func lookUp(from start: TimeSpan, until end: TimeSpan, to writer: inout DatagramWriter) {
    guard handset.hasSatellites else { return }
    for time in HandsetState.times(every: .seconds(1), phase: .zero, from: start, until: end) {
      let place = handset.journey.place(at: time)
      guard let fix = sky.fix(of: place, speed: handset.journey.gait.speed, at: time) else { continue }
      writer.append(.outsideFix(fix), age: end - time)
    }
  }

  /// The times of something that recurs, from one time until another, the end left out.
  static func times(
    every period: TimeSpan,
    phase: TimeSpan,
    from start: TimeSpan,
    until end: TimeSpan
  ) -> [TimeSpan] {
    var found: [TimeSpan] = []
    var number = max(0, (start - phase).nanoseconds / max(1, period.nanoseconds))
    while true {
      let time = phase + TimeSpan(nanoseconds: number * period.nanoseconds)
      if time >= end { return found }
      if time >= start { found.append(time) }
      number += 1
    }
  }
}
