import Logging
import NIOCore
import NIOPosix
import PharosEvents
import PharosMonitoring
import PharosPipeline
import PharosReports

/// The loops of a server and their threads, made and joined but not reading yet.
struct IngestParts {
  let exchange: Exchange
  let readers: MultiThreadedEventLoopGroup
  let consumers: MultiThreadedEventLoopGroup
  let loops: [NIOLoopBound<ReadingLoop>]
  let merger: NIOLoopBound<MergerLoop>
  let recorder: NIOLoopBound<RecorderLoop>?

  /// Makes all of it.
  static func make(
    site: Site,
    configuration: IngestConfiguration,
    logger: Logger,
    deliver: @escaping @Sendable ([Event]) -> Void
  ) async throws -> IngestParts {
    let registry = try RegionRegistry(site: site)
    let writer = configuration.record == nil ? nil : try RecordingWriter(site: site)
    let readers = MultiThreadedEventLoopGroup(numberOfThreads: configuration.loops)
    let consumers = MultiThreadedEventLoopGroup(numberOfThreads: writer == nil ? 1 : 2)
    do {
      let mergerLoop = consumers.next()
      let wake = Wake { mergerLoop.execute($0) }
      let exchange = Exchange(loops: configuration.loops, isRecording: writer != nil, merger: wake)
      let merger = try await mergerLoop.submit {
        let merger = EventMerger(shards: configuration.loops, site: site)
        return NIOLoopBound(
          MergerLoop(exchange: exchange, merger: merger, deliver: deliver),
          eventLoop: mergerLoop
        )
      }.get()
      wake.setAction { merger.value.run() }
      let recorder = try await makeRecorder(writer, consumers.next(), exchange, configuration, logger)
      let timeline = Timeline(configuration.clock)
      var loops: [NIOLoopBound<ReadingLoop>] = []
      for index in 0..<configuration.loops {
        let eventLoop = readers.next()
        let loop = try await eventLoop.submit {
          let server = ServerInputs(registry: registry, watch: ClockWatch(configuration.clock))
          let loop = try ReadingLoop(
            index: index,
            eventLoop: eventLoop,
            exchange: exchange,
            timeline: timeline,
            site: site,
            configuration: configuration,
            server: index == 0 ? server : nil,
            logger: logger
          )
          return NIOLoopBound(loop, eventLoop: eventLoop)
        }.get()
        loops.append(loop)
      }
      return IngestParts(
        exchange: exchange,
        readers: readers,
        consumers: consumers,
        loops: loops,
        merger: merger,
        recorder: recorder
      )
    } catch {
      try? await readers.shutdownGracefully()
      try? await consumers.shutdownGracefully()
      throw error
    }
  }

  private static func makeRecorder(
    _ writer: RecordingWriter?,
    _ eventLoop: any EventLoop,
    _ exchange: Exchange,
    _ configuration: IngestConfiguration,
    _ logger: Logger
  ) async throws -> NIOLoopBound<RecorderLoop>? {
    guard let writer, let sink = configuration.record else { return nil }
    return try await eventLoop.submit {
      let recorder = RecorderLoop(exchange: exchange, writer: writer, sink: sink, logger: logger)
      return NIOLoopBound(recorder, eventLoop: eventLoop)
    }.get()
  }

  /// Begins the ticks.
  func begin(_ configuration: IngestConfiguration) {
    for loop in loops { loop.eventLoop.execute { loop.value.start() } }
    // Stage two has deadlines of its own, and a recording is to be on its disc while one watches.
    let interval = TimeAmount.nanoseconds(configuration.idleTick.nanoseconds)
    merger.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [merger] _ in
      merger.value.run()
    }
    guard let recorder else { return }
    recorder.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { _ in recorder.value.run()
    }
  }

  /// Ends the threads of a server that could not start.
  func dispose() async {
    for loop in loops {
      _ = try? await loop.eventLoop.submit {
        loop.value.closeSockets()
        loop.value.phase = .finished
      }.get()
    }
    try? await readers.shutdownGracefully()
    try? await consumers.shutdownGracefully()
  }
}
