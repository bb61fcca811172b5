package import PharosDocuments
package import PharosModel
package import PharosSpace

/// A running indoor scene: the datagrams that the server receives and the true positions, in order of time.
///
/// Pulled item by item. The same scene and seed give the same items, bit for bit; each handset, tag and observer has
/// random numbers of its own, so that one more of them changes nothing for the others.
///
/// - Complexity: for each handset a look at the walls before every access point and beacon, each scan and advert.
package struct IndoorSimulation: Sequence, IteratorProtocol, Sendable {
  private enum Step: Sendable {
    case handset(Int)
    case observer(Int)
    case truth
  }

  /// The period at which the simulation emits the true positions of all handsets and tags.
  package static let truthPeriod = TimeSpan.milliseconds(200)

  /// The scene that is played.
  package let scene: IndoorScene
  /// The seed it is played from.
  package let seed: UInt64
  let house: IndoorHouse
  private var handsets: [HandsetState]
  private var observers: [StationState]
  private var timetable = Timetable<Step>()
  private var truths: [IndoorTruth] = []

  /// Begins to play a scene, or throws all its mistakes.
  package init(_ scene: IndoorScene, seed: UInt64) throws(InvalidScene) {
    let mistakes = scene.mistakes
    guard mistakes.isEmpty else { throw InvalidScene(scene: scene.name, mistakes: mistakes) }
    self.scene = scene
    self.seed = seed
    let house = IndoorHouse(scene, seed: seed)
    self.house = house
    handsets = scene.handsets.map { HandsetState($0, in: house, seed: seed) }
    observers = house.observers.indices.map { StationState(number: $0, in: house, scene: scene, seed: seed) }
    timetable.add(.truth, at: .zero)
    for (index, handset) in scene.handsets.enumerated() { timetable.add(.handset(index), at: handset.period) }
    if !scene.tags.isEmpty {
      for index in observers.indices { timetable.add(.observer(index), at: StationState.period) }
    }
  }

  /// The next item in order of time, or nil at the end of the scene.
  package mutating func next() -> IndoorItem? {
    while true {
      if let truth = truths.popLast() { return .truth(truth) }
      // What is due at the very end still happens.
      switch timetable.next(until: scene.duration + TimeSpan(nanoseconds: 1)) {
      case .arrival(let datagram): return .datagram(datagram)
      case .step(let step, let time): perform(step, at: time)
      case nil: return nil
      }
    }
  }

  private mutating func perform(_ step: Step, at time: TimeSpan) {
    switch step {
    case .truth:
      collectTruth(at: time)
      timetable.add(.truth, at: time + IndoorSimulation.truthPeriod)
    case .handset(let index):
      let period = scene.handsets[index].period
      for (arrival, datagram) in handsets[index].datagrams(from: time - period, until: time, in: house) {
        timetable.send(datagram, arriving: arrival)
      }
      timetable.add(.handset(index), at: time + period)
    case .observer(let index):
      let period = StationState.period
      for (arrival, datagram) in observers[index].datagrams(from: time - period, until: time, in: house) {
        timetable.send(datagram, arriving: arrival)
      }
      timetable.add(.observer(index), at: time + period)
    }
  }

  /// Collects all true positions in reverse order, since ``next()`` takes them from the end.
  private mutating func collectTruth(at time: TimeSpan) {
    func truth(of subject: SubjectID, _ journey: Journey) -> IndoorTruth {
      let place = journey.place(at: time)
      let plane = scene.venue.floor(place.floor)?.plane
      return IndoorTruth(
        time: scene.start + time,
        subject: subject,
        place: place,
        coordinate: plane?.coordinate(of: place.point)
      )
    }
    truths =
      (scene.handsets.map { truth(of: .observer($0.id), $0.journey) }
      + scene.tags.map { truth(of: .beacon($0.beacon), $0.journey) }).reversed()
  }
}

