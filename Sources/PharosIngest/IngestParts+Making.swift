import NIOCore
import PharosEvents
import PharosMonitoring
import PharosPipeline
import PharosPositioning
import PharosPrivacy
import PharosReports

extension IngestParts.Plan {
  /// The merger, as the run before left it if there was one.
  func merger() throws -> EventMerger {
    let loops = configuration.loops
    guard let restoration else {
      return EventMerger(shards: loops, site: site, grounds: grounds, keepsSensings: takesSensings)
    }
    do throws(FieldError) {
      return try restoration.merger(
        for: site,
        shards: loops,
        resumingAt: start,
        grounds: grounds,
        keepsSensings: takesSensings
      )
    } catch {
      throw IngestError.unreadableCheckpoint(error)
    }
  }

  /// One loop, on its event loop; the registry is for the one that takes changes.
  func readingLoop(
    _ index: Int,
    on eventLoop: any EventLoop,
    _ exchange: Exchange,
    _ desk: SigningDesk,
    _ registry: RegionRegistry?
  ) throws -> ReadingLoop {
    let server = registry.map { registry in
      ServerInputs(
        site: site,
        registry: registry,
        watch: ClockWatch(configuration.clock, told: timeline.told)
      )
    }
    return try ReadingLoop(
      index: index,
      eventLoop: eventLoop,
      exchange: exchange,
      timeline: timeline,
      site: site,
      shard: try shard(index, exchange),
      configuration: configuration,
      gate: Gate(desk, site: site),
      server: server,
      logger: logger
    )
  }

  /// The recording, which begins with what the server goes on from.
  func recordingWriter() throws -> RecordingWriter {
    var writer = try RecordingWriter(site: site)
    if let restoration { try writer.write(restoration, at: start) }
    return writer
  }

  /// The venue data that the engines need; nil if there are no venues and no caller receives what handsets sense.
  private var sensing: SensingScope? {
    SensingScope(grounds) ?? (takesSensings ? SensingScope() : nil)
  }

  private func shard(_ index: Int, _ exchange: Exchange) throws -> Shard {
    let resolver = Resolver(site: site)
    guard let restoration else {
      let engine = MonitoringEngine(site: site, sensing: sensing)
      return Shard(index: index, exchange: exchange, engine: engine, resolver: resolver)
    }
    var output = StageOutput()
    do throws(FieldError) {
      let engine = try restoration.engine(
        for: site,
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
