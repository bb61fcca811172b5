import PharosDocuments
package import PharosModel
import PharosNarration
import PharosPipeline
import PharosSite
package import PharosTerminal

/// `pharos explain`: explains each decision, and what else was considered.
package struct ExplainRunner: Sendable {
  /// The format of the explanation.
  package enum Format: String, CaseIterable, Sendable {
    /// Paragraphs for people.
    case text
    /// One JSON object with the same figures.
    case json
  }

  /// The options of `pharos explain`.
  package struct Options: Sendable {
    /// The captures, parts of one in the order given; `-` is standard input.
    package var captures: [String]
    /// The site file, or nil: a recording brings its own site.
    package var site: String?
    /// The observer that heard a Bluetooth capture; nil for one named after the file.
    package var heardBy: ObserverID?
    /// The observer to explain, by identity or name, or nil for all.
    package var observerFilter: String?
    /// The beacon to explain, by identity, name or the end of its identity, or nil for all.
    package var beacon: String?
    /// The region or zone to explain, or nil for all.
    package var region: String?
    /// The path of the picture, or nil for none.
    package var picture: String?
    /// The format of the explanation.
    package var format: Format = .text
    /// The maximum number of decisions that are explained.
    package var limit = Options.usualLimit
    /// The time that runs on after the last packet; nil to stop there.
    package var tail: TimeSpan?

    /// The default of ``limit``.
    ///
    /// Sixty decisions fill some six screens, which is as much as a reader takes in.
    package static let usualLimit = 60

    /// Makes options with the defaults of the command for all else.
    package init(captures: [String], site: String? = nil) {
      (self.captures, self.site) = (captures, site)
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
      let site = try options.site.map { try SiteLoader.load($0, console: console).site }
      let (findings, hasDamage) = try read(site: site, drawing: [], on: console)
      guard findings.span != nil else {
        throw CommandFailure("Nothing to explain: the capture holds no report that Pharos understands.")
      }
      for remark in findings.shared.remarks(except: findings.keepsApart) { console.say("\(remark).") }
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
      try walk.read(path) { input in try pass.process(input, from: path) }
    }
    pass.finish(tail: options.tail)
    return (pass.findings, walk.hasFailed)
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
    try FileOutput.write(picture.document.text.utf8, to: path)
    let left = report.tracksNotDrawn
    let more =
      left > 0
      ? " \(Wording.count(left, "other track")) not drawn: name one with --observer and --beacon." : ""
    console.say("\(path): \(Wording.count(panels.count, "track")) drawn.\(more)")
  }
}

/// A filter for the decisions to explain: those about one observer, one beacon or one region, or about a combination of
/// these.
struct ExplainFilter {
  /// The observer, if one was named.
  private(set) var observer: ObserverID?
  /// The beacon, if one was named.
  private(set) var beacon: BeaconID?
  /// The region or zone, if one was named.
  private(set) var region: String?

  private let zonesOfObserver: Set<String>
  private let deaf: Set<RegionKey>
  private let tracks: [TrackKey]

  /// Finds what the words of the command line mean among all that the captures hold.
  ///
  /// - Throws: a failure that lists the nearest matches of a word that means nothing here.
  init(_ options: ExplainRunner.Options, in findings: Findings) throws(CommandFailure) {
    let names = Vocabulary(findings)
    observer = try options.observerFilter.map { (text) throws(CommandFailure) in try names.observer(text) }
    beacon = try options.beacon.map { (text) throws(CommandFailure) in try names.beacon(text) }
    region = try options.region.map { (text) throws(CommandFailure) in try names.region(text) }
    var zones: Set<String> = []
    var deaf: Set<RegionKey> = []
    if let observer {
      zones = Set(findings.site.zones.filter { $0.observers.contains(observer) }.map(\.identifier))
      for application in findings.site.applications {
        for region in application.regions {
          guard case .beacon(let observers?) = region.subject, !observers.contains(observer) else { continue }
          deaf.insert(RegionKey(application: application.identifier, region: region.identifier))
        }
      }
    }
    zonesOfObserver = zones
    self.deaf = deaf
    tracks = findings.tracks.keys.filter { [observer, beacon] key in
      (observer ?? key.observer) == key.observer && (beacon ?? key.beacon) == key.beacon
    }
    .sorted()
  }

  /// Indicates whether the filter names nothing.
  var isOpen: Bool { observer == nil && beacon == nil && region == nil }

  /// The tracks that are left, in order.
  func tracks(in findings: Findings) -> [TrackKey] {
    guard let region else { return tracks }
    return tracks.filter { key in
      findings.tracks[key]?.regions.keys.contains { $0.region == region } ?? false
    }
  }

