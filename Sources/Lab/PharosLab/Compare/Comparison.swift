import PharosComparators
import PharosModel
import PharosNarration
import PharosPipeline
import PharosPresence
import PharosTerminal

/// A run of captures through Pharos and the peers' rules in one pass, with a tally of what each rule decides.
///
/// Every rule receives an advert at its receive time (R), as in a server. A decision counts from the time at which the
/// rule reports it: `decidedAt` for Pharos, the time of the verdict for the peers. Time stops at the last packet for
/// all rules, so a subject that is inside at that time has no exit under any rule.
struct Comparison {
  /// The rows that the comparison covers.
  private(set) var finder: RowFinder
  /// The tallies of Pharos, of Pharos as configured if that differs, of Pharos with the edited site if there is one, and of
  /// the presence rules, in this order.
  private(set) var presence: [PresenceTally]
  /// The tallies of Pharos, of Pharos with the edited site if there is one, and of the room rules, in this order; empty where
  /// there are no rooms.
  private(set) var rooms: [RoomTally]

  /// The names of Pharos and of Pharos with the silences that the site fixes.
  static let (pharos, configured) = ("Pharos", "Pharos as configured")
  /// The name of Pharos with the edited site.
  static let edited = "Pharos, site edited"

  /// A pipeline, and what it decided that is not counted yet.
  private struct Engine {
    let name: String
    /// The place of its tally among those of rooms; nil if its rooms are those of another engine.
    let roomTally: Int?
    var pipeline: Pipeline
    var events: [Event] = []
    var next = 0

    init(_ name: String, _ site: Site, roomTally: Int? = nil) throws(CommandFailure) {
      (self.name, self.roomTally) = (name, roomTally)
      do throws(RegionRefusal) {
        pipeline = try Pipeline(site: site)
      } catch {
        throw CommandFailure("\(error)", status: .configuration)
      }
    }
  }

  /// The number of presence rules that are not Pharos's; the user's own is the first of them.
  var otherRules: Int { presenceRules.count }

  private let compared: ComparedSite
  private let offsets: [ObserverID: Double]
  private let zones: [String: Int32]
  private let start: Timestamp
  private let length: TimeSpan
  private var engines: [Engine]
  private var heard: HeardBeacons
  private var presenceRules: [any Comparator]
  private var roomRules: [any Comparator]
  private var verdicts: [Verdict] = []
  private var latest = Timestamp.distantPast

  /// Makes ready to play.
  ///
  /// - Parameters:
  ///   - compared: The regions and rooms to compare.
  ///   - timeout: The user's own time-out, which stands first among the others' rules.
  ///   - survey: The survey of the captures. The picture begins and ends at its times.
  /// - Throws: `CommandFailure` if an application holds more regions than it may.
  init(compared: ComparedSite, timeout: TimeSpan, survey: CaptureSurvey) throws(CommandFailure) {
    self.compared = compared
    engines = [try Engine(Comparison.pharos, compared.site, roomTally: 0)]
    if let configured = compared.configured { engines.append(try Engine(Comparison.configured, configured)) }
    if let edited = compared.edited { engines.append(try Engine(Comparison.edited, edited, roomTally: 1)) }
    presenceRules = [SilenceRule.fixed(timeout)] + ComparatorCatalog.presence()
    let observers = compared.roomObservers
    roomRules = observers.isEmpty ? [] : ComparatorCatalog.rooms(observers: observers)
    let names = ["your \(timeout.spaced)"] + presenceRules.dropFirst().map(\.name)
    presence = (engines.map(\.name) + names).map(PresenceTally.init(name:))
    let roomNames = engines.filter { $0.roomTally != nil }.map(\.name) + roomRules.map(\.name)
    rooms = roomRules.isEmpty ? [] : roomNames.map(RoomTally.init(name:))
    let finder = RowFinder(compared: compared, rules: presence.count)
    self.finder = finder
    heard = HeardBeacons(companies: compared.site.iBeaconCompanies, recordsAddresses: finder.matchesAddresses)
    offsets = Dictionary(
      compared.site.observers.filter { $0.rssiOffset != 0 }.map { ($0.id, $0.rssiOffset) },
      uniquingKeysWith: { first, _ in first }
    )
    zones = Dictionary(
      (compared.site.zones + (compared.edited?.zones ?? [])).enumerated().map { ($1.identifier, Int32($0)) },
      uniquingKeysWith: { first, _ in first }
    )
    start = survey.first ?? Timestamp(nanoseconds: 0)
    length = max(.oneNanosecond, survey.length)
  }

