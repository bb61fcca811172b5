/// A bug that is put in on purpose, to see that it is found: each breaks one rule in the seam between two components.
///
/// None of them is in the product or can be set in it: the simulation does wrongly what the server's shell does rightly.
package enum Plant: String, CaseIterable, Sendable {
  /// Observers are taken to live whatever is heard of them, so that a dead one's beacons leave.
  case exitsWithoutProofOfLife = "no-proof-of-life"
  /// A restart continues from the checkpoint alone: neither the events published after it nor its used counters are
  /// known.
  case checkpointWithoutEvents = "checkpoint-alone"
  /// The time spent down is taken for silence: a restart goes on at the checkpoint's instant.
  case downtimeIsSilence = "downtime-is-silence"
  /// A subscriber that comes back is given its last event again.
  case resumeRepeats = "resume-repeats"
  /// A subscriber that comes back is not given the next event.
  case resumeSkips = "resume-skips"
  /// The journal says that a group is on the disk although the disk refused it.
  case liesAboutCommits = "commit-lies"
  /// A checkpoint is kept with all that is in the journal by then, instead of what it covers.
  case checkpointClaimsTooMuch = "checkpoint-claims"
  /// A group that was refused is tried again as if it were new: it goes before the events that came first.
  case refusedGroupDropped = "refused-dropped"
}
