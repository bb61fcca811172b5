import Logging
import NIOCore
import NIOPosix
import PharosDocuments
import PharosFixes
import PharosModel
import PharosPipeline
import PharosPresence
import PharosSecurity
import PharosSite

/// The loops of a server and their threads, made and joined but not reading yet.
struct IngestParts {
  /// The settings from which the loops and the merger are made.
  struct Plan: Sendable {
    /// The owner of the site, which changes only while the loops run.
    let owner: SiteOwner
    /// The venues in which handsets and tags are located.
    let venues: [LocatableVenue]
    /// Indicates whether a caller receives what handsets sense, with or without venues.
    let forwardsSensings: Bool
    private(set) var configuration: IngestConfiguration
    let restoration: Restoration?
    let timeline: Timeline
    /// An R before all others: the time at which a restarted server resumes, or the instant of the checkpoint from which it
    /// continues exactly.
    let start: Timestamp
    let logger: Logger

    /// Maps the clock, behind the run before if there was one.
    init(
      _ owner: SiteOwner,
      _ venues: [LocatableVenue],
      _ configuration: IngestConfiguration,
      _ restoration: Restoration?,
      forwardsSensings: Bool,
      _ logger: Logger
    ) {
      self.owner = owner
      self.venues = venues
      self.forwardsSensings = forwardsSensings
      self.configuration = configuration
      self.restoration = restoration
      self.logger = logger
      let checkpoint = restoration?.checkpoint
      timeline = Timeline(
        configuration.clock,
        behind: restoration?.reached.map { $0 + TimeSpan(nanoseconds: configuration.journalHead) },
        correction: checkpoint?.clockOffset ?? .zero
      )
      let isContinued = configuration.continuesExactly && checkpoint?.isExact == true
      start = isContinued ? checkpoint?.instant ?? .distantPast : LoopClock.before(timeline)
      if restoration != nil { self.configuration.log?.reading.goOn(behind: start) }
    }
  }

  let exchange: Exchange
  let readers: MultiThreadedEventLoopGroup
  let consumers: MultiThreadedEventLoopGroup
  let loops: [NIOLoopBound<ReadingLoop>]
  let merger: NIOLoopBound<MergerLoop>
  let recorder: NIOLoopBound<RecorderLoop>
  let signingStore: SigningStore
  /// The owner of the site.
  let owner: SiteOwner

  /// Makes all of it.
  static func make(
    _ plan: Plan,
    sense: (@Sendable ([Sensing]) -> Void)?,
    deliver: @escaping @Sendable ([Event]) -> Void
  ) async throws -> IngestParts {
    let configuration = plan.configuration
    try plan.owner.check()
    let writer = configuration.record == nil ? nil : try plan.recordingWriter()
    // It keeps what the run before has left, and so may wait for a disk.
    let signingStore = try await NIOThreadPool.singleton.runIfActive {
      SigningStore(configuration.signing, plan.timeline, clock: configuration.clock, logger: plan.logger)
    }
    let readers = MultiThreadedEventLoopGroup(numberOfThreads: configuration.loops)
    let consumers = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    do {
      let mergerLoop = consumers.next()
      let wake = Wake { mergerLoop.execute($0) }
      let eventLoops = (0..<configuration.loops).map { _ in readers.next() }
      let wakes = eventLoops.map { eventLoop in Wake { eventLoop.execute($0) } }
      let exchange = Exchange(loops: wakes.count, isRecording: writer != nil, merger: wake, readers: wakes)
      let merger = try await mergerLoop.submit {
        let merger = MergerLoop(
          exchange: exchange,
          merger: try plan.merger(),
          sense: sense,
          deliver: deliver,
          checkpoint: configuration.checkpoint,
          isExact: configuration.continuesExactly
        )
        return NIOLoopBound(merger, eventLoop: mergerLoop)
      }.get()
      wake.setAction { merger.value.run() }
      let recorder = try await makeRecorder(writer, consumers.next(), exchange, plan)
      // All at once, since each has to read its share of a checkpoint.
      let making = eventLoops.enumerated().map { index, eventLoop in
        eventLoop.submit {
          let loop = try plan.readingLoop(
            index,
            on: eventLoop,
            exchange,
            signingStore,
            index == 0
              ? ServerInputs(
                owner: plan.owner,
                watch: ClockWatch(configuration.clock, eventOffset: plan.timeline.eventOffset)
              ) : nil
          )
          return NIOLoopBound(loop, eventLoop: eventLoop)
        }
      }
      var loops: [NIOLoopBound<ReadingLoop>] = []
      for future in making { loops.append(try await future.get()) }
      return IngestParts(
        exchange: exchange,
        readers: readers,
        consumers: consumers,
        loops: loops,
        merger: merger,
        recorder: recorder,
        signingStore: signingStore,
        owner: plan.owner
      )
    } catch {
      try? await readers.shutdownGracefully()
      try? await consumers.shutdownGracefully()
      throw error
    }
  }

