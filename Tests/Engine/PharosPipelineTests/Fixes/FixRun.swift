import PharosFixes
import PharosModel
import PharosPipeline
import PharosSpace
import PharosTestSupport

/// One way to hand the same inputs to a pipeline.
struct FixRun {
  var shards = 1
  /// How many reports a batch has.
  var batch = 1
  /// Where ticks fall between batches, by a seed; nil for none.
  var ticks: UInt64?
  /// How long time runs on behind the last report.
  var tail: TimeSpan = .seconds(10)

  /// The events of inputs, in their order.
  func events(of inputs: [HallWalk.Input], by pipeline: inout Pipeline) -> [Event] {
    var random = SeededGenerator(seed: ticks ?? 0)
    var events: [Event] = []
    var whole = ReportBatch()
    for (number, input) in inputs.enumerated() {
      for report in input.batch.reports { whole.append(report, from: input.batch) }
      guard (number + 1) % batch == 0 || number == inputs.count - 1 else { continue }
      events += pipeline.ingest(whole)
      whole.removeAll()
      guard ticks != nil, number + 1 < inputs.count, Bool.random(using: &random) else { continue }
      // Somewhere between this report and the next, as a server's clock ticks.
      let gap = (inputs[number + 1].received - input.received).nanoseconds
      guard gap > 1 else { continue }
      let share = Int64.random(in: 1..<gap, using: &random)
      events += pipeline.advance(to: input.received + TimeSpan(nanoseconds: share))
    }
    return events + pipeline.finish(tail: tail)
  }

  /// The events of inputs, by a new pipeline.
  func events(
    of inputs: [HallWalk.Input],
    on venues: [LocatableVenue],
    site: Site = Hall.site(),
    limits: PositioningLimits = PositioningLimits()
  ) throws -> [Event] {
    var pipeline = try Pipeline(site: site, shards: shards, positioning: limits, venues: venues)
    return events(of: inputs, by: &pipeline)
  }
}

extension [Event] {
  /// The fixes, each with its event.
  var fixes: [(event: Event, fix: FixDetail)] {
    compactMap { event in
      guard event.kind == .fix, case .fix(let fix) = event.detail else { return nil }
      return (event, fix)
    }
  }

  /// The events as they are published.
  var lines: [String] { map { $0.cloudEvent(stream: "halls") } }
}
