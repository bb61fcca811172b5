package import PharosReports
package import PharosSigning

/// What ingest needs to take signed datagrams: the keys, what the run before has left of the replay windows, and where to keep
/// them.
package struct SignedIngest: Sendable {
  /// What is to be kept, all of it or nothing, before anything more is taken on the strength of it.
  package struct Keeping: Sendable {
    /// New records, each in place of the one that its sender had.
    package var records: [SenderRecord]
    /// The lease, in place of the one before.
    package var lease: SenderLease
  }

  /// The observers with their keys.
  package var observers: [KeyedObserver]
  /// What was kept of their windows.
  package var records: [SenderRecord]
  /// Up to when the run before can have taken anything, by its R: `SenderLease.end`.
  package var endedBy: Timestamp
  /// What tells this start of the machine from others.
  package var machineStart: String
  /// Keeps records; called on a thread that may wait for a disk, one call after the other.
  ///
  /// If it throws, that is logged once, and ingest goes on: what a crash leaves open then is what was taken since.
  package var keep: @Sendable (Keeping) throws -> Void

  /// Creates the settings; by default no observer has a key and no record is kept.
  package init(
    observers: [KeyedObserver] = [],
    records: [SenderRecord] = [],
    endedBy: Timestamp = .distantPast,
    machineStart: String = "",
    keep: @escaping @Sendable (Keeping) throws -> Void = { _ in }
  ) {
    self.observers = observers
    self.records = records
    self.endedBy = endedBy
    self.machineStart = machineStart
    self.keep = keep
  }
}
