import PharosDocuments
import PharosModel
import PharosNarration
import PharosTerminal

/// The result of a comparison: the figures, the rows that flap most, and the notes beside them.
struct ComparisonReport {
  /// What was asked for.
  let options: CompareRunner.Options
  /// The survey of the captures.
  let survey: CaptureSurvey
  /// The regions and rooms that were compared.
  let compared: ComparedSite
  /// The tallies of Pharos, of Pharos as configured if that differs, of the user's own time-out and of the peers.
  let presence: [PresenceTally]
  /// The room tallies of Pharos and of the peers; empty where there are no rooms.
  let rooms: [RoomTally]
  /// The rows that the rules flap about most, or those with most exits if none does.
  let worst: [ComparedRow]
  /// The index of the user's own time-out among the rules; Pharos has index 0.
  let yourIndex: Int
  /// The number of rows that were compared.
  let rowCount: Int
  /// The number of rows for which Pharos reported no change of state.
  let unentered: Int
  /// The number of matches that were dropped because there are too many rows.
  let rowOverflow: Int

  /// The maximum number of rows that are listed and drawn.
  static let maximumListed = 6
  /// The minimum length of the captures, in time-outs, for the figures to mean something.
  static let minimumTimeouts = 2.0
  /// The length below which captures miss returns within ten minutes.
  static let comfortable = TimeSpan.minutes(30)

  /// Sums up a comparison that has ended.
  init(
    of options: CompareRunner.Options,
    survey: CaptureSurvey,
    compared: ComparedSite,
    comparison: Comparison
  ) {
    self.options = options
    self.survey = survey
    self.compared = compared
    presence = comparison.presence
    rooms = comparison.rooms
    let rows = comparison.finder.rows
    rowCount = rows.count
    unentered = rows.count { $0.standings[0].changes.isEmpty }
    rowOverflow = comparison.finder.overflow
    yourIndex = presence.count - comparison.otherRules
    worst = ComparisonReport.worst(of: rows)
  }

  /// Indicates whether any rule reported an exit.
  var hasExits: Bool { presence.contains { $0.exits > 0 } }

  /// Indicates whether the captures last long enough for the figures to mean something.
  var isLongEnough: Bool { survey.length / options.timeout >= ComparisonReport.minimumTimeouts }

  /// The rows that flap most, one for each subject while there are as many.
  private static func worst(of rows: [ComparedRow]) -> [ComparedRow] {
    let listed = rows.filter { row in row.standings.contains { !$0.changes.isEmpty } }.sorted(by: flapsMore)
    var seen: Set<SubjectID> = []
    var (first, second): ([ComparedRow], [ComparedRow]) = ([], [])
    for row in listed {
      if seen.insert(row.key.subject).inserted { first.append(row) } else { second.append(row) }
      if first.count == maximumListed { break }
    }
    return Array((first + second).prefix(maximumListed)).sorted(by: flapsMore)
  }

  private static func flapsMore(_ left: ComparedRow, _ right: ComparedRow) -> Bool {
    if left.flaps != right.flaps { return left.flaps > right.flaps }
    if left.exits != right.exits { return left.exits > right.exits }
    if left.adverts != right.adverts { return left.adverts > right.adverts }
    if left.key.region.region != right.key.region.region {
      return left.key.region.region.utf8.lexicographicallyPrecedes(right.key.region.region.utf8)
    }
    return left.key.subject < right.key.subject
  }

  // MARK: Sentences

  /// The result in one to four sentences.
  var headline: String {
    guard rowCount > 0 else { return "Nothing to compare: \(nothingBecause)" }
    guard isLongEnough else {
      return
        "The capture lasts \(duration): no rule that waits \(options.timeout.spaced) can be judged by it. Capture half an hour "
        + "at least; a day shows everything."
    }
    let (ours, yours) = (presence[0], presence[yourIndex])
    var text = "\(sentence(of: yours, named: "Your \(options.timeout.spaced) rule")) "
    text += sentence(of: ours, named: ours.name)
    if compared.edited != nil {
      text += " \(sentence(of: presence[yourIndex - 1], named: Comparison.edited))"
    }
    guard ours.exits > 0, yours.exits > 0 else { return text }
    // Half of two or three exits is no figure to boast of, nor to fear.
    guard ours.exits >= 5, yours.exits >= 5 else { return text }
    let (mine, theirs) = (ours.delays.percentile(50), yours.delays.percentile(50))
    return text
      + " The median delay from the last advert to the exit is \(ComparisonReport.seconds(mine)) for Pharos "
      + "and \(ComparisonReport.seconds(theirs)) for your rule."
  }

