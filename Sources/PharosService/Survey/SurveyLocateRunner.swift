import PharosPositioning
package import PharosReports
import PharosSite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `pharos survey locate`: streams traces through the pipeline that a server runs, and writes where their phones were.
///
/// Each trace by itself, in the order of its file, with nothing that lies behind the time of a fix, and without the truth.
package struct SurveyLocateRunner: Sendable {
  /// What is located, and how.
  package struct Options: Sendable {
    /// Files and folders of traces.
    package var traces: [String]
    /// The venue's folder.
    package var venue: String
    /// The table of fixes to write; `-` is standard output.
    package var output: String
    /// How far apart fixes are at least.
    package var interval: TimeSpan
    /// How long a fix waits for what is late; nil for the usual time.
    package var lag: TimeSpan?
    /// How many places are weighed against each other at most; nil for the usual number.
    package var particles: Int?
    /// What of the traces is left out.
    package var thinning: TraceThinning
    /// How many traces are located at once; nil for as many as there are cores.
    package var jobs: Int?

    /// Four a second: between two of them people walk 0.4 m.
    package static let defaultInterval = TimeSpan.milliseconds(250)
    /// What intervals may be.
    package static let intervals = PositioningSettings.intervals
    /// What numbers of places may be.
    package static let particleCounts = PositioningSettings.particleCounts

    /// Makes options with the defaults of the command.
    package init(
      traces: [String],
      venue: String,
      output: String,
      interval: TimeSpan = Options.defaultInterval,
      lag: TimeSpan? = nil,
      particles: Int? = nil,
      thinning: TraceThinning = TraceThinning(),
      jobs: Int? = nil
    ) {
      self.traces = traces
      self.venue = venue
      self.output = output
      self.interval = interval
      self.lag = lag
      self.particles = particles
      self.thinning = thinning
      self.jobs = jobs
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
          "\(options.venue) has no \(VenueFolder.radioMapFile) and hangs up no beacon or access point: nothing says where "
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
      // So far ahead of the one that is written may others be: a long trace holds back no more than these.
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

  /// How many traces are located at once unless somebody says otherwise.
  private static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
