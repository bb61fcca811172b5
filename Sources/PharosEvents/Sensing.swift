public import PharosReports

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
