import NIOCore
import PharosReports

extension ReadingLoop {
  /// How many bytes of a receive buffer there are for each datagram that the last drain takes at most.
  ///
  /// Somebody who floods a socket must not keep the server from stopping. The kernel books at least 768 bytes for a
  /// datagram against twice the buffer that was asked for, so that this covers all that can have been there.
  static let bytesPerDatagram = 256

  /// Reads what is left in the sockets, then closes them.
  func stopReading() -> EventLoopFuture<Void> {
    let promise = eventLoop.makePromise(of: Void.self)
    phase = .draining(promise)
    lastDrainLeft = listeners.reduce(1_024) { $0 + $1.receiveBuffer / ReadingLoop.bytesPerDatagram }
    return promise.futureResult
  }

  /// Lets time stand still and says where.
  func freeze() -> Timestamp {
    phase = .frozen
    return clock.last
  }

  /// Runs the shard up to the end that all loops have agreed on.
  func finish(at end: Timestamp) -> EventLoopFuture<Void> {
    let promise = eventLoop.makePromise(of: Void.self)
    phase = .finishing(end: end, promise)
    exchange.publishInputs(of: index, through: end)
    runShard()
    return promise.futureResult
  }

  /// Takes a share of what is left; says whether all of it has been taken.
  func drainSockets() -> Bool {
    var isDone = true
    for listener in listeners {
      let taken = pass(listener)
      lastDrainLeft -= taken.datagrams
      if taken.ending != .emptied || taken.datagrams > 0 { isDone = false }
    }
    // What waits for the disk is waited for, a few seconds at most.
    if !intake.held.isEmpty {
      lastDrainLeft -= 1
      isDone = false
    }
    return isDone || lastDrainLeft <= 0
  }

  /// Closes the sockets and refuses what was asked too late.
  func closeSockets() {
    readDropCounters()
    intake.refuseHeld()
    for listener in listeners { listener.close() }
    listeners.removeAll()
    takeServerInputs()
    refuseRequests()
    phase = .drained
  }
}
