import PharosDocuments
import PharosModel

/// The state of one beacon towards one region about beacons, and the observers that support it.
///
/// A value without clock or output. `receive`, `lose` and `markOffline` record reports of observers, and `evaluate()` decides
/// once all reports of one instant have been recorded. So a hand-over from one gateway to the next within an instant
/// is no exit.
package struct BeaconRegionRow: Sendable {
  /// One observer that has the beacon inside, or had it when the observer went down.
  struct Hearing: Sendable {
    var observer: ObserverID
    /// Indicates whether the observer went down, or stopped scanning, with the beacon inside.
    var isDark: Bool
    /// Indicates whether the hearing is assumed: no report of the observer since a restart confirms it.
    var isAssumed = false
    var time: Timestamp
    /// The latest time at which it is known to have heard the beacon.
    var lastHeard: Timestamp
    /// The latest time at which it may have heard the beacon, if it is dark: until its outage, unless stage one knows better.
    var heardUntil: Timestamp
    var evidence: Evidence
  }

  /// The latest report of an observer that the beacon is gone.
  struct PendingExit: Sendable {
    var observer: ObserverID?
    var time: Timestamp
    var lastHeard: Timestamp
    var evidence: Evidence
  }

  /// A change of state, with the observer and the evidence that settled it.
  package struct DecidedChange: Sendable {
    var change: RegionMachine.Change
    var observer: ObserverID?
    var evidence: Evidence
  }

  /// The shortest time after which an assumption is given up.
  ///
  /// A second: observers report once a second.
  static let minimumPatience = TimeSpan.seconds(1)

  /// The difference up to which it is open which of two observers heard a beacon last.
  ///
  /// 2 s, the shortest silence that a beacon may leave by. Reports tell a time less exactly than that where they were
  /// held back together, as in a pause of the server.
  static let simultaneous = TimeSpan.seconds(2)

  /// The region's place among the regions.
  var region: Int
  /// The state towards the region.
  var machine: RegionMachine
  /// The observers that have it inside, or went down with it inside, in their order.
  var hearings: [Hearing] = []
  /// The time at which the `maximumHold` alarm is due, or `distantFuture` if the beacon is not unmonitored or the alarm
  /// has been raised already.
  var holdDeadline = Timestamp.distantFuture
  /// The time at which a state that was only assumed is given up.
  var assumptionDeadline = Timestamp.distantFuture
  /// The time for which an observer must have been up without hearing the beacon to refute an assumption.
  var patience = StageTwo.neverHeardAfter
  /// Counts the transitions: a part of every event's id.
  var counter: UInt64
  /// Indicates whether a report has arrived since the last decision.
  var isDirty = false

  var pendingExit: PendingExit?

  /// The state towards the region.
  var state: RegionState { machine.state }

  /// Starts from a state that is assumed.
  init(region: Int, assuming state: RegionState, since: Timestamp, counter: UInt64) {
    self.region = region
    machine = RegionMachine(assuming: state, since: since)
    self.counter = counter
  }

  /// Returns whether the report of an observer counts.
  ///
  /// A beacon that has left enters by as many samples as any other, not by the first one of an observer that is back.
  func accepts(_ change: PresenceChange) -> Bool {
    change.state != .inside || change.evidence.rule != .recovery || state != .outside
  }

  /// Records that an observer has the beacon inside.
  ///
  /// Returns false if the limit on observers is reached.
  mutating func receive(_ change: PresenceChange, limit: Int) -> Bool {
    isDirty = true
    if assumptionDeadline != .distantFuture {
      assumptionDeadline = .distantFuture
      hearings.removeAll(where: \.isAssumed)
    }
    let hearing = Hearing(
      observer: change.observer,
      isDark: false,
      time: change.time,
      lastHeard: change.evidence.lastHeard ?? change.time,
      heardUntil: change.evidence.lastHeard ?? change.time,
      evidence: change.evidence
    )
    if let index = index(of: change.observer) {
      hearings[index] = hearing
      return true
    }
    guard hearings.count < limit else { return false }
    let place = hearings.firstIndex { change.observer < $0.observer } ?? hearings.count
    hearings.insert(hearing, at: place)
    return true
  }

  /// Records that an observer reports the beacon gone.
  mutating func lose(_ change: PresenceChange) {
    isDirty = true
    var lastHeard = change.evidence.lastHeard ?? .distantPast
    if let index = index(of: change.observer) {
      lastHeard = max(lastHeard, hearings.remove(at: index).lastHeard)
    }
    if let pendingExit, pendingExit.time > change.time {
      self.pendingExit?.lastHeard = max(pendingExit.lastHeard, lastHeard)
      return
    }
    pendingExit = PendingExit(
      observer: change.observer,
      time: change.time,
      lastHeard: max(lastHeard, pendingExit?.lastHeard ?? .distantPast),
      evidence: change.evidence
    )
  }

  /// Returns whether the row needs a decision or an alarm at an instant.
  func isDue(at instant: Timestamp) -> Bool {
    isDirty || holdDeadline <= instant || assumptionDeadline <= instant
  }

  /// Returns whether an observer that is up has the beacon inside.
  func hears(_ observer: ObserverID) -> Bool { hearings.contains { $0.observer == observer && !$0.isDark } }

  /// Records that an observer went down or stopped scanning.
  ///
  /// An observer that did not have the beacon inside changes nothing.
  mutating func markOffline(
    _ observer: ObserverID,
    time: Timestamp,
    lastHeard: Timestamp?,
    evidence: Evidence
  ) {
    guard let index = index(of: observer) else { return }
    isDirty = true
    if !hearings[index].isDark {
      hearings[index].isDark = true
      hearings[index].time = time
      hearings[index].heardUntil = time
    }
    if let lastHeard { (hearings[index].lastHeard, hearings[index].heardUntil) = (lastHeard, lastHeard) }
    hearings[index].evidence = evidence
  }

  /// The observer that is only assumed to have the beacon inside, if one is.
  var assumedHearer: ObserverID? { hearings.first(where: \.isAssumed)?.observer }

  /// Gives up an assumed state that no observer has confirmed.
  mutating func giveUpAssumption(at time: Timestamp) {
    var evidence = Evidence(rule: .neverHeard)
    evidence.window = patience
    evidence.gap = patience + max(.zero, time - assumptionDeadline)
    isDirty = true
    assumptionDeadline = .distantFuture
    let observer = assumedHearer
    hearings.removeAll(where: \.isAssumed)
    pendingExit = PendingExit(observer: observer, time: time, lastHeard: .distantPast, evidence: evidence)
  }

  /// Stops tracking a beacon that may still be inside, which is never an exit.
  mutating func evict(at time: Timestamp) -> DecidedChange? {
    state == .inside ? conclude(.unmonitored, time, nil, Evidence(rule: .eviction)) : nil
  }

  /// Decides the state, and returns the change, if any.
  ///
  /// Any live observer that has the beacon inside decides. If there is none, the beacon is unmonitored as long as an
  /// observer that is down heard it no earlier than the last live one that lost it, to within ``simultaneous``. Otherwise
  /// it is outside.
  mutating func evaluate() -> DecidedChange? {
    guard isDirty else { return nil }
    isDirty = false
    if let hearing = earliest() {
      return conclude(.inside, hearing.time, hearing.observer, hearing.evidence)
    }
    if let hearing = latestInTheDark() {
      return conclude(.unmonitored, hearing.time, hearing.observer, hearing.evidence)
    }
    guard let pendingExit else { return nil }
    hearings.removeAll(keepingCapacity: true)
    return conclude(.outside, pendingExit.time, pendingExit.observer, pendingExit.evidence)
  }

  private mutating func conclude(
    _ next: RegionState,
    _ time: Timestamp,
    _ observer: ObserverID?,
    _ evidence: Evidence
  ) -> DecidedChange? {
    guard let change = machine.change(to: next, at: time) else { return nil }
    if next != .unmonitored { holdDeadline = .distantFuture }
    return DecidedChange(change: change, observer: observer, evidence: evidence)
  }

  private func index(of observer: ObserverID) -> Int? { hearings.firstIndex { $0.observer == observer } }

  private func earliest() -> Hearing? {
    hearings.lazy.filter { !$0.isDark }.min { $0.time < $1.time }
  }

  private func latestInTheDark() -> Hearing? {
    let bound = pendingExit?.lastHeard ?? .distantPast
    return hearings.lazy.filter { $0.isDark && $0.heardUntil + BeaconRegionRow.simultaneous >= bound }
      .max { $0.heardUntil < $1.heardUntil }
  }
}

