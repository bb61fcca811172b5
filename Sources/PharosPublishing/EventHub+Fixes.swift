import PharosEvents
public import PharosReports

extension EventHub {
  /// About how many subjects fixes wait for one subscriber at most.
  ///
  /// Three times the 5,000 subjects that a core locates once a second; 16,384 fixes of 256 bytes are 4 MB.
  public static var mostFixSubjects: Int { 16_384 }

  /// Where somebody is, or everybody: the newest fix of each subject.
  ///
  /// Made for whoever shows the present: a fix that is not taken before the next one about the same subject gives way
  /// to it, so that a slow subscriber is late about nobody and never piles anything up. ``EventSequence/dropped`` counts what
  /// was given up beyond ``mostFixSubjects``, not what a newer fix replaced. Demand is honoured as everywhere. Who wants
  /// every fix of the way asks with ``EventPublisher/buffering(_:onDrop:)`` or ``EventPublisher/failing(beyond:)``.
  ///
  /// - Parameter subject: a handset or a tag, or nil for all of them.
  /// - Returns: the stream.
  public func fixes(for subject: SubjectID? = nil) -> EventPublisher<Fix, Never> {
    hub.newest(limit: EventHub.mostFixSubjects, by: { $0.subject }) { batch in
      batch.compactMap { event in
        guard event.kind == .fix, subject == nil || event.subject == subject else { return nil }
        return Fix(event)
      }
    }
  }
}