  private func sentence(of rule: PresenceTally, named name: String) -> String {
    guard rule.exits > 0 else { return "\(name): no exit." }
    let exits = Wording.count(rule.exits, "exit")
    guard rule.returns > 0 else { return "\(name): \(exits), none taken back." }
    return "\(name): \(exits), \(rule.returns) taken back within ten minutes."
  }

  private var nothingBecause: String {
    if survey.adverts == 0 {
      return
        "the captures hold no iBeacon, AltBeacon or Eddystone-UID advert. `pharos inspect` says what they hold."
    }
    return "no region of the site asks about what was heard. Leave --site out to compare every beacon."
  }

  /// The amount of data that the figures are based on.
  var basis: String {
    let beacons = Wording.count(survey.beacons.count, "beacon")
    let observers = Wording.count(survey.observers.count, "observer")
    return
      "\(duration), \(Wording.count(survey.adverts, "advert")) of \(beacons) heard by \(observers); "
      + "\(Wording.count(rowCount, compared.hasOwnRegions ? "pair" : "beacon"))"
      + "\(compared.hasOwnRegions ? " of a region and a subject" : "") compared"
  }

  /// The remarks that belong beside the figures.
  var notes: [String] {
    var notes: [String] = []
    if !compared.hasOwnRegions, rowCount > 0 {
      notes.append("No regions were given, so that every beacon heard is one. With --site they are yours.")
    }
    if compared.leftOut > 0 {
      notes.append("\(Wording.count(compared.leftOut, "beacon")) with fewer adverts are left out.")
    }
    if survey.overflow > 0 {
      let maximum = CaptureSurvey.maximumIdentities
      notes.append(
        "Beyond \(maximum) beacons, \(Wording.count(survey.overflow, "advert")) were not attributed to a beacon."
      )
    }
    if rowOverflow > 0 {
      notes.append(
        "Beyond \(RowFinder.maximumRows) pairs of a region and a subject, \(rowOverflow) are left out."
      )
    }
    if unentered > 0 {
      notes.append(
        "\(unentered) of \(rowCount) \(unentered == 1 ? "was" : "were") heard too little for Pharos to enter: one advert "
          + "may be a spike."
      )
    }
    let fixed = compared.fixedRegions
    if !fixed.isEmpty {
      let names = fixed.prefix(3).joined(separator: ", ") + (fixed.count > 3 ? " …" : "")
      notes.append(
        "The site fixes the silence of \(names): \"\(Comparison.configured)\" obeys, \"\(Comparison.pharos)\" learns "
          + "it instead, as `silence: adaptive` would."
      )
    }
    if compared.edited != nil {
      notes.append(
        "\"\(Comparison.edited)\" decides by the edited site alone, without what was changed while the capture went on."
      )
    }
    let unpaired = compared.unpairedRegions
    if !unpaired.isEmpty {
      let names = unpaired.prefix(3).joined(separator: ", ") + (unpaired.count > 3 ? " …" : "")
      notes.append("Regions that only one of the two sites has are not compared: \(names).")
    }
    if presence[0].unmonitored > 0 {
      let times = presence[0].unmonitored == 1 ? "Once" : "\(presence[0].unmonitored) times"
      notes.append("\(times) Pharos said \"unmonitored\" and no exit: no observer was there that could tell.")
    }
    if isLongEnough, survey.length < ComparisonReport.comfortable {
      notes.append(
        "The captures last only \(duration): what leaves or comes back later is missed, so that the figures are low."
      )
    }
    if !rooms.isEmpty, !compared.hasOwnRooms {
      notes.append("Rooms: no zones were given, so that every observer is a room.")
    }
    return notes
  }

