import Logging
import NIOCore
import PharosCaptures
import PharosModel
import PharosPresence
import PharosWire

/// One loop: reads its sockets, decodes, sends reports to the shards they belong to, and runs its own shard.
///
/// Lives on one NIO event loop and is touched nowhere else, so it holds no lock. What it does, in order, at every
/// wake-up: take datagrams, push them to the rings, publish its watermark, run its shard.
final class ReadingLoop {
  /// The phase of the loop between start and shutdown.
  enum Phase {
    /// It reads.
    case running
    /// It reads what is left in the sockets' buffers, so many datagrams at most, and then succeeds the promise.
    case draining(EventLoopPromise<Void>, datagrams: Int)
    /// Its sockets are closed; it still publishes watermarks, since other loops may wait for them.
    case drained
    /// Time stands still until all loops have agreed on the end.
    case frozen
    /// It runs its shard up to the end, and then succeeds the promise.
    case finishing(end: Timestamp, EventLoopPromise<Void>)
    /// There is nothing left to do.
    case finished
  }

  /// The loop's place among the loops; loop 0 also takes the inputs that no observer sent.
  let index: Int
  /// The NIO loop it lives on.
  let eventLoop: any EventLoop
  let exchange: Exchange
  let configuration: IngestConfiguration
  let logger: Logger
  var phase = Phase.running
  var clock: LoopClock
  var listeners: [Listener] = []
  var shard: Shard
  /// Set on loop 0 alone.
  var server: ServerInputs?
  /// The log that inputs go through; nil if they go to the shards at once.
  let logged: LoggedLoop?

  var drain: DatagramDrain
  var intake: Intake
  var counters = LoopCounters()
  var nextChores = Timestamp.distantPast
  /// The tick that waits for its time; nil while there is none to wait for.
  var nextTick: Scheduled<Void>?
  var dropLog = DropLog()
  /// Indicates whether the shard has more to do and will be run for it.
  var isShardScheduled = false
  /// The index of the listener that the next tick reads first.
  var firstListener = 0
  /// Indicates whether the last tick left datagrams in a socket and the next one follows at once.
  var wasBehind = false
  var hold = ReadingHold.none
  /// The time since which the recorder has had no room.
  var recorderStalledSince: Timestamp?

  /// Makes a loop; called on its event loop.
  init(
    index: Int,
    eventLoop: any EventLoop,
    exchange: Exchange,
    timeline: Timeline,
    site: Site,
    shard: Shard,
    configuration: IngestConfiguration,
    gate: AdmissionCheck,
    server: ServerInputs?,
    logger: Logger
  ) throws(IngestError) {
    self.index = index
    self.eventLoop = eventLoop
    self.exchange = exchange
    self.configuration = configuration
    self.server = server
    self.logger = logger
    logged = configuration.log.map { settings in
      LoggedLoop(
        settings,
        loop: index,
        applied: index == 0 ? AppliedLog(settings.reading, shards: exchange.loops) : nil
      )
    }
    clock = LoopClock(timeline, loop: index)
    self.shard = shard
    drain = try DatagramDrain(capacity: configuration.largestDatagram)
    intake = Intake(shard: index, shards: exchange.loops, iBeaconCompanies: site.iBeaconCompanies)
    intake.gate = gate
    intake.recognise(KnownDevices(site), showsUnregistered: configuration.showsUnregistered)
  }
}

extension ReadingLoop {
  /// The number of datagrams that one socket may bring before the loop turns to its other work.
  static let fairShare = 1_024
  /// The maximum time for which one socket is read before the loop turns to its other work, so that deadlines and
  /// server inputs wait no longer.
  static let maximumTurn = TimeSpan.microseconds(250)

  /// The reason why a pass over a socket ended.
  enum Ending {
    /// Nothing is left in it.
    case emptied
    /// It has had its share.
    case more
    /// The rings have no room.
    case blocked
  }

  /// Takes a datagram that NIO has read and the others in the socket.
  func readable(_ listener: Listener) {
    switch phase {
    case .running, .draining:
      if isHeld || !watchPause() || pass(listener).ending == .blocked { listener.block() }
      runShard()
    case .drained, .frozen, .finishing, .finished:
      // The socket is closed; what NIO had read in that moment came after the end.
      _ = listener.drainHeld()
    }
  }

  /// Counts a transient socket error and logs it for debugging.
  func recordSocketError(_ error: any Error, at listener: Listener) {
    counters.socketErrors += 1
    logger.debug(
      "A socket reported an error.",
      metadata: [LogKey.listener: "\(listener.localAddress)", LogKey.error: "\(error)"]
    )
  }

