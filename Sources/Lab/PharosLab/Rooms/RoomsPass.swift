import PharosDocuments
import PharosModel
import PharosPipeline
import PharosRooms
import PharosTerminal

/// One run over captures with stays whose zones are known: the looks at the levels, and the zones that were decided.
///
/// Ticks between reports change no decision (the pipeline's promise), so these are the decisions that `process` makes.
struct RoomsPass {
  /// What was learned from the stays.
  private(set) var learner: FingerprintLearner
  /// The zone of each beacon from which time on, as it was decided; nil for none.
  private(set) var decided: [BeaconID: [(time: Timestamp, zone: String?)]] = [:]

  /// The time between two looks: as often as levels come.
  static let interval = SecondSummary.length

  private let site: Site
  private let stays: [LabelledStays.Stay]
  /// The stays that begin later than the last look, the next one last.
  private var waiting: [Int]
  /// The stays that have begun.
  private var present: [Int] = []
  private var nextLook: Timestamp?
  private var pipeline: Pipeline
  private var single = ReportBatch()

  /// Starts with nothing read.
  ///
  /// - Throws: the refusal of a declared application.
  init(site: Site, stays: [LabelledStays.Stay]) throws(CommandFailure) {
    do {
      pipeline = try Pipeline(site: site)
    } catch {
      throw CommandFailure("\(error)", status: .configuration)
    }
    (self.site, self.stays) = (site, stays)
    learner = FingerprintLearner(observers: ZonePlan(site: site).observers)
    waiting = stays.indices.sorted { (stays[$0].from, $0) > (stays[$1].from, $1) }
  }

  /// Reads captures.
  static func over(
    _ captures: [String],
    site: Site,
    stays: [LabelledStays.Stay],
    console: Console
  ) throws -> (pass: RoomsPass, hasFailed: Bool) {
    var pass = try RoomsPass(site: site, stays: stays)
    var walk = CaptureWalk(observer: nil, console: console)
    for path in captures { try walk.read(path) { input in pass.process(input) } }
    pass.record(pass.pipeline.finish(tail: nil))
    return (pass, walk.hasFailed)
  }

  /// Takes an input; the site of a recording is passed over.
  private mutating func process(_ input: PipelineInput) {
    if case .site = input { return }
    guard case .reports(let batch) = input.withKeys(of: site) else {
      record(pipeline.process(input.withKeys(of: site)))
      return
    }
    for report in batch.reports {
      look(before: report.received)
      single.removeAll()
      single.append(report, from: batch)
      record(pipeline.ingest(single))
    }
  }

  /// Looks at the beacons of all stays at every instant up to one.
  private mutating func look(before instant: Timestamp) {
    while var next = nextLook ?? waiting.last.map({ stays[$0].from }), next < instant {
      while let stay = waiting.last, stays[stay].from <= next {
        present.append(stay)
        waiting.removeLast()
      }
      present.removeAll { stays[$0].to <= next }
      guard !present.isEmpty else {
        nextLook = nil
        guard let stay = waiting.last, stays[stay].from > next else { return }
        continue
      }
      record(pipeline.advance(to: next))
      for stay in present {
        guard let zone = stays[stay].zone, let look = pipeline.look(at: stays[stay].beacon) else { continue }
        learner.add(look, in: zone, stay: stay, at: next)
      }
      next = next + RoomsPass.interval
      nextLook = next
    }
  }

  private mutating func record(_ events: [Event]) {
    for event in events where event.kind == .zoneEnter || event.kind == .zoneExit {
      guard case .beacon(let beacon) = event.subject, case .zone(let transition) = event.detail else {
        continue
      }
      decided[beacon, default: []].append((event.decidedAt, transition.to))
    }
  }

  /// Returns the time for which each zone was decided during a stay.
  func zones(of stay: LabelledStays.Stay) -> [String?: TimeSpan] {
    var found: [String?: TimeSpan] = [:]
    var (zone, since) = (String?.none, stay.from)
    for step in decided[stay.beacon] ?? [] where step.time < stay.to {
      if step.time > since {
        found[zone] = (found[zone] ?? .zero) + (step.time - since)
        since = step.time
      }
      zone = step.zone
    }
    found[zone] = (found[zone] ?? .zero) + (stay.to - since)
    return found
  }
}
