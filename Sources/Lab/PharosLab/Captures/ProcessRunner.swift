import PharosDocuments
package import PharosModel
import PharosPipeline
import PharosSite
package import PharosTerminal

/// `pharos process`: decides about captures offline, as fast as it goes.
package struct ProcessRunner: Sendable {
  /// The options of `pharos process`.
  package struct Options: Sendable {
    /// The captures, parts of one in the order given; `-` is standard input.
    package var captures: [String]
    /// The site file, or nil: a recording brings its own site.
    package var site: String?
    /// The observer that heard a Bluetooth capture; nil for one named after the file.
    package var observer: ObserverID?
    /// The kinds of events that are written.
    package var selection: KindSelection = .usual
    /// The format of the events.
    package var format: EventFormat = .jsonl
    /// The time that runs on after the last packet; nil to stop there.
    package var tail: TimeSpan?
    /// The number of shards that observers are spread over; it changes nothing but the speed.
    package var shards = 1

    /// Makes options with the defaults of the command for all else.
    package init(captures: [String], site: String? = nil) {
      (self.captures, self.site) = (captures, site)
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Writes the events and ends by saying who is still inside.
  ///
  /// - Returns: 0; 1 if a capture was damaged, everything before the damage having been processed, or nothing in them is
  ///   understood; 78 if the site
  ///   file is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let site = try options.site.map { try SiteLoader.load($0, console: console).site }
      var work = ProcessWork(options: options, site: site, console: console)
      for path in options.captures { try work.process(path) }
      try work.finish()
      return work.hasFailed ? .failure : .success
    }
  }
}

/// One run of `pharos process`: the pipeline, made with the first input, and what came out so far.
private struct ProcessWork {
  /// Indicates whether a capture was damaged, or nothing in them is understood.
  var hasFailed: Bool { walk.hasFailed }

  let options: ProcessRunner.Options
  let givenSite: Site?
  let console: Console
  private var pipeline: Pipeline?
  private var writer: EventWriter?
  private var site = Site()
  private var walk: CaptureWalk

  init(options: ProcessRunner.Options, site: Site?, console: Console) {
    self.options = options
    givenSite = site
    self.console = console
    walk = CaptureWalk(observer: options.observer, console: console)
  }

  mutating func process(_ path: String) throws {
    var walk = walk
    defer { self.walk = walk }
    try walk.read(path) { input in try process(input, from: path) }
  }

  mutating func finish() throws {
    if var pipeline {
      try write(pipeline.finish(tail: options.tail))
      self.pipeline = pipeline
    }
    try console.output.flush()
    sayWhoIsInside()
  }

  private mutating func process(_ input: PipelineInput, from path: String) throws {
    if case .site(let recorded) = input {
      guard pipeline == nil else {
        throw CommandFailure("\(path) is a recording of its own. Process it alone.", status: .usage)
      }
      return try start(givenSite ?? recorded)
    }
    if pipeline == nil { try start(givenSite ?? siteByDefault()) }
    try decide(givenSite.map(input.withKeys) ?? input)
  }

  private mutating func decide(_ input: PipelineInput) throws {
    guard let events = pipeline?.process(input) else { return }
    try write(events)
  }

  private func siteByDefault() -> Site {
    console.say(
      "No --site was given: there is no region to enter. `pharos init` writes a site file to start from."
    )
    return Site()
  }

  private mutating func start(_ site: Site) throws {
    self.site = site
    if site.withheldKeys > 0 {
      console.say(
        "The site of this recording has \(Wording.count(site.withheldKeys, "tag")) that change their addresses, and no "
          + "recording holds their keys: they cannot be recognised. Give the server's site file with --site."
      )
    }
    do {
      let venues = try LoadedVenues(site.venues, console: console)
      pipeline = try Pipeline(site: site, shards: options.shards, venues: venues.locatable)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(error)", status: .configuration)
    }
    writer = EventWriter(
      format: options.format,
      selection: options.selection,
      site: site,
      style: console.outputStyle
    )
  }

  private mutating func write(_ events: [Event]) throws(OutputError) {
    let sink = console.output
    try writer?.write(events, to: sink)
  }

  private func sayWhoIsInside() {
    guard let pipeline, let latest = walk.latest else {
      return console.say("Nothing was decided: the capture holds no report that Pharos understands.")
    }
    let end = latest + (options.tail ?? .zero)
    let standings = pipeline.insideNow()
    guard !standings.isEmpty else {
      return console.say("No subject is inside a region at the end (\(Wording.clock(end)) UTC).")
    }
    console.say("Still inside at the end (\(Wording.clock(end)) UTC):")
    let names = SiteNames(site)
    // A screen holds so many; a pipe takes them all.
    let shown = console.errorStyle.isTerminal ? standings.prefix(ProcessWork.maximumOnScreen) : standings[...]
    for standing in shown {
      let since = "since \(Wording.clock(standing.since))"
      console.say(
        ProcessWork.table.line([
          "", standing.application, standing.region, names.name(of: standing.subject), since,
        ])
      )
    }
    if shown.count < standings.count { console.say("  and \(standings.count - shown.count) more") }
  }

  private static let maximumOnScreen = 40
  private static let table = TextTable([
    .text("", 1), .text("APPLICATION", 14), .text("REGION", 16), .text("WHO", 26), .text("SINCE", 18),
  ])
}
