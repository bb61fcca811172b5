import PharosModel

/// Which erased subjects are held against the truth again.
///
/// What was known of a subject comes back with the checkpoint before its erasure where the server is killed before the one behind
/// it is kept, although the journal no longer holds it; what is decided of it then is not judged.
struct Erasures {
  /// When each subject was erased of which no checkpoint is kept yet.
  private var open: [SubjectID: TrueTime] = [:]
  /// The subjects that a kept checkpoint no longer holds.
  private var kept: Set<SubjectID> = []
  /// The subjects of which something came back.
  private var returned: Set<SubjectID> = []

  /// Notes that a subject was erased.
  mutating func record(_ subject: SubjectID, at time: TrueTime) { open[subject] = time }

  /// A checkpoint of a time is on the disk.
  mutating func keep(through time: TrueTime) {
    for (subject, erased) in open where erased <= time {
      kept.insert(subject)
      open[subject] = nil
    }
  }

  /// The run is gone, and with it each erasure that no checkpoint has.
  mutating func endRun() {
    returned.formUnion(open.keys)
    open = [:]
  }

  /// The checkpoint is gone, and the published states alone tell of subjects.
  mutating func forgetKept() {
    returned.formUnion(kept)
    kept = []
  }

  /// Whether what is decided of a subject is held against the truth.
  func mayJudge(_ subject: SubjectID) -> Bool { open[subject] == nil && !returned.contains(subject) }
}
