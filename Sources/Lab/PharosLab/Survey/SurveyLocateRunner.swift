import Glibc
import PharosDocuments
package import PharosFixes
package import PharosModel
import PharosPipeline
import PharosSite
import PharosSpace
package import PharosTerminal

/// `pharos survey locate`: streams traces through the pipeline that a server runs, and writes where their phones were.
///
/// Each trace by itself, in the order of its file, with nothing that lies behind the time of a fix, and without the truth.
package struct SurveyLocateRunner: Sendable {
  /// The options of `pharos survey locate`.
  package struct Options: Sendable {
    /// Files and folders of traces.
    package var traces: [String]
    /// The venue's folder.
    package var venue: String
    /// The table of fixes to write; `-` is standard output.
    package var output: String
    /// The minimum interval between fixes.
    package var interval = Options.defaultInterval
    /// The time that a fix waits for late data; nil for the default.
    package var lag: TimeSpan?
    /// The maximum number of places that are weighed against each other; nil for the default.
    package var particles: Int?
    /// The data of the traces that are left out.
    package var thinning = TraceThinning()
    /// The number of traces that are located at once; nil for one per core.
    package var jobs: Int?

    /// Four a second: between two of them people walk 0.4 m.
    package static let defaultInterval = TimeSpan.milliseconds(250)
    /// The valid intervals.
    package static let intervals = PositioningSettings.intervals
    /// The valid numbers of places.
    package static let particleCounts = PositioningSettings.particleCounts

    /// Makes options with the defaults of the command for all else.
    package init(traces: [String], venue: String, output: String) {
      (self.traces, self.venue, self.output) = (traces, venue, output)
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Locates all traces and writes the table, in the order of the traces' paths.
  ///
  /// - Returns: 0; 1 if a trace was damaged, everything before the damage having been located; 78 if the venue is wrong.
  package func run(on console: Console) async -> CommandStatus {
    await console.run {
      let files = try TraceFile.find(options.traces)
      let ground = try VenueContents.read(options.venue, console: console).ground
      guard !ground.radio.emitters.isEmpty else {
        throw CommandFailure(
          "\(options.venue) has no \(VenueFolder.radioMapFile) and lists no beacon or access point: nothing says where "
            + "anything is heard. Walk through it and run `pharos survey learn`.",
          status: .configuration
        )
      }
      let positioning = PositioningSettings(
        interval: options.interval,
        lag: options.lag ?? PositioningSettings.defaultLag,
        particles: options.particles
      )
      let locator = TraceLocator(
        ground: ground,
        site: Site(positioning: positioning),
        thinning: options.thinning
      )
      let output = try FileOutput(path: options.output)
      try output.write(Array("\(FixTable.header)\n".utf8))
      let tally = try await locate(files, with: locator, output: output, console: console)
      try output.close()
      for complaint in tally.complaints { console.say(complaint) }
      for line in tally.lines { console.say(line) }
      return tally.hasDamage ? .failure : .success
    }
  }

  private func locate(
    _ files: [TraceFile],
    with locator: TraceLocator,
    output: FileOutput,
    console: Console
  ) async throws -> LocateTally {
    let jobs = max(1, min(options.jobs ?? SurveyLocateRunner.cores, files.count))
    var bar = ProgressBar("traces", on: console)
    return try await withThrowingTaskGroup(of: (Int, LocatedTrace).self) { group in
      var tally = LocateTally()
      var next = 0
      var waiting: [Int: LocatedTrace] = [:]
      var written = 0
      // Others may be so far ahead of the one that is written: a long trace holds back at most these.
      func start() {
        guard next < files.count else { return }
        let (index, file) = (next, files[next])
        group.addTask { (index, try locator.locate(file)) }
        next += 1
      }
      for _ in 0..<jobs { start() }
      while let (index, located) = try await group.next() {
        waiting[index] = located
        start()
        while let located = waiting.removeValue(forKey: written) {
          try output.write(Array(located.text.utf8))
          tally.add(located)
          written += 1
        }
        bar.show(written, of: files.count)
      }
      bar.clear()
      return tally
    }
  }

  /// The default number of traces that are located at once.
  private static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

/// Locates one trace after the other, each with a pipeline of its own.
package struct TraceLocator: Sendable {
  let ground: LocatableVenue
  let site: Site
  let thinning: TraceThinning

  package init(ground: LocatableVenue, site: Site, thinning: TraceThinning) {
    self.ground = ground
    self.site = site
    self.thinning = thinning
  }

  /// Streams a trace through the pipeline.
  ///
  /// - Throws: an error if the trace cannot be opened, or if the site is refused.
  package func locate(_ file: TraceFile) throws -> LocatedTrace {
    let stream = try TraceStream(file)
    var pipeline = try Pipeline(site: site, venues: [ground])
    var thinner = TraceThinner(thinning)
    var located = LocatedTrace(file.identifier)
    while let batch = stream.next() {
      if located.start == nil { located.start = batch.reports.first?.received }
      located.record(pipeline.ingest(thinner.thinned(batch)))
    }
    // The tail decides what still waits for late lines. Fixes after the last line are dropped.
    located.end = stream.latestTime
    located.record(pipeline.finish(tail: site.positioning.lag))
    located.complaint = stream.complaint
    located.hasDamage = stream.damage != nil
    return located
  }
}

/// The fixes of one trace.
package struct LocatedTrace: Sendable {
  /// The identifier of the trace.
  let identifier: String
  /// The fixes on floors, in order of time.
  package private(set) var rows: [FixTable.Row] = []
  /// The number of fixes outdoors, where there is no floor.
  private(set) var outdoors = 0
  /// The time of the first line; nil if there was none.
  var start: Timestamp?
  /// The time of the last line; nil while it is not known.
  package var end: Timestamp?
  /// The problem of the trace, if there was one.
  var complaint: String?
  /// Indicates whether the file was damaged.
  var hasDamage = false

  package init(_ identifier: String) { self.identifier = identifier }

  /// Takes the fixes among some events.
  package mutating func record(_ events: [Event]) {
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

/// A tally of located traces.
struct LocateTally: Sendable {
  /// The problems of traces.
  private(set) var complaints: [String] = []
  /// Indicates whether a file was damaged.
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

/// The data of a trace that are left out, to see how fixes fare with less: phones in pockets scan seldom, and some hear
/// no beacon.
package struct TraceThinning: Hashable, Sendable {
  /// The minimum interval between Wi-Fi scans; nil for all of them, `TimeSpan/forever` for none.
  package var wifiEvery: TimeSpan?
  /// Indicates whether reports of beacons are kept.
  package var hearsBeacons: Bool
  /// Indicates whether motion samples are kept.
  package var sensesMotion: Bool

  /// Leaves out nothing by default.
  package init(wifiEvery: TimeSpan? = nil, hearsBeacons: Bool = true, sensesMotion: Bool = true) {
    self.wifiEvery = wifiEvery
    self.hearsBeacons = hearsBeacons
    self.sensesMotion = sensesMotion
  }
}

/// Applies a ``TraceThinning`` to the reports of one trace.
package struct TraceThinner: Sendable {
  private let thinning: TraceThinning
  /// The event time of the last scan that was kept.
  private var kept: Timestamp?

  package init(_ thinning: TraceThinning) { self.thinning = thinning }

  /// The reports that are left.
  package mutating func thinned(_ batch: ReportBatch) -> ReportBatch {
    guard thinning != TraceThinning() else { return batch }
    var left = ReportBatch()
    for report in batch.reports where keeps(report) { left.append(report, from: batch) }
    return left
  }

  private mutating func keeps(_ report: Report) -> Bool {
    switch report.body {
    case .advert, .rangedBeacon: return thinning.hearsBeacons
    case .motion: return thinning.sensesMotion
    case .wifiScan:
      guard let every = thinning.wifiEvery else { return true }
      guard every != .forever, case .age(let age) = report.timing else { return false }
      let time = report.received - age
      // A scan comes in parts of one event time.
      if let kept, time != kept, time - kept < every { return false }
      kept = time
      return true
    case .scanState, .outsideFix, .relativePose, .visualStatus, .displayOn, .heartbeat, .transmission:
      return true
    }
  }
}
