import Logging
import NIOCore
import PharosReports

extension ReadingLoop {
  /// How often a loop looks after what changes slowly: drop counters and the wall clock.
  static let choresInterval = TimeSpan.seconds(1)
  /// How often a loop looks while there is some traffic, but none that it must tick for.
  static let calmTick = TimeSpan.milliseconds(1)
  /// How recent the traffic of some loop must be for all of them to tick.
  ///
  /// Each one's watermark holds back the others' decisions. Four ticks: less would flicker between two trains of datagrams.
  static let recently = TimeSpan.milliseconds(1)
  /// How long the recorder may have no room before the recording ends.
  ///
  /// Longer than a disc takes to flush its cache, shorter than a receive buffer lasts at moderate rates.
  static let recorderPatience = TimeSpan.seconds(2)

  /// Begins the ticks.
  func start() { tick() }

  /// One look at everything, and the date of the next.
  func tick() {
    var isEager = false
    var isBehind = false
    guard !isReading || watchPause() else {
      runShard()
      return scheduleTick(isEager: true, isBehind: false)
    }
    switch phase {
    case .running:
      isBehind = readSockets()
      takeServerInputs()
      takeHeld()
      publishTime()
      doChores()
      for listener in listeners { listener.endTick() }
    case .draining(let promise):
      isEager = true
      takeHeld()
      if drainSockets() {
        closeSockets()
        promise.succeed(())
      }
      publishTime()
    case .drained:
      isEager = true
      publishTime()
    case .frozen:
      isEager = true
    case .finishing:
      isEager = true
    case .finished:
      return
    }
    runShard()
    scheduleTick(isEager: isEager, isBehind: isBehind)
  }

  /// Whether its sockets are open.
  private var isReading: Bool {
    switch phase {
    case .running, .draining: true
    case .drained, .frozen, .finishing, .finished: false
    }
  }

  /// Runs the shard, and again soon if there is more than fits into a run.
  func runShard() {
    if shard.run(until: .now() + Shard.longestRun) == .more, !isShardScheduled {
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

  /// Reads the sockets that NIO does not wait for; says whether there is more to read at once.
  ///
  /// NIO looks at its sockets when no task is left, so while the loop puts off work from task to task it reads all of them
  /// itself. Each tick begins with another one, so that one that is flooded does not take all the room there is every time.
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

  /// Says that time has passed without input, so that deadlines fire.
  ///
  /// Nothing that has an R waits outside the rings, so each R that is new is a watermark.
  func publishTime() { exchange.publishInputs(of: index, through: LoopClock.end(of: clock.next())) }

  /// Sets the date of the next tick.
  ///
  /// - Parameters:
  ///   - isEager: whether there is something that other loops or a caller wait for.
  ///   - isBehind: whether a socket holds more than its share: then the loop goes on as soon as NIO's other work is done.
  private func scheduleTick(isEager: Bool, isBehind: Bool) {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    if isBehind { return eventLoop.execute { bound.value.tick() } }
    let delay = isEager ? configuration.busyTick : tickAfterTraffic
    eventLoop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { bound.value.tick() }
  }

  /// How long to wait for the next tick, by how much traffic there has been of late, at any loop.
  private var tickAfterTraffic: TimeSpan {
    let quiet = clock.last - exchange.latestTraffic
    if listeners.contains(where: { $0.mode.isTicking }) { return configuration.busyTick }
    if exchange.loops > 1, quiet < ReadingLoop.recently { return configuration.busyTick }
    return quiet < .seconds(1)
      ? min(configuration.idleTick, max(configuration.busyTick, ReadingLoop.calmTick))
      : configuration.idleTick
  }

  private func doChores() {
    let now = clock.last
    guard now >= nextChores else { return }
    nextChores = now + ReadingLoop.choresInterval
    watchClock()
    watchCheckpoint()
    intake.forget(at: now)
    readDropCounters()
  }

  /// Adds what the kernel has dropped.
  func readDropCounters() {
    for listener in listeners {
      let drops = listener.newKernelDrops()
      counters.kernelDrops += drops
      guard let unsaid = dropLog.note(drops, at: clock.last) else { continue }
      logger.warning(
        "the kernel dropped datagrams: the receive buffer was full",
        metadata: [
          LogKey.listener: "\(listener.localAddress)",
          LogKey.drops: "\(unsaid)",
          LogKey.granted: "\(listener.receiveBuffer)",
        ]
      )
    }
  }

  /// Ends the recording if its disc has not kept up for too long: it must not hold up ingest.
  func noteRecorderStall() {
    guard exchange.waitsForRecorder(index) else { return }
    let now = clock.next()
    let since = recorderStalledSince ?? now
    recorderStalledSince = since
    guard now - since >= ReadingLoop.recorderPatience else { return }
    exchange.stopRecording()
    logger.error(
      "recording stopped: its disc has not kept up; ingest goes on",
      metadata: [LogKey.reason: "stalled for \(Int((now - since).seconds)) s"]
    )
  }
}
