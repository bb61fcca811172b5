import Foundation
import GRDB
import PharosDocuments
package import PharosModel

/// The kinds of series; the raw value is part of the number of a row.
private enum SeriesKind: Int64 {
  case subject, observer, place
  /// A name that the rows of subjects mention: it has no rows, and is listed so that the name stays.
  case mention
}

/// The number of a row: its hour, its kind and its series, so that the rows of one hour and kind are neighbours.
private enum Slot {
  private static let (hourBits, kindBits): (Int64, Int64) = (40, 38)
  /// The bits of a series' number.
  static let mask: Int64 = 1 << kindBits - 1

  static func number(_ hour: Int64, _ kind: SeriesKind, _ series: Int64) -> Int64 {
    hour << hourBits | kind.rawValue << kindBits | series
  }

  /// The rows of one kind within an hour.
  static func all(_ hour: Int64, _ kind: SeriesKind) -> ClosedRange<Int64> {
    number(hour, kind, 0)...number(hour, kind, mask)
  }

  /// The first number of an hour.
  static func first(of hour: Int64) -> Int64 { hour << hourBits }
}

extension Journal {
  /// The share of the size limit that summaries may take: a half, so that they never displace all events.
  private static let share: Int64 = 2
  /// The size of a row besides its bytes: the number, lengths, and what a page leaves free.
  ///
  /// - Units: bytes.
  private static let rowOverhead = 24
  /// The time for which one transaction writes, so that appends, which take turns with it, are not delayed for long.
  private static let writeTime = Duration.milliseconds(10)
  /// The number of rows that one transaction drops.
  private static let rowsPerDrop = 2_048

  /// Stores the summaries of a minute, and replaces those that are already stored for it.
  ///
  /// Each series (a subject, an observer, a place) has one row an hour, to which the minute is added. The time is linear in
  /// the number of series, and is spent in short transactions between those of events.
  ///
  /// - Throws: ``JournalError``; some of the minute's summaries may be stored then.
  package func record(_ sample: HistorySample) throws(JournalError) {
    // In the order of the names, so that neighbours in a table are written together.
    var subjects = sample.subjects.sorted { $0.key > $1.key }
    var observers = sample.observers.sorted { $0.key > $1.key }
    var places = Array(sample.places)
    while !subjects.isEmpty || !observers.isEmpty || !places.isEmpty {
      try write { database in
        let end = ContinuousClock.now + Journal.writeTime
        var writer = HistoryWriter(minute: sample.minute, database: database)
        repeat {
          if let (subject, minute) = subjects.popLast() {
            try writer.write(minute, of: subject)
          } else if let (observer, minute) = observers.popLast() {
            try writer.write(minute, of: observer)
          } else if let (place, minute) = places.popLast() {
            try writer.write(minute, of: place)
          } else {
            break
          }
        } while ContinuousClock.now < end
        try writer.finish()
      }
    }
  }

  /// Returns the summaries of a subject, in order.
  ///
  /// - Complexity: some microseconds for each hour, and a tenth of one for each minute given.
  /// - Throws: ``JournalError``.
  package func history(
    of subject: SubjectID,
    in minutes: ClosedRange<HistoryMinute>
  ) throws(JournalError) -> [(minute: HistoryMinute, summary: SubjectMinute)] {
    guard let name = EventName(subject) else { return [] }
    return try read { database in
      guard let series = try Series.find(.subject, name: name, in: database) else { return [] }
      var found: [(minute: HistoryMinute, summary: SubjectMinute)] = []
      try series.rows(in: minutes, database) { hour, bytes in
        let row = try SubjectHour(encoded: bytes)
        let names = try self.names(row.names, database)
        for minute in hour where minutes.contains(minute) {
          if let summary = row.minute(at: minute.place, names: names) { found.append((minute, summary)) }
        }
      }
      return found
    }
  }

  /// Returns the summaries of an observer, in order.
  ///
  /// - Throws: ``JournalError``.
  package func history(
    of observer: ObserverID,
    in minutes: ClosedRange<HistoryMinute>
  ) throws(JournalError) -> [(minute: HistoryMinute, summary: ObserverMinute)] {
    try read { database in
      guard let series = try Series.find(.observer, name: .observer(observer), in: database) else {
        return []
      }
      return try series.minutes(in: minutes, database)
    }
  }

