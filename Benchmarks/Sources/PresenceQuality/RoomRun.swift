import PharosComparators
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// One scene of rooms.
struct RoomScene: Sendable {
  /// What is played; its length is that of one part.
  let drill: RoomDrill
  /// Into how many parts it is cut, each played with its own seed.
  let parts: Int

  /// What it is called.
  var name: String { drill.name }
  /// Whether tags lie still, so that each change of room is one too many.
  var isStill: Bool { drill.rest == nil }
}

/// What came of a scene of rooms.
struct RoomResult: Codable, Sendable {
  /// One rule's row.
  struct Row: Codable, Sendable {
    var policy: String
    var tally: RoomTally
  }

  /// Ours first.
  var rows: [Row] = []

  /// Adds another part of the same scene.
  mutating func add(_ other: RoomResult) {
    guard !rows.isEmpty else {
      rows = other.rows
      return
    }
    for place in rows.indices { rows[place].tally.add(other.rows[place].tally) }
  }

  /// Puts all times in order, once all parts are in.
  mutating func sort() {
    for place in rows.indices {
      rows[place].tally.changeDelays.sort()
      rows[place].tally.firstDelays.sort()
    }
  }
}

/// Plays one part of a scene of rooms before Pharos and before the peers' rules, on the same adverts.
struct RoomRun {
  private let drill: RoomDrill
  private var pharos: PharosUnderTest
  private var comparators: [any Comparator]
  private var truth: [RoomTrace]
  private var ours: [RoomTrace]
  private var theirs: [[RoomTrace]]
  private var verdicts: [Verdict] = []
  private let places: [String: Int]

  init(_ scene: RoomScene) throws {
    let drill = scene.drill
    self.drill = drill
    pharos = try PharosUnderTest(
      policies: [PresencePolicy()],
      observers: drill.observers.count,
      subjects: drill.subjects,
      registered: drill.subjects,
      zones: { RoomRun.zones(of: drill, observers: $0) }
    )
    comparators = ComparatorCatalog.rooms(
      placed: drill.observers.map { station in
        ComparatorObserver(
          room: Int32(station.room),
          floor: drill.rooms[station.room].floor,
          place: (station.x, station.y)
        )
      }
    )
    let none = Array(repeating: RoomTrace(), count: drill.subjects)
    truth = none
    ours = none
    theirs = comparators.map { _ in none }
    places = Dictionary(uniqueKeysWithValues: drill.rooms.enumerated().map { ($1.name, $0) })
  }

  /// Plays the part with a seed.
  mutating func play(seed: UInt64) -> RoomResult {
    var play = drill.play(seed: seed)
    while let item = play.next() { process(item) }
    for event in pharos.finish(tail: .zero) { record(event) }
    let end = Drill.start + drill.length
    var result = RoomResult()
    result.rows.append(RoomResult.Row(policy: "Pharos", tally: judge(ours, until: end)))
    for place in comparators.indices {
      advance(place, to: end)
      let tally = judge(theirs[place], until: end)
      result.rows.append(RoomResult.Row(policy: comparators[place].name, tally: tally))
    }
    return result
  }

  private static func zones(of drill: RoomDrill, observers: [ObserverID]) -> [Zone] {
    drill.rooms.enumerated().map { number, room in
      Zone(
        identifier: room.name,
        observers: drill.observers.indices.filter { drill.observers[$0].room == number }.map {
          observers[$0]
        },
        floor: room.floor,
        adjacent: room.neighbours.map { drill.rooms[$0].name }
      )
    }
  }

  private func judge(_ traces: [RoomTrace], until end: Timestamp) -> RoomTally {
    var tally = RoomTally()
    for subject in truth.indices { tally.add(truth[subject].judge(traces[subject], until: end)) }
    return tally
  }

  private mutating func process(_ item: DrillItem) {
    if let events = pharos.process(item) {
      for event in events { record(event) }
    }
    switch item {
    case .advert(let subject, let observer, let time, let level):
      let sighting = Sighting(
        observer: observer,
        beacon: subject,
        time: time,
        level: Double(level.dBm),
        measuredPower: RoomDrill.measuredPower
      )
      for place in comparators.indices {
        comparators[place].heard(sighting, into: &verdicts)
        if !verdicts.isEmpty { recordVerdicts(of: place) }
      }
    case .room(let subject, let time, let room):
      truth[Int(subject)].move(to: Int(room), at: time)
    case .heartbeat(let observer, let time, _) where observer == 0:
      for place in comparators.indices { advance(place, to: time) }
    case .heartbeat, .boot, .came, .left, .outage: break
    }
  }

  private mutating func record(_ event: Event) {
    guard event.kind == .zoneEnter || event.kind == .zoneExit else { return }
    guard let subject = PharosUnderTest.subject(of: event) else { return }
    let room = event.kind == .zoneEnter ? places[event.region] : nil
    ours[subject].move(to: room, at: event.decidedAt)
  }

  private mutating func advance(_ place: Int, to time: Timestamp) {
    comparators[place].advance(to: time, into: &verdicts)
    if !verdicts.isEmpty { recordVerdicts(of: place) }
  }

  private mutating func recordVerdicts(of place: Int) {
    for verdict in verdicts {
      guard case .room(let room) = verdict.change else { continue }
      theirs[place][Int(verdict.beacon)].move(to: room.map { Int($0) }, at: verdict.time)
    }
    verdicts.removeAll(keepingCapacity: true)
  }
}
