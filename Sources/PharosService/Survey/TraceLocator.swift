package import PharosEvents
import PharosPipeline
package import PharosPositioning
import PharosReports

/// Locates one trace after the other, each with a pipeline of its own.
package struct TraceLocator: Sendable {
  let ground: Ground
  let site: Site
  let thinning: TraceThinning

  package init(ground: Ground, site: Site, thinning: TraceThinning) {
    self.ground = ground
    self.site = site
    self.thinning = thinning
  }

  /// Streams a trace through the pipeline.
  ///
  /// - Throws: that it cannot be opened, or that the site is refused.
  package func locate(_ file: TraceFile) throws -> LocatedTrace {
    let stream = try TraceStream(file)
    var pipeline = try Pipeline(site: site, grounds: [ground])
    var thinner = TraceThinner(thinning)
    var located = LocatedTrace(file.identifier)
    while let batch = stream.next() {
      if located.start == nil { located.start = batch.reports.first?.received }
      located.take(pipeline.ingest(thinner.thinned(batch)))
    }
    // The tail decides what still waits for late lines. Fixes after the last line are dropped.
    located.end = stream.latestTime
    located.take(pipeline.finish(tail: site.positioning.lag))
    located.complaint = stream.complaint
    located.hasDamage = stream.damage != nil
    return located
  }
}

/// The fixes of one trace.
package struct LocatedTrace: Sendable {
  /// Which trace.
  let identifier: String
  /// The fixes on floors, in order of time.
  package private(set) var rows: [FixTable.Row] = []
  /// How many fixes lay outdoors, where there is no floor.
  private(set) var outdoors = 0
  /// The time of the first line; nil if there was none.
  var start: Timestamp?
  /// The time of the last line; nil while it is not known.
  package var end: Timestamp?
  /// What was wrong with the trace.
  var complaint: String?
  /// Whether the file was damaged.
  var hasDamage = false

  package init(_ identifier: String) { self.identifier = identifier }

  /// Takes the fixes among some events.
  package mutating func take(_ events: [Event]) {
    for event in events {
      guard case .fix(let fix) = event.detail, event.time <= end ?? .distantFuture else { continue }
      guard fix.isIndoors else {
        outdoors += 1
        continue
      }
      rows.append(
        FixTable.Row(
          time: event.time,
          x: fix.x,
          y: fix.y,
          level: fix.level,
          accuracy: fix.horizontalAccuracy
        )
      )
    }
  }

  /// The lines of a table.
  var text: String { rows.map { FixTable.line(identifier, $0) + "\n" }.joined() }
}

/// What became of many traces.
struct LocateTally: Sendable {
  /// What was wrong with traces.
  private(set) var complaints: [String] = []
  /// Whether a file was damaged.
  private(set) var hasDamage = false
  private var traces = 0
  private var fixes = 0
  private var outdoors = 0
  private var walked = TimeSpan.zero
  private var silent = 0
  private var waits: [Double] = []

  /// Counts a trace.
  mutating func add(_ trace: LocatedTrace) {
    traces += 1
    fixes += trace.rows.count
    outdoors += trace.outdoors
    if let complaint = trace.complaint { complaints.append(complaint) }
    hasDamage = hasDamage || trace.hasDamage
    if let start = trace.start, let end = trace.end { walked = walked + max(.zero, end - start) }
    if let first = trace.rows.first, let start = trace.start {
      waits.append(max(0, (first.time - start).seconds))
    } else {
      silent += 1
    }
  }

  /// The summary at the end of a run, line by line.
  var lines: [String] {
    let many = "\(Wording.count(traces, "trace")), \(Wording.span(walked))"
    var lines = ["\(many): \(fixes) fix\(fixes == 1 ? "" : "es")."]
    if let median = ScoreSummary.percentile(50, of: waits.sorted()) {
      lines[0] += " The first comes \(Wording.span(.seconds(median))) after the first line in the median."
    }
    if silent > 0 {
      lines.append("\(Wording.count(silent, "trace")) had no fix: they hear nothing that the venue knows.")
    }
    if outdoors > 0 {
      lines.append(
        "\(outdoors) of the fixes found lie outdoors, where there is no floor; they are not in the table."
      )
    }
    return lines
  }
}