  /// Takes one input of a capture.
  mutating func process(_ input: PipelineInput) {
    switch input {
    case .site: return
    case .reports(let batch): process(batch)
    case .tick(let instant):
      decide { $0.process(input) }
      countVerdicts(before: .distantFuture)
      advance(to: instant)
    case .clockStep, .pause:
      decide { $0.process(input) }
      countVerdicts(before: .distantFuture)
    case .change:
      // What was changed while the recording went on is part of the site as it was; the edited one is to stay as it is.
      decide(whereEdited: false) { $0.process(input) }
      countVerdicts(before: .distantFuture)
    case .announced: return  // No rule has decided it.
    case .restored: return  // Every rule begins with nothing heard.
    }
  }

  /// Ends at the last input.
  mutating func finish() {
    decide { $0.finish() }
    countVerdicts(before: .distantFuture)
    if latest != .distantPast { advance(to: latest) }
  }

  private mutating func process(_ batch: ReportBatch) {
    decide { $0.ingest(batch) }
    for report in batch.reports {
      countVerdicts(before: report.received)
      receive(report, in: batch)
    }
    countVerdicts(before: .distantFuture)
  }

  private mutating func advance(to time: Timestamp) {
    latest = max(latest, time)
    for rule in presenceRules.indices {
      presenceRules[rule].advance(to: latest, into: &verdicts)
      drainPresence(rule)
    }
    for rule in roomRules.indices {
      roomRules[rule].advance(to: latest, into: &verdicts)
      drainRooms(rule)
    }
  }

  // MARK: The others

  private mutating func receive(_ report: Report, in batch: borrowing ReportBatch) {
    guard batch.observers.indices.contains(Int(report.observer)) else { return }
    latest = max(latest, report.received)
    heard.find(in: report, of: batch)
    guard !heard.found.isEmpty else { return }
    let observer = batch.observers[Int(report.observer)]
    for identity in heard.found {
      let match = finder.match(identity.beacon, address: report.lastingAddress, observer: observer)
      for row in match.rows { receive(row: row, level: report.level) }
      guard let beacon = match.roomBeacon, let number = compared.roomNumbers[observer] else { continue }
      guard let level = report.level else { continue }
      receiveRooms(
        Sighting(
          observer: number,
          beacon: Int32(beacon),
          time: latest,
          level: level + (offsets[observer] ?? 0),
          measuredPower: identity.measuredPower ?? Comparison.usualPower
        )
      )
    }
  }

  /// The assumed level at one metre of a beacon that does not report it: the most common setting.
  ///
  /// - Units: dBm.
  private static let usualPower = -59.0

  private mutating func receive(row: Int, level: Double?) {
    let sighting = Sighting(
      observer: 0,
      beacon: Int32(row),
      time: latest,
      level: level ?? Comparison.usualPower,
      measuredPower: Comparison.usualPower
    )
    for rule in presenceRules.indices {
      presenceRules[rule].heard(sighting, into: &verdicts)
      if !verdicts.isEmpty { drainPresence(rule) }
    }
    let (time, share) = (latest, (latest - start) / length)
    finder.withRow(row) { row in
      row.adverts += 1
      row.lastHeard = time
      row.columns.mark(at: share)
    }
  }

  private mutating func drainPresence(_ rule: Int) {
    for verdict in verdicts {
      let state: RegionState
      switch verdict.change {
      case .enter: state = .inside
      case .exit: state = .outside
      case .room: continue
      }
      record(state, at: verdict.time, row: Int(verdict.beacon), rule: rule + engines.count)
    }
    verdicts.removeAll(keepingCapacity: true)
  }

  private mutating func receiveRooms(_ sighting: Sighting) {
    for rule in roomRules.indices {
      roomRules[rule].heard(sighting, into: &verdicts)
      if !verdicts.isEmpty { drainRooms(rule) }
    }
  }

  private mutating func drainRooms(_ rule: Int) {
    for verdict in verdicts {
      guard case .room(let room) = verdict.change else { continue }
      rooms[rule + rooms.count - roomRules.count].record(room, of: Int(verdict.beacon), at: verdict.time)
    }
    verdicts.removeAll(keepingCapacity: true)
  }

  // MARK: Pharos

  private mutating func decide(whereEdited: Bool = true, _ run: (inout Pipeline) -> [Event]) {
    for engine in engines.indices where whereEdited || engines[engine].name != Comparison.edited {
      engines[engine].events = run(&engines[engine].pipeline)
      engines[engine].next = 0
    }
  }

  /// Counts what was decided before an instant: before the adverts of that instant are heard.
  private mutating func countVerdicts(before instant: Timestamp) {
    for engine in engines.indices {
      while engines[engine].next < engines[engine].events.count {
        let event = engines[engine].events[engines[engine].next]
        guard event.decidedAt < instant else { break }
        engines[engine].next += 1
        record(event, of: engine)
      }
    }
  }

