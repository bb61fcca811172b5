/// A message from stage one to stage two: a finding of one observer that concerns a comparison of observers.
///
/// Stage one makes one a second for each observer that stands in a zone, whatever it hears. A change of presence
/// carries its evidence and is made once a visit; it is stored indirectly, so that links are small.
public enum StageLink: Hashable, Sendable {
  /// The reception of beacons by one observer in one second.
  case second(SecondSummary)
  /// A beacon came, went or became unmonitored at one observer, for a region about beacons.
  indirect case presence(PresenceChange)
  /// An observer went down or came back.
  case observer(ObserverChange)
  /// An observer that stands in a zone has proved that it is alive; made at most once a second.
  case life(ObserverLife)
  /// A reading of a handset's sensors that bears on its location; made only where there are venues to locate it in.
  indirect case sensing(Sensing)

  /// The time at which stage one decided it: links reach stage two in this order.
  public var decidedAt: Timestamp {
    switch self {
    case .second(let summary): summary.decidedAt
    case .presence(let change): change.decidedAt
    case .observer(let change): change.decidedAt
    case .life(let life): life.decidedAt
    case .sensing(let sensing): sensing.decidedAt
    }
  }

  /// Returns whether a link reaches stage two before another: by decision time, then observer, then ordinal.
  ///
  /// Neither threads nor batches show in the order.
  public static func isOrderedBefore(_ left: StageLink, _ right: StageLink) -> Bool {
    if left.decidedAt != right.decidedAt { return left.decidedAt < right.decidedAt }
    if left.observer != right.observer { return left.observer < right.observer }
    return left.ordinal < right.ordinal
  }

  /// The observer it comes from.
  public var observer: ObserverID {
    switch self {
    case .second(let summary): summary.observer
    case .presence(let change): change.observer
    case .observer(let change): change.observer
    case .life(let life): life.observer
    case .sensing(let sensing): sensing.observer
    }
  }

  /// Counts the links and events of one observer.
  public var ordinal: UInt64 {
    switch self {
    case .second(let summary): summary.ordinal
    case .presence(let change): change.ordinal
    case .observer(let change): change.ordinal
    case .life(let life): life.ordinal
    case .sensing(let sensing): sensing.ordinal
    }
  }
}

/// A beacon came, went or became unmonitored at one observer.
public struct PresenceChange: Hashable, Sendable {
  /// The observer.
  public var observer: ObserverID
  /// The beacon.
  public var beacon: BeaconID
  /// The application and the region about beacons whose rules decided it.
  public var application: String
  /// The region's identifier.
  public var region: String
  /// The state of the beacon at this observer.
  public var state: RegionState
  /// The time of the change.
  public var time: Timestamp
  /// The time at which stage one decided it.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer.
  public var ordinal: UInt64
  /// The evidence for the decision.
  public var evidence: Evidence

  /// Makes a change.
  public init(
    observer: ObserverID,
    beacon: BeaconID,
    application: String,
    region: String,
    state: RegionState,
    time: Timestamp,
    decidedAt: Timestamp,
    ordinal: UInt64,
    evidence: Evidence
  ) {
    self.observer = observer
    self.beacon = beacon
    self.application = application
    self.region = region
    self.state = state
    self.time = time
    self.decidedAt = decidedAt
    self.ordinal = ordinal
    self.evidence = evidence
  }
}

/// An observer went down or came back.
public struct ObserverChange: Hashable, Sendable {
  /// The observer.
  public var observer: ObserverID
  /// Indicates whether the observer is online.
  public var isUp: Bool
  /// The time of the change.
  public var time: Timestamp
  /// The time at which stage one decided it.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer.
  public var ordinal: UInt64

  /// Makes a change.
  public init(observer: ObserverID, isUp: Bool, time: Timestamp, decidedAt: Timestamp, ordinal: UInt64) {
    self.observer = observer
    self.isUp = isUp
    self.time = time
    self.decidedAt = decidedAt
    self.ordinal = ordinal
  }
}

/// An observer has proved that it lives, so that its silence about a beacon up to then means something.
public struct ObserverLife: Hashable, Sendable {
  /// The observer.
  public var observer: ObserverID
  /// The time in which it is proved to have been able to hear.
  public var listening: ListeningTime
  /// The time at which stage one decided it.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer.
  public var ordinal: UInt64

  /// Makes a proof.
  public init(observer: ObserverID, listening: ListeningTime, decidedAt: Timestamp, ordinal: UInt64) {
    self.observer = observer
    self.listening = listening
    self.decidedAt = decidedAt
    self.ordinal = ordinal
  }
}

