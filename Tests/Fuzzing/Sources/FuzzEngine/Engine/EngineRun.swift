import FuzzSupport
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosPresence

/// A pipeline that is fed until it has had enough, and what it said mixed into a number.
struct EngineRun {
  /// What it said.
  private(set) var digest = Digest()
  /// How many events it gave.
  private(set) var said = 0
  private var pipeline: Pipeline?
  private let shards: Int
  private var inputs = 0

  /// The most inputs of a run: each one may concern everything that is known.
  private static let maximumInputs = 64

  /// Starts without a pipeline; the first site makes it, or the first other input with a site of ours.
  init(shards: Int) { self.shards = shards }

  /// Takes an input.
  mutating func receive(_ input: PipelineInput) {
    inputs += 1
    guard inputs <= EngineRun.maximumInputs else { return }
    if case .site(let site) = input {
      if pipeline == nil { pipeline = try? Pipeline(site: site, shards: shards) }
      return
    }
    if pipeline == nil { pipeline = try? Pipeline(site: SampleTraffic.site, shards: shards) }
    record(pipeline?.process(input) ?? [])
  }

  /// Ends a minute after the last input, looks at everything, and keeps and restores what is known.
  mutating func finish() {
    guard var pipeline else { return }
    record(pipeline.finish(tail: .minutes(1)))
    _ = pipeline.observers()
    _ = pipeline.tags()
    _ = pipeline.tracks(TrackQuery(limit: 50))
    _ = pipeline.quarantine()
    _ = pipeline.insideNow()
    let checkpoint = pipeline.checkpoint()
    do {
      let again = try Checkpoint(decoding: checkpoint.encoded)
      demand(again == checkpoint, "a checkpoint comes back as it was")
    } catch {
      demand(false, "what is kept can be read: \(error)")
    }
  }

  private mutating func record(_ events: [Event]) {
    for event in events {
      var json = JSONText()
      json.openObject()
      json.member("id", "\(event.id)")
      json.member("subject", "\(event.subject)")
      json.member("region", event.region)
      json.closeObject()
      digest.mix(json.utf8)
      digest.mix(UInt64(event.kind.rawValue))
      digest.mix(UInt64(bitPattern: event.time.nanoseconds))
      digest.mix(UInt64(bitPattern: event.decidedAt.nanoseconds))
      said += 1
    }
  }
}