  /// The suggested next commands, each with its reason.
  var hints: [(reason: String, command: String)] {
    guard rowCount > 0 else { return [] }
    let capture = options.captures.joined(separator: " ")
    var hints: [(reason: String, command: String)] = []
    if let site = options.site {
      hints.append(
        ("why Pharos said so, decision by decision", "pharos explain \(capture) --site \(site)")
      )
    } else {
      hints.append(("your own regions in place of single beacons", "pharos init"))
    }
    if options.picture == nil {
      let site = options.site.map { " --site \($0)" } ?? ""
      hints.append(("the same as a picture", "pharos compare \(capture)\(site) --svg picture.svg"))
    }
    return hints
  }

  /// The length of the captures, in words.
  var duration: String {
    let seconds = Int64(survey.length.seconds.rounded())
    guard seconds >= 120 else { return "\(seconds) s" }
    let minutes = (seconds + 30) / 60
    switch minutes {
    case ..<120: return "\(minutes) min"
    case ..<2_880: return "\(minutes / 60) h \(minutes % 60) min"
    default: return "\(minutes / 1_440) days \(minutes % 1_440 / 60) h"
    }
  }

  /// A delay in seconds as tables show it: with a tenth below ten, whole above.
  static func seconds(_ span: TimeSpan) -> String {
    let tenths = Int64((span.seconds * 10).rounded())
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10) s" : "\((tenths + 5) / 10) s"
  }
}

extension ComparisonReport {
  private static let presenceTable = TextTable([
    .text("RULE", 23), .number("ENTERS", 7), .number("EXITS", 7), .number("BACK 1 MIN", 10),
    .number("BACK 10 MIN", 11), .number("DELAY p50", 9), .number("p95", 6),
  ])
  private static let roomTable = TextTable([
    .text("RULE", 24), .number("ROOM CHANGES", 13), .number("BACK 1 MIN", 11),
  ])
  private static let worstTable = TextTable([
    .text("WHO FLAPS MOST", 18), .text("REGION", 12), .number("PHAROS", 7), .number("YOURS", 7),
    .number("WORST", 9), .text("UNDER", 22),
  ])

  /// Everything for people, line by line, at most 80 columns wide.
  func lines(style: TerminalStyle = .plain) -> [String] {
    var lines = ComparisonReport.wrapped(headline)
    guard rowCount > 0 else { return lines }
    lines.append("")
    lines += ComparisonReport.wrapped("(\(basis))").map { style.paint($0, .gray) }
    lines.append("")
    if hasExits || isLongEnough {
      lines += presenceLines(style)
      if !rooms.isEmpty { lines += [""] + roomLines(style) }
    } else {
      lines.append("No rule had time to report an exit.")
    }
    let flapping = worst.filter { $0.flaps > 0 }
    if !flapping.isEmpty { lines += [""] + worstLines(flapping) }
    if !notes.isEmpty {
      lines.append("")
      for note in notes { lines += ComparisonReport.wrapped(note, behind: "- ") }
    }
    if !hints.isEmpty {
      lines += ["", "Next:"]
      for hint in hints { lines += ["  \(hint.reason)", "    \(hint.command)"] }
    }
    return lines
  }

  /// The figures of a rule as tables show them: name, enters, exits, taken back in 1 and in 10 min, delay p50 and p95, the
  /// delays empty where there was no exit.
  static func cells(_ rule: PresenceTally) -> [String] {
    let delays = [50, 95].map { rule.exits > 0 ? seconds(rule.delays.percentile($0)) : "" }
    return [rule.name, "\(rule.enters)", "\(rule.exits)", "\(rule.returnsWithinMinute)", "\(rule.returns)"]
      + delays
  }

  private func presenceLines(_ style: TerminalStyle) -> [String] {
    var lines = [ComparisonReport.presenceTable.header]
    for (index, rule) in presence.enumerated() {
      let line = ComparisonReport.presenceTable.line(ComparisonReport.cells(rule))
      lines.append(
        index == 0 ? style.paint(line, .green) : rule.returns > 0 ? style.paint(line, .yellow) : line
      )
    }
    lines.append(
      style.paint("BACK: exits that the rule took back. DELAY: from the last advert to the exit.", .gray)
    )
    return lines
  }

