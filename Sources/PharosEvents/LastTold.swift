public import PharosReports

/// Where things stood by the last events about them: what a server that starts again knows without a checkpoint.
///
/// The words come in the order of what they are about, so that two values that say the same are equal.
public struct LastTold: Hashable, Sendable {
  /// Where subjects stand towards regions.
  public var regions: [RegionWord] = []
  /// In which zones beacons are.
  public var zones: [ZoneWord] = []
  /// Which observers are heard.
  public var observers: [ObserverWord] = []

  /// Starts with nothing told.
  public init() {}

  /// Whether there is nothing in it.
  public var isEmpty: Bool { regions.isEmpty && zones.isEmpty && observers.isEmpty }

  /// Where a subject stands towards a region.
  public struct RegionWord: Hashable, Sendable {
    /// The application that the region belongs to.
    public var application: String
    /// The region's identifier.
    public var region: String
    /// Whom it is about.
    public var subject: SubjectID
    /// The state.
    public var state: RegionState
    /// The state; where it is `unmonitored`, the one before it.
    public var lastKnown: RegionState
    /// When the visit began, where the last known state is `inside`.
    public var enteredAt: Timestamp?
    /// The most specific identity that caused the state, where one did.
    public var refinement: BeaconID?
    /// The observer whose hearing settled it, for regions about beacons.
    public var observer: ObserverID?
    /// When it happened.
    public var time: Timestamp
    /// When it was decided.
    public var decidedAt: Timestamp

    /// Makes a word.
    public init(
      application: String,
      region: String,
      subject: SubjectID,
      state: RegionState,
      lastKnown: RegionState,
      enteredAt: Timestamp? = nil,
      refinement: BeaconID? = nil,
      observer: ObserverID? = nil,
      time: Timestamp,
      decidedAt: Timestamp
    ) {
      self.application = application
      self.region = region
      self.subject = subject
      self.state = state
      self.lastKnown = lastKnown
      self.enteredAt = enteredAt
      self.refinement = refinement
      self.observer = observer
      self.time = time
      self.decidedAt = decidedAt
    }
  }

  /// In which zone a beacon is.
  public struct ZoneWord: Hashable, Sendable {
    /// The beacon.
    public var beacon: BeaconID
    /// The zone, or nil if it is in none.
    public var zone: String?
    /// When it happened.
    public var time: Timestamp
    /// When it was decided.
    public var decidedAt: Timestamp

    /// Makes a word.
    public init(beacon: BeaconID, zone: String?, time: Timestamp, decidedAt: Timestamp) {
      self.beacon = beacon
      self.zone = zone
      self.time = time
      self.decidedAt = decidedAt
    }
  }

  /// Whether an observer is heard.
  public struct ObserverWord: Hashable, Sendable {
    /// The observer.
    public var observer: ObserverID
    /// Whether it is heard.
    public var isUp: Bool
    /// When it came or went.
    public var time: Timestamp
    /// When it was decided.
    public var decidedAt: Timestamp

    /// Makes a word.
    public init(observer: ObserverID, isUp: Bool, time: Timestamp, decidedAt: Timestamp) {
      self.observer = observer
      self.isUp = isUp
      self.time = time
      self.decidedAt = decidedAt
    }
  }
}
