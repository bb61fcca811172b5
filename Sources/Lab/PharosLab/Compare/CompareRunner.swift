package import PharosModel
import PharosPipeline
import PharosSecurity
import PharosSite
package import PharosTerminal

/// `pharos compare`: one's own traffic under Pharos's rule and under the rules that peers use, side by side.
package struct CompareRunner: Sendable {
  /// The format of the figures.
  package enum Format: String, CaseIterable, Sendable {
    /// Sentences and tables, for people.
    case table
    /// One JSON object, for machines.
    case json
  }

  /// The options of `pharos compare`.
  package struct Options: Sendable {
    /// The captures, parts of one in the order given.
    package var captures: [String]
    /// The site file, or nil: then every beacon that is heard is a region.
    package var site: String?
    /// An edited site, whose decisions are compared with those of the site as it is; nil for none.
    package var edited: Site?
    /// The observer that heard a Bluetooth capture; nil for one named after the file.
    package var observer: ObserverID?
    /// The time-out of the rule in use today.
    package var timeout = Options.defaultTimeout
    /// The format of the figures.
    package var format: Format = .table
    /// The path of the picture to draw, or nil for none.
    package var picture: String?
    /// A function that throws to end the comparison; it takes the number of unpacked bytes of a capture read so far.
    package var check: @Sendable (Int) throws -> Void = { _ in }

    /// Half a minute: what telephones' users report, and AltBeacon's default.
    package static let defaultTimeout = TimeSpan.seconds(30)

    /// Makes options with the defaults of the command for all else.
    package init(captures: [String], site: String? = nil) {
      (self.captures, self.site) = (captures, site)
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Reads the captures twice, once to see what is there and once to decide, and writes what came of it.
  ///
  /// - Returns: 0; 1 if a capture was damaged, everything before the damage having been compared; 64 if a capture
  ///   cannot be read twice; 78 if the site file is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      guard !options.captures.contains("-") else {
        throw CommandFailure(
          "compare reads its captures twice, which standard input cannot do. Write it to a file first.",
          status: .usage
        )
      }
      let (report, hasDamage) = try report(on: console)
      try write(report, to: console)
      return hasDamage ? .failure : .success
    }
  }

  /// Reads the captures and compares the rules.
  ///
  /// - Returns: the report, and whether a capture was damaged, everything before the damage having been compared, or nothing
  ///   in them is understood.
  func report(on console: Console) throws -> (report: ComparisonReport, hasDamage: Bool) {
    let given = try options.site.map { try SiteLoader.load($0, console: console).site }
    let survey = try survey(for: given, on: console)
    let compared = ComparedSite(
      given: given ?? survey.recordedSite,
      edited: options.edited,
      survey: survey
    )
    var comparison = try Comparison(compared: compared, timeout: options.timeout, survey: survey)
    var walk = CaptureWalk(observer: options.observer, console: console, check: options.check)
    var resolver = given.flatMap { Resolver(site: $0) }
    for path in options.captures { try walk.read(path) { comparison.process(resolver.resolved($0)) } }
    comparison.finish()
    let report = ComparisonReport(of: options, survey: survey, compared: compared, comparison: comparison)
    return (report, walk.hasFailed)
  }

  private func survey(for site: Site?, on console: Console) throws -> CaptureSurvey {
    var survey = CaptureSurvey(companies: site?.iBeaconCompanies ?? [])
    var walk = CaptureWalk(observer: options.observer, console: console, isQuiet: true, check: options.check)
    var resolver = site.flatMap { Resolver(site: $0) }
    for path in options.captures { try walk.read(path) { survey.add(resolver.resolved($0)) } }
    return survey
  }

  private func write(_ report: ComparisonReport, to console: Console) throws {
    switch options.format {
    case .json: try console.print(report.json)
    case .table: for line in report.lines(style: console.outputStyle) { try console.print(line) }
    }
    guard let path = options.picture else { return }
    try FileOutput.write(ComparisonPicture(report).svg.utf8, to: path)
    if path != "-" { console.say("\(path): the picture, for a browser or a printer.") }
  }
}

extension Resolver? {
  /// An input in which tags that change their addresses stand under their own: every rule is shown the same air.
  fileprivate mutating func resolved(_ input: PipelineInput) -> PipelineInput {
    guard self != nil, case .reports(var batch) = input else { return input }
    self?.resolve(&batch)
    return .reports(batch)
  }
}
