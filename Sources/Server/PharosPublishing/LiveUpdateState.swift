package import PharosModel
import PharosStays

/// The state from which the updates of one subject are made of its events.
package struct LiveUpdateState: Sendable {
  private enum Service: Sendable {
    case live(StationaryTrack, LocationFilter)
    case significantChanges(SignificantChangeTrack)
  }

  private let subject: SubjectID
  private let configuration: LocationUpdate.LiveConfiguration
  private var service: Service
  /// Indicates whether the last update was one with which updates cease: the next fix resumes them.
  private var isPaused = false
  /// The last reduced fix, if the last fix was one.
  private var reduced: FixDetail?

  /// Creates a state that knows nothing yet.
  package init(of subject: SubjectID, _ configuration: LocationUpdate.LiveConfiguration) {
    self.subject = subject
    self.configuration = configuration
    service =
      switch configuration.service {
      case .live:
        .live(
          StationaryTrack(configuration.profile),
          LocationFilter(
            distance: configuration.distanceFilter,
            accuracy: configuration.desiredAccuracy
          )
        )
      case .significantChanges: .significantChanges(SignificantChangeTrack())
      }
  }

  /// Takes the next event.
  ///
  /// - Returns: the update, or nil for an event that makes none.
  package mutating func receive(_ event: Event) -> LocationUpdate? {
    guard event.subject == subject else { return nil }
    switch event.detail {
    case .fix(let detail) where detail.accuracy.isReduced: return receive(reduced: detail, event)
    case .fix(let detail):
      reduced = nil
      return receive(VisitFix(detail, event), event)
    case .region(let transition) where transition.evidence.rule == .scanOff:
      return pause(LocationUpdate(subject: subject, diagnostics: .authorizationDeniedGlobally))
    default: return nil
    }
  }

  /// Ends the wait for a fix.
  ///
  /// - Returns: the update, or nil if it was made already, and for significant changes, for which there is no wait.
  package mutating func expire() -> LocationUpdate? {
    if case .significantChanges = service { return nil }
    reduced = nil
    return pause(LocationUpdate(subject: subject))
  }

  /// Takes a reduced fix: it has no coordinates, so that only another place is an update.
  private mutating func receive(reduced fix: FixDetail, _ event: Event) -> LocationUpdate? {
    defer { reduced = fix }
    guard reduced.map({ !$0.isAtPlace(of: fix) }) ?? true else { return nil }
    self = LiveUpdateState(of: subject, configuration)
    return LocationUpdate(subject: subject, location: Fix(event), diagnostics: .accuracyLimited)
  }

  private mutating func receive(_ fix: VisitFix, _ event: Event) -> LocationUpdate? {
    var since: Timestamp?
    switch service {
    case .live(var track, var filter):
      defer { service = .live(track, filter) }
      switch track.receive(fix) {
      case .stationary(let time):
        since = time
        filter.record(fix)
      case .located where isPaused: filter.record(fix)
      case .located: guard filter.passes(fix) else { return nil }
      case .unavailable, nil: return nil
      }
    case .significantChanges(var track):
      let reports = track.reports(fix)
      service = .significantChanges(track)
      guard reports || isPaused else { return nil }
    }
    isPaused = since != nil
    return LocationUpdate(
      subject: subject,
      location: Fix(event),
      stationarySince: since,
      diagnostics: configuration.isLimited(by: fix.accuracy) ? .accuracyLimited : []
    )
  }

  /// Makes the update with which updates cease, once.
  private mutating func pause(_ update: LocationUpdate) -> LocationUpdate? {
    switch service {
    case .live(var track, let filter):
      let change = track.expire()
      service = .live(track, filter)
      guard change != nil else { return nil }
    case .significantChanges: guard !isPaused else { return nil }
    }
    isPaused = true
    return update
  }
}

extension LocationUpdate.LiveConfiguration {
  /// Returns whether fixes of an accuracy are vaguer than is desired, or too vague to decide soon that a subject is stationary.
  fileprivate func isLimited(by accuracy: Double) -> Bool {
    if let desiredAccuracy, desiredAccuracy > 0, accuracy > desiredAccuracy { return true }
    return service == .live && profile.isLimited(by: accuracy)
  }
}

extension FixDetail {
  /// Returns whether a reduced fix is at the same place as another one.
  fileprivate func isAtPlace(of other: FixDetail) -> Bool {
    accuracy == other.accuracy && venue == other.venue && building == other.building && level == other.level
      && room == other.room
  }
}

/// What keeps back the fixes of many subjects that are near to the last ones, or vague.
package struct FixFilter: Sendable {
  private let filter: LocationFilter
  private var filters: [SubjectID: LocationFilter] = [:]

  /// Creates a filter; nil is no limit.
  ///
  /// - Parameters:
  ///   - distance: the distance from the last fix of the subject that was passed on within which none is, in metres.
  ///   - accuracy: the accuracy that is desired, in metres.
  package init(distance: Double?, accuracy: Double?) {
    filter = LocationFilter(distance: distance, accuracy: accuracy)
  }

  /// Returns whether an event is passed on: all but fixes that are kept back are.
  package mutating func passes(_ event: Event) -> Bool {
    guard case .fix(let detail) = event.detail, !detail.accuracy.isReduced else { return true }
    // A subject that is forgotten gets one fix more.
    if filters.count >= EventHub.maximumFixSubjects, filters[event.subject] == nil { filters.removeAll() }
    return filters[event.subject, default: filter].passes(VisitFix(detail, event))
  }

  /// Returns whether an event is a fix that is passed on and not the first of its subject: the subject has moved.
  package mutating func hasMoved(by event: Event) -> Bool {
    guard event.kind == .fix else { return false }
    let isKnown = filters[event.subject] != nil
    return passes(event) && isKnown
  }

  /// Forgets where a subject was.
  package mutating func forget(_ traces: SubjectTraces) {
    filters = filters.filter { !traces.contains($0.key) }
  }
}
