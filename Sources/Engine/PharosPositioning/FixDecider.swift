import PharosModel

/// A fix that was published.
struct PublishedFix: Sendable {
  /// Its event.
  let event: Event
  /// The detail of the event.
  let detail: FixDetail
}

/// A part of stage two that decides by the fixes of located subjects.
///
/// A further one needs an entry in ``all``, its own file and a property of ``StageTwo`` for its state.
struct FixDecider: Sendable {
  /// Decides by a fix of a subject.
  let follow: @Sendable (inout StageTwo, _ fix: PublishedFix, inout [Event]) -> Void
  /// Makes the decisions that are due by an instant, given that every fix up to it has been followed.
  let advance: @Sendable (inout StageTwo, _ instant: Timestamp, inout [Event]) -> Void
  /// Forgets a subject.
  let forget: @Sendable (inout StageTwo, SubjectTraces, inout [Event]) -> Void

  /// All of them, in the order in which a fix reaches them.
  static let all: [FixDecider] = [.geofences, .visits, .guides]
}