  private func roomLines(_ style: TerminalStyle) -> [String] {
    var lines = [ComparisonReport.roomTable.header]
    for (index, rule) in rooms.enumerated() {
      let line = ComparisonReport.roomTable.line([rule.name, "\(rule.changes)", "\(rule.returns)"])
      lines.append(index == 0 ? style.paint(line, .green) : line)
    }
    lines.append(style.paint("BACK: changes that led back to the room before within a minute.", .gray))
    return lines
  }

  private func worstLines(_ rows: [ComparedRow]) -> [String] {
    let names = SiteNames(compared.site)
    var lines = [ComparisonReport.worstTable.header]
    for row in rows {
      let maximum = row.standings.map(\.returns).max() ?? 0
      let worst = row.standings.firstIndex { $0.returns == maximum } ?? 0
      lines.append(
        ComparisonReport.worstTable.line([
          names.name(of: row.key.subject), compared.hasOwnRegions ? row.key.region.region : "",
          ComparisonReport.share(row.standings[0]), ComparisonReport.share(row.standings[yourIndex]),
          ComparisonReport.share(row.standings[worst]), presence[worst].name,
        ])
      )
    }
    lines.append("Each: exits taken back within ten minutes / all exits.")
    return lines
  }

  private static func share(_ standing: ComparedRow.Standing) -> String {
    "\(standing.returns)/\(standing.exits)"
  }

  /// Prose in lines of at most 80 columns.
  private static func wrapped(_ text: String, behind head: String = "") -> [String] {
    Paragraph.lines(ComparisonReport.glued(text), behind: head, width: TextTable.widest)
  }

  /// A text in which no line breaks between a number and its unit.
  static func glued(_ text: String) -> String {
    text.replacing(/(\d) (s|ms|min|h|days)\b/) { "\($0.1)\u{A0}\($0.2)" }
  }
}

extension ComparisonReport {
  /// The same figures for machines: one JSON object.
  ///
  /// Times are seconds; a delay that nothing was measured of is null.
  var json: String {
    JSONText.object { json in
      json.member("headline", headline)
      json.strings("captures", options.captures)
      json.member("site", ifPresent: options.site)
      json.member("first", ifPresent: survey.first?.rfc3339)
      json.member("last", ifPresent: survey.last?.rfc3339)
      json.member("seconds", survey.length.seconds, decimals: 3)
      json.member("isLongEnough", isLongEnough)
      json.member("adverts", survey.adverts)
      json.member("beacons", survey.beacons.count)
      json.member("beaconsLeftOut", compared.leftOut)
      json.member("observers", survey.observers.count)
      json.member("subjects", rowCount)
      json.objects("presence", presence) { json, rule in
        json.member("rule", rule.name)
        json.member("enters", rule.enters)
        json.member("exits", rule.exits)
        json.member("backWithinMinute", rule.returnsWithinMinute)
        json.member("backWithinTenMinutes", rule.returns)
        json.member("unmonitored", rule.unmonitored)
        let hasDelays = rule.exits > 0
        json.member("delayP50", hasDelays ? rule.delays.percentile(50).seconds : .nan, decimals: 3)
        json.member("delayP95", hasDelays ? rule.delays.percentile(95).seconds : .nan, decimals: 3)
      }
      json.objects("rooms", rooms) { json, rule in
        json.member("rule", rule.name)
        json.member("changes", rule.changes)
        json.member("backWithinMinute", rule.returns)
      }
      json.objects("worst", worst) { write($1, to: &$0) }
      json.strings("notes", notes)
    }
  }

  private func write(_ row: ComparedRow, to json: inout JSONText) {
    json.member("application", row.key.region.application)
    json.member("region", row.key.region.region)
    json.member("subject", row.key.subject.description)
    json.member("adverts", row.adverts)
    json.objects("rules", zip(presence, row.standings)) { json, rule in
      json.member("rule", rule.0.name)
      json.member("exits", rule.1.exits)
      json.member("backWithinTenMinutes", rule.1.returns)
    }
  }
}
