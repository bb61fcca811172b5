import Atomics
import NIOCore
package import PharosModel
package import PharosPipeline
import PharosPresence

/// The only consumer of all shards: restores the order of events and delivers them.
///
/// Runs on its own event loop, so that neither stage two nor the receiver of the events delays a socket.
package final class MergerLoop {
  private let exchange: Exchange
  private let sense: (@Sendable ([Sensing]) -> Void)?
  private let deliver: @Sendable ([Event]) -> Void
  private let checkpoint: (@Sendable (PendingCheckpoint) -> Void)?
  /// Indicates whether the checkpoints that are handed over are exact; those of recordings are in any case.
  private let isExact: Bool
  private(set) var merger: EventMerger
  /// The number of events that were delivered since the start.
  private(set) var delivered: UInt64 = 0
  private let nothing = StageOutput()
  /// Results that were popped and not offered yet; its storage is kept.
  private var arrived: [(shard: Int, result: ShardResult)] = []
  /// The latest time through which some shard has decided, or of a server input.
  private var decidedThrough = Timestamp.distantPast
  /// The pending checkpoint marker and its instant, if a checkpoint is in progress.
  ///
  /// Server inputs behind it wait in their ring.
  private var marker: (instant: Timestamp, marker: CheckpointMarker)?
  /// The engines' copies that have come, oldest first, by shard.
  private var copies: [[EngineCopy]]

  /// Makes a merger.
  package init(
    exchange: Exchange,
    merger: EventMerger,
    sense: (@Sendable ([Sensing]) -> Void)? = nil,
    deliver: @escaping @Sendable ([Event]) -> Void,
    checkpoint: (@Sendable (PendingCheckpoint) -> Void)? = nil,
    isExact: Bool = false
  ) {
    self.exchange = exchange
    self.merger = merger
    self.sense = sense
    self.deliver = deliver
    self.checkpoint = checkpoint
    self.isExact = isExact
    copies = Array(repeating: [], count: exchange.loops)
  }

  /// The time through which all events have been delivered.
  var releasedThrough: Timestamp { merger.released }

  /// Delivers what has become final.
  package func run() {
    exchange.merger.begin()
    while true {
      let marks = collect()
      while let next = marker, merger.finalThrough >= next.instant {
        release(through: next.instant)
        marker = nil
        hand(over: copies.indices.map { copies[$0].removeFirst() }, next.marker)
        processServerInputs()
      }
      release(through: marker?.instant ?? .distantFuture)
      let isWaiting = decidedThrough > merger.released
      exchange.merger.isWaiting.store(isWaiting, ordering: .sequentiallyConsistent)
      // A shard that advanced before it could see the flag does not signal the merger, so check once more.
      guard isWaiting, (0..<exchange.loops).contains(where: { exchange.decisionsThrough($0) > marks[$0] })
      else {
        return
      }
    }
  }

  /// Takes the last checkpoint, once every shard is done and everything was delivered.
  func conclude(_ engines: [EngineCopy], _ place: LogPlace?) {
    run()
    hand(over: engines, CheckpointMarker(lease: CheckpointLease(), place: place))
  }

  /// Takes what has arrived, in the order that the watermarks promise: seeing a shard's watermark or result is seeing
  /// all results and server inputs that it covers, so these are looked for afterwards and given before it.
  private func collect() -> [Timestamp] {
    let marks = (0..<exchange.loops).map { exchange.decisionsThrough($0) }
    for shard in 0..<exchange.loops {
      while let result = exchange.toMerger[shard].full.pop() { arrived.append((shard, result)) }
    }
    processServerInputs()
    for index in arrived.indices {
      let shard = arrived[index].shard
      merger.offer(arrived[index].result.output, from: shard, finalThrough: arrived[index].result.through)
      if let copy = arrived[index].result.copy { copies[shard].append(copy) }
      decidedThrough = max(decidedThrough, arrived[index].result.through)
      arrived[index].result.output.removeAll()
      exchange.toMerger[shard].recycle(arrived[index].result.output)
    }
    arrived.removeAll(keepingCapacity: true)
    for shard in 0..<exchange.loops { merger.offer(nothing, from: shard, finalThrough: marks[shard]) }
    return marks
  }

  /// Takes the server inputs up to the next marker: those behind it have no part in the checkpoint.
  private func processServerInputs() {
    while marker == nil, let input = exchange.serverInputs.pop() { process(input) }
  }

  private func process(_ input: ServerInput) {
    decidedThrough = max(decidedThrough, input.received)
    switch input.content {
    case .changes(let changes, refusal: let refusal):
      if let refusal { return merger.publish(refusal, at: input.received) }
      for change in changes { merger.apply(change, at: input.received) }
    case .clockStep(let step):
      merger.stepClock(by: step, at: input.received)
    case .pause(through: let end):
      merger.pause(through: end, at: input.received)
    case .announcement(let events):
      for event in events { merger.announce(event, at: input.received) }
    case .marker(let checkpoint):
      marker = (input.received, checkpoint)
    }
  }

  private func release(through limit: Timestamp) {
    let events = merger.release(through: limit)
    if let sense {
      let sensings = merger.drainSensings()
      if !sensings.isEmpty { sense(sensings) }
    }
    guard !events.isEmpty else { return }
    delivered += UInt64(events.count)
    deliver(events)
  }

  private func hand(over engines: [EngineCopy], _ marker: CheckpointMarker) {
    func pending(exactly: Bool) -> PendingCheckpoint {
      PendingCheckpoint(
        shards: engines,
        merger: exactly ? merger.atRelease : merger.withoutPending,
        isExact: exactly,
        eventsBefore: delivered,
        marker: marker
      )
    }
    marker.record?(pending(exactly: true))
    checkpoint?(pending(exactly: isExact))
    marker.succeed()
  }

  /// Abandons the work in progress: nothing more is delivered.
  func abandon() {
    marker?.marker.fail(IngestError.stopped)
    marker = nil
    while let input = exchange.serverInputs.pop() {
      if case .marker(let checkpoint) = input.content { checkpoint.fail(IngestError.stopped) }
    }
  }
}