  /// Makes the recorder; it records from the start if there is a writer.
  private static func makeRecorder(
    _ writer: RecordingWriter?,
    _ eventLoop: any EventLoop,
    _ exchange: Exchange,
    _ plan: Plan
  ) async throws -> NIOLoopBound<RecorderLoop> {
    let sink = plan.configuration.record
    return try await eventLoop.submit {
      let recorder = RecorderLoop(
        exchange: exchange,
        eventLoop: eventLoop,
        session: writer.flatMap { writer in sink.map { RecorderLoop.Session(writer, sink: $0) } },
        logger: plan.logger
      )
      return NIOLoopBound(recorder, eventLoop: eventLoop)
    }.get()
  }

  /// Begins the ticks.
  func begin(_ configuration: IngestConfiguration) {
    signingStore.onKept { [loops] in
      for loop in loops { loop.eventLoop.execute { loop.value.recordKept() } }
    }
    for (wake, loop) in zip(exchange.readers, loops) { wake.setAction { loop.value.wake() } }
    if configuration.log != nil {
      // Loop 0 reads the log for all: no other one brings inputs to the shards.
      for index in loops.indices.dropFirst() { exchange.publishInputs(of: index, through: .distantFuture) }
    }
    for loop in loops { loop.eventLoop.execute { loop.value.tick() } }
    // Stage two has deadlines of its own, and a recording is to be on its disc while one watches.
    let interval = TimeAmount.nanoseconds(configuration.idleTick.nanoseconds)
    merger.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [merger] _ in
      merger.value.run()
    }
    if exchange.records {
      recorder.eventLoop.execute { [recorder] in recorder.value.tick(every: configuration.idleTick) }
    }
  }

  /// Ends the threads at once: those of a server that could not start, or that is to stop as if it were killed.
  func dispose() async {
    for loop in loops {
      _ = try? await loop.eventLoop.submit {
        loop.value.closeSockets()
        loop.value.phase = .finished
      }.get()
    }
    try? await merger.eventLoop.submit { [merger] in merger.value.abandon() }.get()
    try? await recorder.eventLoop.submit { [recorder] in recorder.value.abandon() }.get()
    await join()
  }

  /// Ends the threads, and releases the loops, which the wake-ups hold.
  func join() async {
    try? await readers.shutdownGracefully()
    try? await consumers.shutdownGracefully()
    for wake in exchange.readers + [exchange.merger] { wake.setAction(nil) }
  }
}

extension IngestParts.Plan {
  /// The merger, as the run before left it if there was one.
  func merger() throws -> EventMerger {
    let loops = configuration.loops
    guard let restoration else {
      return EventMerger(shards: loops, site: owner.site, venues: venues, keepsSensings: forwardsSensings)
    }
    do throws(FieldError) {
      return try restoration.merger(
        for: owner.site,
        shards: loops,
        resumingAt: start,
        venues: venues,
        keepsSensings: forwardsSensings
      )
    } catch {
      throw IngestError.unreadableCheckpoint(error)
    }
  }

  /// One loop, on its event loop; one of them takes the inputs that no socket brings.
  func readingLoop(
    _ index: Int,
    on eventLoop: any EventLoop,
    _ exchange: Exchange,
    _ signingStore: SigningStore,
    _ server: ServerInputs?
  ) throws -> ReadingLoop {
    try ReadingLoop(
      index: index,
      eventLoop: eventLoop,
      exchange: exchange,
      timeline: timeline,
      site: owner.site,
      shard: try shard(index, exchange),
      configuration: configuration,
      gate: AdmissionCheck(signingStore, site: owner.site),
      server: server,
      logger: logger
    )
  }

  /// The recording, which begins with what the server goes on from.
  func recordingWriter() throws -> RecordingWriter {
    var writer = try RecordingWriter(site: owner.site)
    if let restoration { try writer.write(restoration, at: start) }
    return writer
  }

  /// The venue data that the engines need; nil if there are no venues and no caller receives what handsets sense.
  private var sensing: SensingScope? {
    SensingScope(venues) ?? (forwardsSensings ? SensingScope() : nil)
  }

  private func shard(_ index: Int, _ exchange: Exchange) throws -> Shard {
    let resolver = Resolver(site: owner.site)
    guard let restoration else {
      let engine = MonitoringEngine(site: owner.site, sensing: sensing)
      return Shard(index: index, exchange: exchange, engine: engine, resolver: resolver)
    }
    var output = StageOutput()
    do throws(FieldError) {
      let engine = try restoration.engine(
        for: owner.site,
        shard: index,
        among: configuration.loops,
        resumingAt: start,
        sensing: sensing,
        into: &output
      )
      return Shard(index: index, exchange: exchange, engine: engine, resolver: resolver, output: output)
    } catch {
      throw IngestError.unreadableCheckpoint(error)
    }
  }
}