  private mutating func record(_ event: Event, of engine: Int) {
    switch event.detail {
    case .region(let transition) where event.kind == .regionState && !transition.isAnswer:
      let region = RegionKey(application: event.application, region: event.region)
      guard let row = finder.row(RowKey(region: region, subject: event.subject)) else { return }
      record(transition.to, at: event.decidedAt, row: row, rule: engine)
    case .zone where event.kind == .zoneEnter:
      guard let tally = engines[engine].roomTally else { return }
      guard case .beacon(let beacon) = event.subject, let number = finder.roomBeacons[beacon] else { return }
      guard !rooms.isEmpty, let room = zones[event.region] else { return }
      rooms[tally].record(room, of: number, at: event.decidedAt)
    default: return
    }
  }

  private mutating func record(_ state: RegionState, at time: Timestamp, row: Int, rule: Int) {
    finder.withRow(row) { presence[rule].record(state, at: time, of: &$0, rule: rule) }
  }
}

extension TimeSpan {
  /// As ``written``, with a space before the unit, as prose has it: `30 s`.
  var spaced: String {
    let text = written
    let number = text.prefix { $0.isNumber || $0 == "." || $0 == "-" }
    let unit = text.dropFirst(number.count)
    return "\(number) \(unit == "m" ? "min" : unit)"
  }
}

/// The counts of one presence rule, over all rows.
struct PresenceTally {
  let name: String
  /// The number of enters that the rule reported.
  private(set) var enters = 0
  /// The number of exits that the rule reported.
  private(set) var exits = 0
  /// The number of exits that the rule took back within a minute.
  private(set) var returnsWithinMinute = 0
  /// The number of exits that the rule took back within ten minutes.
  private(set) var returns = 0
  /// The number of times that the rule reported the state unmonitored.
  private(set) var unmonitored = 0
  /// The delays from the last advert to the exit.
  private(set) var delays = LatenessHistogram()

  /// The most changes of mind that are kept for drawing, over all rows.
  static let maximumKept = 200_000
  /// A return within this time was most likely no departure.
  static let minute = TimeSpan.minutes(1)
  /// A return within this time is counted at all.
  static let tenMinutes = TimeSpan.minutes(10)

  private var kept = 0

  init(name: String) { self.name = name }

  /// Records a change of state that this rule reports for a row.
  ///
  /// - Parameters:
  ///   - state: The new state.
  ///   - time: The time at which the rule reported it.
  ///   - row: The row, which holds the region and the subject.
  ///   - rule: The index of the rule among the row's standings.
  mutating func record(_ state: RegionState, at time: Timestamp, of row: inout ComparedRow, rule: Int) {
    switch state {
    case .inside:
      if !row.standings[rule].isInside { enter(at: time, &row.standings[rule]) }
    case .outside:
      guard row.standings[rule].isInside else { break }
      exits += 1
      if let heard = row.lastHeard { delays.record(time - heard) }
      row.standings[rule].isInside = false
      row.standings[rule].leftAt = time
      row.standings[rule].exits += 1
    case .unmonitored: unmonitored += 1
    case .unknown: return
    }
    guard kept < PresenceTally.maximumKept, row.standings[rule].changes.count < ComparedRow.maximumChanges
    else {
      row.standings[rule].isCut = true
      return
    }
    kept += 1
    row.standings[rule].changes.append(ComparedRow.Change(time: time, state: state))
  }

  private mutating func enter(at time: Timestamp, _ standing: inout ComparedRow.Standing) {
    enters += 1
    standing.isInside = true
    guard let left = standing.leftAt else { return }
    standing.leftAt = nil
    guard time - left <= PresenceTally.tenMinutes else { return }
    returns += 1
    standing.returns += 1
    if time - left <= PresenceTally.minute { returnsWithinMinute += 1 }
    if let last = standing.changes.last, last.time == left {
      standing.changes[standing.changes.count - 1].cameBackAfter = time - left
    }
  }
}

/// The counts of one room rule, over all beacons.
struct RoomTally {
  let name: String
  /// The number of times that the rule moved a beacon from one room to another.
  private(set) var changes = 0
  /// The number of changes that led back, within a minute, to the previous room.
  private(set) var returns = 0

  private struct Place {
    var room: Int32?
    var before: Int32?
    var since = Timestamp.distantPast
  }

  private var places: [Place] = []

  init(name: String) { self.name = name }

  /// Records the room that the rule assigns to a beacon from `time` on.
  ///
  /// A room of nil means no room. It does not count as a change of room.
  mutating func record(_ room: Int32?, of beacon: Int, at time: Timestamp) {
    while places.count <= beacon { places.append(Place()) }
    guard let room, room != places[beacon].room else { return }
    if let last = places[beacon].room {
      changes += 1
      if places[beacon].before == room, time - places[beacon].since <= PresenceTally.minute { returns += 1 }
      places[beacon].before = last
    }
    places[beacon].room = room
    places[beacon].since = time
  }
}