  /// Returns the summaries of a zone or region, in order.
  ///
  /// - Throws: ``JournalError``.
  package func history(
    of place: HistoryPlace,
    in minutes: ClosedRange<HistoryMinute>
  ) throws(JournalError) -> [(minute: HistoryMinute, summary: PlaceMinute)] {
    try read { database in
      guard
        let series = try Series.find(
          .place,
          owner: place.application,
          name: .text(place.identifier),
          in: database
        )
      else { return [] }
      return try series.minutes(in: minutes, database)
    }
  }

  /// Returns the summaries of all subjects in some minutes, which are in order.
  ///
  /// - Complexity: some tens of microseconds for each subject and hour.
  /// - Throws: ``JournalError``.
  package func history(at minutes: [HistoryMinute]) throws(JournalError) -> [HistoryFrame] {
    try read { database in
      var frames: [HistoryFrame] = []
      var rest = minutes[...]
      while let hour = rest.first?.hour {
        let own = rest.prefix { $0.hour == hour }
        rest = rest.dropFirst(own.count)
        frames += try self.frames(own, ofHour: hour, database)
      }
      return frames
    }
  }

  private func frames(
    _ minutes: ArraySlice<HistoryMinute>,
    ofHour hour: Int64,
    _ database: Database
  ) throws -> [HistoryFrame] {
    let rows = try PreparedStatement(
      cachedBy: database,
      """
      SELECT history_series.name, minutes FROM history
      JOIN history_series ON series = slot & ? WHERE slot BETWEEN ? AND ?
      """
    )
    defer { rows.reset() }
    let slots = Slot.all(hour, .subject)
    rows.bind(Slot.mask, at: 1)
    rows.bind(slots.lowerBound, at: 2)
    rows.bind(slots.upperBound, at: 3)
    var frames = minutes.map { HistoryFrame(minute: $0) }
    while try rows.next() {
      let row = try SubjectHour(encoded: rows.bytes(1))
      let names = try self.names([rows.number(0)] + row.names, database)
      guard let subject = names[0].subject else { continue }
      let mentioned = Array(names.dropFirst())
      for index in frames.indices {
        guard let summary = row.minute(at: frames[index].minute.place, names: mentioned) else { continue }
        frames[index].subjects.append((subject, summary))
      }
    }
    for index in frames.indices { frames[index].subjects.sort { $0.subject < $1.subject } }
    return frames
  }

  /// Returns the subjects that have summaries, in order.
  ///
  /// - Throws: ``JournalError``.
  package func historySubjects() throws(JournalError) -> [HistorySeries<SubjectID>] {
    try series(.subject) { _, name in name.subject }.sorted { $0.key < $1.key }
  }

  /// Returns the observers that have summaries, in order.
  ///
  /// - Throws: ``JournalError``.
  package func historyObservers() throws(JournalError) -> [HistorySeries<ObserverID>] {
    try series(.observer) { _, name in
      guard case .observer(let observer) = name else { return nil }
      return observer
    }
    .sorted { $0.key < $1.key }
  }

  /// Returns the zones and regions that have summaries: zones first, each in order.
  ///
  /// - Throws: ``JournalError``.
  package func historyPlaces() throws(JournalError) -> [HistorySeries<HistoryPlace>] {
    try series(.place) { owner, name in
      name.text.map { HistoryPlace(application: owner, identifier: $0) }
    }
    .sorted {
      ($0.key.application, $0.key.identifier) < ($1.key.application, $1.key.identifier)
    }
  }

  private func series<Key>(
    _ kind: SeriesKind,
    _ key: (_ owner: String, EventName) -> Key?
  ) throws(JournalError) -> [HistorySeries<Key>] {
    try read { database in
      let rows = try PreparedStatement(
        cachedBy: database,
        "SELECT owner, name, first, last FROM history_series WHERE kind = ?"
      )
      defer { rows.reset() }
      rows.bind(kind.rawValue, at: 1)
      var found: [HistorySeries<Key>] = []
      while try rows.next() {
        let owner = rows.number(0)
        let names = try self.names(owner == 0 ? [rows.number(1)] : [rows.number(1), owner], database)
        guard let key = key(names.count > 1 ? names[1].text ?? "" : "", names[0]) else { continue }
        let first = HistoryMinute(hour: rows.number(2), minute: 0)
        found.append(
          HistorySeries(key: key, first: first, last: HistoryMinute(hour: rows.number(3), minute: 59))
        )
      }
      return found
    }
  }

