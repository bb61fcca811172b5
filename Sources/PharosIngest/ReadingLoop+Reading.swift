import Logging
import NIOCore
import PharosCaptures
import PharosReports
import PharosWire

extension ReadingLoop {
  /// How many datagrams one socket may bring before the loop turns to its other work.
  static let fairShare = 1_024
  /// How long one socket may be read before the loop turns to its other work, so that deadlines and server inputs wait no longer.
  static let longestTurn = TimeSpan.microseconds(250)

  /// Why a socket is read no further.
  enum Ending {
    /// Nothing is left in it.
    case emptied
    /// It has had its share.
    case more
    /// There is no room for what it holds.
    case blocked
  }

  /// NIO has read a datagram: takes it and what else there is.
  func readable(_ listener: Listener) {
    switch phase {
    case .running, .draining:
      if !watchPause() || pass(listener).ending == .blocked { listener.block() }
      runShard()
    case .drained, .frozen, .finishing, .finished:
      // The socket is closed; what NIO had read in that moment came after the end.
      _ = listener.takeHeld()
    }
  }

  /// A socket error that passes by itself: counted, and told to who looks closely.
  func noteSocketError(_ error: any Error, at listener: Listener) {
    counters.socketErrors += 1
    logger.debug(
      "a socket reported an error",
      metadata: [LogKey.listener: "\(listener.localAddress)", LogKey.error: "\(error)"]
    )
  }

  /// Takes datagrams off a socket, 64 a call; a call has one reading of the clock and each datagram its own R.
  ///
  /// What a call brought is decided before the next one, while it is still in the processor's caches.
  ///
  /// - Returns: how many there were, and why there were no more.
  func pass(_ listener: Listener) -> (datagrams: Int, ending: Ending) {
    var taken = 0
    var start: Timestamp?
    var ending = Ending.more
    while taken < ReadingLoop.fairShare {
      // Room is looked for first: what has been taken off the socket always gets into the rings.
      guard exchange.hasRoom(from: index) else {
        counters.ringWaits += 1
        noteRecorderStall()
        ending = .blocked
        break
      }
      recorderStalledSince = nil
      let received = clock.next()
      guard !exchange.isCongested(from: index, at: received) else {
        counters.ringWaits += 1
        ending = .blocked
        break
      }
      let isBehind = start != nil
      guard received - (start ?? received) < ReadingLoop.longestTurn else { break }
      start = start ?? received
      var call = Intake.Call(
        received: received,
        destination: listener.localAddress,
        isRecorded: exchange.records,
        policy: listener.policy
      )
      let held = listener.takeHeld()
      for datagram in held {
        take(datagram, of: call)
        call.received = call.received + .oneNanosecond
      }
      call.isNamed = !isBehind || call.isRecorded || intake.wantsNames(at: call.received)
      let count = listener.receive(into: &drain, named: call.isNamed)
      intake.take(count, from: drain, of: call)
      ship(received)
      taken += held.count + count
      guard count == DatagramDrain.slots else {
        ending = .emptied
        break
      }
      shard.decide()
    }
    if taken > 0 {
      exchange.noteTraffic(at: clock.last)
      listener.sinceTick += taken
    }
    return (taken, ending)
  }

  /// The desk has kept something: what has waited for it goes on at once.
  func noteKept() {
    switch phase {
    case .running, .draining:
      guard !intake.held.isEmpty, watchPause() else { return }
      takeHeld()
      runShard()
    case .drained, .frozen, .finishing, .finished: break
    }
  }

  /// Asks again about datagrams that waited for a write to the disk, which has told something since.
  func takeHeld() {
    guard !intake.held.isEmpty, exchange.hasRoom(from: index) else { return }
    let received = clock.next()
    intake.takeHeld(at: received)
    ship(received)
    exchange.noteTraffic(at: received)
  }

  /// Takes a datagram that NIO has read, into a buffer one byte longer than the largest that is taken.
  private func take(_ datagram: Listener.Held, of call: Intake.Call) {
    datagram.bytes.withUnsafeReadableBytes { bytes in
      let largest = configuration.largestDatagram
      let taken = UnsafeRawBufferPointer(rebasing: bytes.prefix(largest))
      intake.take(taken, isTruncated: bytes.count > largest, of: call) { datagram.source }
    }
  }

  /// Pushes what was taken to the rings and publishes the watermark that covers it.
  func ship(_ received: Timestamp) {
    for destination in 0..<exchange.loops {
      let isOwn = destination == index
      guard !(isOwn ? intake.incoming.isEmpty : intake.outgoing[destination].isEmpty) else { continue }
      let conveyor = exchange.toShards[index][destination]
      var batch = conveyor.empty.pop() ?? ReportBatch()
      if isOwn { swap(&batch, &intake.incoming) } else { swap(&batch, &intake.outgoing[destination]) }
      push(ShardParcel(received: received, content: .reports(batch)), to: conveyor.full)
    }
    if !intake.log.isEmpty {
      let conveyor = exchange.toRecorder[index]
      var datagrams = conveyor.empty.pop() ?? DatagramLog()
      swap(&datagrams, &intake.log)
      push(RecorderParcel(received: received, content: .datagrams(datagrams)), to: conveyor.full)
    }
    exchange.publishInputs(of: index, through: LoopClock.end(of: received))
    if !intake.lines.isEmpty { sayRefusals() }
  }

  /// Pushes what room was seen for.
  func push<Load>(_ load: Load, to ring: SingleProducerRing<Load>) {
    let isPushed = ring.push(load)
    precondition(isPushed, "room in the ring was seen before; only this loop pushes")
  }

  private func sayRefusals() {
    for line in intake.lines {
      logger.warning(
        "refused a datagram",
        metadata: [
          LogKey.source: "\(line.source)",
          LogKey.reason: "\(line.reason.name)",
          LogKey.explanation: "\(line.reason)",
          LogKey.suppressed: "\(line.suppressed)",
        ]
      )
    }
    intake.lines.removeAll()
  }
}
