public import PharosReports

/// What stage one hands to stage two: what one observer found out that concerns a comparison of observers.
///
/// There is one a second for each observer that stands in a zone, whatever it hears; a change of presence, which carries its
/// evidence and is made once a visit, lies apart, so that links are small.
public enum StageLink: Hashable, Sendable {
  /// How one observer heard its beacons in one second.
  case second(SecondSummary)
  /// A beacon came, went or became unmonitored at one observer, for a region about beacons.
  indirect case presence(PresenceChange)
  /// An observer went down or came back.
  case observer(ObserverChange)
  /// An observer that stands in a zone has proved that it lives: told at most once a second.
  case life(ObserverLife)
  /// A handset sensed something that says where it is; made only where there are venues to locate it in.
  indirect case sensing(Sensing)

  /// When stage one decided it: links reach stage two in this order.
  public var decidedAt: Timestamp {
    switch self {
    case .second(let summary): summary.decidedAt
    case .presence(let change): change.decidedAt
    case .observer(let change): change.decidedAt
    case .life(let life): life.decidedAt
    case .sensing(let sensing): sensing.decidedAt
    }
  }

  /// Whether a link reaches stage two before another: by decision time, observer, sort and beacon, so that neither
  /// threads nor batches show in the order.
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
  /// Where the beacon stands at this observer now.
  public var state: RegionState
  /// When it happened.
  public var time: Timestamp
  /// When stage one decided it.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer.
  public var ordinal: UInt64
  /// Why.
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
  /// Which observer.
  public var observer: ObserverID
  /// Whether it is heard.
  public var isUp: Bool
  /// When it happened.
  public var time: Timestamp
  /// When stage one decided it.
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
  /// Which observer.
  public var observer: ObserverID
  /// Up to when it is known to have lived; the distant future where it is assumed to live.
  public var provenThrough: Timestamp
  /// When stage one decided it.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer.
  public var ordinal: UInt64

  /// Makes a proof.
  public init(observer: ObserverID, provenThrough: Timestamp, decidedAt: Timestamp, ordinal: UInt64) {
    self.observer = observer
    self.provenThrough = provenThrough
    self.decidedAt = decidedAt
    self.ordinal = ordinal
  }
}

/// What stage one gives back for a run of inputs.
public struct StageOutput: Sendable {
  /// The decisions about observers.
  public var events: [Event] = []
  /// What stage two needs.
  public var links: [StageLink] = []

  /// Starts empty.
  public init() {}

  /// Whether there is nothing in it.
  public var isEmpty: Bool { events.isEmpty && links.isEmpty }

  /// How many events or links room is kept for: many times what a batch usually brings.
  ///
  /// A batch in which thousands of beacons come at once leaves room for thousands behind, 3 MiB of it, and a server keeps
  /// several outputs.
  private static let mostKept = 256

  /// Empties it and keeps its storage, unless that is much more than is usually needed.
  public mutating func removeAll() {
    events.removeAll(keepingCapacity: events.capacity <= StageOutput.mostKept)
    links.removeAll(keepingCapacity: links.capacity <= StageOutput.mostKept)
  }
}

/// The beacons that one observer heard in one second.
///
/// All of an observer's beacons travel together, since its second ends for all of them at once: what they share is
/// stored once, and the consumer looks up the observer once a second instead of once for each beacon.
public struct SecondSummary: Hashable, Sendable {
  /// Who heard them.
  public var observer: ObserverID
  /// The end of the second.
  public var until: Timestamp
  /// When stage one could tell: the end of the second and the observer's lag.
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

/// How one beacon was heard by one observer in one second.
public struct BeaconSummary: Hashable, Sendable {
  /// Which beacon.
  public var beacon: BeaconID
  /// How many samples fell in the second.
  public var count: UInt32
  /// The mean level in dBm, corrected by the observer's offset.
  public var mean: Double
  /// The variance of the level in dB².
  public var variance: Double
  /// When the beacon was last heard in it.
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

/// What a handset sensed, on its way to where it is located.
///
/// Stage one makes one of each report that says something about where the handset is, with the event time that it worked
/// out; nothing is summed up on the way, since levels say most together with the place at which they were heard.
public struct Sensing: Hashable, Sendable {
  /// What was sensed.
  public enum Body: Hashable, Sendable {
    /// Access points; how long ago each was heard counts from the sensing's time.
    case accessPoints([AccessPoint])
    /// Motion; how long ago each sample was taken counts from the sensing's time.
    case motion([MotionSample])
    /// A beacon's level: its identity, its address if known and not private, and the platform's own estimate of the
    /// distance.
    case beacon(BeaconID, address: DeviceAddress?, rssi: RSSI, accuracy: Meters?)
    /// A location from outside.
    case outside(OutsideFix)
  }

  /// Who sensed it.
  public var observer: ObserverID
  /// E: when it happened.
  public var time: Timestamp
  /// R: when it was received, which is when stage one handed it on.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer.
  public var ordinal: UInt64
  /// What was sensed.
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