  /// Returns whether a decision passes the filter.
  func matches(_ decision: Decision) -> Bool {
    switch decision.detail {
    case .observer:
      guard let who = decision.observer, region == nil || beacon != nil else { return region == nil }
      return tracks.contains { $0.observer == who } || (beacon == nil && observer == who) || isOpen
    case .clockStep, .regionLimit:
      return true
    case .zone:
      guard beacon == nil || decision.beacon == beacon else { return false }
      guard region.map(decision.regions.contains) ?? true else { return false }
      return observer == nil || decision.regions.contains(where: zonesOfObserver.contains)
    default:
      guard beacon == nil || decision.beacon == beacon else { return false }
      guard region.map(decision.regions.contains) ?? true else { return false }
      return observer == nil || isHeard(decision)
    }
  }

  /// Returns whether the observer has a part in a decision: the decision is about it, or it counts for the region.
  private func isHeard(_ decision: Decision) -> Bool {
    if case .observer(let subject) = decision.subject { return subject == observer }
    return decision.observer == observer || decision.rows.contains { !deaf.contains($0.region) }
  }
}

/// The names of observers, beacons and regions that the command line accepts, with a guess for a name that is unknown.
struct Vocabulary {
  private let findings: Findings
  private let narrator: Narrator

  /// The maximum number of names that an error lists.
  private static let maximumNames = 6

  init(_ findings: Findings) {
    self.findings = findings
    narrator = Narrator(findings)
  }

  /// An observer by its identity or its name in the site file.
  func observer(_ text: String) throws(CommandFailure) -> ObserverID {
    let known = findings.observers
    let named = findings.site.observers.first { $0.name?.lowercased() == text.lowercased() }?.id
    let wanted = named ?? ObserverID(text)
    if let wanted, known.contains(wanted) { return wanted }
    let names = known.flatMap { [$0.description, narrator.name($0)] }
    throw failure("observer", text, "was heard", among: names, listing: known.map { label($0) })
  }

  /// A beacon by its identity, its name in the site file, or the end of its identity, as in `20/2`.
  func beacon(_ text: String) throws(CommandFailure) -> BeaconID {
    let known = findings.beacons
    if let exact = BeaconID(text), known.contains(exact) { return exact }
    let lowered = text.lowercased()
    let matches = known.filter { beacon in
      let identity = beacon.description.lowercased()
      return narrator.name(beacon).lowercased() == lowered || identity == lowered
        || identity.hasSuffix("/" + lowered) || identity.hasSuffix("@" + lowered)
        || identity == "mac:" + lowered
    }
    if matches.count == 1, let match = matches.first { return match }
    if matches.count > 1 {
      throw CommandFailure(
        "--beacon \(text) means \(matches.count) beacons: \(Vocabulary.shortened(matches.map(\.description))). "
          + "Give more of the identity.",
        status: .usage
      )
    }
    let names = known.flatMap { [$0.description, narrator.name($0), Vocabulary.ending(of: $0)] }
    throw failure("beacon", text, "has a track", among: names, listing: known.map { label($0) })
  }

  /// A region or a zone by its identifier.
  func region(_ text: String) throws(CommandFailure) -> String {
    let declared = findings.site.applications.flatMap { $0.regions.map(\.identifier) }
    let known = Set(
      findings.regions.map(\.region) + declared + findings.site.zones.map(\.identifier)
        + findings.decisions.flatMap(\.regions)
    )
    .sorted()
    if known.contains(text) { return text }
    throw failure("region or zone", text, "is known", among: known, listing: known)
  }

  private func failure(
    _ what: String,
    _ text: String,
    _ verb: String,
    among names: [String],
    listing all: [String]
  ) -> CommandFailure {
    let guess = Spelling.nearest(to: text, among: names).map { " Did you mean \($0)?" } ?? ""
    let ranked = all.sorted { left, right in
      let (near, far) = (Vocabulary.distance(text, left), Vocabulary.distance(text, right))
      return near == far ? left < right : near < far
    }
    let list =
      all.isEmpty
      ? " There is none in these captures."
      : " There \(all.count == 1 ? "is" : "are"): \(Vocabulary.shortened(ranked))."
    return CommandFailure("No \(what) called \(text) \(verb).\(guess)\(list)", status: .usage)
  }

  /// Returns the distance between a word and the nearest part of a label.
  private static func distance(_ word: String, _ label: String) -> Int {
    let parts = label.split { " ()".contains($0) }.map(String.init) + [label]
    return parts.map { Spelling.distance(word.lowercased(), $0.lowercased()) }.min() ?? .max
  }

  private func label(_ observer: ObserverID) -> String {
    let name = narrator.name(observer)
    return name == observer.description ? name : "\(name) (\(observer))"
  }

  private func label(_ beacon: BeaconID) -> String {
    let name = narrator.name(beacon)
    return name.contains("…") || name == beacon.description ? beacon.description : "\(name) (\(beacon))"
  }

  /// The end of a beacon's identity: its numbers without the UUID.
  static func ending(of beacon: BeaconID) -> String {
    beacon.description.split(separator: "/").dropFirst().joined(separator: "/")
  }

  private static func shortened(_ names: [String]) -> String {
    let shown = names.prefix(maximumNames).joined(separator: ", ")
    return names.count > maximumNames ? "\(shown) and \(names.count - maximumNames) more" : shown
  }
}
