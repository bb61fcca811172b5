import NIOPosix
import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosPipeline
import PharosSimulation
import PharosSite

/// The past of the demo: half an hour of its scene, decided at once and stored as the summaries of minutes.
///
/// So the history and the floor plan have something to show at the first look. The journal gets no events of it.
struct DemoHistory {
  /// The length of the past in minutes: long enough for a timeline, and soon simulated.
  private static let length: Int64 = 30

  let scene: Scene
  let parts: ServerParts

  /// Stores the past up to the minute before a time, unless something is stored already.
  ///
  /// - Throws: an error of the journal, or of a site that the engine refuses.
  func store(endingAt now: Timestamp) async throws {
    guard try parts.journal.historyObservers().isEmpty else { return }
    let last = HistoryMinute(HistoryMinute(containing: now).number - 1)
    var scene = scene
    var minute = HistoryMinute(last.number - DemoHistory.length + 1)
    scene.start = minute.start
    scene.duration = .seconds(Double(DemoHistory.length * 60))
    let site = parts.owner.site
    var pipeline = try Pipeline(site: site, venues: parts.venues.locatable)
    var states = StateCache()
    var sampler = HistorySampler()
    for item in Simulation(scene, seed: DemoService.seed) {
      guard !Task.isCancelled else { return }
      guard case .datagram(let datagram) = item else { continue }
      while minute <= last, HistoryMinute(minute.number + 1).start <= datagram.received {
        let end = HistoryMinute(minute.number + 1).start
        for event in pipeline.advance(to: end - .oneNanosecond) { states.record(event) }
        let state = HistoryState(
          time: end,
          observers: pipeline.observers(),
          tags: pipeline.tags(),
          site: site,
          states: states,
          gate: parts.commitPublisher.gate(to: nil)
        )
        let sample = try await sampler.sample(minute, of: state) { [pipeline] in pipeline.tracks($0) }
        try await NIOThreadPool.singleton.runIfActive { [journal = parts.journal] in
          try journal.record(sample)
        }
        minute = HistoryMinute(minute.number + 1)
      }
      for event in pipeline.ingest(datagram.reports) { states.record(event) }
    }
  }
}
