import PharosFixes
import PharosModel
import PharosStays

/// A part of stage two that decides by the fixes of located subjects.
///
/// A further one needs an entry here, its own file and a property of ``StageTwo`` for its state.
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

extension FixDecider {
  /// Regions that are areas.
  static let geofences = FixDecider(
    follow: { stage, fix, events in
      guard !stage.geofences.isEmpty, let position = LocatedPosition(fix.event) else { return }
      let first = events.count
      stage.geofences.follow(position, stage.regions, into: &events)
      guard let room = fix.detail.room else { return }
      for index in first..<events.count {
        guard case .region(var transition) = events[index].detail else { continue }
        transition.evidence.room = room
        events[index] = events[index].with(.region(transition))
      }
    },
    advance: { stage, instant, events in
      stage.geofences.advance(to: instant, stage.regions, into: &events)
    },
    forget: { stage, traces, events in
      stage.geofences.forget(traces, at: stage.now, stage.regions, into: &events)
    }
  )

  /// Stays.
  static let visits = FixDecider(
    follow: { stage, fix, events in stage.visits.receive(fix.detail, of: fix.event, into: &events) },
    advance: { stage, instant, events in stage.visits.advance(to: instant, into: &events) },
    forget: { stage, traces, _ in stage.visits.forget(traces) }
  )

  /// Ways to destinations.
  static let guides = FixDecider(
    follow: { stage, fix, events in
      guard !stage.guides.isEmpty else { return }
      stage.guides.follow(fix.detail, of: fix.event, zones: stage.zonesOfSubjects(), into: &events)
    },
    advance: { _, _, _ in },
    forget: { stage, traces, events in stage.guides.forget(traces, at: stage.now, into: &events) }
  )
}