/// The true position of a subject at a time.
package struct IndoorTruth: Hashable, Sendable {
  /// The time.
  package var time: Timestamp
  /// The subject: a handset as an observer, a tag as a beacon.
  package var subject: SubjectID
  /// The place, with the manner of movement.
  package var place: Journey.Place
  /// The same place on the Earth; nil beyond the reach of the floor's plane.
  package var coordinate: Coordinate?

  /// Writes it as one line of JSON.
  ///
  /// Members: `time` (RFC 3339), `kind` (`place`), `subject`, `building`, `level`, `x`, `y` (m), `outdoors`, and
  /// `latitude` and `longitude` where they are known.
  package func write(to json: inout JSONText) {
    json.openObject()
    json.member("time", time.rfc3339)
    json.member("kind", "place")
    json.member("subject", subject.description)
    json.member("building", place.floor.building)
    json.member("level", place.floor.level)
    json.member("x", place.point.x, decimals: 3)
    json.member("y", place.point.y, decimals: 3)
    json.member("outdoors", place.isOutdoors)
    if let coordinate {
      json.member("latitude", coordinate.latitude, decimals: 8)
      json.member("longitude", coordinate.longitude, decimals: 8)
    }
    json.closeObject()
    json.newLine()
  }
}

/// One thing that comes out of an ``IndoorSimulation``.
package enum IndoorItem: Equatable, Sendable {
  /// A datagram that the server receives.
  case datagram(SimulatedDatagram)
  /// The true position of a subject.
  case truth(IndoorTruth)

  /// The time at which the datagram is received or the position is true.
  package var time: Timestamp {
    switch self {
    case .datagram(let datagram): datagram.received
    case .truth(let truth): truth.time
    }
  }
}

/// The state of an observer at a fixed place in the house.
struct StationState: Sendable {
  /// The period at which an observer sends the adverts that it received.
  static let period = TimeSpan.milliseconds(200)
  /// The number of periods from one heartbeat to the next: one heartbeat every five seconds.
  private static let heartbeatEvery: UInt64 = 25

  private let number: Int
  private let tags: [(frame: AirFrame, rhythm: AdvertRhythm)]
  private var random: RandomStream
  private var sender: SimulatedSender
  private var periods: UInt64 = 0

  init(number: Int, in house: IndoorHouse, scene: IndoorScene, seed: UInt64) {
    self.number = number
    tags = scene.tags.enumerated().map { index, tag in
      (
        AirFrame(tag.beacon, power: tag.power),
        AdvertRhythm(interval: tag.interval, seed: seed ^ 0x7A67, number: index)
      )
    }
    random = RandomStream(seed: seed, 52, UInt64(number))
    sender = SimulatedSender(
      observer: house.observers[number].id,
      sourceAddress: "192.0.2.\(100 + number % 100)",
      network: Network(),
      keepsOrder: true
    )
  }

  /// Returns the datagrams that it sends at the end of a period.
  mutating func datagrams(
    from start: TimeSpan,
    until end: TimeSpan,
    in house: IndoorHouse
  ) -> [(arrival: TimeSpan, datagram: SimulatedDatagram)] {
    let observer = house.observers[number]
    var writer = DatagramWriter(observer: observer.id)
    var heard = HeardAdverts()
    for (index, tag) in house.scene.tags.enumerated() {
      for time in tags[index].rhythm.times(from: start, until: end) {
        let level = house.level(
          from: observer.station,
          number: observer.number,
          power: tag.power,
          at: tag.journey.place(at: time),
          facing: tag.journey.heading(at: time),
          bodyLoss: tag.bodyLoss
        )
        guard let level, let read = house.air.reading(of: level, &random) else { continue }
        heard.add(read, of: index, at: time)
      }
    }
    heard.write(to: &writer, at: end) { tags[$0].frame }
    if periods % StationState.heartbeatEvery == 0 { writer.append(.heartbeat(Heartbeat()), age: .zero) }
    periods += 1
    return sender.send(writer, at: end, since: house.scene.start, random: &random)
  }
}
