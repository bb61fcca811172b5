import GRDB
package import PharosModel

extension Journal {
  /// Returns the published state according to the rows that changed after a sequence.
  ///
  /// The change of a withheld event belongs to the sequence after the last one published before it, so a checkpoint
  /// that covers the change may find it here again.
  ///
  /// - Parameter sequence: the last sequence whose changes are known already; 0 gives all rows.
  /// - Returns: the state in the rows.
  /// - Throws: ``JournalError``.
  package func publishedState(after sequence: Int64 = 0) throws(JournalError) -> PublishedState {
    var told = try read { database in
      var told = PublishedState()
      var reader = RowReader(journal: self, database: database)
      told.regions = try reader.regions(after: sequence)
      told.zones = try reader.zones(after: sequence)
      told.observers = try reader.observers(after: sequence)
      told.sort()
      return told
    }
    try addStays(after: sequence, to: &told)
    return told
  }

  /// Adds the visits and the thresholds of zones, which have no rows: the events themselves say how they stand.
  private func addStays(after sequence: Int64, to told: inout PublishedState) throws(JournalError) {
    let filter = EventFilter(kinds: [.visitArrive, .visitDepart, .zoneOccupancy])
    var last = sequence
    while true {
      let page = try events(after: last, matching: filter, limit: Journal.stayPage)
      for entry in page { told.note(entry.event) }
      guard let end = page.last, page.count == Journal.stayPage else { break }
      last = end.sequence
    }
    // A visit that has ended matters only to a reader that knows that it began.
    if sequence == 0 { told.visits.removeAll { $0.visit.departure != nil } }
  }

  private static let stayPage = 1_024
}

/// A reader of rows that looks up each name once.
private struct RowReader {
  let journal: Journal
  let database: Database
  private var names: [Int64: EventName] = [:]

  init(journal: Journal, database: Database) {
    self.journal = journal
    self.database = database
  }

  mutating func regions(after sequence: Int64) throws -> [PublishedState.RegionRecord] {
    let sql = """
      SELECT application, region, subject, state, known, entered, refinement, observer, time, decided
      FROM region_rows WHERE changed > ?
      """
    return try RowReader.records(sql, after: sequence, in: database) { row in
      guard let state = RegionState(rawValue: UInt8(truncatingIfNeeded: row.number(3))),
        let known = RegionState(rawValue: UInt8(truncatingIfNeeded: row.number(4)))
      else { throw DamagedRecord(what: "a row with the state \(row.number(3))") }
      return PublishedState.RegionRecord(
        application: try text(row.number(0)),
        region: try text(row.number(1)),
        subject: try subject(row.number(2)),
        state: state,
        lastKnown: known,
        enteredAt: row.optional(5).map { Timestamp(nanoseconds: $0) },
        refinement: try row.optional(6).map { try beacon($0) },
        observer: try row.optional(7).map { try observer($0) },
        time: Timestamp(nanoseconds: row.number(8)),
        decidedAt: Timestamp(nanoseconds: row.number(9))
      )
    }
  }

  mutating func zones(after sequence: Int64) throws -> [PublishedState.ZoneRecord] {
    let sql = "SELECT beacon, zone, time, decided, unmonitored FROM zone_rows WHERE changed > ?"
    return try RowReader.records(sql, after: sequence, in: database) { row in
      PublishedState.ZoneRecord(
        beacon: try beacon(row.number(0)),
        zone: try row.optional(1).map { try text($0) },
        isUnmonitored: row.number(4) != 0,
        time: Timestamp(nanoseconds: row.number(2)),
        decidedAt: Timestamp(nanoseconds: row.number(3))
      )
    }
  }

  mutating func observers(after sequence: Int64) throws -> [PublishedState.ObserverRecord] {
    let sql = "SELECT observer, up, time, decided FROM observer_rows WHERE changed > ?"
    return try RowReader.records(sql, after: sequence, in: database) { row in
      PublishedState.ObserverRecord(
        observer: try observer(row.number(0)),
        isUp: row.number(1) != 0,
        time: Timestamp(nanoseconds: row.number(2)),
        decidedAt: Timestamp(nanoseconds: row.number(3))
      )
    }
  }

  private static func records<Record>(
    _ sql: String,
    after sequence: Int64,
    in database: Database,
    _ read: (PreparedStatement) throws -> Record
  ) throws -> [Record] {
    let row = try PreparedStatement(cachedBy: database, sql)
    defer { row.reset() }
    row.bind(sequence, at: 1)
    var records: [Record] = []
    while try row.next() { records.append(try read(row)) }
    return records
  }

  private mutating func name(_ key: Int64) throws -> EventName {
    if let name = names[key] { return name }
    let name = try EventName.named(key, in: database)
    names[key] = name
    return name
  }

  private mutating func text(_ key: Int64) throws -> String {
    guard key != 0 else { return "" }
    guard case .text(let text) = try name(key) else { throw DamagedRecord(what: "name \(key) is no text") }
    return text
  }

  private mutating func beacon(_ key: Int64) throws -> BeaconID {
    guard case .beacon(let beacon) = try name(key) else {
      throw DamagedRecord(what: "name \(key) is no beacon")
    }
    return beacon
  }

  private mutating func observer(_ key: Int64) throws -> ObserverID {
    guard case .observer(let observer) = try name(key) else {
      throw DamagedRecord(what: "name \(key) is no observer")
    }
    return observer
  }

