package import PharosDocuments
package import PharosModel

/// Who does what one node alone does, such as webhooks: the value of the lease.
package struct LeaseRecord: Hashable, Sendable {
  /// The name of the holder.
  package var node: String
  /// The number of this tenure: it grows each time that the lease passes to another holder or begins again.
  package var tenure: UInt64
  /// The number of renewals in this tenure, so that each changes the value.
  package var renewals: UInt64 = 0
}

extension LeaseRecord: FieldStruct {
  /// Makes one to read into.
  package init() { self.init(node: "", tenure: 0) }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&node)
    try coder.code(&tenure)
    try coder.code(&renewals)
  }
}

/// Decides when a node asks for the lease, renews it, and may act by it: a value without clocks.
///
/// Times are those of the node's own steady clock. The holder renews every ``interval``; another node asks for the lease once it
/// has seen the same revision for ``timeToLive``. A holder acts only for ``tenancy`` behind the beginning of its last renewal,
/// which is shorter: it has stopped by the time another one can begin, however long it stood still between the two.
///
/// - Source: C. Gray, D. Cheriton, Leases: an efficient fault-tolerant mechanism for distributed file cache consistency,
///   SOSP 1989; the clocks need not agree, only run at nearly the same rate.
package struct Lease: Sendable {
  /// The interval of renewals, and of looks at those of others.
  package static let interval = TimeSpan.milliseconds(500)
  /// The time without renewal after which another node takes the lease.
  package static let timeToLive = TimeSpan.seconds(2)
  /// The time for which a holder acts behind the beginning of its last renewal.
  package static let tenancy = TimeSpan.milliseconds(1_500)

  /// What to do now.
  package enum Action: Hashable, Sendable {
    /// Look again after ``Lease/interval``.
    case wait
    /// Set the record in place of a revision.
    case set(LeaseRecord, replacing: UInt64)
  }

  private let node: String
  /// The revision that was seen last, and since when.
  private var seen: (revision: UInt64, since: TimeSpan)?
  /// The record that this node holds, and the beginning of its last renewal.
  private var held: (record: LeaseRecord, since: TimeSpan)?
  /// The beginning of the attempt that is under way.
  private var attempt: (record: LeaseRecord, since: TimeSpan)?

  /// Makes the lease of a node that holds nothing.
  package init(node: String) { self.node = node }

  /// Decides by what the broker has now.
  package mutating func next(_ value: (record: LeaseRecord, revision: UInt64)?, at now: TimeSpan) -> Action {
    let revision = value?.revision ?? 0
    if seen?.revision != revision { seen = (revision, now) }
    if let held, held.record == value?.record {
      var record = held.record
      record.renewals += 1
      return ask(for: record, replacing: revision, at: now)
    }
    held = nil
    guard let value else { return ask(for: LeaseRecord(node: node, tenure: 1), replacing: 0, at: now) }
    let isFree = value.record.node.isEmpty
    guard isFree || seen.map({ now - $0.since >= Lease.timeToLive }) == true else { return .wait }
    return ask(for: LeaseRecord(node: node, tenure: value.record.tenure + 1), replacing: revision, at: now)
  }

  private mutating func ask(for record: LeaseRecord, replacing revision: UInt64, at now: TimeSpan) -> Action {
    attempt = (record, now)
    return .set(record, replacing: revision)
  }

  /// Notes that the record of the last action was set.
  package mutating func succeeded(revision: UInt64, at now: TimeSpan) {
    held = attempt
    attempt = nil
    seen = (revision, now)
  }

  /// Notes that it was not set, or that this is not known: the next look tells.
  package mutating func failed() { attempt = nil }

  /// The tenure in which the node may act at a time; nil if it may not.
  package func tenure(at now: TimeSpan) -> UInt64? {
    guard let held, now - held.since < Lease.tenancy else { return nil }
    return held.record.tenure
  }

  /// The record that ends the tenure at once, so that another node need not wait; nil if there is none to end.
  package mutating func release() -> LeaseRecord? {
    defer { held = nil }
    return held.map { LeaseRecord(node: "", tenure: $0.record.tenure, renewals: $0.record.renewals) }
  }
}
