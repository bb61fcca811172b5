package import PharosEvents
import GRDB
import PharosReports

extension Journal {
  /// Where things stand by the rows that changed behind a sequence.
  ///
  /// What was not told belongs to the sequence behind the last one told before it: a checkpoint that covers it may find it
  /// here again.
  ///
  /// - Parameter sequence: the last sequence whose changes are known already; 0 gives all rows.
  /// - Returns: what the rows say.
  /// - Throws: ``JournalError``.
  package func lastTold(after sequence: Int64 = 0) throws(JournalError) -> LastTold {
    try read { database in
      var told = LastTold()
      var reader = RowReader(journal: self, database: database)
      told.regions = try reader.regions(after: sequence)
      told.zones = try reader.zones(after: sequence)
      told.observers = try reader.observers(after: sequence)
      told.sort()
      return told
    }
  }
}

/// Reads rows; names are looked up once for all of them.
private struct RowReader {
  let journal: Journal
  let database: Database
  private var names: [Int64: EventName] = [:]

  init(journal: Journal, database: Database) {
    self.journal = journal
    self.database = database
  }

  mutating func regions(after sequence: Int64) throws -> [LastTold.RegionWord] {
    let row = try PreparedStatement(
      cachedBy: database,
      """
      SELECT application, region, subject, state, known, entered, refinement, observer, time, decided
      FROM region_rows WHERE changed > ?
      """
    )
    defer { row.reset() }
    row.bind(sequence, at: 1)
    var words: [LastTold.RegionWord] = []
    while try row.next() {
      guard let state = RegionState(rawValue: UInt8(truncatingIfNeeded: row.number(3))),
        let known = RegionState(rawValue: UInt8(truncatingIfNeeded: row.number(4)))
      else { throw DamagedRecord(what: "a row with the state \(row.number(3))") }
      let word = LastTold.RegionWord(
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
      words.append(word)
    }
    return words
  }

  mutating func zones(after sequence: Int64) throws -> [LastTold.ZoneWord] {
    let row = try PreparedStatement(
      cachedBy: database,
      "SELECT beacon, zone, time, decided FROM zone_rows WHERE changed > ?"
    )
    defer { row.reset() }
    row.bind(sequence, at: 1)
    var words: [LastTold.ZoneWord] = []
    while try row.next() {
      let word = LastTold.ZoneWord(
        beacon: try beacon(row.number(0)),
        zone: try row.optional(1).map { try text($0) },
        time: Timestamp(nanoseconds: row.number(2)),
        decidedAt: Timestamp(nanoseconds: row.number(3))
      )
      words.append(word)
    }
    return words
  }

  mutating func observers(after sequence: Int64) throws -> [LastTold.ObserverWord] {
    let row = try PreparedStatement(
      cachedBy: database,
      "SELECT observer, up, time, decided FROM observer_rows WHERE changed > ?"
    )
    defer { row.reset() }
    row.bind(sequence, at: 1)
    var words: [LastTold.ObserverWord] = []
    while try row.next() {
      let word = LastTold.ObserverWord(
        observer: try observer(row.number(0)),
        isUp: row.number(1) != 0,
        time: Timestamp(nanoseconds: row.number(2)),
        decidedAt: Timestamp(nanoseconds: row.number(3))
      )
      words.append(word)
    }
    return words
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
