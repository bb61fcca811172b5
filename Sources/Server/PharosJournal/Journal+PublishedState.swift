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
    var found = try read { database in
      var found = PublishedState()
      var reader = RowReader(journal: self, database: database)
      found.regions = try reader.regions(after: sequence)
      found.zones = try reader.zones(after: sequence)
      found.observers = try reader.observers(after: sequence)
      found.sort()
      return found
    }
    try addStays(after: sequence, to: &found)
    return found
  }

  /// Adds the visits, the thresholds of zones and the resets of regions, which have no rows: the events themselves say how they
  /// stand.
  private func addStays(after sequence: Int64, to found: inout PublishedState) throws(JournalError) {
    // Who knows no rows from before needs no resets: the rows are without what was reset.
    let kinds: Set<EventKind> = [.visitArrive, .visitDepart, .zoneOccupancy]
    let filter = EventFilter(kinds: sequence == 0 ? kinds : kinds.union([.regionReset]))
    var (last, stays, resets) = (sequence, StateTable(), Set<RegionKey>())
    while true {
      let page = try events(after: last, matching: filter, limit: Journal.stayPage)
      for entry in page {
        stays.record(entry.event)
        guard entry.event.kind == .regionReset else { continue }
        resets.insert(RegionKey(application: entry.event.application, region: entry.event.region))
      }
      guard let end = page.last, page.count == Journal.stayPage else { break }
      last = end.sequence
    }
    let state = stays.state
    (found.visits, found.occupancies, found.resets) = (state.visits, state.occupancies, resets.sorted())
    // Nothing says whether the region that was asked about since is the one that is asked about now.
    found.regions.removeAll { resets.contains($0.key) }
    // A visit that has ended matters only to a reader that knows that it began.
    if sequence == 0 { found.visits.removeAll { $0.visit.departure != nil } }
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
      PublishedState.RegionRecord(
        application: try text(row.number(0)),
        region: try text(row.number(1)),
        subject: try subject(row.number(2)),
        state: try row.state(3),
        lastKnown: try row.state(4),
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

/// The statements that keep the records of ``PublishedState`` in rows.
struct RowStatements {
  private let database: Database
  private let regionBefore: PreparedStatement
  private let regionReset: PreparedStatement
  private let region: PreparedStatement
  private let zoneBefore: PreparedStatement
  private let zone: PreparedStatement
  private let observer: PreparedStatement

  init(_ database: Database) throws {
    self.database = database
    regionBefore = try PreparedStatement(
      database,
      """
      SELECT state, known, entered, time, decided FROM region_rows
      WHERE application = ? AND region = ? AND subject = ?
      """
    )
    regionReset = try PreparedStatement(
      database,
      "DELETE FROM region_rows WHERE application = ? AND region = ?"
    )
    region = try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO region_rows
        (application, region, subject, state, known, entered, refinement, observer, time, decided, changed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    )
    zoneBefore = try PreparedStatement(
      database,
      "SELECT zone, unmonitored, time, decided FROM zone_rows WHERE beacon = ?"
    )
    zone = try PreparedStatement(
      database,
      "INSERT OR REPLACE INTO zone_rows (beacon, zone, unmonitored, time, decided, changed) VALUES (?, ?, ?, ?, ?, ?)"
    )
    observer = try PreparedStatement(
      database,
      "INSERT OR REPLACE INTO observer_rows (observer, up, time, decided, changed) VALUES (?, ?, ?, ?, ?)"
    )
  }

  /// Updates the row that an event is about, if it is about one.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - keys: the numbers of the names in its record, in their order.
  ///   - changed: the sequence that the change belongs to.
  /// - Throws: an error of the database.
  func record(_ event: Event, keys: [Int64], changed: Int64) throws {
    let row = RowKeys(event, keys)
    let record = try PublishedState.Record(
      event,
      region: { try regionRecord(of: event, row) },
      zone: { try zoneRecord(of: $0, event, row) }
    )
    switch record {
    case .region(let record):
      try region.run([
        row.application, row.region, row.subject, Int64(record.state.rawValue),
        Int64(record.lastKnown.rawValue),
        record.enteredAt?.nanoseconds, record.refinement == nil ? nil : row.rest.first,
        record.observer == nil ? nil : row.rest.dropFirst(record.refinement == nil ? 0 : 1).first,
        record.time.nanoseconds, record.decidedAt.nanoseconds,
        changed,
      ])
    case .zone(let record):
      try zone.run([
        row.subject, record.zone == nil ? nil : row.region, record.isUnmonitored ? 1 : 0,
        record.time.nanoseconds, record.decidedAt.nanoseconds, changed,
      ])
    case .observer(let record):
      try observer.run([
        row.subject, record.isUp ? 1 : 0, record.time.nanoseconds, record.decidedAt.nanoseconds, changed,
      ])
    case .reset: try regionReset.run([row.application, row.region])
    case .visit, .occupancy, nil: break
    }
  }

  private func regionRecord(of event: Event, _ row: RowKeys) throws -> PublishedState.RegionRecord? {
    regionBefore.bind(row.application, at: 1)
    regionBefore.bind(row.region, at: 2)
    regionBefore.bind(row.subject, at: 3)
    defer { regionBefore.reset() }
    guard try regionBefore.next() else { return nil }
    return PublishedState.RegionRecord(
      application: event.application,
      region: event.region,
      subject: event.subject,
      state: try regionBefore.state(0),
      lastKnown: try regionBefore.state(1),
      enteredAt: regionBefore.optional(2).map { Timestamp(nanoseconds: $0) },
      time: Timestamp(nanoseconds: regionBefore.number(3)),
      decidedAt: Timestamp(nanoseconds: regionBefore.number(4))
    )
  }

  private func zoneRecord(
    of beacon: BeaconID,
    _ event: Event,
    _ row: RowKeys
  ) throws -> PublishedState.ZoneRecord? {
    zoneBefore.bind(row.subject, at: 1)
    defer { zoneBefore.reset() }
    guard try zoneBefore.next() else { return nil }
    return PublishedState.ZoneRecord(
      beacon: beacon,
      zone: try zoneBefore.optional(0).map { key in
        guard key != 0, key != row.region else { return key == 0 ? "" : event.region }
        guard case .text(let text) = try EventName.named(key, in: database) else {
          throw DamagedRecord(what: "name \(key) is no text")
        }
        return text
      },
      isUnmonitored: zoneBefore.number(1) != 0,
      time: Timestamp(nanoseconds: zoneBefore.number(2)),
      decidedAt: Timestamp(nanoseconds: zoneBefore.number(3))
    )
  }
}

extension PreparedStatement {
  /// Returns the state of a region in a column.
  fileprivate func state(_ column: Int32) throws -> RegionState {
    guard let state = RegionState(rawValue: UInt8(truncatingIfNeeded: number(column))) else {
      throw DamagedRecord(what: "a row with the state \(number(column))")
    }
    return state
  }

  /// Binds the values in their order, and runs the statement.
  fileprivate func run(_ values: [Int64?]) throws {
    for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
    try run()
  }
}

/// The numbers of the names in a record, by what they name; 0 where there is none.
private struct RowKeys {
  var subject: Int64 = 0
  var application: Int64 = 0
  var region: Int64 = 0
  /// The names of the detail: a region's refinement, if it has one, then its observer, then those of the evidence.
  var rest: ArraySlice<Int64>

  init(_ event: Event, _ keys: [Int64]) {
    rest = keys[...]
    if event.subject != .none { subject = rest.popFirst() ?? 0 }
    if !event.application.isEmpty { application = rest.popFirst() ?? 0 }
    if !event.region.isEmpty { region = rest.popFirst() ?? 0 }
  }
}
