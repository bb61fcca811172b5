import Logging
import NIOCore
import PharosReports

extension ReadingLoop {
  /// How often a loop looks after what changes slowly: drop counters and the wall clock.
  static let choresInterval = TimeSpan.seconds(1)
  /// How long the recorder may have no room before the recording ends.
  ///
  /// Longer than a disc takes to flush its cache, shorter than a receive buffer lasts at moderate rates.
  static let recorderPatience = TimeSpan.seconds(2)

  /// Begins the ticks.
  func start() { tick() }

  /// One look at everything, and the date of the next.
  func tick() {
    var isEager = false
    switch phase {
    case .running:
      for listener in listeners { isEager = readTicking(listener) || isEager }
      takeServerInputs()
      publishTime()
      doChores()
      for listener in listeners { listener.endTick() }
    case .draining(let promise):
      isEager = true
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
    scheduleTick(isEager: isEager)
  }

  /// Runs the shard, and again soon if there is more than fits into a run.
  func runShard() {
    if shard.run() == .more, !isShardScheduled {
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

  /// Reads a socket that NIO does not wait for; says whether there may be more at once.
  private func readTicking(_ listener: Listener) -> Bool {
    guard listener.mode.isTicking else { return false }
    let taken = pass(listener, share: ReadingLoop.fairShare)
    if taken.isBlocked { listener.block() }
    return taken.datagrams >= ReadingLoop.fairShare || taken.isBlocked
  }

  /// Says that time has passed without input, so that deadlines fire.
  ///
  /// Nothing that has an R waits outside the rings, so each R that is new is a watermark.
  func publishTime() { exchange.publishInputs(of: index, through: LoopClock.end(of: clock.next())) }

  private func scheduleTick(isEager: Bool) {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    // Traffic at any loop makes all of them quick: each one's watermark holds back the others' decisions.
    let isBusy = clock.last - exchange.latestTraffic < .seconds(1)
    let delay = isEager || isBusy ? configuration.busyTick : configuration.idleTick
    eventLoop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { bound.value.tick() }
  }

  private func doChores() {
    let now = clock.last
    guard now >= nextChores else { return }
    nextChores = now + ReadingLoop.choresInterval
    watchClock()
    watchCheckpoint()
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
