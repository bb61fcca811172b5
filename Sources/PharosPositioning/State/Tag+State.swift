import PharosReports

extension Tag {
  /// Writes all but the beacon's zones and whether something was said at the present instant.
  func writeState(to writer: inout FieldWriter) {
    beacon.write(to: &writer)
    writer.write(generation)
    for time in [touched, due, wake] { time.write(to: &writer) }
    writer.write(retired)
    writer.write(place: rows.count)
    for row in rows { row.writeState(to: &writer) }
    zone.writeState(to: &writer)
  }

  /// Reads a beacon of a state with so many regions, zones and observers.
  init(restoring reader: inout FieldReader, regions: Int, zones: Int, observers: Int) throws(FieldError) {
    beacon = try BeaconID(from: &reader)
    generation = try reader.number(UInt32.self)
    touched = try Timestamp(from: &reader)
    due = try Timestamp(from: &reader)
    wake = try Timestamp(from: &reader)
    retired = try reader.counter()
    let count = try reader.place(below: regions + 1)
    for _ in 0..<count { rows.append(try RegionRow(restoring: &reader, regions: regions)) }
    zone = try ZoneTrack(restoring: &reader, zones: zones, observers: observers)
  }

  /// Puts the regions' present places in; rows of regions that are gone are forgotten without a word.
  mutating func translateRows(by places: [Int?]) {
    rows = rows.compactMap { row in
      let kept = row.translated(by: places)
      if kept == nil { retired = max(retired, row.counter) }
      return kept
    }
  }

  /// Has all transitions to come count from a number on, so that none of them has an id that was given after the state
  /// was written.
  mutating func raiseCounters(to floor: UInt64) {
    retired = max(retired, floor)
    zone.counter = max(zone.counter, floor)
    for index in rows.indices { rows[index].counter = max(rows[index].counter, floor) }
  }
}

extension TagTable {
  /// Writes the places as they are, the free ones too: which beacon is looked at first at an instant hangs on them.
  func writeState(to writer: inout FieldWriter, _ writeTag: (Tag, inout FieldWriter) -> Void) {
    writer.write(generations)
    writer.write(retired)
    writer.write(place: store.count)
    for tag in store {
      writer.write(tag.isLive)
      if tag.isLive { writeTag(tag, &writer) }
    }
    writer.write(place: free.count)
    for place in free { writer.write(place: place) }
  }

  /// Reads the places.
  init(
    restoring reader: inout FieldReader,
    _ readTag: (inout FieldReader) throws(FieldError) -> Tag
  ) throws(FieldError) {
    self.init()
    generations = try reader.number(UInt32.self)
    retired = try reader.counter()
    let count = try reader.count()
    var isFree: [Bool] = []
    for place in 0..<count {
      isFree.append(!(try reader.flag()))
      if isFree[place] {
        store.append(.none(generation: 0))
        continue
      }
      let tag = try readTag(&reader)
      guard places.updateValue(place, forKey: tag.beacon) == nil else { throw reader.failure(.badIdentity) }
      store.append(tag)
    }
    for _ in 0..<(try reader.place(below: count + 1)) {
      let place = try reader.place(below: count)
      guard isFree[place] else { throw reader.failure(.badIdentity) }
      isFree[place] = false
      free.append(place)
    }
    // A place that is neither taken nor free would be lost for good.
    guard !isFree.contains(true) else { throw reader.failure(.badIdentity) }
  }
}

extension Tag {
  /// What lies at a place that is free.
  fileprivate static func none(generation: UInt32) -> Tag {
    var tag = Tag(
      beacon: .address(DeviceAddress(bits: 0, kind: .public)),
      generation: generation,
      touched: .distantPast,
      retired: 0
    )
    tag.isLive = false
    return tag
  }
}
