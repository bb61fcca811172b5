package import PharosModel
import PharosSpace
import PharosWire

/// A running scene: the datagrams that the server receives and the true events, in order of time.
///
/// Pulled item by item, so that memory is bounded by the size of the scene and not by its length. The same scene
/// and seed give the same items, bit for bit; each transmitter, observer and link has random numbers of its own.
///
/// - Complexity: O(observers) for each advert that is sent.
package struct Simulation: Sequence, IteratorProtocol, Sendable {
  /// A step that is scheduled for some time.
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
  var timetable = Timetable<Step>()
  var facts: [TruthEvent] = []
  var nextFact = 0
  var transmitters: [TransmitterState]
  var observers: [ObserverState]
  var links: [Link]
  var truth: TruthState

  /// Begins to play a scene.
  package init(_ scene: Scene, seed: UInt64) {
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
      switch timetable.next(until: scene.duration) {
      case .arrival(let datagram): return .datagram(datagram)
      case .step(let step, let time): perform(step, at: time)
      case nil: return nil
      }
    }
  }

  private mutating func scheduleBegin() {
    // The truth comes first and faults come before what they forbid: order among equals is that of scheduling.
    timetable.add(.observeTruth(tick: 0), at: .zero)
    for (index, observer) in scene.observers.enumerated() {
      for (number, fault) in observer.faults.enumerated() {
        timetable.add(.fail(observer: index, fault: number), at: fault.window.from)
        timetable.add(.recover(observer: index, fault: number), at: fault.window.until)
      }
      for time in observer.displayOn { timetable.add(.displayOn(observer: index), at: time) }
      boot(observer: index, at: .zero)
    }
    for (index, transmitter) in scene.transmitters.enumerated() {
      let first = transmitter.isStill(at: .zero) ? transmitter.stillInterval : nil
      let phase = (first ?? transmitter.interval) * transmitters[index].random.uniform()
      timetable.add(.advertise(transmitter: index), at: transmitter.onAir.from + phase)
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

/// A datagram as it reaches the server.
package struct SimulatedDatagram: Equatable, Sendable {
  /// The time at which the server receives it.
  package var received: Timestamp
  /// The host that it comes from, as text.
  package var sourceAddress: String
  /// The UDP port that it comes from.
  package var sourcePort: UInt16
  /// The observer that sends it.
  package var observer: ObserverID
  /// Its head: boot id, sequence number and up-time of the sender.
  package var head: Transmission
  /// Its reports in order, all of ``observer``, each with its receive time and an age of whole milliseconds.
  ///
  /// The head is not among them: ``bytes`` writes it from ``head``.
  package var reports: ReportBatch

  /// The Pharos datagram that a real gateway would send.
  ///
  /// The simulator fills its batches so that each fits one datagram; the numbers are its own, so that losses and
  /// restarts show.
  package var bytes: [UInt8] {
    var encoder = PharosDatagramEncoder(observer: observer, bootID: head.bootID, sequence: head.sequence)
    for report in reports.reports {
      guard encoder.append(report, from: reports) else { break }
    }
    return encoder.finish(uptime: head.uptime)
  }
}

/// One thing that comes out of a simulation.
package enum SimulationItem: Equatable, Sendable {
  /// A datagram that the server receives.
  case datagram(SimulatedDatagram)
  /// An event that truly happens.
  case truth(TruthEvent)

  /// The time at which the datagram is received or the event happens.
  package var time: Timestamp {
    switch self {
    case .datagram(let datagram): datagram.received
    case .truth(let event): event.time
    }
  }
}

/// The state of a transmitter.
struct TransmitterState: Sendable {
  var random: RandomStream
  /// The number of adverts sent, which selects the next payload.
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
      let sighting = PendingAdvert(
        time: time,
        transmitter: index,
        payload: payload,
        level: level,
        channel: channel
      )
      record(sighting, observer: observer)
    }
    let delay = transmitter.advertDelay * transmitters[index].random.uniform()
    timetable.add(.advertise(transmitter: index), at: transmitter.nextAdvert(after: time) + delay)
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

  /// Returns the share of the body loss: 0 in front of the carrier, 1 behind, between them a cosine.
  private func shade(from place: Point, facing heading: Point?, to other: Point) -> Double {
    guard let heading, let direction = (other - place).direction else { return 0 }
    return (1 - heading.dot(direction)) / 2
  }
}

/// An advert that an observer has received and not sent yet.
struct PendingAdvert: Sendable {
  let time: TimeSpan
  let transmitter: Int
  let payload: Int
  let level: Int8
  let channel: UInt8
}

/// The state of an observer.
struct ObserverState: Sendable {
  /// The maximum number of adverts that wait to be sent.
  ///
  /// Further adverts are dropped and counted, as a gateway's memory is small.
  static let capacity = 4_096

  var random: RandomStream
  /// The observer's phase in its scan pattern when the scene begins.
  let scanPhase: TimeSpan
  var sender: SimulatedSender
  /// The number of active faults that keep it without power.
  var powerFaults = 0
  var isPowered: Bool { powerFaults == 0 }
  /// The adverts received and not sent yet, in order of time.
  var pending: [PendingAdvert] = []
  var advertsHeard: UInt32 = 0
  var dropped: UInt32 = 0

  init(seed: UInt64, index: Int, in scene: Scene) {
    random = RandomStream(seed: seed, 3, UInt64(index))
    let observer = scene.observers[index]
    scanPhase = observer.scan.interval * (3 * random.uniform())
    sender = SimulatedSender(
      observer: observer.id,
      sourceAddress: observer.sourceAddress,
      sourcePort: observer.sourcePort,
      network: observer.network,
      bootID: observer.bootID,
      clockDrift: observer.clockDrift
    )
  }

  mutating func send(
    _ writer: DatagramWriter,
    at time: TimeSpan,
    since start: Timestamp
  ) -> [(arrival: TimeSpan, datagram: SimulatedDatagram)] {
    sender.send(writer, at: time, since: start, random: &random)
  }

  mutating func forgetWhatItHeard() {
    pending.removeAll(keepingCapacity: true)
    advertsHeard = 0
    dropped = 0
  }
}

extension Simulation {
  /// Starts an observer: its periods begin at a random phase, and it reports its scan state.
  mutating func boot(observer index: Int, at time: TimeSpan) {
    let observer = scene.observers[index]
    observers[index].forgetWhatItHeard()
    let bootID = observers[index].sender.bootID
    if let state = observer.scanState {
      var writer = DatagramWriter(observer: observer.id)
      writer.append(.scanState(state), age: .zero)
      send(writer, observer: index, at: time)
    }
    if observer.batchPeriod > .zero {
      let phase = observer.batchPeriod * observers[index].random.uniform()
      timetable.add(.send(observer: index, bootID: bootID), at: time + phase)
    }
    if let heartbeats = observer.heartbeats {
      let phase = heartbeats.period * observers[index].random.uniform()
      timetable.add(.heartbeat(observer: index, bootID: bootID), at: time + phase)
    }
  }

  /// Keeps an advert until the next datagram, or sends it at once.
  mutating func record(_ sighting: PendingAdvert, observer index: Int) {
    observers[index].advertsHeard &+= 1
    guard observers[index].pending.count < ObserverState.capacity else {
      observers[index].dropped &+= 1
      return
    }
    observers[index].pending.append(sighting)
    if scene.observers[index].batchPeriod == .zero { sendPending(observer: index, at: sighting.time) }
  }

  /// Sends the pending adverts, and schedules the next batch a period later.
  mutating func sendBatch(observer index: Int, bootID: UInt32, at time: TimeSpan) {
    guard observers[index].sender.bootID == bootID, observers[index].isPowered else { return }
    sendPending(observer: index, at: time)
    let period = scene.observers[index].batchPeriod
    timetable.add(.send(observer: index, bootID: bootID), at: time + period)
  }

  /// Sends a heartbeat, and schedules the next one a period later.
  mutating func heartbeat(observer index: Int, bootID: UInt32, at time: TimeSpan) {
    guard observers[index].sender.bootID == bootID, observers[index].isPowered else { return }
    guard let heartbeats = scene.observers[index].heartbeats else { return }
    let state = observers[index]
    let heartbeat =
      heartbeats.includesStatistics
      ? Heartbeat(
        advertsHeard: state.advertsHeard,
        scanDuty: Float(scene.observers[index].scan.duty),
        dropped: state.dropped
      ) : Heartbeat()
    observers[index].advertsHeard = 0
    observers[index].dropped = 0
    var writer = DatagramWriter(observer: scene.observers[index].id)
    writer.append(.heartbeat(heartbeat), age: .zero)
    send(writer, observer: index, at: time)
    timetable.add(.heartbeat(observer: index, bootID: bootID), at: time + heartbeats.period)
  }

  /// Sends a report that the display was turned on.
  mutating func displayOn(observer index: Int, at time: TimeSpan) {
    guard observers[index].isPowered else { return }
    var writer = DatagramWriter(observer: scene.observers[index].id)
    writer.append(.displayOn, age: .zero)
    send(writer, observer: index, at: time)
  }

  /// Lets a fault begin.
  mutating func fail(observer index: Int, fault: Int, at time: TimeSpan) {
    let observer = scene.observers[index]
    let kind = observer.faults[fault].kind
    emit(.fails(kind), observer: observer, at: time)
    guard kind == .power else { return }
    observers[index].powerFaults += 1
    observers[index].forgetWhatItHeard()
  }

  /// Ends a fault; the observer restarts at the end of its last power fault.
  mutating func recover(observer index: Int, fault: Int, at time: TimeSpan) {
    let observer = scene.observers[index]
    let kind = observer.faults[fault].kind
    emit(.recovers(kind), observer: observer, at: time)
    guard kind == .power else { return }
    observers[index].powerFaults -= 1
    guard observers[index].isPowered else { return }
    observers[index].sender.restart(at: time)
    boot(observer: index, at: time)
  }
}

extension Simulation {
  /// Sends what an observer has heard since its last datagram, if anything.
  mutating func sendPending(observer index: Int, at time: TimeSpan) {
    guard !observers[index].pending.isEmpty else { return }
    let observer = scene.observers[index]
    var writer = DatagramWriter(observer: observer.id)
    switch observer.reporting {
    case .adverts: writeAdverts(observer: index, at: time, to: &writer)
    case .rangedBeacons: writeRangedBeacons(observer: index, at: time, to: &writer)
    }
    observers[index].pending.removeAll(keepingCapacity: true)
    send(writer, observer: index, at: time)
  }

  private func writeAdverts(observer index: Int, at time: TimeSpan, to writer: inout DatagramWriter) {
    for sighting in observers[index].pending {
      let transmitter = scene.transmitters[sighting.transmitter]
      let advert = Advert(
        address: transmitter.address,
        rssi: RSSI(dBm: sighting.level),
        pdu: transmitter.pdu,
        channel: sighting.channel,
        payload: 0..<0
      )
      writer.append(
        advert,
        payload: transmitter.payloads[sighting.payload],
        age: (time - sighting.time).counted(drift: scene.observers[index].clockDrift)
      )
    }
  }

  private func writeRangedBeacons(observer index: Int, at time: TimeSpan, to writer: inout DatagramWriter) {
    var period = RangingPeriod()
    for sighting in observers[index].pending { period.add(sighting.level, of: sighting.transmitter) }
    period.write(to: &writer) { number in
      let transmitter = scene.transmitters[number]
      guard transmitter.beacon.kind == .proximity else { return nil }
      return transmitter.measuredPower.map { (transmitter.beacon, Double($0)) }
    }
  }

  /// Puts datagrams on their way, unless the observer has no network.
  mutating func send(_ writer: DatagramWriter, observer index: Int, at time: TimeSpan) {
    let sent = observers[index].send(writer, at: time, since: scene.start)
    guard !scene.observers[index].has(.network, at: time) else { return }
    for (arrival, datagram) in sent { timetable.send(datagram, arriving: arrival) }
  }
}
