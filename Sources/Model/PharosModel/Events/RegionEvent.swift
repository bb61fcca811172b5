/// A decision about a region in the words of Core Location's delegate.
///
/// A view of an ``Event`` and nothing more: the callback that a `CLLocationManagerDelegate` would have received.
public enum RegionEvent: Hashable, Sendable {
  /// `locationManager(_:didEnterRegion:)`.
  case didEnterRegion(region: String, subject: SubjectID)
  /// `locationManager(_:didExitRegion:)`.
  case didExitRegion(region: String, subject: SubjectID)
  /// `locationManager(_:didDetermineState:for:)`.
  case didDetermineState(RegionState, region: String, subject: SubjectID)
  /// `locationManager(_:monitoringDidFailFor:withError:)`: the application holds as many regions as it may.
  case monitoringDidFail(region: String, limit: Int)
  /// `locationManager(_:didRange:satisfying:)`.
  case didRange([RangedReading], constraint: BeaconConstraint, subject: SubjectID)

  /// Creates the call that the delegate would have received, or nil for a decision that Core Location has no word for.
  public init?(_ event: Event) {
    switch (event.kind, event.detail) {
    case (.regionEnter, _): self = .didEnterRegion(region: event.region, subject: event.subject)
    case (.regionExit, _): self = .didExitRegion(region: event.region, subject: event.subject)
    case (.regionState, .region(let transition)):
      self = .didDetermineState(transition.to, region: event.region, subject: event.subject)
    case (.regionLimitExceeded, .regionLimit(let limit, let refused)):
      self = .monitoringDidFail(region: refused, limit: limit)
    case (.ranging, .ranging(let constraint, let beacons)):
      self = .didRange(beacons, constraint: constraint, subject: event.subject)
    default: return nil
    }
  }
}