  private mutating func subject(_ key: Int64) throws -> SubjectID {
    guard key != 0 else { return .none }
    switch try name(key) {
    case .observer(let observer): return .observer(observer)
    case .beacon(let beacon): return .beacon(beacon)
    case .text: throw DamagedRecord(what: "name \(key) is no subject")
    }
  }
}

/// The statements that update the rows of the published state, as `PublishedState` updates its entries.
struct RowStatements {
  private let known: PreparedStatement
  private let region: PreparedStatement
  private let zone: PreparedStatement
  private let observer: PreparedStatement

  init(_ database: Database) throws {
    known = try PreparedStatement(
      database,
      "SELECT known, entered FROM region_rows WHERE application = ? AND region = ? AND subject = ?"
    )
    region = try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO region_rows
        (application, region, subject, state, known, entered, refinement, observer, time, decided, changed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    )
    zone = try PreparedStatement(
      database,
      """
      INSERT INTO zone_rows (beacon, zone, time, decided, changed, unmonitored) VALUES (?1, ?2, ?3, ?4, ?5, ?7)
      ON CONFLICT (beacon) DO UPDATE SET zone = ?2, time = ?3, decided = ?4, changed = ?5, unmonitored = ?7
      WHERE ?2 IS NOT NULL OR zone IS NULL OR zone = ?6
      """
    )
    observer = try PreparedStatement(
      database,
      """
      INSERT INTO observer_rows (observer, up, time, decided, changed) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (observer) DO UPDATE SET up = ?2, time = ?3, decided = ?4, changed = ?5
      """
    )
  }

  /// Updates the row that an event is about, if it is about one.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - keys: the numbers of the names in its record, in their order.
  ///   - changed: the sequence that the change belongs to.
  /// - Throws: an error of the database.
  func note(_ event: Event, keys: [Int64], changed: Int64) throws {
    switch (event.kind, event.detail) {
    case (.regionState, .region(let transition)) where !transition.isAnswer:
      try note(event, transition, RowKeys(event, keys), changed)
    case (.zoneEnter, _), (.zoneExit, _), (.zoneUnmonitored, _), (.zoneMonitored, _):
      guard case .beacon = event.subject else { return }
      let row = RowKeys(event, keys)
      zone.bind(row.subject, at: 1)
      zone.bind(event.kind == .zoneExit ? nil : row.region, at: 2)
      zone.bind(event.time.nanoseconds, at: 3)
      zone.bind(event.decidedAt.nanoseconds, at: 4)
      zone.bind(changed, at: 5)
      zone.bind(row.region, at: 6)
      zone.bind(event.kind == .zoneUnmonitored ? 1 : 0, at: 7)
      try zone.run()
    case (.observerOnline, _), (.observerOffline, _):
      guard case .observer = event.subject else { return }
      observer.bind(RowKeys(event, keys).subject, at: 1)
      observer.bind(event.kind == .observerOnline ? 1 : 0, at: 2)
      observer.bind(event.time.nanoseconds, at: 3)
      observer.bind(event.decidedAt.nanoseconds, at: 4)
      observer.bind(changed, at: 5)
      try observer.run()
    default: break
    }
  }

  private func note(
    _ event: Event,
    _ transition: RegionTransition,
    _ row: RowKeys,
    _ changed: Int64
  ) throws {
    let next = LastKnownRegion(transition, at: event.time, after: try lastKnown(row))
    region.bind(row.application, at: 1)
    region.bind(row.region, at: 2)
    region.bind(row.subject, at: 3)
    region.bind(Int64(transition.to.rawValue), at: 4)
    region.bind(Int64(next.state.rawValue), at: 5)
    region.bind(next.enteredAt?.nanoseconds, at: 6)
    region.bind(transition.refinement == nil ? nil : row.rest.first, at: 7)
    region.bind(transition.observer == nil ? nil : row.rest.last, at: 8)
    region.bind(event.time.nanoseconds, at: 9)
    region.bind(event.decidedAt.nanoseconds, at: 10)
    region.bind(changed, at: 11)
    try region.run()
  }

  private func lastKnown(_ row: RowKeys) throws -> LastKnownRegion? {
    known.bind(row.application, at: 1)
    known.bind(row.region, at: 2)
    known.bind(row.subject, at: 3)
    defer { known.reset() }
    guard try known.next() else { return nil }
    guard let state = RegionState(rawValue: UInt8(truncatingIfNeeded: known.number(0))) else {
      throw DamagedRecord(what: "a row with the state \(known.number(0))")
    }
    return LastKnownRegion(state: state, enteredAt: known.optional(1).map { Timestamp(nanoseconds: $0) })
  }
}

/// The numbers of the names in a record, by what they name; 0 where there is none.
private struct RowKeys {
  var subject: Int64 = 0
  var application: Int64 = 0
  var region: Int64 = 0
  /// The names of the detail: a region's refinement, then its observer.
  var rest: ArraySlice<Int64>

  init(_ event: Event, _ keys: [Int64]) {
    rest = keys[...]
    if event.subject != .none { subject = rest.popFirst() ?? 0 }
    if !event.application.isEmpty { application = rest.popFirst() ?? 0 }
    if !event.region.isEmpty { region = rest.popFirst() ?? 0 }
  }
}
