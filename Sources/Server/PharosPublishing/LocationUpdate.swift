public import PharosModel
public import PharosStays

/// A live update about one subject, in the words of `CLLocationUpdate`.
public struct LocationUpdate: Hashable, Sendable {
  /// The settings of live updates, as `CLLocationUpdate.LiveConfiguration` names them.
  public struct LiveConfiguration: Sendable {
    /// The service that makes the updates, by Core Location's names.
    public enum Service: Hashable, Sendable {
      /// Fixes while the subject moves, and one update when it is stationary.
      case live
      /// At most one fix in five minutes, after 500 m, or in another venue, building or floor.
      case significantChanges
    }

    /// The service; the settings other than ``authorisation`` are those of ``Service/live``.
    public var service: Service
    /// The movement below which a subject is stationary.
    public var profile: MotionProfile
    /// The time without a fix after which the location is unavailable.
    ///
    /// Longer than the interval and the lag of the site's positioning.
    public var silence: TimeSpan
    /// The distance from the last update within which a fix makes none, in metres, or nil for none: Core Location's
    /// `distanceFilter`.
    public var distanceFilter: Double?
    /// The accuracy that is desired, in metres, or nil for the best that there is: Core Location's `desiredAccuracy`.
    ///
    /// It is a wish: a vaguer fix makes an update if there was none for 10 s, with ``LocationUpdate/accuracyLimited``.
    public var desiredAccuracy: Double?
    /// Returns what the application may learn about a subject; nil where it may learn everything.
    ///
    /// It is called on the subscriber's queue with each update.
    public var authorisation: (@Sendable (SubjectID) -> AuthorisationState)?

    /// Creates settings.
    public init(
      profile: MotionProfile = .pedestrian,
      silence: TimeSpan = .seconds(30),
      distanceFilter: Double? = nil,
      desiredAccuracy: Double? = nil,
      authorisation: (@Sendable (SubjectID) -> AuthorisationState)? = nil
    ) {
      self.profile = profile
      self.silence = silence
      self.distanceFilter = distanceFilter
      self.desiredAccuracy = desiredAccuracy
      service = .live
      self.authorisation = authorisation
    }

    /// The settings for a person on foot.
    public static let pedestrian = LiveConfiguration()
    /// The settings for a thing that is moved now and then.
    public static let asset = LiveConfiguration(profile: .asset)

    /// The settings of the significant-change service.
    public static let significantChanges = significantChanges()

    /// Returns the settings of the significant-change service.
    ///
    /// - Parameter authorisation: returns what the application may learn about a subject.
    /// - Returns: the settings.
    public static func significantChanges(
      authorisation: (@Sendable (SubjectID) -> AuthorisationState)? = nil
    ) -> LiveConfiguration {
      var configuration = LiveConfiguration(authorisation: authorisation)
      configuration.service = .significantChanges
      return configuration
    }
  }

  /// The subject: a handset, or a tag.
  public let subject: SubjectID
  /// The fix, or nil if there is none, or the application may not learn it.
  public private(set) var location: Fix?
  /// The time since which the subject is stationary, or nil if it moves or nothing is known.
  public private(set) var stationarySince: Timestamp?
  /// Indicates whether there is no fix.
  public private(set) var locationUnavailable: Bool
  /// The reasons for which the update says less than it might.
  public private(set) var diagnostics: MonitorDiagnostics

  /// Creates an update, of which the location is unavailable where none is given.
  package init(
    subject: SubjectID,
    location: Fix? = nil,
    stationarySince: Timestamp? = nil,
    diagnostics: MonitorDiagnostics = []
  ) {
    self.subject = subject
    self.location = location
    self.stationarySince = stationarySince
    locationUnavailable = location == nil
    self.diagnostics = diagnostics
  }

  /// Returns the update without what an application may not learn.
  package func hidden(for reasons: MonitorDiagnostics) -> LocationUpdate {
    var update = self
    (update.location, update.stationarySince, update.locationUnavailable) = (nil, nil, false)
    update.diagnostics = reasons
    return update
  }
}

/// The properties of `CLLocationUpdate` by their names.
extension LocationUpdate {
  /// Indicates whether the subject is stationary: no update follows until it moves, or has no fix.
  public var stationary: Bool { stationarySince != nil }
  /// Indicates whether the application has reduced accuracy, or the fix is too vague to decide within the profile's duration that
  /// the subject is stationary, or vaguer than is desired.
  public var accuracyLimited: Bool { diagnostics.contains(.accuracyLimited) }
  /// Indicates whether the subject has denied the application its data.
  public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }
  /// Indicates whether the handset has stopped scanning for all applications.
  public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }
  /// Indicates whether a policy keeps the subject's data from the application.
  public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }
  /// Indicates whether nothing has been decided about the application's access yet.
  public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
  /// False: a program that takes updates is in use.
  public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }
  /// False: a server needs no session.
  public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }
}