/// A row names its region by the place among the regions.
extension BeaconRegionRow: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(region: 0, assuming: .unknown, since: .distantPast, counter: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &region)
    try coder.code(&machine)
    try coder.code(&holdDeadline)
    try coder.code(&assumptionDeadline)
    try coder.code(&patience)
    patience = max(BeaconRegionRow.minimumPatience, patience)
    try coder.code(counter: &counter)
    try coder.code(&isDirty)
    try coder.code(&pendingExit)
    try coder.code(&hearings)
  }
}

extension BeaconRegionRow.PendingExit: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      observer: try coder.field(value().observer),
      time: try coder.field(value().time),
      lastHeard: try coder.field(value().lastHeard),
      evidence: try coder.field(value().evidence)
    )
  }
}

extension BeaconRegionRow.Hearing: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      observer: try coder.field(value().observer),
      isDark: try coder.field(value().isDark),
      isAssumed: try coder.field(value().isAssumed),
      time: try coder.field(value().time),
      lastHeard: try coder.field(value().lastHeard),
      heardUntil: try coder.field(value().heardUntil),
      evidence: try coder.field(value().evidence)
    )
  }
}

extension BeaconRegionRow {
  /// The same row under its region's place in another list, or nil if the region is gone.
  func translated(by places: [Int?]) -> BeaconRegionRow? {
    guard let place = places[region] else { return nil }
    var row = self
    row.region = place
    return row
  }

