import PharosDocuments
import PharosModel

/// The state of one observer in one region about observers.
struct RegionRow: Sendable {
  /// The time for which a live observer must have heard nothing of a region before it is outside: Core Location's and
  /// AltBeacon's 30 s.
  static let usualPatience = TimeSpan.seconds(30)

  private(set) var slot: Int32
  /// The number of tracks by which the observer is inside.
  var tracksInside: Int32 = 0
  /// The published state.
  var machine: RegionMachine
  /// Indicates whether changes are published: a node of a rotation may be rotated out.
  var isActive: Bool
  /// Indicates whether its time to decide has passed and only proof of life is missing.
  var isWaiting = false
  var isLive = true
  /// Counts the transitions; it goes on from the time at which monitoring began, and from its slot, so that no id is used
  /// twice when an identifier is registered again.
  var counter: UInt64
  /// The time at which a live observer's silence decides that it is outside; the distant future if tracks decide.
  var decideAt = Timestamp.distantFuture
  /// The due time of its timer; a timer that fires at another time is stale.
  var armedAt = Timestamp.distantFuture
  /// The required length of that silence; longer than usual if the row was inside before the server started.
  var patience = RegionRow.usualPatience

  init(slot: Int32, _ machine: RegionMachine, counter: UInt64, isActive: Bool) {
    self.slot = slot
    self.machine = machine
    self.counter = counter
    self.isActive = isActive
  }

  /// The published state.
  var state: RegionState { machine.state }
}

/// A change of a row that is being published.
struct RowChange {
  var to: RegionState
  var time: Timestamp
  var refinement: BeaconID?
  var evidence: Evidence
}

extension RegionRow: FieldParts {
  /// Hands where the observer stands to a coder; a row that is gone only keeps its place.
  ///
  /// When the row's timer is due follows from when the row is decided.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&isLive)
    guard isLive else { return }
    try coder.code(&slot)
    try coder.code(&machine)
    try coder.code(place: &tracksInside, below: 1 << 30, "tracks inside")
    try coder.code(ids: &counter, "a region's counter")
    try coder.code(&isActive)
    try coder.code(&isWaiting)
    try coder.code(&decideAt)
    try coder.code(&patience)
  }
}

/// The numbers of an observer's events and links, which order those of one instant.
///
/// Each instant begins at one, and what follows from a change of regions at one has numbers of its own, behind those of before the
/// change. So the numbers do not depend on when the observer caught up with the change.
struct Ordinals: Sendable {
  /// The distance between the numbers before a change at one instant, those from the change, and those after it.
  private static let part: UInt64 = 1 << 32

  /// The base that all numbers exceed; those from before the last start of the server do not.
  var floor: UInt64 = 0
  /// Indicates whether the observer is catching up with a change.
  var isCatchingUp = false
  private var instant = Timestamp.distantPast
  private var count: UInt64 = 0
  private var changedAt = Timestamp.distantPast
  private var countOfChange: UInt64 = 0

  /// The next number of an instant.
  mutating func next(at now: Timestamp) -> UInt64 {
    guard !isCatchingUp else {
      if changedAt != now { (changedAt, countOfChange) = (now, 0) }
      countOfChange += 1
      return floor &+ Ordinals.part &+ countOfChange
    }
    if instant != now { (instant, count) = (now, 0) }
    count += 1
    return floor &+ count &+ (changedAt == now ? 2 * Ordinals.part : 0)
  }
}

extension Ordinals: FieldParts {
  /// Hands the numbers to a coder; those of the latest instant too, since more may follow at it once they were read.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(ids: &floor, "an observer's ordinal")
    try coder.code(&instant)
    try coder.code(&count, in: 0...(Ordinals.part - 1), "ordinals of an instant")
    try coder.code(&changedAt)
    try coder.code(&countOfChange, in: 0...(Ordinals.part - 1), "ordinals of a change")
  }
}
