import PharosDocuments
import PharosFixes
import PharosModel
import PharosRooms

/// All that stage two keeps about one beacon.
struct Tag: Equatable, Sendable {
  private(set) var beacon: BeaconID
  /// The time of the last input about the beacon.
  var touched: Timestamp
  /// The time at which the beacon must be evaluated next.
  var due = Timestamp.distantFuture
  /// Indicates whether the beacon is queued for evaluation at the present instant.
  var isDirty = false
  /// The states of the beacon towards regions about beacons, one row for each region that it has met.
  var rows: [BeaconRegionRow] = [] { didSet { areRowsNew = true } }
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
    rows.append(BeaconRegionRow(region: region, assuming: state, since: since, counter: retired))
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
  mutating func endEvaluation() -> Timestamp {
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

  /// Starts without a location.
  init(beacon: BeaconID, touched: Timestamp, retired: UInt64) {
    self.beacon = beacon
    self.touched = touched
    self.retired = retired
    zone.counter = retired
  }

  /// The highest counter of its transitions.
  var highestCounter: UInt64 { rows.reduce(max(retired, zone.counter)) { max($0, $1.counter) } }
}

extension Tag: SubjectRow {
  /// The content of a place that no beacon occupies.
  static var vacant: Tag { Tag() }
  /// The beacon.
  var subject: BeaconID { beacon }
  /// Indicates whether removing the beacon would lose its location: a zone, or a region that it is inside or
  /// unmonitored in.
  var isNeeded: Bool {
    zone.zone != nil || rows.contains { $0.state == .inside || $0.state == .unmonitored }
  }
}

/// All but the zones that place the beacon and the flag ``isDirty``.
extension Tag: FieldStruct {
  /// Makes a beacon of which nothing is known.
  init() { self.init(beacon: .unread, touched: .distantPast, retired: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&beacon)
    try coder.code(&touched)
    try coder.code(&due)
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