  /// Postpones the deadlines by the length of a downtime, which does not count towards them.
  mutating func resume(after downtime: TimeSpan) {
    if holdDeadline != .distantFuture { holdDeadline = holdDeadline + downtime }
    if assumptionDeadline != .distantFuture { assumptionDeadline = assumptionDeadline + downtime }
  }

  /// Restores the state from an event that is newer than everything else known of the row.
  ///
  /// If the event says that the beacon is inside and no observer is known to hear it, the observer of the event is
  /// assumed to hear it. The assumption ends when that observer has been up without hearing the beacon for the longest
  /// silence that the region's policy allows.
  mutating func restore(_ word: PublishedState.RegionRecord, at instant: Timestamp, _ region: Region) {
    word.restore(&machine)
    pendingExit = nil
    isDirty = false
    holdDeadline = .distantFuture
    assumptionDeadline = .distantFuture
    patience = max(BeaconRegionRow.minimumPatience, region.presence.maximumSilence)
    switch word.state {
    case .outside, .unknown:
      hearings.removeAll()
    case .inside:
      // An earlier assumption is not the report of an observer, and the time to refute it is over.
      hearings.removeAll { $0.isDark || $0.isAssumed }
      if hearings.isEmpty { assume(word, isDark: false, until: instant + patience) }
    case .unmonitored:
      holdDeadline = instant + region.maximumHold
      for index in hearings.indices { hearings[index].isDark = true }
      if hearings.isEmpty { assume(word, isDark: true, until: .distantFuture) }
    }
  }

  /// Marks an observer's report of the beacon as an assumption, because the observer lost it in a restart.
  ///
  /// The observer confirms the assumption by hearing the beacon, or refutes it by its own silence once it is up.
  mutating func restoreUnknown(_ observer: ObserverID, at instant: Timestamp, _ region: Region) {
    guard let index = hearings.firstIndex(where: { $0.observer == observer }) else { return }
    hearings[index].isAssumed = true
    patience = max(BeaconRegionRow.minimumPatience, region.presence.maximumSilence)
    guard !hearings[index].isDark else { return }
    assumptionDeadline = instant + patience
  }

  /// Returns whether an observer that is down is assumed to have the beacon inside, and could refute that once it is
  /// up again.
  func awaits(_ observer: ObserverID) -> Bool {
    hearings.contains { $0.isAssumed && $0.isDark && $0.observer == observer }
  }

  private mutating func assume(_ word: PublishedState.RegionRecord, isDark: Bool, until deadline: Timestamp) {
    assumptionDeadline = deadline
    guard let observer = word.observer else { return }
    hearings = [
      Hearing(
        observer: observer,
        isDark: isDark,
        isAssumed: true,
        time: word.time,
        lastHeard: word.time,
        heardUntil: word.time,
        evidence: Evidence(rule: .assumed)
      )
    ]
  }
}
