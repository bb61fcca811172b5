public import PharosReports

/// Where one beacon is by now, as stage two knows it: what a map of tags is drawn from.
public struct TagStanding: Hashable, Sendable {
  /// How loud one observer hears the beacon.
  public struct Hearing: Hashable, Sendable {
    /// Who hears it.
    public var observer: ObserverID
    /// The filtered level, the offset left out.
    ///
    /// - Units: dBm.
    public var level: Double
    /// The offset that was found by itself and is added when observers are compared.
    ///
    /// - Units: dB.
    public var offset: Double
    /// When it was last told of.
    public var lastHeard: Timestamp
    /// Whether the observer is down, so that its silence means nothing.
    public var isDown: Bool

    /// Makes a hearing.
    public init(observer: ObserverID, level: Double, offset: Double, lastHeard: Timestamp, isDown: Bool) {
      self.observer = observer
      self.level = level
      self.offset = offset
      self.lastHeard = lastHeard
      self.isDown = isDown
    }
  }

  /// Which beacon.
  public var beacon: BeaconID
  /// The zone that it is in, or nil if it is in none.
  public var zone: String?
  /// Since when it has been in the zone; nil where it is in none.
  public var since: Timestamp?
  /// How probable the zone is, 0 to 1; nil where it is in none.
  public var probability: Double?
  /// Who hears it, the loudest first.
  public var hearings: [Hearing]

  /// Makes a standing.
  public init(
    beacon: BeaconID,
    zone: String?,
    since: Timestamp?,
    probability: Double?,
    hearings: [Hearing]
  ) {
    self.beacon = beacon
    self.zone = zone
    self.since = since
    self.probability = probability
    self.hearings = hearings
  }
}

/// Where one beacon stands towards one region about beacons.
public struct BeaconStanding: Hashable, Sendable {
  /// The application that the region belongs to.
  public var application: String
  /// The region's identifier.
  public var region: String
  /// Which beacon.
  public var beacon: BeaconID
  /// Where it stands.
  public var state: RegionState
  /// When the present visit began, if there is one.
  public var enteredAt: Timestamp?
  /// The observers that have it inside, in their order; those that are down left out.
  public var observers: [ObserverID]

  /// Makes a standing.
  public init(
    application: String,
    region: String,
    beacon: BeaconID,
    state: RegionState,
    enteredAt: Timestamp?,
    observers: [ObserverID]
  ) {
    self.application = application
    self.region = region
    self.beacon = beacon
    self.state = state
    self.enteredAt = enteredAt
    self.observers = observers
  }
}
