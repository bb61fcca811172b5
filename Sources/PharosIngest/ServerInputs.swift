import Logging
import NIOCore
import PharosMonitoring
import PharosReports

/// The inputs that no observer sent: changes of regions, and steps of the wall clock.
///
/// Loop 0 takes them, so that they have an R and a place in the order of all inputs.
struct ServerInputs {
  /// A change that waits for room in the rings, and who waits for the answer.
  struct Request {
    var change: RegionChange
    var answer: EventLoopPromise<Void>
  }

  /// Accepts or refuses changes before any shard sees them.
  var registry: RegionRegistry
  /// Changes in the order in which they came.
  var requests: [Request] = []
  /// Notices steps of the wall clock.
  var watch: ClockWatch
  /// Steps that wait for room in the rings.
  var steps: [TimeSpan] = []
}

extension ReadingLoop {
  /// Takes a change of regions; the promise says whether it was accepted.
  func request(_ change: RegionChange, answer: EventLoopPromise<Void>) {
    guard case .running = phase, server != nil else { return answer.fail(IngestError.stopped) }
    server?.requests.append(ServerInputs.Request(change: change, answer: answer))
    takeServerInputs()
    runShard()
  }

  /// Takes what waits, as long as there is room for it.
  func takeServerInputs() {
    while let step = server?.steps.first, hasRoomForServerInput {
      server?.steps.removeFirst()
      announce(.clockStep(step), at: clock.next())
    }
    while let request = server?.requests.first, hasRoomForServerInput {
      server?.requests.removeFirst()
      take(request)
    }
  }

  /// Refuses what still waits when the server stops.
  func refuseRequests() {
    for request in server?.requests ?? [] { request.answer.fail(IngestError.stopped) }
    server?.requests.removeAll()
  }

  /// Looks whether somebody set the wall clock.
  func watchClock() {
    guard let step = server?.watch.look() else { return }
    server?.steps.append(step)
    logger.notice(
      "the wall clock was set; decisions go by the clock of the start, events tell the new time",
      metadata: [LogKey.step: "\(step.seconds)"]
    )
    takeServerInputs()
  }

  private var hasRoomForServerInput: Bool { exchange.hasRoom(from: index) && exchange.serverInputs.hasRoom }

  private func take(_ request: ServerInputs.Request) {
    let received = clock.next()
    var refusal: RegionRefusal?
    do throws(RegionRefusal) {
      try server?.registry.accept(request.change)
      for (shard, conveyor) in exchange.toShards[index].enumerated()
      where request.change.reaches(shard: shard, of: exchange.loops) {
        push(ShardParcel(received: received, content: .change(request.change)), to: conveyor.full)
      }
    } catch {
      refusal = error
    }
    // Merger and recorder are told of a refused change too: an event says so, here and when the recording is run.
    announce(.change(request.change, refusal: refusal), at: received)
    if let refusal { request.answer.fail(refusal) } else { request.answer.succeed(()) }
  }

  /// Tells the merger and the recorder, and publishes the watermark that covers it.
  private func announce(_ content: ServerInput.Content, at received: Timestamp) {
    push(ServerInput(received: received, content: content), to: exchange.serverInputs)
    if exchange.records {
      push(RecorderParcel(received: received, content: .server(content)), to: exchange.toRecorder[index].full)
    }
    exchange.publishInputs(of: index, through: LoopClock.end(of: received))
  }
}