/// The output of stage one for a run of inputs.
public struct StageOutput: Sendable {
  /// The decisions about observers.
  public var events: [Event] = []
  /// The links for stage two.
  public var links: [StageLink] = []

  /// Starts empty.
  public init() {}

  /// Indicates whether there are no events and no links.
  public var isEmpty: Bool { events.isEmpty && links.isEmpty }

  /// The number of events or links that storage is kept for: many times what a batch usually brings.
  ///
  /// A batch in which thousands of beacons appear at once leaves storage for thousands, 3 MiB of it, and a server keeps
  /// several outputs.
  private static let maximumKept = 256

  /// Empties it and keeps its storage, unless that is much more than is usually needed.
  public mutating func removeAll() {
    events.removeAll(keepingCapacity: events.capacity <= StageOutput.maximumKept)
    links.removeAll(keepingCapacity: links.capacity <= StageOutput.maximumKept)
  }
}

/// The beacons that one observer heard in one half of a second.
///
/// All of an observer's beacons travel together, since its half ends for all of them at once: what they share is
/// stored once, and the consumer looks up the observer once for all of them.
public struct SecondSummary: Hashable, Sendable {
  /// The observer that heard the beacons.
  public var observer: ObserverID
  /// The length of the span: half a second, in which a walker goes half a metre.
  public static let length = TimeSpan.milliseconds(500)
  /// The end of the half.
  public var until: Timestamp
  /// The time at which stage one could decide: the end of the half and the observer's usual delivery.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer; every beacon takes a number, the first one this.
  public var ordinal: UInt64
  /// The beacons that were heard in it, each once, in the order in which stage one keeps them.
  public var beacons: [BeaconSummary]

  /// Makes a summary.
  public init(
    observer: ObserverID,
    until: Timestamp,
    decidedAt: Timestamp,
    ordinal: UInt64,
    beacons: [BeaconSummary] = []
  ) {
    self.observer = observer
    self.until = until
    self.decidedAt = decidedAt
    self.ordinal = ordinal
    self.beacons = beacons
  }
}

/// The reception of one beacon by one observer in one half of a second.
public struct BeaconSummary: Hashable, Sendable {
  /// The beacon.
  public var beacon: BeaconID
  /// The number of samples in it.
  public var count: UInt32
  /// The mean level in dBm, corrected by the observer's offset.
  public var mean: Double
  /// The variance of the level in dB².
  public var variance: Double
  /// The time in it at which the beacon was last heard.
  public var lastHeard: Timestamp

  /// Makes a summary.
  public init(beacon: BeaconID, count: UInt32, mean: Double, variance: Double, lastHeard: Timestamp) {
    self.beacon = beacon
    self.count = count
    self.mean = mean
    self.variance = variance
    self.lastHeard = lastHeard
  }
}

/// A reading of a handset's sensors, on its way to the positioning that locates the handset.
///
/// Stage one makes one of each report that bears on the handset's location, with the event time that it computed. It
/// sums nothing up, since levels mean most together with the place at which they were heard.
public struct Sensing: Hashable, Sendable {
  /// The content of a reading.
  public enum Body: Hashable, Sendable {
    /// Access points; the age of each is relative to the time of the reading.
    case accessPoints([AccessPoint])
    /// Motion; the age of each sample is relative to the time of the reading.
    case motion([MotionSample])
    /// A beacon's level: its identity, its address if known and not private, and the platform's own estimate of the
    /// distance.
    case beacon(BeaconID, address: DeviceAddress?, rssi: RSSI, accuracy: Meters?)
    /// A location from outside.
    case outside(OutsideFix)
    /// A movement from visual odometry.
    case relativePose(RelativePose)
    /// The state of a visual positioning service.
    case visualStatus(VisualStatus)
  }

  /// The observer whose sensors made the reading.
  public var observer: ObserverID
  /// E: when it happened.
  public var time: Timestamp
  /// R: when it was received, which is when stage one handed it on.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer.
  public var ordinal: UInt64
  /// The content.
  public var body: Body

  /// Makes a sensing.
  public init(
    observer: ObserverID,
    time: Timestamp,
    decidedAt: Timestamp,
    ordinal: UInt64,
    body: Body
  ) {
    self.observer = observer
    self.time = time
    self.decidedAt = decidedAt
    self.ordinal = ordinal
    self.body = body
  }
}