  /// Takes datagrams off a socket, 64 a call; a call has one reading of the clock and each datagram its own R.
  ///
  /// The shard decides the datagrams of one call before the next call, while they are still in the processor's caches.
  ///
  /// - Returns: the number of datagrams, and the reason why the pass ended.
  func pass(_ listener: Listener) -> (datagrams: Int, ending: Ending) {
    var processed = 0
    var start: Timestamp?
    var ending = Ending.more
    while processed < ReadingLoop.fairShare {
      // Room is looked for first: what has been taken off the socket always gets into the rings.
      guard exchange.hasRoom(from: index) else {
        recordRecorderStall()
        ending = .blocked
        break
      }
      recorderStalledSince = nil
      let received = clock.next()
      guard !exchange.isCongested(from: index, at: received) else {
        ending = .blocked
        break
      }
      let isBehind = start != nil
      guard received - (start ?? received) < ReadingLoop.maximumTurn else { break }
      start = start ?? received
      var call = Intake.Call(
        received: received,
        destination: listener.localAddress,
        isRecorded: keepsDatagrams,
        policy: listener.policy
      )
      let held = listener.drainHeld()
      for datagram in held {
        receive(datagram, of: call)
        call.received = call.received + .oneNanosecond
      }
      call.isNamed = !isBehind || call.isRecorded || intake.wantsNames(at: call.received)
      let count = listener.receive(into: &drain, named: call.isNamed)
      intake.receive(count, from: drain, of: call)
      ship(received)
      processed += held.count + count
      guard count == DatagramDrain.slots else {
        ending = .emptied
        break
      }
      shard.decide()
    }
    if ending == .blocked { counters.ringWaits += 1 }
    if processed > 0 {
      exchange.recordTraffic(at: clock.last, on: index)
      listener.sinceTick += processed
    }
    return (processed, ending)
  }

  /// Judges the datagrams that waited for a write of the replay window.
  func recordKept() {
    switch phase {
    case .running, .draining:
      guard !intake.held.isEmpty, !isHeld, watchPause() else { return }
      judgeHeld()
      runShard()
    case .drained, .frozen, .finishing, .finished: break
    }
  }

  /// Judges again the datagrams that waited for a write to the disk.
  func judgeHeld() {
    guard !intake.held.isEmpty, exchange.hasRoom(from: index) else { return }
    let received = clock.next()
    intake.judgeHeld(at: received, isRecorded: keepsDatagrams)
    ship(received)
    exchange.recordTraffic(at: received, on: index)
  }

  /// Takes a datagram that NIO has read, into a buffer one byte longer than the largest that is taken.
  private func receive(_ datagram: Listener.Held, of call: Intake.Call) {
    datagram.bytes.withUnsafeReadableBytes { bytes in
      let largest = configuration.largestDatagram
      let slice = UnsafeRawBufferPointer(rebasing: bytes.prefix(largest))
      intake.receive(slice, isTruncated: bytes.count > largest, of: call) { datagram.source }
    }
  }

  /// Pushes what was taken to the rings and publishes the watermark that covers it.
  func ship(_ received: Timestamp) {
    if let logged {
      gather(for: logged)
    } else {
      pushAll(of: &intake, received)
      exchange.publishInputs(of: index, through: LoopClock.end(of: received))
    }
    if !intake.lines.isEmpty { sayRefusals() }
  }

  /// Pushes what an intake has taken to the rings.
  func pushAll(of intake: inout Intake, _ received: Timestamp) {
    for destination in 0..<exchange.loops {
      let isOwn = destination == index
      guard !(isOwn ? intake.incoming.isEmpty : intake.outgoing[destination].isEmpty) else { continue }
      let recyclingQueue = exchange.toShards[index][destination]
      var batch = recyclingQueue.empty.pop() ?? ReportBatch()
      if isOwn { swap(&batch, &intake.incoming) } else { swap(&batch, &intake.outgoing[destination]) }
      push(ShardParcel(received: received, content: .reports(batch)), to: recyclingQueue.full)
    }
    guard !intake.log.isEmpty else { return }
    var datagrams = exchange.toRecorder[index].empty.pop() ?? DatagramLog()
    swap(&datagrams, &intake.log)
    let parcel = RecorderParcel(received: received, content: .datagrams(datagrams))
    push(parcel, to: exchange.toRecorder[index].full)
  }

  /// Pushes a load to a ring that was seen to have room.
  func push<Load>(_ load: Load, to ring: SingleProducerRing<Load>) {
    let isPushed = ring.push(load)
    precondition(isPushed, "room in the ring was seen before; only this loop pushes")
  }