  /// The size of the stored summaries.
  ///
  /// - Units: bytes.
  /// - Throws: ``JournalError``.
  package func historyBytes() throws(JournalError) -> Int64 {
    try read { database in try Journal.historyBytes(database) }
  }

  private static func historyBytes(_ database: Database) throws -> Int64 {
    try Int64.fetchOne(database, sql: "SELECT coalesce(sum(bytes), 0) FROM history_hours") ?? 0
  }

  /// Drops the hours that are older than a time, and the oldest hours while the summaries exceed their share of the size.
  ///
  /// - Returns: the number of dropped hours.
  func pruneHistory(before cutoff: Timestamp?) throws(JournalError) -> Int {
    let oldestHour = cutoff.map { HistoryMinute(containing: $0).hour } ?? 0
    var dropped = 0
    while true {
      let isDone = try write { database in
        let hour = try Int64.fetchOne(database, sql: "SELECT min(hour) FROM history_hours")
        let isLarge = try Journal.historyBytes(database) > settings.maximumBytes / Journal.share
        guard let hour, hour < oldestHour || isLarge else { return true }
        try database.execute(
          sql:
            "DELETE FROM history WHERE slot IN (SELECT slot FROM history WHERE slot < ? ORDER BY slot LIMIT ?)",
          arguments: [Slot.first(of: hour &+ 1), Journal.rowsPerDrop]
        )
        guard database.changesCount < Journal.rowsPerDrop else { return false }
        try database.execute(sql: "DELETE FROM history_hours WHERE hour = ?", arguments: [hour])
        dropped += 1
        return false
      }
      if isDone { break }
    }
    guard dropped > 0 else { return 0 }
    try write { database in
      let first = try Int64.fetchOne(database, sql: "SELECT min(hour) FROM history_hours") ?? Int64.max
      try database.execute(sql: "DELETE FROM history_series WHERE last < ?", arguments: [first])
      try database.execute(
        sql: "UPDATE history_series SET first = ?1 WHERE first < ?1",
        arguments: [first]
      )
    }
    return dropped
  }

  /// Returns the hours that have summaries.
  package func historyHours() throws(JournalError) -> [Int64] {
    try read { database in
      try Int64.fetchAll(database, sql: "SELECT hour FROM history_hours ORDER BY hour")
    }
  }

  fileprivate static func size(of bytes: [UInt8]) -> Int64 { Int64(bytes.count + rowOverhead) }
}

extension JournalEraser {
  /// Replaces the names of the subject in the summaries of others within an hour.
  mutating func mentions(inHour hour: Int64, _ database: Database) throws {
    let rows = try PreparedStatement(
      cachedBy: database,
      "SELECT slot, minutes FROM history WHERE slot BETWEEN ? AND ?"
    )
    let slots = Slot.all(hour, .subject)
    rows.bind(slots.lowerBound, at: 1)
    rows.bind(slots.upperBound, at: 2)
    var found: [(slot: Int64, row: SubjectHour)] = []
    while try rows.next() {
      let row = try SubjectHour(encoded: rows.bytes(1))
      if row.names.contains(where: keys.contains) { found.append((rows.number(0), row)) }
    }
    rows.reset()
    let update = try PreparedStatement(database, "UPDATE history SET minutes = ?1 WHERE slot = ?2")
    for (slot, stored) in found {
      var row = stored
      try row.replaceNames { number in
        guard keys.contains(number) else { return number }
        return try placeholder(for: try EventName.named(number, in: database), in: database)
      }
      update.bind(slot, at: 2)
      try update.run(binding: row.encoded, at: 1)
      erased.history += 1
    }
  }

