import PharosReports

/// An advert that an observer has heard and not yet told.
struct Sighting: Sendable {
  let time: TimeSpan
  let transmitter: Int
  let payload: Int
  let level: Int8
  let channel: UInt8
}

/// What an observer has done so far.
struct ObserverState: Sendable {
  /// How many adverts wait to be sent at most; more are dropped and counted, as a gateway's memory is small.
  static let capacity = 4_096

  var random: RandomStream
  /// Where in its scan pattern the observer is when the scene begins.
  let scanPhase: TimeSpan
  var bootID: UInt32
  var sequence: UInt32 = 0
  var bootedAt = TimeSpan.zero
  /// How many faults keep it without power.
  var powerFaults = 0
  var isPowered: Bool { powerFaults == 0 }
  /// What it has heard and not yet told, in order of time.
  var pending: [Sighting] = []
  var advertsHeard: UInt32 = 0
  var dropped: UInt32 = 0

  init(seed: UInt64, index: Int, in scene: Scene) {
    random = RandomStream(seed: seed, 3, UInt64(index))
    scanPhase = scene.observers[index].scan.interval * (3 * random.uniform())
    bootID = scene.observers[index].bootID
  }

  mutating func forgetWhatItHeard() {
    pending.removeAll(keepingCapacity: true)
    advertsHeard = 0
    dropped = 0
  }
}

extension Simulation {
  /// Starts an observer: its periods begin at a random phase, and it tells its scan state.
  mutating func boot(observer index: Int, at time: TimeSpan) {
    let observer = scene.observers[index]
    observers[index].bootedAt = time
    observers[index].sequence = 0
    observers[index].forgetWhatItHeard()
    let bootID = observers[index].bootID
    if let state = observer.scanState {
      var writer = DatagramWriter(observer: observer.id)
      writer.append(.scanState(state), age: .zero)
      send(writer, observer: index, at: time)
    }
    if observer.batchPeriod > .zero {
      let phase = observer.batchPeriod * observers[index].random.uniform()
      agenda.add(.send(observer: index, bootID: bootID), at: time + phase)
    }
    if let heartbeats = observer.heartbeats {
      let phase = heartbeats.period * observers[index].random.uniform()
      agenda.add(.heartbeat(observer: index, bootID: bootID), at: time + phase)
    }
  }

  /// Keeps an advert until the next datagram, or sends it at once.
  mutating func note(_ sighting: Sighting, observer index: Int) {
    observers[index].advertsHeard &+= 1
    guard observers[index].pending.count < ObserverState.capacity else {
      observers[index].dropped &+= 1
      return
    }
    observers[index].pending.append(sighting)
    if scene.observers[index].batchPeriod == .zero { sendPending(observer: index, at: sighting.time) }
  }

  /// Sends what is pending, and comes back a period later.
  mutating func sendBatch(observer index: Int, bootID: UInt32, at time: TimeSpan) {
    guard observers[index].bootID == bootID, observers[index].isPowered else { return }
    sendPending(observer: index, at: time)
    let period = scene.observers[index].batchPeriod
    agenda.add(.send(observer: index, bootID: bootID), at: time + period)
  }

  /// Sends a sign of life, and comes back a period later.
  mutating func heartbeat(observer index: Int, bootID: UInt32, at time: TimeSpan) {
    guard observers[index].bootID == bootID, observers[index].isPowered else { return }
    guard let heartbeats = scene.observers[index].heartbeats else { return }
    let state = observers[index]
    let heartbeat =
      heartbeats.tellsStatistics
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
    agenda.add(.heartbeat(observer: index, bootID: bootID), at: time + heartbeats.period)
  }

  /// Tells that the display was turned on.
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
    tell(.fails(kind), observer: observer, at: time)
    guard kind == .power else { return }
    observers[index].powerFaults += 1
    observers[index].forgetWhatItHeard()
  }

  /// Ends a fault; the observer restarts at the end of its last power fault.
  mutating func recover(observer index: Int, fault: Int, at time: TimeSpan) {
    let observer = scene.observers[index]
    let kind = observer.faults[fault].kind
    tell(.recovers(kind), observer: observer, at: time)
    guard kind == .power else { return }
    observers[index].powerFaults -= 1
    guard observers[index].isPowered else { return }
    observers[index].bootID &+= 1
    boot(observer: index, at: time)
  }
}
