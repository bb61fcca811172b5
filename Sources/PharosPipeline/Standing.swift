package import PharosEvents
package import PharosReports

/// A subject that is inside a region.
package struct Standing: Hashable, Sendable {
  /// The application.
  package var application: String
  /// The region's identifier.
  package var region: String
  /// The subject that is inside.
  package var subject: SubjectID
  /// The start of the visit.
  package var since: Timestamp

  /// Makes a standing.
  package init(application: String, region: String, subject: SubjectID, since: Timestamp) {
    self.application = application
    self.region = region
    self.subject = subject
    self.since = since
  }
}

/// The subjects that are inside regions, kept from the events; `process` ends by listing them.
package struct StandingStateCache: Sendable {
  private struct Key: Hashable, Sendable {
    let application: String
    let region: String
    let subject: SubjectID
  }

  private struct Row: Sendable {
    var state: RegionState
    var since: Timestamp
  }

  private var rows: [Key: Row] = [:]

  /// Makes an empty board.
  package init() {}

  /// Takes an event; other kinds than changes of state are passed over.
  ///
  /// A subject that becomes unmonitored is no longer listed, but its visit goes on if it is found inside again.
  package mutating func note(_ event: Event) {
    guard event.kind == .regionState, case .region(let transition) = event.detail, !transition.isAnswer else {
      return
    }
    let key = Key(application: event.application, region: event.region, subject: event.subject)
    switch transition.to {
    case .inside:
      let isSameVisit = rows[key]?.state == .unmonitored
      let since = isSameVisit ? rows[key]?.since ?? event.time : event.time
      rows[key] = Row(state: .inside, since: since)
    case .unmonitored: rows[key]?.state = .unmonitored
    case .outside, .unknown: rows[key] = nil
    }
  }

  /// Notes a state that no event told here: one that was known before a restart.
  mutating func set(
    application: String,
    region: String,
    subject: SubjectID,
    state: RegionState,
    since: Timestamp?
  ) {
    guard let since, state == .inside || state == .unmonitored else { return }
    rows[Key(application: application, region: region, subject: subject)] = Row(state: state, since: since)
  }

  /// Forgets a region that is no longer monitored.
  package mutating func forget(application: String, region: String) {
    rows = rows.filter { $0.key.application != application || $0.key.region != region }
  }

  /// The subjects that are inside, ordered by application, region and subject.
  package var inside: [Standing] {
    rows.filter { $0.value.state == .inside }
      .map { Standing(application: $0.application, region: $0.region, subject: $0.subject, since: $1.since) }
      .sorted { left, right in
        if left.application != right.application { return left.application < right.application }
        if left.region != right.region { return left.region < right.region }
        return left.subject < right.subject
      }
  }
}
