package import PharosReports

/// Why bytes are no checkpoint that can be started from.
package enum CheckpointError: Error, Hashable, Sendable {
  /// They are something else.
  case notACheckpoint
  /// They were changed since they were written.
  case damaged
  /// They were written by another version of the program, or hold what none writes.
  case unreadable(FieldError)
}

extension CheckpointError: CustomStringConvertible {
  /// What is wrong and what follows from it.
  package var description: String {
    let consequence =
      "; starting without it: states resume from the published events, what was learned about beacons is learned again"
    switch self {
    case .notACheckpoint: return "the checkpoint is none: its first bytes are not PHCP" + consequence
    case .damaged: return "the checkpoint is damaged: its checksum is another one" + consequence
    case .unreadable(let error): return "the checkpoint cannot be read, \(error)" + consequence
    }
  }
}
