import NIOCore
package import PharosMonitoring
import PharosPipeline
package import PharosPositioning
package import PharosReports

/// Looks at what the engines know. Each is taken where the engine works, between two runs of it, and changes nothing.
extension IngestServer {
  /// What stage one knows about tracks, in order, a page at a time.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func tracks(_ query: TrackQuery) async throws -> [TrackInsight] {
    let found = try await look { $0.shard.engine.tracks(query) }
    return Array(found.flatMap { $0 }.sorted { $0.key < $1.key }.prefix(query.limit))
  }

  /// The observers that are heard and do not count, in their order.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func quarantine() async throws -> [QuarantinedObserver] {
    try await look { $0.shard.engine.quarantine() }.flatMap { $0 }.sorted { $0.id < $1.id }
  }

  /// Where every beacon is that some observer of a zone hears, or that is in a zone, in their order.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func tags() async throws -> [TagStanding] { try await mergerCopy().tagStandings() }

  /// Where every beacon stands towards every region about beacons that it has met.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func beaconStandings() async throws -> [BeaconStanding] { try await mergerCopy().beaconStandings() }

  /// Where every observer stands towards every region that it has met.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func standings() async throws -> [RegionStanding] {
    try await look { $0.shard.engine.standings() }.flatMap { $0 }
  }

  /// The offsets of observers that stand in zones, as they were found from the tags that they hear in common.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func calibrations() async throws -> [Calibration] { try await mergerCopy().calibrations }

  /// The applications with their regions as they are now, those of the site and those that came at run time.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func applications() async throws -> [Application] {
    let loop = loops[0]
    return try await stopped {
      try await loop.eventLoop.scheduleTask(in: .zero) { loop.value.server?.registry.applications ?? [] }
        .futureResult.get()
    }
  }

  private func look<Found: Sendable>(
    _ body: @escaping @Sendable (ReadingLoop) -> Found
  ) async throws -> [Found] {
    var found: [Found] = []
    for loop in loops {
      found.append(
        try await stopped {
          try await loop.eventLoop.scheduleTask(in: .zero) { body(loop.value) }.futureResult.get()
        }
      )
    }
    return found
  }

  /// A copy of the merger, which costs its thread next to nothing; what is asked of it is put together elsewhere.
  private func mergerCopy() async throws -> EventMerger {
    try await stopped { [merger] in
      try await merger.eventLoop.scheduleTask(in: .zero) { merger.value.merger.settled }.futureResult.get()
    }
  }

  private func stopped<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch is EventLoopError {
      throw IngestError.stopped
    }
  }
}
