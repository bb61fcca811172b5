import PharosDocuments
import PharosModel
import PharosPresence

/// Engines that share the observers of a world among them, and can be written and read back at any moment.
struct StateRun {
  let world: StateWorld
  let limits: MonitoringLimits
  var engines: [MonitoringEngine]
  var output = StageOutput()

  init(_ world: StateWorld, shards: Int = 1, limits: MonitoringLimits = MonitoringLimits()) {
    self.world = world
    self.limits = limits
    engines = StateRun.fresh(world, shards, limits)
  }

  static func fresh(_ world: StateWorld, _ shards: Int, _ limits: MonitoringLimits) -> [MonitoringEngine] {
    (0..<shards).map { _ in MonitoringEngine(site: world.site, limits: limits) }
  }

  /// Gives one input, its instant in seconds.
  mutating func give(_ input: StateWorld.Input, at time: Double) {
    switch input {
    case .change(let change):
      for index in engines.indices where change.reaches(shard: index, of: engines.count) {
        engines[index].apply(change, at: Timeline.at(time), into: &output)
      }
    case .report(var body, let payload, let observer, let timing):
      var batch = ReportBatch()
      if case .advert(var advert) = body {
        advert.payload = batch.append(payload: payload)
        body = .advert(advert)
      }
      batch.append(
        Report(observer: batch.index(of: observer), received: Timeline.at(time), timing: timing, body: body)
      )
      engines[observer.shard(of: engines.count)].ingest(batch, into: &output)
    }
  }

  mutating func advance(to time: Double) {
    for index in engines.indices { engines[index].advance(to: Timeline.at(time), into: &output) }
  }

  /// The state of each engine, with no change half done.
  var parts: [[UInt8]] {
    mutating get {
      for index in engines.indices { engines[index].finishChanges(into: &output) }
      return written
    }
  }

  private var written: [[UInt8]] {
    engines.map { engine in
      var writer = FieldWriter()
      engine.writeState(to: &writer)
      return writer.bytes
    }
  }

  /// Goes on with fresh engines, so many, that have read what the present ones wrote.
  mutating func revive(shards: Int) throws {
    engines = try StateRun.revived(world, parts, shards, limits)
  }

  static func revived(
    _ world: StateWorld,
    _ parts: [[UInt8]],
    _ shards: Int,
    _ limits: MonitoringLimits
  ) throws -> [MonitoringEngine] {
    var engines = fresh(world, shards, limits)
    for part in parts {
      for index in engines.indices {
        var reader = FieldReader(part[...])
        try engines[index].restoreState(from: &reader) { $0.shard(of: shards) == index }
        try reader.finish()
      }
    }
    return engines
  }

  /// What was said, in the order in which it is published.
  var committed: (events: [Event], links: [StageLink]) {
    (output.events.sorted(by: Event.isOrderedBefore), output.links.sorted(by: StageLink.isOrderedBefore))
  }

  /// Takes all of the world's inputs and lets time run on.
  mutating func play() { play { _, _ in } }

  /// Takes all of the world's inputs and lets time run on; `between` is called before each of them.
  mutating func play(_ between: (inout StateRun, Int) throws -> Void) rethrows {
    for (number, (time, input)) in world.inputs.enumerated() {
      try between(&self, number)
      give(input, at: time)
    }
    advance(to: (world.inputs.last?.time ?? 0) + 1_000)
  }
}
