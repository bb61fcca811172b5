import PharosEvents
public import PharosReports

extension EventHub {
  /// About how many subjects fixes wait for one subscriber at most.
  ///
  /// Three times the 5,000 subjects that a core locates once a second; 16,384 fixes of 256 bytes are 4 MB.
  public static var mostFixSubjects: Int { 16_384 }

  /// Returns a stream of the newest fix of each subject, or of one subject.
  ///
  /// The stream is for displays of current positions. A newer fix replaces a fix of the same subject that still waits
  /// in the queue, so a slow subscriber gets the newest fix of each subject, and its queue stays bounded.
  /// ``EventSequence/dropped`` counts the fixes that were dropped beyond ``mostFixSubjects``, not those that were
  /// replaced. The stream honours demand like all others. To receive every fix, use
  /// ``EventPublisher/buffering(_:onDrop:)`` or ``EventPublisher/failing(beyond:)``.
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