  /// Removes the summaries of the subject itself.
  mutating func history(in database: Database) throws {
    for key in keys.sorted() {
      let rows = try Row.fetchAll(
        database,
        sql: "SELECT series, kind FROM history_series WHERE name = ? AND owner = 0",
        arguments: [key]
      )
      // A series spans no other hours than those that have rows, whatever a damaged one says.
      let hours = try Int64.fetchAll(database, sql: "SELECT hour FROM history_hours ORDER BY hour")
      for row in rows {
        guard let kind = SeriesKind(rawValue: row["kind"]), kind != .mention else { continue }
        for hour in hours { try drop(Slot.number(hour, kind, row["series"]), of: hour, in: database) }
      }
      try database.execute(
        sql: "DELETE FROM history_series WHERE name = ? AND owner = 0",
        arguments: [key]
      )
    }
  }

  private mutating func drop(_ slot: Int64, of hour: Int64, in database: Database) throws {
    let drop = try PreparedStatement(
      cachedBy: database,
      "DELETE FROM history WHERE slot = ? RETURNING minutes"
    )
    drop.bind(slot, at: 1)
    guard try drop.next() else { return drop.reset() }
    let size = Journal.size(of: drop.bytes(0))
    drop.reset()
    try database.execute(
      sql: "UPDATE history_hours SET bytes = bytes - ? WHERE hour = ?",
      arguments: [size, hour]
    )
    erased.history += 1
  }
}

/// A series that was found, with the hours that it spans.
private struct Series {
  let kind: SeriesKind
  let number: Int64
  let hours: ClosedRange<Int64>

  /// Finds the series of a name, which for a region belongs to an application.
  static func find(
    _ kind: SeriesKind,
    owner: String = "",
    name: EventName,
    in database: Database
  ) throws -> Series? {
    let ownerKey = owner.isEmpty ? 0 : try EventName.text(owner).key(in: database)
    guard let ownerKey, let nameKey = try name.key(in: database) else { return nil }
    let find = try PreparedStatement(
      cachedBy: database,
      "SELECT series, first, last FROM history_series WHERE kind = ? AND owner = ? AND name = ?"
    )
    defer { find.reset() }
    find.bind(kind.rawValue, at: 1)
    find.bind(ownerKey, at: 2)
    find.bind(nameKey, at: 3)
    guard try find.next() else { return nil }
    let (first, last) = (find.number(1), find.number(2))
    guard first <= last else { throw DamagedRecord(what: "a series from hour \(first) to \(last)") }
    return Series(kind: kind, number: find.number(0), hours: first...last)
  }

  /// Reads the rows of the hours that overlap some minutes, in order.
  func rows(
    in minutes: ClosedRange<HistoryMinute>,
    _ database: Database,
    _ body: (_ hour: [HistoryMinute], [UInt8]) throws -> Void
  ) throws {
    let first = max(hours.lowerBound, minutes.lowerBound.hour)
    let last = min(hours.upperBound, minutes.upperBound.hour)
    guard first <= last else { return }
    let find = try PreparedStatement(cachedBy: database, "SELECT minutes FROM history WHERE slot = ?")
    defer { find.reset() }
    for hour in first...last {
      find.bind(Slot.number(hour, kind, number), at: 1)
      if try find.next() {
        try body((0..<60).map { HistoryMinute(hour * 60 + $0) }, find.bytes(0))
      }
      find.reset()
    }
  }

  /// Reads the summaries of some minutes, in order.
  func minutes<Minute: FieldCodable>(
    in minutes: ClosedRange<HistoryMinute>,
    _ database: Database
  ) throws -> [(minute: HistoryMinute, summary: Minute)] {
    var found: [(minute: HistoryMinute, summary: Minute)] = []
    try rows(in: minutes, database) { hour, bytes in
      let row = try HourRow<Minute>(encoded: bytes)
      for minute in hour where minutes.contains(minute) {
        if let summary = row[minute.place] { found.append((minute, summary)) }
      }
    }
    return found
  }
}

/// A writer of one minute's summaries inside a transaction.
private struct HistoryWriter {
  private let minute: HistoryMinute
  private let database: Database
  private var names: [EventName: Int64] = [:]
  /// The names whose mention in this hour is noted.
  private var mentioned: Set<Int64> = []
  /// The growth of the rows, in bytes.
  private var growth: Int64 = 0

