/// An application's name for a beacon identity constraint, with the rules for being inside.
public struct Region: Hashable, Sendable {
  /// Whom a region is about.
  public enum Subject: Hashable, Sendable {
    /// An observer is inside when it hears any matching beacon, as a handset is for Core Location.
    case observer
    /// A beacon is inside when any of these observers hears it; nil means all observers.
    case beacon(observers: [ObserverID]?)
  }

  /// The application's name for it; a region with the same identifier replaces this one.
  public var identifier: String
  /// Which beacons it is about.
  public var constraint: BeaconConstraint
  /// Whom it is about.
  public var subject: Subject
  /// Whether the device address is part of a beacon's identity here (`key: mac`).
  public var keyedByAddress: Bool
  /// Whether entering gives an enter event.
  public var notifyOnEntry: Bool
  /// Whether leaving gives an exit event.
  public var notifyOnExit: Bool
  /// Whether a display-on report while inside gives a state event.
  public var notifyEntryStateOnDisplay: Bool
  /// When a beacon counts as here and when as gone.
  public var presence: PresencePolicy
  /// How long a beacon may stay unmonitored before an alarm event says so, for regions about beacons.
  public var maximumHold: TimeSpan

  /// How long a beacon may stay unmonitored unless a region says otherwise.
  ///
  /// An hour: longer than a gateway's restart or a short power cut, shorter than a shift.
  public static let defaultMaximumHold = TimeSpan.minutes(60)

  /// Makes a region with the defaults of Core Location and of ``PresencePolicy``.
  public init(
    identifier: String,
    constraint: BeaconConstraint,
    subject: Subject = .observer,
    keyedByAddress: Bool = false,
    notifyOnEntry: Bool = true,
    notifyOnExit: Bool = true,
    notifyEntryStateOnDisplay: Bool = false,
    presence: PresencePolicy = PresencePolicy(),
    maximumHold: TimeSpan = Region.defaultMaximumHold
  ) {
    self.identifier = identifier
    self.constraint = constraint
    self.subject = subject
    self.keyedByAddress = keyedByAddress
    self.notifyOnEntry = notifyOnEntry
    self.notifyOnExit = notifyOnExit
    self.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    self.presence = presence
    self.maximumHold = maximumHold
  }
}

/// When a beacon is here, and when it is gone: the rules that a track debounces with.
public struct PresencePolicy: Hashable, Sendable {
  /// How long silence must last before it means absence.
  public enum Silence: Hashable, Sendable {
    /// As long as the beacon's learned interval and this observer's reception make it unlikely enough.
    case adaptive
    /// A fixed time, 30 s being the usual value of Core Location and AltBeacon.
    case fixed(TimeSpan)
    /// For ever: the beacon is silent at rest.
    case never
  }

  /// How many adverts it takes to enter.
  public var enterSamples: Int
  /// Within which time they must fall; nil means three learned intervals, at least 3 s, 30 s for a stranger.
  public var enterWithin: TimeSpan?
  /// The filtered level in dBm that counts towards entering; nil means any.
  public var enterRSSI: Double?
  /// The filtered level in dBm below which a beacon leaves after the dwell; nil means never by level.
  public var exitRSSI: Double?
  /// The distance up to which a beacon counts towards entering; nil means any.
  ///
  /// It is turned into the level that the beacon has there, by its power at one metre and the site's distance model; a
  /// beacon whose power is unknown never counts. Where a level is given too, both must be met.
  public var enterDistance: Meters?
  /// The distance beyond which a beacon leaves after the dwell; nil means never by distance.
  ///
  /// Turned into a level as `enterDistance` is; where a level is given too, either is enough to leave.
  public var exitDistance: Meters?
  /// How long the level must stay below `exitRSSI`, or beyond `exitDistance`.
  public var exitDwell: TimeSpan
  /// How long silence must last.
  public var silence: Silence
  /// The shortest adaptive silence.
  public var silenceFloor: TimeSpan
  /// The longest adaptive silence.
  public var silenceCeiling: TimeSpan
  /// How many false exits a region and subject may have in a day under adaptive silence.
  public var falseExitsPerDay: Double
  /// The slowest interval that the beacon is known to advertise with, at rest.
  public var stillInterval: TimeSpan?

  /// Makes a policy; the defaults are those of the design, section 6.
  ///
  /// Two adverts to enter, so that one spike alone never does. Five seconds of exit dwell, since a body in the
  /// way takes 10 to 20 dB for a few seconds. Silence between 2 s, below which scan windows beat against
  /// intervals, and 300 s, since a beacon heard every 10 s through 50 % bursty loss needs over three minutes. A
  /// budget of 0.01 false exits a day: 20 a day over 2,000 tags.
  public init(
    enterSamples: Int = 2,
    enterWithin: TimeSpan? = nil,
    enterRSSI: Double? = nil,
    exitRSSI: Double? = nil,
    enterDistance: Meters? = nil,
    exitDistance: Meters? = nil,
    exitDwell: TimeSpan = .seconds(5),
    silence: Silence = .adaptive,
    silenceFloor: TimeSpan = .seconds(2),
    silenceCeiling: TimeSpan = .seconds(300),
    falseExitsPerDay: Double = 0.01,
    stillInterval: TimeSpan? = nil
  ) {
    self.enterSamples = enterSamples
    self.enterWithin = enterWithin
    self.enterRSSI = enterRSSI
    self.exitRSSI = exitRSSI
    self.enterDistance = enterDistance
    self.exitDistance = exitDistance
    self.exitDwell = exitDwell
    self.silence = silence
    self.silenceFloor = silenceFloor
    self.silenceCeiling = silenceCeiling
    self.falseExitsPerDay = falseExitsPerDay
    self.stillInterval = stillInterval
  }
}
