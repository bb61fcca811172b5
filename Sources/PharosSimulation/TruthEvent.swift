package import PharosPlaces
package import PharosReports

/// Something that truly happens in a scene, whatever anyone hears of it.
package struct TruthEvent: Hashable, Sendable {
  /// What happens.
  package enum Fact: Hashable, Sendable {
    /// The subject is at a place: told at the begin, and every second while it moves.
    case position(Point)
    /// The subject comes into an area.
    case entersArea(String)
    /// The subject leaves an area.
    case leavesArea(String)
    /// A beacon comes to where an observer is expected to hear it: its level by distance and walls alone reaches
    /// the observer's sensitivity, and it is on air.
    case entersRange(observer: ObserverID)
    /// A beacon leaves where an observer is expected to hear it.
    case leavesRange(observer: ObserverID)
    /// An observer fails.
    case fails(Fault.Kind)
    /// An observer has recovered.
    case recovers(Fault.Kind)
  }

  /// When it happens.
  package var time: Timestamp
  /// To whom.
  package var subject: SubjectID
  /// The transmitter's name; the observer's identity as text.
  package var name: String
  /// What happens.
  package var fact: Fact

  /// Makes an event.
  package init(time: Timestamp, subject: SubjectID, name: String, fact: Fact) {
    self.time = time
    self.subject = subject
    self.name = name
    self.fact = fact
  }
}

extension TruthEvent {
  /// Writes the event as one line of JSON.
  ///
  /// Members: `time` (RFC 3339), `kind` (`position`, `area.enter`, `area.leave`, `range.enter`, `range.leave`,
  /// `observer.fail`, `observer.recover`), `subject` and `name`; then by kind `x` and `y` (m), `area`, `observer`
  /// or `fault`.
  package func write(to json: inout JSONText) {
    json.openObject()
    json.member("time", time.rfc3339)
    json.member("kind", fact.kind)
    json.member("subject", subject.description)
    json.member("name", name)
    switch fact {
    case .position(let point):
      json.member("x", point.x, decimals: 3)
      json.member("y", point.y, decimals: 3)
    case .entersArea(let area), .leavesArea(let area): json.member("area", area)
    case .entersRange(let observer), .leavesRange(let observer):
      json.member("observer", observer.description)
    case .fails(let kind), .recovers(let kind): json.member("fault", kind.rawValue)
    }
    json.closeObject()
    json.newLine()
  }
}

extension TruthEvent.Fact {
  /// The word for it in JSON.
  package var kind: String {
    switch self {
    case .position: "position"
    case .entersArea: "area.enter"
    case .leavesArea: "area.leave"
    case .entersRange: "range.enter"
    case .leavesRange: "range.leave"
    case .fails: "observer.fail"
    case .recovers: "observer.recover"
    }
  }
}
