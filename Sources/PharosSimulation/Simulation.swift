import PharosReports

/// A scene as it is played: what the server receives and what truly happens, in order of time.
///
/// Pulled item by item, so that memory is bounded by the size of the scene and not by its length. The same scene
/// and seed give the same items, bit for bit; each transmitter, observer and link has random numbers of its own.
///
/// - Complexity: O(observers) for each advert that is sent.
package struct Simulation: Sequence, IteratorProtocol, Sendable {
  /// What is to be done at some time.
  enum Step: Sendable {
    case advertise(transmitter: Int)
    case send(observer: Int, bootID: UInt32)
    case heartbeat(observer: Int, bootID: UInt32)
    case displayOn(observer: Int)
    case fail(observer: Int, fault: Int)
    case recover(observer: Int, fault: Int)
    case observeTruth(tick: Int)
  }

  /// The scene that is played.
  package let scene: Scene
  /// The seed it is played from.
  package let seed: UInt64
  var agenda = Agenda<Step>()
  var underway = Agenda<SimulatedDatagram>()
  var facts: [TruthEvent] = []
  var nextFact = 0
  var transmitters: [TransmitterState]
  var observers: [ObserverState]
  var links: [Link]
  var truth: TruthState

  /// Begins to play a scene, or says all that is wrong with it.
  package init(_ scene: Scene, seed: UInt64) throws(InvalidScene) {
    let mistakes = scene.mistakes
    guard mistakes.isEmpty else { throw InvalidScene(scene: scene.name, mistakes: mistakes) }
    self.scene = scene
    self.seed = seed
    transmitters = scene.transmitters.indices.map { TransmitterState(seed: seed, index: $0) }
    observers = scene.observers.indices.map { ObserverState(seed: seed, index: $0, in: scene) }
    links = scene.transmitters.indices.flatMap { transmitter in
      scene.observers.indices.map { observer in
        Link(seed: seed, transmitter: transmitter, observer: observer, radio: scene.radio)
      }
    }
    truth = TruthState(scene)
    scheduleBegin()
  }

  /// The next item in order of time, or nil at the end of the scene.
  ///
  /// Datagrams that are on their way when the scene ends still arrive.
  package mutating func next() -> SimulationItem? {
    while true {
      if nextFact < facts.count {
        nextFact += 1
        return .truth(facts[nextFact - 1])
      }
      facts.removeAll(keepingCapacity: true)
      nextFact = 0
      let upcoming = agenda.nextTime.flatMap { $0 < scene.duration ? $0 : nil }
      if let arrival = underway.nextTime, arrival <= upcoming ?? .forever {
        return underway.removeNext().map { .datagram($0.entry) }
      }
      guard upcoming != nil, let (time, step) = agenda.removeNext() else { return nil }
      perform(step, at: time)
    }
  }

  private mutating func scheduleBegin() {
    // The truth comes first and faults come before what they forbid: order among equals is that of scheduling.
    agenda.add(.observeTruth(tick: 0), at: .zero)
    for (index, observer) in scene.observers.enumerated() {
      for (number, fault) in observer.faults.enumerated() {
        agenda.add(.fail(observer: index, fault: number), at: fault.window.from)
        agenda.add(.recover(observer: index, fault: number), at: fault.window.until)
      }
      for time in observer.displayOn { agenda.add(.displayOn(observer: index), at: time) }
      boot(observer: index, at: .zero)
    }
    for (index, transmitter) in scene.transmitters.enumerated() {
      let first = transmitter.isStill(at: .zero) ? transmitter.stillInterval : nil
      let phase = (first ?? transmitter.interval) * transmitters[index].random.uniform()
      agenda.add(.advertise(transmitter: index), at: transmitter.onAir.from + phase)
    }
  }

  private mutating func perform(_ step: Step, at time: TimeSpan) {
    switch step {
    case .advertise(let transmitter): advertise(transmitter: transmitter, at: time)
    case .send(let observer, let bootID): sendBatch(observer: observer, bootID: bootID, at: time)
    case .heartbeat(let observer, let bootID): heartbeat(observer: observer, bootID: bootID, at: time)
    case .displayOn(let observer): displayOn(observer: observer, at: time)
    case .fail(let observer, let fault): fail(observer: observer, fault: fault, at: time)
    case .recover(let observer, let fault): recover(observer: observer, fault: fault, at: time)
    case .observeTruth(let tick): observeTruth(tick: tick, at: time)
    }
  }
}
