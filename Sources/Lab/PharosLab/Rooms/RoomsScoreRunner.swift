import PharosDocuments
import PharosModel
import PharosRooms
import PharosSite
package import PharosTerminal

/// `pharos rooms score`: reports which zones were taken for which, and where another gateway would help.
package struct RoomsScoreRunner: Sendable {
  /// The format of the figures.
  package enum Format: String, CaseIterable, Sendable {
    /// A table, for people.
    case table
    /// One JSON object, for machines.
    case json
  }

  /// The options of `pharos rooms score`.
  package struct Options: Sendable {
    /// The captures, parts of one in the order given.
    package var captures: [String]
    /// The site file.
    package var site: String
    /// The file of stays.
    package var stays: String
    /// The format of the figures.
    package var format = Format.table

    /// Makes options with the defaults of the command for all else.
    package init(captures: [String], site: String, stays: String) {
      (self.captures, self.site, self.stays) = (captures, site, stays)
    }
  }

  /// The number of pairs of zones that the table names.
  private static let maximumMistakes = 5
  private static let table = TextTable([
    .text("ZONE", 20), .number("TIME", 10), .number("RIGHT", 8), .text("TAKEN FOR", 39),
  ])

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Decides again, and prints the figures.
  ///
  /// - Returns: 0; 1 if a file cannot be read; 78 if the site file is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let site = try SiteLoader.load(options.site, console: console).site
      let known = try LabelledStays(path: options.stays).known(to: site)
      for zone in known.missing.sorted() {
        console.say("\(options.stays): zone \"\(zone)\" is not in \(options.site).")
      }
      let (pass, hasFailed) = try RoomsPass.over(
        options.captures,
        site: site,
        stays: known.stays,
        console: console
      )
      var score = RoomsScore()
      for stay in known.stays { score.add(pass.zones(of: stay), in: stay.zone) }
      let declared = site.zones.compactMap { zone in zone.fingerprint.map { (zone.identifier, $0) } }
      let fingerprints = Dictionary(declared) { first, _ in first }
        .merging(pass.learner.fingerprints) { declared, _ in declared }
      switch options.format {
      case .table: for line in lines(score, fingerprints, SiteNames(site)) { try console.print(line) }
      case .json: try console.print(json(score, fingerprints))
      }
      try console.output.flush()
      return hasFailed ? .failure : .success
    }
  }

  private func lines(
    _ score: RoomsScore,
    _ fingerprints: [String: ZoneFingerprint],
    _ names: SiteNames
  ) -> [String] {
    func share(_ part: TimeSpan, of all: TimeSpan) -> String {
      "\(Wording.decimal(100 * part.seconds / max(all.seconds, 1e-9), places: 1)) %"
    }
    var lines = [RoomsScoreRunner.table.header]
    for (zone, row) in score.matrix.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
      let all = row.values.reduce(.zero, +)
      let others = row.filter { $0.key != zone }.sorted {
        ($1.value, $0.key ?? "") < ($0.value, $1.key ?? "")
      }
      let mistaken = others.map { "\($0.key ?? "none") \(share($0.value, of: all))" }.joined(separator: ", ")
      let cells = [
        zone ?? "none", "\(Wording.decimal(all.seconds, places: 1)) s", share(row[zone] ?? .zero, of: all),
        mistaken,
      ]
      lines.append(RoomsScoreRunner.table.line(cells, isWhole: true))
    }
    let total = score.total
    lines.append(
      "Right: \(share(total.right, of: total.all)) of \(Wording.decimal(total.all.seconds, places: 1)) s."
    )
    for mistake in score.mistakes.prefix(RoomsScoreRunner.maximumMistakes) {
      let (one, other) = mistake.zones
      var line =
        "\(one) and \(other) were mistaken for \(Wording.decimal(mistake.time.seconds, places: 1)) s."
      if let first = fingerprints[one], let second = fingerprints[other] {
        line += ZoneSeparation(first, second).sentence(names)
      }
      lines.append(line)
    }
    return lines
  }

  private func json(_ score: RoomsScore, _ fingerprints: [String: ZoneFingerprint]) -> String {
    JSONText.object { json in
      json.member("seconds", score.total.all.seconds)
      json.member("rightSeconds", score.total.right.seconds)
      let rows = score.matrix.sorted { ($0.key ?? "") < ($1.key ?? "") }
      json.objects("zones", rows) { json, row in
        if let zone = row.key { json.member("zone", zone) }
        json.objects("decided", row.value.sorted { ($0.key ?? "") < ($1.key ?? "") }) { json, cell in
          if let zone = cell.key { json.member("zone", zone) }
          json.member("seconds", cell.value.seconds)
        }
      }
      json.objects("mistaken", score.mistakes) { json, mistake in
        json.strings("zones", [mistake.zones.0, mistake.zones.1])
        json.member("seconds", mistake.time.seconds)
        guard let first = fingerprints[mistake.zones.0], let second = fingerprints[mistake.zones.1] else {
          return
        }
        json.objects("observers", ZoneSeparation(first, second).pairs) { json, pair in
          json.strings("pair", ["\(pair.observers.0)", "\(pair.observers.1)"])
          json.member("deviationsApart", pair.distance, decimals: 2)
        }
      }
    }
  }
}

extension ZoneSeparation {
  /// Sentences on the best and the worst pair of observers.
  fileprivate func sentence(_ names: SiteNames) -> String {
    func name(_ pair: Pair) -> String {
      let (one, other) = (
        names.name(of: .observer(pair.observers.0)), names.name(of: .observer(pair.observers.1))
      )
      return "\(one) and \(other) by \(Wording.decimal(pair.distance, places: 1)) deviations"
    }
    guard let best = pairs.first, let worst = pairs.last else {
      return " One gateway alone hears them: add another."
    }
    let others = pairs.count > 1 ? ", \(name(worst)) least" : ""
    let advice =
      best.distance < ZoneSeparation.clear ? ". A gateway more in one of them would separate them" : ""
    return " Best separated by \(name(best))\(others)\(advice)."
  }
}
