import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// One scene of presence: a drill and what is asked of it.
struct PresenceScene: Sendable {
  /// Which section of the table it is shown in.
  enum Section: Int, Sendable, CaseIterable {
    case tags
    case groups
    case outages
  }

  /// What it is called, in the table and by `--scene`.
  let name: String
  /// Where it is shown.
  let section: Section
  /// What is played; its length is that of one part.
  let drill: Drill
  /// How often the observer hands over what it heard, all at one time, or nil if at once.
  var upload: TimeSpan?
  /// How the observer's silence is judged.
  var liveness: ObserverEntry.Liveness = .auto
  /// Into how many parts it is cut, each played with its own seed.
  let parts: Int

  /// Whether the peers' rules and the fixed time-outs are played as well.
  var hasComparators: Bool { section == .tags }
  /// Whether the targets on false exits are meant for it: those speak of up to half of the adverts lost.
  var isJudged: Bool { drill.loss.share <= 0.5 }
}

/// What came of a scene.
struct PresenceResult: Codable, Sendable {
  /// One rule's row.
  struct Row: Codable, Sendable {
    var policy: String
    var tally: PresenceTally
  }

  /// What all rules saw.
  var subjectDays = 0.0
  /// How many departures there were.
  var departures = 0
  /// Outages by kind.
  var outages: [String: Int] = [:]
  /// Ours first, the default before all, then the peers'.
  var rows: [Row] = []
  /// What fixed time-outs would have done.
  var gaps = GapTally()

  /// Adds another part of the same scene.
  mutating func add(_ other: PresenceResult) {
    subjectDays += other.subjectDays
    departures += other.departures
    outages.merge(other.outages, uniquingKeysWith: +)
    gaps.add(other.gaps)
    guard !rows.isEmpty else {
      rows = other.rows
      return
    }
    for place in rows.indices { rows[place].tally.add(other.rows[place].tally) }
  }

  /// Puts all times in order, once all parts are in.
  mutating func sort() {
    gaps.sort()
    for place in rows.indices { rows[place].tally.sort() }
  }
}
