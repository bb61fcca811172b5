import PharosReports

/// All that stage two keeps about one beacon.
struct Tag: Sendable {
  /// Which beacon.
  let beacon: BeaconID
  /// Which of the beacons that had this place in the table.
  let generation: UInt32
  /// When something was last said about it.
  var touched: Timestamp
  /// When it wants to be looked at again.
  var due = Timestamp.distantFuture
  /// When the queue of deadlines brings it up: no later than ``due``, and then it is put back if it is too early.
  var wake = Timestamp.distantFuture
  /// Whether its place in the table is taken.
  var isLive = true
  /// Whether something was said about it at the present instant.
  var isDirty = false
  /// Where it stands towards regions about beacons, by the regions' places.
  var rows: [RegionRow] = [] { didSet { areRowsNew = true } }
  /// Whether a row may have changed since ``rowsDue`` was found.
  private(set) var areRowsNew = true
  /// When the earliest of the rows wants to be looked at.
  private(set) var rowsDue = Timestamp.distantFuture
  /// Which zone it is in.
  var zone = ZoneTrack()
  /// What the transitions of forgotten rows have counted up to: a new row goes on from there, so that no id is given
  /// twice.
  var retired: UInt64

  /// The row of a region, made if it is missing.
  mutating func row(of region: Int, assuming state: RegionState, since: Timestamp) -> Int {
    if let index = rows.firstIndex(where: { $0.region == region }) { return index }
    rows.append(RegionRow(region: region, assuming: state, since: since, counter: retired))
    return rows.count - 1
  }

  /// Forgets the row of a region.
  mutating func removeRow(of region: Int) {
    guard let index = rows.firstIndex(where: { $0.region == region }) else { return }
    retired = max(retired, rows.remove(at: index).counter)
  }

  /// Whether there may be something to conclude or to tell about a row at an instant.
  ///
  /// Beacons are looked at twice a second for their zones, and their rows change once a visit.
  func hasRowDue(at instant: Timestamp) -> Bool { areRowsNew || rowsDue <= instant }

  /// Finds out when it wants to be looked at again, all conclusions of the present instant having been drawn.
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

  /// Whether forgetting it would lose where it is.
  var isSomewhere: Bool {
    zone.zone != nil || rows.contains { $0.state == .inside || $0.state == .unmonitored }
  }

  /// The highest count of its transitions.
  var highestCounter: UInt64 { rows.reduce(max(retired, zone.counter)) { max($0, $1.counter) } }
}

/// The beacons that stage two knows, each at a place that stays its own.
struct TagTable: Sendable {
  /// The places, taken and free.
  var slots: Range<Int> { store.indices }
  /// How many there are.
  var count: Int { places.count }

  /// The beacons by place, changed where they lie: moving one out and in would cost more than most changes.
  ///
  /// Who changes one here has its place from ``place(of:)`` or has asked whether it is live.
  var store = TagStore()
  var places: [BeaconID: Int] = [:]
  var free: [Int] = []
  var generations: UInt32 = 0
  var retired: UInt64 = 0

  /// The beacon at a place, or nil where the place is free.
  subscript(place: Int) -> Tag? { isTaken(place) ? store[place] : nil }

  /// Whether a place is a beacon's.
  func isTaken(_ place: Int) -> Bool { store.indices.contains(place) && store[place].isLive }

  /// The place of a beacon, if it is known.
  func place(of beacon: BeaconID) -> Int? { places[beacon] }

  /// The place of a beacon, which is added if it is missing.
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

  /// Changes one beacon where it lies.
  mutating func update<Result>(_ place: Int, _ body: (inout Tag) -> Result) -> Result? {
    guard store.indices.contains(place), store[place].isLive else { return nil }
    return body(&store[place])
  }

  /// Forgets a beacon.
  mutating func remove(_ place: Int) {
    guard let tag = self[place] else { return }
    retired = max(retired, tag.highestCounter)
    places[tag.beacon] = nil
    store[place].isLive = false
    store[place].rows = []
    store[place].zone = ZoneTrack()
    free.append(place)
  }

  /// The places to forget when there are too many: those that are nowhere first, then the stalest.
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

/// The beacons by place, in pages: who holds a copy of the engine has it share all pages but those that change since.
///
/// One array of all beacons would be copied as a whole at the first change behind a checkpoint, which at 65,536 beacons holds the
/// engine up for a tenth of a second.
struct TagStore: RandomAccessCollection, MutableCollection, Sendable {
  /// How many beacons a page has.
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

  /// Adds a place behind all others.
  mutating func append(_ tag: Tag) {
    if endIndex % TagStore.page == 0 {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(TagStore.page)
    }
    pages[pages.count - 1].append(tag)
    endIndex += 1
  }
}

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