  private func sayRefusals() {
    for line in intake.lines {
      logger.warning(
        line.isAboutElements
          ? "An element of a datagram was skipped. The others were read." : "A datagram was refused.",
        metadata: [
          LogKey.source: "\(line.source)",
          LogKey.reason: "\(line.reason.name)",
          LogKey.explanation: "\(WireFormat.advice(on: line.reason))",
          LogKey.suppressed: "\(line.suppressed)",
        ]
      )
    }
    intake.lines.removeAll()
  }
}

extension ReadingLoop {
  /// The interval at which a loop checks what changes slowly: drop counters and the wall clock.
  static let choresInterval = TimeSpan.seconds(1)
  /// The tick interval while there is some traffic, but none that the loop must tick for.
  static let calmTick = TimeSpan.milliseconds(1)
  /// The time for which the recorder may have no room before the recording ends.
  ///
  /// Longer than a disc takes to flush its cache, shorter than a receive buffer lasts at moderate rates.
  static let recorderPatience = TimeSpan.seconds(2)

  /// Ticks now instead of at the end of the interval: another loop took an input after a silence.
  func wake() {
    exchange.readers[index].begin()
    guard nextTick?.cancel() != nil else { return }
    tick()
  }

  /// Does all work that is due and schedules the next tick.
  func tick() {
    nextTick = nil
    var isEager = false
    var isBehind = false
    guard !isHeld else {
      standStill()
      return scheduleTick(isEager: false, isBehind: false)
    }
    hold = .none
    guard !isReading || watchPause() else {
      runShard()
      return scheduleTick(isEager: true, isBehind: false)
    }
    switch phase {
    case .running:
      isBehind = readSockets()
      processServerInputs()
      judgeHeld()
      applyLog()
      publishTime()
      doChores()
      if server?.wantsCheckpoint == true { watchCheckpoint() }
      for listener in listeners { listener.endTick() }
    case .draining(let promise, let datagrams):
      isEager = true
      judgeHeld()
      applyLog()
      let left = drainSockets(of: datagrams)
      phase = .draining(promise, datagrams: left)
      if left == 0 {
        closeSockets()
        promise.succeed(())
      }
      publishTime()
    case .drained:
      isEager = true
      publishTime()
    case .frozen, .finishing: isEager = true
    case .finished: return
    }
    runShard()
    scheduleTick(isEager: isEager, isBehind: isBehind)
  }

  /// Indicates whether reading pauses; a loop that ends reads all there is.
  var isHeld: Bool {
    guard case .running = phase else { return false }
    return configuration.isReceiverFull()
  }

  /// Lets the shard decide what has been read, and publishes no time: the first tick afterwards finds a pause.
  private func standStill() {
    runShard()
    switch hold.goOn(at: .now()) {
    case .began: counters.ringWaits += 1
    case .becameLong where server != nil:
      refuseWaitingRequests()
      logger.warning("The sockets are not read: the commit queue is full. No decision is dropped.")
    case .becameLong, nil: break
    }
  }

  /// Indicates whether the loop's sockets are open.
  private var isReading: Bool {
    switch phase {
    case .running, .draining: true
    case .drained, .frozen, .finishing, .finished: false
    }
  }

  /// Runs the shard, and again soon if there is more than fits into a run.
  func runShard() {
    if shard.run(until: .now() + Shard.maximumRun) == .more, !isShardScheduled {
      isShardScheduled = true
      let bound = NIOLoopBound(self, eventLoop: eventLoop)
      eventLoop.execute {
        bound.value.isShardScheduled = false
        bound.value.runShard()
      }
    }
    guard case .finishing(let end, let promise) = phase, shard.through >= end else { return }
    phase = .finished
    promise.succeed(())
  }

  /// Reads the sockets that NIO does not wait for; returns whether there is more to read at once.
  ///
  /// NIO checks its sockets when no task is left, so while the loop defers work from task to task it reads all of them
  /// itself. Each tick begins with another socket, so that a flooded one does not take all the room every time.
  private func readSockets() -> Bool {
    let isHurried = wasBehind || isShardScheduled
    var isBehind = false
    for place in listeners.indices {
      let listener = listeners[(place + firstListener) % listeners.count]
      guard listener.mode.isTicking || isHurried else { continue }
      switch pass(listener).ending {
      case .emptied: break
      case .more: isBehind = true
      case .blocked: listener.block()
      }
    }
    firstListener = (firstListener + 1) % max(1, listeners.count)
    wasBehind = isBehind
    return isBehind
  }

  /// Publishes a watermark without input, so that deadlines fire.
  ///
  /// No input that has an R waits outside the rings, so each new R is a watermark. Where inputs go through a log, its time
  /// counts instead.
  func publishTime() {
    let now = clock.next()
    if let logged { return logged.publishDue(at: now) }
    exchange.publishInputs(of: index, through: LoopClock.end(of: now))
  }

