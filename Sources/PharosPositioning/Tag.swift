import PharosModel

/// All that stage two keeps about one beacon.
struct Tag: Equatable, Sendable {
  private(set) var beacon: BeaconID
  /// The generation of the place in the table, which tells apart the beacons that have occupied it.
  private(set) var generation: UInt32
  /// The time of the last input about the beacon.
  var touched: Timestamp
  /// The time at which the beacon must be evaluated next.
  var due = Timestamp.distantFuture
  /// The time at which the deadline queue returns the beacon, no later than ``due``.
  ///
  /// If the beacon is not due at that time, it is queued again.
  var wake = Timestamp.distantFuture
  /// Indicates whether the place in the table is taken.
  var isLive = true
  /// Indicates whether the beacon is queued for evaluation at the present instant.
  var isDirty = false
  /// The states of the beacon towards regions about beacons, one row for each region that it has met.
  var rows: [RegionRow] = [] { didSet { areRowsNew = true } }
  /// Indicates whether a row may have changed since ``rowsDue`` was computed.
  private(set) var areRowsNew = true
  /// The earliest deadline of the rows.
  private(set) var rowsDue = Timestamp.distantFuture
  /// The zone of the beacon, with the state of the zone decision.
  var zone = ZoneTrack()
  /// The highest transition counter of removed rows.
  ///
  /// A new row continues from it, so that no event id is used twice.
  var retired: UInt64

  /// Returns the index of the row of a region, and adds the row if it is missing.
  mutating func row(of region: Int, assuming state: RegionState, since: Timestamp) -> Int {
    if let index = rows.firstIndex(where: { $0.region == region }) { return index }
    rows.append(RegionRow(region: region, assuming: state, since: since, counter: retired))
    return rows.count - 1
  }

  /// Removes the row of a region.
  mutating func removeRow(of region: Int) {
    guard let index = rows.firstIndex(where: { $0.region == region }) else { return }
    retired = max(retired, rows.remove(at: index).counter)
  }

  /// Returns whether a row may need a decision or an event at an instant.
  ///
  /// This is the fast path: zones are evaluated twice a second, but rows change once a visit.
  func hasRowDue(at instant: Timestamp) -> Bool { areRowsNew || rowsDue <= instant }

  /// Ends the evaluation at the present instant, and returns the time of the next one.
  mutating func settleDown() -> Timestamp {
    isDirty = false
    if areRowsNew {
      rowsDue = .distantFuture
      for index in rows.indices {
        rowsDue = min(rowsDue, rows[index].holdDeadline, rows[index].assumptionDeadline)
      }
      areRowsNew = false
    }
    due = min(zone.nextLook, rowsDue)
    return due
  }

  /// Indicates whether removing the beacon would lose its location: a zone, or a region that it is inside or
  /// unmonitored in.
  var isSomewhere: Bool {
    zone.zone != nil || rows.contains { $0.state == .inside || $0.state == .unmonitored }
  }

  /// The highest counter of its transitions.
  var highestCounter: UInt64 { rows.reduce(max(retired, zone.counter)) { max($0, $1.counter) } }
}

/// The beacons that stage two knows, each at a fixed place.
struct TagTable: Sendable {
  /// The places, taken and free.
  var slots: Range<Int> { store.indices }
  /// The number of beacons.
  var count: Int { places.count }

  /// The beacons by place.
  ///
  /// They are changed in place, because moving one out and in would cost more than most changes.
  ///
  /// A caller that changes a beacon must have its place from ``place(of:)`` or must have checked that the place is
  /// taken.
  var store = TagStore()
  var places: [BeaconID: Int] = [:]
  var free: [Int] = []
  var generations: UInt32 = 0
  var retired: UInt64 = 0

  /// The beacon at a place, or nil where the place is free.
  subscript(place: Int) -> Tag? { isTaken(place) ? store[place] : nil }

  /// Returns whether a beacon occupies a place.
  func isTaken(_ place: Int) -> Bool { store.indices.contains(place) && store[place].isLive }

  /// Returns the place of a beacon, or nil if it is unknown.
  func place(of beacon: BeaconID) -> Int? { places[beacon] }

  /// Returns the place of a beacon, and adds the beacon if it is missing.
  mutating func place(adding beacon: BeaconID, at instant: Timestamp) -> Int {
    if let place = places[beacon] { return place }
    generations &+= 1
    var tag = Tag(beacon: beacon, generation: generations, touched: instant, retired: retired)
    tag.zone.counter = retired
    let place = free.popLast() ?? store.count
    if place == store.count { store.append(tag) } else { store[place] = tag }
    places[beacon] = place
    return place
  }

  /// Changes one beacon in place.
  mutating func update<Result>(_ place: Int, _ body: (inout Tag) -> Result) -> Result? {
    guard store.indices.contains(place), store[place].isLive else { return nil }
    return body(&store[place])
  }

