import PharosReports

/// What came of a comparison: the figures, the rows that flap most, and what must be said beside them.
struct ComparisonReport {
  /// The captures, as they were named.
  let captures: [String]
  /// The site file, as it was named.
  let sitePath: String?
  /// Whether a picture is drawn as well.
  let hasPicture: Bool
  /// The user's own time-out.
  let timeout: TimeSpan
  /// What the captures hold.
  let survey: CaptureSurvey
  /// What was compared.
  let compared: ComparedSite
  /// How Pharos did, then the user's own time-out, then the peers.
  let presence: [PresenceTally]
  /// How Pharos did with rooms, then the peers; empty where there are no rooms.
  let rooms: [RoomTally]
  /// The rows that the rules flap about most, or those with most exits if none does.
  let worst: [ComparedRow]
  /// Where the user's own time-out stands among the rules; Pharos is the first.
  let yourIndex: Int
  /// How many rows were compared.
  let rowCount: Int
  /// How many of them some rule entered, but Pharos did not.
  let unentered: Int
  /// How many were left out because there are too many.
  let rowOverflow: Int

  /// How many rows are listed and drawn.
  static let mostListed = 6
  /// What lasts fewer time-outs than this says nothing about them.
  static let fewestTimeouts = 2.0
  /// What is shorter misses returns within ten minutes.
  static let comfortable = TimeSpan.minutes(30)

  /// Sums up a comparison that has ended.
  init(
    of options: CompareRunner.Options,
    survey: CaptureSurvey,
    compared: ComparedSite,
    comparison: Comparison
  ) {
    captures = options.captures
    sitePath = options.site
    hasPicture = options.picture != nil
    timeout = options.timeout
    self.survey = survey
    self.compared = compared
    presence = comparison.presence
    rooms = comparison.rooms
    let rows = comparison.finder.rows
    rowCount = rows.count
    unentered = rows.count { $0.standings[0].changes.isEmpty }
    rowOverflow = comparison.finder.overflow
    yourIndex = comparison.presence.count - comparison.otherRules
    worst = ComparisonReport.worst(of: rows)
  }

  /// Whether some rule said that somebody left.
  var hasExits: Bool { presence.contains { $0.exits > 0 } }

  /// Whether the captures last long enough for the figures to mean something.
  var isLongEnough: Bool { survey.length / timeout >= ComparisonReport.fewestTimeouts }

  /// The rows that flap most, one for each subject while there are as many.
  private static func worst(of rows: [ComparedRow]) -> [ComparedRow] {
    let told = rows.filter { row in row.standings.contains { !$0.changes.isEmpty } }.sorted(by: flapsMore)
    var seen: Set<SubjectID> = []
    var (first, second): ([ComparedRow], [ComparedRow]) = ([], [])
    for row in told {
      if seen.insert(row.subject).inserted { first.append(row) } else { second.append(row) }
      if first.count == mostListed { break }
    }
    return Array((first + second).prefix(mostListed)).sorted(by: flapsMore)
  }

  private static func flapsMore(_ left: ComparedRow, _ right: ComparedRow) -> Bool {
    if left.flaps != right.flaps { return left.flaps > right.flaps }
    if left.exits != right.exits { return left.exits > right.exits }
    if left.adverts != right.adverts { return left.adverts > right.adverts }
    if left.region != right.region { return left.region.utf8.lexicographicallyPrecedes(right.region.utf8) }
    return left.subject < right.subject
  }

  // MARK: Sentences

  /// What it comes to, in a sentence or three.
  var headline: String {
    guard rowCount > 0 else { return "Nothing to compare: \(nothingBecause)" }
    guard isLongEnough else {
      return
        "The capture lasts \(duration): no rule that waits \(timeout.spaced) can be judged by it. Capture half an hour "
        + "at least; a day shows everything."
    }
    let (ours, yours) = (presence[0], presence[yourIndex])
    var text = "\(sentence(of: yours, named: "Your \(timeout.spaced) rule")) "
    text += sentence(of: ours, named: ours.name)
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
    let exits = CheckRunner.count(rule.exits, "exit")
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

  /// What the figures are made from.
  var basis: String {
    let beacons = CheckRunner.count(survey.beacons.count, "beacon")
    let observers = CheckRunner.count(survey.observers.count, "observer")
    return
      "\(duration), \(CheckRunner.count(survey.adverts, "advert")) of \(beacons) heard by \(observers); "
      + "\(CheckRunner.count(rowCount, compared.hasOwnRegions ? "pair" : "beacon"))"
      + "\(compared.hasOwnRegions ? " of a region and a subject" : "") compared"
  }

  /// What must be said beside the figures.
  var notes: [String] {
    var notes: [String] = []
    if !compared.hasOwnRegions, rowCount > 0 {
      notes.append("No regions were given, so that every beacon heard is one. With --site they are yours.")
    }
    if compared.leftOut > 0 {
      notes.append("\(CheckRunner.count(compared.leftOut, "beacon")) with fewer adverts are left out.")
    }
    if survey.overflow > 0 {
      let most = CaptureSurvey.mostIdentities
      notes.append(
        "Beyond \(most) beacons, \(CheckRunner.count(survey.overflow, "advert")) were not told apart."
      )
    }
    if rowOverflow > 0 {
      notes.append(
        "Beyond \(RowFinder.mostRows) pairs of a region and a subject, \(rowOverflow) are left out."
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

  /// What to do next: what it is good for, and the command.
  var hints: [(reason: String, command: String)] {
    guard rowCount > 0 else { return [] }
    let capture = captures.joined(separator: " ")
    var hints: [(reason: String, command: String)] = []
    if let sitePath {
      hints.append(
        ("why Pharos said so, decision by decision", "pharos explain \(capture) --site \(sitePath)")
      )
    } else {
      hints.append(("your own regions in place of single beacons", "pharos init"))
    }
    if !hasPicture {
      let site = sitePath.map { " --site \($0)" } ?? ""
      hints.append(("the same as a picture", "pharos compare \(capture)\(site) --svg picture.svg"))
    }
    return hints
  }

  /// How long the captures last.
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