  /// Schedules the next tick.
  ///
  /// - Parameters:
  ///   - isEager: indicates whether other loops or a caller wait for this loop.
  ///   - isBehind: indicates whether a socket holds more than its share: then the loop goes on as soon as NIO's other
  ///     work is done.
  private func scheduleTick(isEager: Bool, isBehind: Bool) {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    if isBehind { return eventLoop.execute { bound.value.tick() } }
    let delay = isEager ? configuration.busyTick : tickAfterTraffic
    nextTick = eventLoop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { bound.value.tick() }
  }

  /// The time to wait for the next tick, by the recent traffic of all loops.
  private var tickAfterTraffic: TimeSpan {
    let quiet = clock.last - exchange.latestTraffic
    if listeners.contains(where: { $0.mode.isTicking }) { return configuration.busyTick }
    if exchange.loops > 1, quiet < Exchange.recently { return configuration.busyTick }
    return quiet < Exchange.quiet
      ? min(configuration.idleTick, max(configuration.busyTick, ReadingLoop.calmTick))
      : configuration.idleTick
  }

  private func doChores() {
    let now = clock.last
    guard now >= nextChores else { return }
    nextChores = now + ReadingLoop.choresInterval
    if logged == nil { watchClock() }
    watchCheckpoint()
    intake.forget(at: now)
    readDropCounters()
  }

  /// Adds the datagrams that the kernel has dropped to the counters.
  func readDropCounters() {
    for listener in listeners {
      let drops = listener.newKernelDrops()
      counters.kernelDrops += drops
      guard let unsaid = dropLog.record(drops, at: clock.last) else { continue }
      logger.warning(
        "The kernel dropped datagrams, because the receive buffer was full.",
        metadata: [
          LogKey.listener: "\(listener.localAddress)",
          LogKey.drops: "\(unsaid)",
          LogKey.granted: "\(listener.receiveBuffer)",
        ]
      )
    }
  }

  /// Ends the recording if its disc has not kept up for too long: it must not hold up ingest.
  func recordRecorderStall() {
    guard exchange.waitsForRecorder(index) else { return }
    let now = clock.next()
    let since = recorderStalledSince ?? now
    recorderStalledSince = since
    guard now - since >= ReadingLoop.recorderPatience else { return }
    exchange.stopRecording()
    logger.error(
      "Recording stopped because the disk is too slow. Ingest continues.",
      metadata: [LogKey.reason: "stalled for \(Int((now - since).seconds)) s"]
    )
  }
}

extension ReadingLoop {
  /// The bytes of a receive buffer per datagram, from which the limit of the last drain follows.
  ///
  /// A sender that floods a socket must not keep the server from stopping. The kernel accounts at least 768 bytes for a
  /// datagram against twice the requested buffer, so that this covers all that can have been there.
  static let bytesPerDatagram = 256

  /// Reads what is left in the sockets, then closes them.
  func stopReading() -> EventLoopFuture<Void> {
    let promise = eventLoop.makePromise(of: Void.self)
    let datagrams = listeners.reduce(1_024) { $0 + $1.receiveBuffer / ReadingLoop.bytesPerDatagram }
    phase = .draining(promise, datagrams: datagrams)
    return promise.futureResult
  }

  /// Stops the clock of the loop and returns its last R; where inputs go through a log, the instant through which it was read.
  func freeze() -> Timestamp {
    phase = .frozen
    return logged?.through ?? clock.last
  }

  /// Runs the shard up to the end that all loops have agreed on.
  func finish(at end: Timestamp) -> EventLoopFuture<Void> {
    let promise = eventLoop.makePromise(of: Void.self)
    phase = .finishing(end: end, promise)
    exchange.publishInputs(of: index, through: end)
    runShard()
    return promise.futureResult
  }

  /// Takes a share of the remaining datagrams.
  ///
  /// - Returns: how many more may be taken: none if there are none.
  private func drainSockets(of datagrams: Int) -> Int {
    let received = listeners.map(pass)
    var left = datagrams - received.reduce(0) { $0 + $1.datagrams }
    var isDone = received.allSatisfy { $0.ending == .emptied && $0.datagrams == 0 }
    // What waits for the disk is waited for, a few seconds at most, and so is the rest of a batch of the log.
    if !intake.held.isEmpty || logged?.applied?.isWithinBatch == true {
      left -= 1
      isDone = false
    }
    return isDone ? 0 : max(0, left)
  }

  /// Closes the sockets and refuses the requests that came too late.
  func closeSockets() {
    readDropCounters()
    intake.refuseHeld()
    for listener in listeners { listener.close() }
    listeners.removeAll()
    processServerInputs()
    refuseRequests()
    logged?.finish(at: clock.last)
    phase = .drained
  }
}
