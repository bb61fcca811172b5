package import PharosModel
package import PharosStays

/// The state from which the updates of one subject are made of its events.
package struct LiveUpdateState: Sendable {
  private let subject: SubjectID
  private let profile: MotionProfile
  private var track: StationaryTrack

  /// Creates a state that knows nothing yet.
  package init(of subject: SubjectID, _ profile: MotionProfile) {
    self.subject = subject
    self.profile = profile
    track = StationaryTrack(profile)
  }

  /// Takes the next event.
  ///
  /// - Returns: the update, or nil for an event that makes none.
  package mutating func receive(_ event: Event) -> LocationUpdate? {
    guard event.subject == subject else { return nil }
    switch event.detail {
    case .fix(let detail):
      guard let change = track.receive(VisitFix(detail, event)) else { return nil }
      var since: Timestamp?
      if case .stationary(let time) = change { since = time }
      return LocationUpdate(
        subject: subject,
        location: Fix(event),
        stationarySince: since,
        diagnostics: profile.isLimited(by: detail.horizontalAccuracy) ? .accuracyLimited : []
      )
    case .region(let transition) where transition.evidence.rule == .scanOff:
      return track.expire().map { _ in
        LocationUpdate(subject: subject, diagnostics: .authorizationDeniedGlobally)
      }
    default: return nil
    }
  }

  /// Ends the wait for a fix.
  ///
  /// - Returns: the update, or nil if it was made already.
  package mutating func expire() -> LocationUpdate? {
    track.expire().map { _ in LocationUpdate(subject: subject) }
  }
}
