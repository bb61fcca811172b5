package import PharosModel
package import PharosSpace

/// The state of a handset.
struct HandsetState: Sendable {
  private let handset: Handset
  private let sky: SkyView
  private var motion: MotionBench
  private var memory: ScanMemory
  private var random: RandomStream
  /// The time at which the first scan ends, drawn randomly, since handsets are switched on at any time.
  private let scanPhase: TimeSpan
  private var sender: SimulatedSender

  init(_ handset: Handset, in house: IndoorHouse, seed: UInt64) {
    self.handset = handset
    sky = SkyView(venue: house.scene.venue, handset: handset.id, seed: seed)
    motion = MotionBench(handset, seed: seed)
    memory = ScanMemory(accessPoints: house.addresses.count)
    var random = RandomStream(seed: seed, 51, handset.id.stableHash)
    // A handset that begins to report has a scan within the first seconds even where later ones are throttled.
    scanPhase = min(handset.wiFi?.period ?? .zero, .seconds(2)) * random.uniform()
    self.random = random
    // What is sent together queues up together; only a detour lets one overtake another.
    sender = SimulatedSender(
      observer: handset.id,
      sourceAddress: handset.sourceAddress,
      network: handset.network,
      bootID: handset.bootID,
      keepsOrder: handset.network.reordering == 0
    )
  }

  /// Returns the datagrams that it sends at the end of a period.
  mutating func datagrams(
    from start: TimeSpan,
    until end: TimeSpan,
    in house: IndoorHouse
  ) -> [(arrival: TimeSpan, datagram: SimulatedDatagram)] {
    var writer = DatagramWriter(observer: handset.id)
    writer.append(motion: motion.samples(from: start, until: end), age: .zero)
    scan(from: start, until: end, in: house, to: &writer)
    receiveBeacons(from: start, until: end, in: house, to: &writer)
    lookUp(from: start, until: end, to: &writer)
    lookAround(from: start, until: end, in: house.scene.venue, to: &writer)
    return sender.send(writer, at: end, since: house.scene.start, random: &random)
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
        memory.receive(number, level: read, at: heard)
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

  private mutating func receiveBeacons(
    from start: TimeSpan,
    until end: TimeSpan,
    in house: IndoorHouse,
    to writer: inout DatagramWriter
  ) {
    guard handset.beacons != .none else { return }
    var heard = HeardAdverts()
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
        heard.add(read, of: number, at: time)
      }
    }
    guard handset.beacons == .ranged else {
      return heard.write(to: &writer, at: end) { house.beacons[$0].frame }
    }
    var period = RangingPeriod()
    for entry in heard.inOrder { period.add(entry.level, of: entry.number) }
    period.write(to: &writer) { (house.beacons[$0].frame.beacon, house.scene.emission.beaconPower) }
  }

  /// Writes the satellite fixes, one a second.
  private func lookUp(from start: TimeSpan, until end: TimeSpan, to writer: inout DatagramWriter) {
    guard handset.hasSatellites else { return }
    for time in HandsetState.times(every: .seconds(1), phase: .zero, from: start, until: end) {
      let place = handset.journey.place(at: time)
      guard let fix = sky.fix(of: place, speed: handset.journey.gait.speed, at: time) else { continue }
      writer.append(.outsideFix(fix), age: end - time)
    }
  }

  /// Writes the visual scans: their start, and what they find three seconds later.
  private mutating func lookAround(
    from start: TimeSpan,
    until end: TimeSpan,
    in venue: Venue,
    to writer: inout DatagramWriter
  ) {
    for time in handset.visualScans {
      let begin = time - HandsetState.scanLength
      if begin >= start, begin < end {
        writer.append(
          .visualStatus(VisualStatus(state: .notPositioning, scan: .started)),
          age: end - begin
        )
      }
      guard time >= start, time < end else { continue }
      let place = handset.journey.place(at: time)
      let error = Point(x: random.normal(), y: random.normal()) * (HandsetState.scanAccuracy / 1.51)
      guard let coordinate = venue.floor(place.floor)?.plane.coordinate(of: place.point + error) else {
        continue
      }
      let fix = OutsideFix(
        latitude: coordinate.latitude,
        longitude: coordinate.longitude,
        horizontalAccuracy: Meters(Double(Float(HandsetState.scanAccuracy))),
        speed: nil,
        source: .vps
      )
      writer.append(.outsideFix(fix), age: end - time)
      writer.append(.visualStatus(VisualStatus(state: .accuratePositioning)), age: end - time)
    }
  }

  /// The length of a visual scan.
  private static let scanLength = TimeSpan.seconds(3)
  /// The accuracy of a visual scan in metres.
  private static let scanAccuracy = 0.4

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

