import PharosPipeline
package import PharosReports
import PharosSite

/// `pharos explain`: tells decision by decision why, and what else was considered.
package struct ExplainRunner: Sendable {
  /// The format of the explanation.
  package enum Format: String, CaseIterable, Sendable {
    /// Paragraphs for people.
    case text
    /// One JSON object with the same figures.
    case json
  }

  /// What is explained, and how.
  package struct Options: Sendable {
    /// The captures, parts of one in the order given; `-` is standard input.
    package var captures: [String]
    /// The site file, or nil: a recording brings its own site.
    package var site: String?
    /// Who heard what a Bluetooth capture holds; nil for the file's name.
    package var heardBy: ObserverID?
    /// The observer to explain, by identity or name, or nil for all.
    package var observerFilter: String?
    /// The beacon to explain, by identity, name or the end of its identity, or nil for all.
    package var beacon: String?
    /// The region or zone to explain, or nil for all.
    package var region: String?
    /// Where the picture goes, or nil for none.
    package var picture: String?
    /// The format of the explanation.
    package var format: Format
    /// The maximum number of decisions that are explained.
    package var limit: Int
    /// How long time runs on behind the last packet; nil to stop there.
    package var tail: TimeSpan?

    /// The default of ``limit``.
    ///
    /// Sixty decisions fill some six screens, which is as much as a reader takes in.
    package static let usualLimit = 60

    /// Makes options with the defaults of the command.
    package init(
      captures: [String],
      site: String? = nil,
      heardBy: ObserverID? = nil,
      observerFilter: String? = nil,
      beacon: String? = nil,
      region: String? = nil,
      picture: String? = nil,
      format: Format = .text,
      limit: Int = Options.usualLimit,
      tail: TimeSpan? = nil
    ) {
      self.captures = captures
      self.site = site
      self.heardBy = heardBy
      self.observerFilter = observerFilter
      self.beacon = beacon
      self.region = region
      self.picture = picture
      self.format = format
      self.limit = limit
      self.tail = tail
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Explains.
  ///
  /// - Returns: 0; 1 if a capture was damaged, everything before the damage being explained; 64 if a filter names nothing
  ///   that is there; 78 if the site file is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      if options.picture != nil, options.captures.contains("-") {
        throw CommandFailure(
          "--svg reads the captures twice, and standard input can be read only once. Give them as files.",
          status: .usage
        )
      }
      let site = try options.site.map { try SiteFile.load($0, console: console).site }
      let (findings, hasDamage) = try read(site: site, drawing: [], on: console)
      guard findings.span != nil else {
        throw CommandFailure("Nothing to explain: the capture holds no report that Pharos understands.")
      }
      let filter = try ExplainFilter(options, in: findings)
      let report = ExplainReport(options: options, findings: findings, filter: filter)
      switch options.format {
      case .text: for line in report.lines(style: console.outputStyle) { try console.print(line) }
      case .json: try console.print(report.json)
      }
      if let picture = options.picture {
        try draw(report, site: site, to: picture, on: console)
      }
      return hasDamage ? .failure : .success
    }
  }

  private func read(
    site: Site?,
    drawing panels: [TimelinePanel],
    on console: Console
  ) throws -> (findings: Findings, hasDamage: Bool) {
    var pass = ExplainPass(site: site, drawing: panels)
    var walk = CaptureWalk(observer: options.heardBy, console: console)
    for path in options.captures {
      try walk.read(path) { input in try pass.take(input, from: path) }
    }
    pass.finish(tail: options.tail)
    return (pass.findings, walk.hasDamage)
  }

  /// Reads the captures again for the adverts of the tracks that are drawn: a capture may hold more than memory does.
  private func draw(_ report: ExplainReport, site: Site?, to path: String, on console: Console) throws {
    let panels = report.panels
    guard !panels.isEmpty else {
      return console.say("There is nothing to draw: no track of a beacon is left by these filters.")
    }
    let quiet = Console(output: console.output, errors: MemorySink())
    let (findings, _) = try read(site: site, drawing: panels, on: quiet)
    let picture = TimelinePicture(findings: findings, panels: panels)
    let file = try FileOutput(path: path)
    try file.write(Array(picture.document.text.utf8))
    try file.close()
    let left = report.tracksNotDrawn
    let more =
      left > 0
      ? " \(Wording.count(left, "other track")) not drawn: name one with --observer and --beacon." : ""
    console.say("\(path): \(Wording.count(panels.count, "track")) drawn.\(more)")
  }
}
