public import PharosReports

/// What there is to say about a decision, by its kind.
public enum EventDetail: Hashable, Sendable {
  /// A region's state changed, or was asked for.
  case region(RegionTransition)
  /// A region was refused: the limit, and the region that did not fit.
  case regionLimit(limit: Int, refused: String)
  /// What was ranged in the last second, nearest first, unknown last.
  case ranging(constraint: BeaconConstraint, beacons: [RangedReading])
  /// A beacon changed zones.
  case zone(ZoneTransition)
  /// An observer came online, went offline or restarted.
  case observer(ObserverTransition)
  /// A beacon's battery.
  case battery(millivolts: UInt16, observer: ObserverID)
  /// The wall clock was set by so much.
  case clockStep(TimeSpan)
  /// What an application may learn about a subject has changed.
  case authorisation(AuthorisationTransition)
  /// What a rule of an application has to say to people.
  case notification(NotificationDetail)
  /// Where a subject is.
  case fix(FixDetail)
}

/// A change of state of a region, or the answer to a question about it.
public struct RegionTransition: Hashable, Sendable {
  /// The state before.
  public var from: RegionState
  /// The state now.
  public var to: RegionState
  /// The most specific identity that caused it, where one did.
  public var refinement: BeaconID?
  /// The observer whose hearing settled it, for regions about beacons.
  public var observer: ObserverID?
  /// When the visit began that an exit ends.
  public var enteredAt: Timestamp?
  /// Whether somebody asked (requestState, display-on), so that nothing has changed.
  public var isAnswer: Bool
  /// Why.
  public var evidence: Evidence

  /// Makes a transition.
  public init(
    from: RegionState,
    to: RegionState,
    refinement: BeaconID? = nil,
    observer: ObserverID? = nil,
    enteredAt: Timestamp? = nil,
    isAnswer: Bool = false,
    evidence: Evidence
  ) {
    self.from = from
    self.to = to
    self.refinement = refinement
    self.observer = observer
    self.enteredAt = enteredAt
    self.isAnswer = isAnswer
    self.evidence = evidence
  }
}

/// A change in an observer's life.
public struct ObserverTransition: Hashable, Sendable {
  /// When it was last heard before, if ever.
  public var lastHeard: Timestamp?
  /// The silence that its learned gaps allow.
  public var allowedGap: TimeSpan?
  /// Its boot id, if it tells one.
  public var bootID: UInt32?

  /// Makes a transition.
  public init(lastHeard: Timestamp? = nil, allowedGap: TimeSpan? = nil, bootID: UInt32? = nil) {
    self.lastHeard = lastHeard
    self.allowedGap = allowedGap
    self.bootID = bootID
  }
}

/// One beacon of a ranging event.
public struct RangedReading: Hashable, Sendable {
  /// How near a beacon is.
  public enum Proximity: String, Hashable, Sendable {
    /// Below half a metre.
    case immediate
    /// Below three metres.
    case near
    /// Farther.
    case far
    /// Not determined.
    case unknown
  }

  /// Which beacon.
  public var beacon: BeaconID
  /// The mean of the samples since the last report in dBm, or 0 if there were none.
  public var rssi: Double
  /// The distance in metres, or −1 if undetermined.
  public var accuracy: Double
  /// The standard deviation of the distance in metres, or −1 if undetermined.
  public var deviation: Double
  /// How near.
  public var proximity: Proximity
  /// How many samples there were since the last report.
  public var samples: Int

  /// Makes a reading.
  public init(
    beacon: BeaconID,
    rssi: Double,
    accuracy: Double,
    deviation: Double,
    proximity: Proximity,
    samples: Int
  ) {
    self.beacon = beacon
    self.rssi = rssi
    self.accuracy = accuracy
    self.deviation = deviation
    self.proximity = proximity
    self.samples = samples
  }
}
