package import NIOCore
package import PharosModel
package import PharosPresence
package import PharosSecurity

/// One shard of stage one: takes inputs from all loops in their total order and hands on what it decides.
package struct Shard {
  /// The amount of work that is left after a run.
  package enum Progress {
    /// Nothing is left that may be taken yet.
    case upToDate
    /// There is more to do at once.
    case more
    /// The merger has no room; what is left is done at the next tick.
    case waiting
  }

  /// The maximum number of parcels in a run, so that the loop gets to its sockets in between.
  static let parcelsPerRun = 256
  /// The maximum duration of a run, apart from the parcel in progress: the same as for reading.
  static let maximumRun = TimeAmount.microseconds(250)
  /// The number of messages to stage two from which they are passed on while the loop is reading; events do not wait.
  static let maximumWaiting = 128

  private let index: Int
  private let exchange: Exchange
  private(set) var engine: MonitoringEngine
  /// Resolves changing addresses with the keys of the site as it stands in the order of inputs; nil without any.
  private var resolver: Resolver?
  private var output = StageOutput()
  /// Everything due up to this time has been decided.
  package private(set) var through = Timestamp.distantPast
  /// The number of times that the merger had no room.
  private(set) var waits: UInt64 = 0

  /// The modes of tags that wait for room in the rings to the other shards.
  private var unsentModes: [FoundModes] = []

  /// Makes a shard, whose engine may have decided something already when it went on after a restart.
  package init(
    index: Int,
    exchange: Exchange,
    engine: MonitoringEngine,
    resolver: Resolver? = nil,
    output: StageOutput = StageOutput()
  ) {
    self.index = index
    self.exchange = exchange
    self.engine = engine
    self.engine.sharesModes = exchange.loops > 1
    self.resolver = resolver
    self.output = output
  }

  /// Processes the inputs that the loops' watermarks allow and passes the decisions on.
  ///
  /// - Parameter deadline: the time at which to stop with work left; nil if no other work waits for the thread.
  /// - Returns: the amount of work that is left.
  package mutating func run(until deadline: NIODeadline? = nil) -> Progress {
    run(isReading: false, until: deadline)
  }

  /// Takes what the loops' watermarks allow, in the middle of reading; a few messages to stage two wait until its end.
  package mutating func decide() { _ = run(isReading: true, until: nil) }

  private mutating func run(isReading: Bool, until deadline: NIODeadline?) -> Progress {
    let limit = exchange.inputsThrough
    guard limit > through else { return .upToDate }
    guard exchange.toMerger[index].full.hasRoom else {
      waits += 1
      return .waiting
    }
    var budget = Shard.parcelsPerRun
    while let next = nextParcel(upTo: limit) {
      // At least one parcel is taken, however late it is.
      let isLate = budget < Shard.parcelsPerRun && deadline.map { NIODeadline.now() >= $0 } ?? false
      guard budget > 0, !isLate else {
        // Of parcels with the same R some may have been taken already; all that is due before it has fired.
        handOn(through: engine.advance(toward: next.received - .oneNanosecond, into: &output))
        return .more
      }
      budget -= 1
      guard processParcel(from: next.loop) else { return .more }
    }
    if isReading, output.events.isEmpty, output.links.count < Shard.maximumWaiting { return .more }
    // A change of regions may take the engine several turns; until then what comes behind it is not final.
    let final = engine.advance(toward: limit, into: &output)
    handOn(through: final)
    return final < limit ? .more : .upToDate
  }

  private func nextParcel(upTo limit: Timestamp) -> (received: Timestamp, loop: Int)? {
    exchange.firstParcel(upTo: limit) { exchange.toShards[$0][index].full.withFirst { $0.received } }
  }

  /// Takes one parcel; false if it has handed on all so far, so that room has to be looked for again.
  private mutating func processParcel(from loop: Int) -> Bool {
    let recyclingQueue = exchange.toShards[loop][index]
    guard let parcel = recyclingQueue.full.pop() else { return true }
    switch parcel.content {
    case .changes(let changes):
      for change in changes where change.reaches(shard: index, of: exchange.loops) {
        if case .declare(let settings) = change { resolver = Resolver(site: settings) }
        engine.apply(change, at: parcel.received, into: &output)
      }
    case .pause(through: let end):
      engine.pause(through: end, at: parcel.received, into: &output)
    case .marker:
      engine.advance(to: parcel.received, into: &output)
      handOn(through: parcel.received, copy: EngineCopy(engine))
      return false
    case .reports(var batch):
      resolver?.resolve(&batch)
      if exchange.loops > 1 { learnModes() }
      engine.ingest(batch, into: &output)
      if exchange.loops > 1 { sendModes() }
      batch.removeAll()
      recyclingQueue.recycle(batch)
    }
    return true
  }

  /// Takes the modes of tags that the other shards have found.
  private mutating func learnModes() {
    for other in 0..<exchange.loops where other != index {
      while let found = exchange.modes[other][index].pop() { engine.learn(found) }
    }
  }

  /// Sends the modes of tags that this shard has found to the others.
  private mutating func sendModes() {
    unsentModes += engine.drainFoundModes()
    let others = (0..<exchange.loops).filter { $0 != index }
    guard !unsentModes.isEmpty, others.allSatisfy({ exchange.modes[index][$0].hasRoom }) else { return }
    for other in others { _ = exchange.modes[index][other].push(unsentModes) }
    unsentModes = []
  }

  private mutating func handOn(through time: Timestamp, copy: EngineCopy? = nil) {
    through = max(through, time)
    let hasOutput = !output.isEmpty || copy != nil
    if hasOutput {
      let result = ShardResult(output: output, through: through, copy: copy)
      output = exchange.toMerger[index].empty.pop() ?? StageOutput()
      let isPushed = exchange.toMerger[index].full.push(result)
      precondition(isPushed, "room in the ring was seen before; only this shard pushes")
    }
    exchange.publishDecisions(of: index, through: through)
    if hasOutput { exchange.merger.signal() }
  }
}