  init(minute: HistoryMinute, database: Database) {
    self.minute = minute
    self.database = database
  }

  mutating func write(_ summary: SubjectMinute, of subject: SubjectID) throws {
    guard let name = EventName(subject) else { return }
    let key = try number(of: name)
    let slot = try slot(.subject, owner: 0, name: key)
    var (row, before): (SubjectHour, Int64) = try read(slot)
    let known = row.names.count
    try row.set(summary, at: minute.place) { try number(of: $0) }
    for mention in row.names.dropFirst(known) where mentioned.insert(mention).inserted {
      _ = try series(.mention, owner: 0, name: mention)
    }
    try put(row.encoded, slot, before: before)
  }

  mutating func write(_ summary: ObserverMinute, of observer: ObserverID) throws {
    let key = try number(of: .observer(observer))
    try add(summary, to: try slot(.observer, owner: 0, name: key))
  }

  mutating func write(_ summary: PlaceMinute, of place: HistoryPlace) throws {
    let owner = place.application.isEmpty ? 0 : try number(of: .text(place.application))
    let key = try number(of: .text(place.identifier))
    try add(summary, to: try slot(.place, owner: owner, name: key))
  }

  /// Notes the growth of the hour.
  func finish() throws {
    try database.execute(
      sql: """
        INSERT INTO history_hours (hour, bytes) VALUES (?1, ?2)
        ON CONFLICT (hour) DO UPDATE SET bytes = bytes + ?2
        """,
      arguments: [minute.hour, growth]
    )
  }

  private mutating func add<Minute: FieldCodable>(_ summary: Minute, to slot: Int64) throws {
    var (row, before): (HourRow<Minute>, Int64) = try read(slot)
    row[minute.place] = summary
    try put(row.encoded, slot, before: before)
  }

  /// Reads a row and its size; a row that cannot be read is replaced.
  private func read<Row: FieldStruct>(_ slot: Int64) throws -> (Row, Int64) {
    let find = try PreparedStatement(cachedBy: database, "SELECT minutes FROM history WHERE slot = ?")
    defer { find.reset() }
    find.bind(slot, at: 1)
    guard try find.next() else { return (Row(), 0) }
    let bytes = find.bytes(0)
    return ((try? Row(encoded: bytes)) ?? Row(), Journal.size(of: bytes))
  }

  private mutating func put(_ bytes: [UInt8], _ slot: Int64, before: Int64) throws {
    let put = try PreparedStatement(
      cachedBy: database,
      "INSERT OR REPLACE INTO history (slot, minutes) VALUES (?, ?)"
    )
    put.bind(slot, at: 1)
    try put.run(binding: bytes, at: 2)
    growth += Journal.size(of: bytes) - before
  }

  private func slot(_ kind: SeriesKind, owner: Int64, name: Int64) throws -> Int64 {
    Slot.number(minute.hour, kind, try series(kind, owner: owner, name: name))
  }

  /// Returns the number of a series that spans the present hour.
  private func series(_ kind: SeriesKind, owner: Int64, name: Int64) throws -> Int64 {
    let find = try PreparedStatement(
      cachedBy: database,
      "SELECT series, first, last FROM history_series WHERE kind = ? AND owner = ? AND name = ?"
    )
    find.bind(kind.rawValue, at: 1)
    find.bind(owner, at: 2)
    find.bind(name, at: 3)
    defer { find.reset() }
    if try find.next(), find.number(1) <= minute.hour, minute.hour <= find.number(2) { return find.number(0) }
    return try Int64.fetchOne(
      database,
      sql: """
        INSERT INTO history_series (kind, owner, name, first, last) VALUES (?1, ?2, ?3, ?4, ?4)
        ON CONFLICT (kind, owner, name) DO UPDATE SET first = min(first, ?4), last = max(last, ?4)
        RETURNING series
        """,
      arguments: [kind.rawValue, owner, name, minute.hour]
    ) ?? 0
  }

  /// Returns the number of a name, which the table of names gets if it has none.
  ///
  /// Call it in a statement of its own: as an argument of another method it would copy all names each time.
  private mutating func number(of name: EventName) throws -> Int64 {
    if let number = names[name] { return number }
    let number = try name.number(in: database)
    names[name] = number
    return number
  }
}
