import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport

/// A run with interruptions: at random cuts the pipeline is written as a checkpoint, and a new one goes on from
/// its bytes, with another number of shards.
struct Interruptions {
  /// One cut: where, and what was there.
  struct Cut {
    var instant: Timestamp
    var checkpoint: Checkpoint
  }

  /// What was said, all pipelines together.
  var events: [Event] = []
  /// The cuts that were made.
  var cuts: [Cut] = []

  private var pipeline: Pipeline
  private let site: Site
  private var random: SeededGenerator
  private let oneIn: Int
  private var latest: Timestamp

  init(site: Site, seed: UInt64, oneIn: Int, start: Timestamp) throws {
    self.site = site
    random = SeededGenerator(seed: seed)
    self.oneIn = oneIn
    latest = start
    pipeline = try Pipeline(site: site, shards: 1)
  }

  /// Takes what comes at an instant; before it there may be a cut, unless something came at that instant already.
  mutating func process(at instant: Timestamp, _ body: (inout Pipeline) -> [Event]) throws {
    let room = (instant - latest).nanoseconds
    if room > 1, Int.random(in: 0..<oneIn, using: &random) == 0 {
      try interrupt(at: latest + TimeSpan(nanoseconds: Int64.random(in: 0..<room, using: &random)))
    }
    latest = max(latest, instant)
    events += body(&pipeline)
  }

  /// Ends the run.
  mutating func finish(tail: TimeSpan) -> [Event] {
    events += pipeline.finish(tail: tail)
    return events
  }

  /// Who is inside at the end.
  var inside: [Standing] { pipeline.insideNow() }

  private mutating func interrupt(at instant: Timestamp) throws {
    events += pipeline.advance(to: instant)
    let bytes = pipeline.checkpoint().encoded
    let checkpoint = try Checkpoint(decoding: bytes)
    // The site as it is by now: what applications have added since is declared, as a server's journal has it.
    var present = site
    present.applications = pipeline.applications
    pipeline = try Pipeline(
      site: present,
      restoring: checkpoint,
      shards: Int.random(in: 1...4, using: &random)
    )
    cuts.append(Cut(instant: instant, checkpoint: checkpoint))
  }
}

/// Where two runs part, in words, or nil if they are the same.
func parting(_ left: [Event], _ right: [Event]) -> String? {
  let (left, right) = (left.map { $0.cloudEvent(stream: "s") }, right.map { $0.cloudEvent(stream: "s") })
  for (index, pair) in zip(left, right).enumerated() where pair.0 != pair.1 {
    return "event \(index):\n\(pair.0)\n\(pair.1)"
  }
  return left.count == right.count ? nil : "\(left.count) events instead of \(right.count)"
}
