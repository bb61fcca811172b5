import PharosPlaces
package import PharosReports

/// An indoor scene as it is played: what the server receives and where everybody truly is, in order of time.
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
  private var agenda = Agenda<Step>()
  private var underway = Agenda<SimulatedDatagram>()
  private var truths: [IndoorTruth] = []

  /// Begins to play a scene, or says all that is wrong with it.
  package init(_ scene: IndoorScene, seed: UInt64) throws(InvalidScene) {
    let mistakes = scene.mistakes
    guard mistakes.isEmpty else { throw InvalidScene(scene: scene.name, mistakes: mistakes) }
    self.scene = scene
    self.seed = seed
    let house = IndoorHouse(scene, seed: seed)
    self.house = house
    handsets = scene.handsets.map { HandsetState($0, in: house, seed: seed) }
    observers = house.observers.indices.map { StationState(number: $0, in: house, scene: scene, seed: seed) }
    agenda.add(.truth, at: .zero)
    for (index, handset) in scene.handsets.enumerated() { agenda.add(.handset(index), at: handset.period) }
    if !scene.tags.isEmpty {
      for index in observers.indices { agenda.add(.observer(index), at: StationState.period) }
    }
  }

  /// The next item in order of time, or nil at the end of the scene.
  package mutating func next() -> IndoorItem? {
    while true {
      if let truth = truths.popLast() { return .truth(truth) }
      let upcoming = agenda.nextTime.flatMap { $0 <= scene.duration ? $0 : nil }
      if let arrival = underway.nextTime, arrival <= upcoming ?? .forever {
        return underway.removeNext().map { .datagram($0.entry) }
      }
      guard upcoming != nil, let (time, step) = agenda.removeNext() else { return nil }
      perform(step, at: time)
    }
  }

  private mutating func perform(_ step: Step, at time: TimeSpan) {
    switch step {
    case .truth:
      tellTruth(at: time)
      agenda.add(.truth, at: time + IndoorSimulation.truthPeriod)
    case .handset(let index):
      let period = scene.handsets[index].period
      for datagram in handsets[index].datagrams(from: time - period, until: time, in: house) {
        underway.add(datagram, at: datagram.received - scene.start)
      }
      agenda.add(.handset(index), at: time + period)
    case .observer(let index):
      let period = StationState.period
      for datagram in observers[index].datagrams(from: time - period, until: time, in: house) {
        underway.add(datagram, at: datagram.received - scene.start)
      }
      agenda.add(.observer(index), at: time + period)
    }
  }

  /// Where everybody is, the last first, since it is taken from the end.
  private mutating func tellTruth(at time: TimeSpan) {
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