/// The access points that a handset's platform remembers, and repeats from scan to scan until they expire.
struct ScanMemory: Sendable {
  private struct Entry: Sendable {
    let heard: TimeSpan
    let level: Int8
  }

  private var entries: [Entry?]

  init(accessPoints: Int) { entries = Array(repeating: nil, count: accessPoints) }

  /// Records an access point that a scan heard.
  mutating func receive(_ number: Int, level: Double, at time: TimeSpan) {
    entries[number] = Entry(heard: time, level: Int8(max(-126, min(-1, level.rounded()))))
  }

  /// Returns the access points that the platform lists at a time, the strongest first.
  mutating func list(
    at time: TimeSpan,
    memory: TimeSpan,
    addresses: [DeviceAddress],
    frequency: UInt16
  ) -> [AccessPoint] {
    var found: [AccessPoint] = []
    for number in entries.indices {
      guard let entry = entries[number] else { continue }
      guard time - entry.heard <= memory else {
        entries[number] = nil
        continue
      }
      found.append(
        AccessPoint(
          bssid: addresses[number],
          rssi: RSSI(dBm: entry.level),
          frequency: frequency,
          lastHeard: time - entry.heard
        )
      )
    }
    return found.sorted { ($0.rssi?.dBm ?? -127, $1.bssid) > ($1.rssi?.dBm ?? -127, $0.bssid) }
  }
}

/// The satellite reception of a handset: good fixes outdoors, poor ones behind a door, none deep inside.
package struct SkyView: Sendable {
  private let venue: Venue
  private let east, north: NoiseField

  /// The accuracy under the open sky.
  ///
  /// - Units: metres; 4 to 5 for handsets: van Diggelen and Enge, ION GNSS+ 2015.
  private static let open = 4.0
  /// The amount by which accuracy degrades with each metre behind a door.
  private static let spoilt = 3.0
  /// The distance behind a door within which there are fixes.
  ///
  /// - Units: metres.
  private static let reach = 12.0
  /// The time over which errors are correlated, in seconds: reflected paths change at walking pace.
  private static let slow = 20.0
  /// The radius that holds 68 % of a scatter along two axes, in standard deviations along one axis.
  private static let radius = 1.51

  package init(venue: Venue, handset: ObserverID, seed: UInt64) {
    self.venue = venue
    east = NoiseField(seed: seed ^ handset.stableHash, 41, length: SkyView.slow)
    north = NoiseField(seed: seed ^ handset.stableHash, 42, length: SkyView.slow)
  }

  /// The fix of a time, if there is one.
  package func fix(of place: Journey.Place, speed: Double, at time: TimeSpan) -> OutsideFix? {
    guard let floor = venue.floor(place.floor) else { return nil }
    let depth =
      place.isOutdoors ? 0 : floor.entrances.map { $0.point.distance(to: place.point) }.min() ?? .infinity
    guard depth < SkyView.reach else { return nil }
    let accuracy = SkyView.open + SkyView.spoilt * depth
    let error =
      Point(x: east.value(at: time.seconds), y: north.value(at: time.seconds)) * (accuracy / SkyView.radius)
    guard let coordinate = floor.plane.coordinate(of: place.point + error) else { return nil }
    return OutsideFix(
      latitude: coordinate.latitude,
      longitude: coordinate.longitude,
      horizontalAccuracy: Meters(Double(Float(accuracy))),
      speed: Float(place.manner == .walking ? speed : 0),
      source: .gnss
    )
  }
}