  /// Removes a beacon.
  mutating func remove(_ place: Int) {
    guard let tag = self[place] else { return }
    retired = max(retired, tag.highestCounter)
    places[tag.beacon] = nil
    store[place].isLive = false
    store[place].rows = []
    store[place].zone = ZoneTrack()
    free.append(place)
  }

  /// Returns the places to evict: first those of beacons at no known location, then the oldest.
  func stalest(_ count: Int) -> [Int] {
    let ranked = store.indices.filter { store[$0].isLive }
      .map { place in
        let tag = store[place]
        return (rank: tag.isSomewhere ? 1 : 0, touched: tag.touched, beacon: tag.beacon, place: place)
      }
      .sorted { ($0.rank, $0.touched, $0.beacon) < ($1.rank, $1.touched, $1.beacon) }
    return ranked.prefix(count).map(\.place)
  }
}

/// The beacons by place, in pages.
///
/// A copy of the engine shares all pages but those that change after the copy.
///
/// A single array would be copied as a whole at the first change after a checkpoint. At 65,536 beacons that blocks the
/// engine for a tenth of a second.
struct TagStore: RandomAccessCollection, MutableCollection, Sendable {
  /// The number of beacons in a page.
  ///
  /// 256: a page is copied in some hundred microseconds.
  private static let page = 256

  private var pages: [[Tag]] = []

  let startIndex = 0
  private(set) var endIndex = 0

  /// The beacon at a place, changed where it lies.
  subscript(place: Int) -> Tag {
    _read { yield pages[place / TagStore.page][place % TagStore.page] }
    _modify { yield &pages[place / TagStore.page][place % TagStore.page] }
  }

  /// Adds a place at the end.
  mutating func append(_ tag: Tag) {
    if endIndex % TagStore.page == 0 {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(TagStore.page)
    }
    pages[pages.count - 1].append(tag)
    endIndex += 1
  }
}

/// All but the zones that place the beacon and the flag ``isDirty``.
extension Tag: FieldStruct {
  /// A value whose fields are still to be read.
  static var unread: Tag { Tag(beacon: .unread, generation: 0, touched: .distantPast, retired: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&beacon)
    try coder.code(&generation)
    try coder.code(&touched)
    try coder.code(&due)
    try coder.code(&wake)
    try coder.code(counter: &retired)
    try coder.code(&rows)
    try coder.code(&zone)
  }
}

extension Tag {
  /// Returns whether the beacon belongs to a state with so many regions, zones and observers.
  func fits(regions: Int, zones: Int, observers: Int) -> Bool {
    rows.count <= regions && rows.allSatisfy { $0.region < regions }
      && zone.fits(zones: zones, observers: observers)
  }

  /// Replaces the places of the regions by their present ones, and drops the rows of removed regions without an event.
  mutating func translateRows(by places: [Int?]) {
    rows = rows.compactMap { row in
      let kept = row.translated(by: places)
      if kept == nil { retired = max(retired, row.counter) }
      return kept
    }
  }

  /// Raises all transition counters to a minimum, so that no later event has an id that was used after the state was
  /// written.
  mutating func raiseCounters(to floor: UInt64) {
    retired = max(retired, floor)
    zone.counter = max(zone.counter, floor)
    for index in rows.indices { rows[index].counter = max(rows[index].counter, floor) }
  }
}

extension TagTable {
  /// Writes the places as they are, including the free ones, because the order in which beacons are evaluated at an
  /// instant depends on them.
  func writeState(to writer: inout FieldWriter, _ writeTag: (Tag, inout FieldWriter) -> Void) {
    writer.write(generations)
    writer.write(retired)
    writer.write(UInt32(store.count))
    for tag in store {
      writer.write(tag.isLive)
      if tag.isLive { writeTag(tag, &writer) }
    }
    writer.write(free.map { UInt32($0) })
  }

  /// Reads the places.
  init(
    restoring reader: inout FieldReader,
    _ readTag: (inout FieldReader) throws(FieldError) -> Tag
  ) throws(FieldError) {
    self.init()
    generations = try reader.number(UInt32.self)
    try reader.code(counter: &retired)
    let count = try reader.count()
    var isFree: [Bool] = []
    for place in 0..<count {
      isFree.append(!(try reader.flag()))
      if isFree[place] {
        var free = Tag.unread
        free.isLive = false
        store.append(free)
        continue
      }
      let tag = try readTag(&reader)
      guard places.updateValue(place, forKey: tag.beacon) == nil else { throw reader.failure(.badIdentity) }
      store.append(tag)
    }
    free = try reader.list(UInt32.self).map { Int($0) }
    for place in free {
      guard place < count, isFree[place] else { throw reader.failure(.badIdentity) }
      isFree[place] = false
    }
    // A place that is neither taken nor free would be lost for good.
    guard !isFree.contains(true) else { throw reader.failure(.badIdentity) }
  }
}
