package import PharosDocuments

/// An identity to which the directory of a site gives a name.
package enum NamedIdentity: Hashable, Sendable {
  /// An observer.
  case observer(ObserverID)
  /// The beacons that fulfil a constraint in its normal form.
  case beacon(BeaconConstraint)
  /// A zone, by its identifier.
  case zone(String)
  /// The place of an observer: its name is the identifier of the only zone that the observer stands in.
  case place(ObserverID)
}

/// The former names of the identities of a site, each with the instant at which it ended.
///
/// A name ends when it is replaced or removed. For an identity that had no name, the time without one ends likewise when it
/// gets its first. So the list of an identity covers all time up to its last change, and the name at an instant is that of the
/// first entry that ends later, or else the present one.
package struct NameHistory: Hashable, Sendable {
  /// A name that no longer counts.
  package struct FormerName: Hashable, Sendable {
    /// The name; nil for a time without one.
    package let name: String?
    /// The instant from which it no longer counted.
    package let end: Timestamp
  }

  /// The maximum number of former names of an identity; of more, the earliest are dropped.
  ///
  /// 256: far more than people give to a room, and few enough that a program which renames one every second takes
  /// some kilobytes.
  package static let maximumCount = 256

  /// The former names of each identity that has some, in the order of their ends, which are distinct.
  package private(set) var names: [NamedIdentity: [FormerName]] = [:]
  /// An instant at which, and after which, all present names count.
  private var end = Timestamp.distantPast

  /// Makes a history without former names.
  package init() {}

  /// Makes the history that records hold.
  package init(_ records: some Sequence<NameRecord>) {
    for record in records where !record.former.isEmpty {
      names[record.identity] = record.former
      end = max(end, record.former[record.former.count - 1].end)
    }
  }

  /// Returns whether former names count at an instant.
  package func covers(_ instant: Timestamp) -> Bool { instant < end }

  /// Returns the name that an identity had at an instant; nil if its present name counts.
  package func name(of identity: NamedIdentity, at instant: Timestamp) -> FormerName? {
    guard covers(instant), let former = names[identity] else { return nil }
    let index = former.firstIndex(endingAfter: instant)
    return index < former.count ? former[index] : nil
  }

  /// Records the names that end at an instant.
  ///
  /// - Parameters:
  ///   - old: the names until then.
  ///   - new: the names from then on.
  ///   - instant: the instant. If it lies before an earlier one, because the clock was set back, the names that followed are
  ///     taken to have ended now: what happens from now on has the new names.
  package mutating func record(
    from old: [NamedIdentity: String],
    to new: [NamedIdentity: String],
    at instant: Timestamp
  ) {
    trim(to: instant)
    for identity in Set(old.keys).union(new.keys) where old[identity] != new[identity] {
      end = instant
      // A name that lasted for no time at all is no name of any event.
      guard names[identity]?.last?.end != instant else { continue }
      var former = names[identity] ?? []
      former.append(FormerName(name: old[identity], end: instant))
      names[identity] = former.suffix(NameHistory.maximumCount)
    }
  }

  /// Ends all former names at an instant at the latest.
  private mutating func trim(to instant: Timestamp) {
    guard covers(instant) else { return }
    for (identity, former) in names {
      let index = former.firstIndex(endingAfter: instant)
      guard index < former.count else { continue }
      let kept = former[..<index]
      let isEmpty = kept.last?.end == instant
      names[identity] = kept + (isEmpty ? [] : [FormerName(name: former[index].name, end: instant)])
    }
    end = instant
  }

  /// Drops the names that ended at an instant or before, which nothing from then on needs.
  package mutating func drop(endingBy instant: Timestamp) {
    names = names.compactMapValues { former in
      let kept = former[former.firstIndex(endingAfter: instant)...]
      return kept.isEmpty ? nil : Array(kept)
    }
  }

  /// Removes the former names of a subject, and those of its place.
  package mutating func forget(_ traces: SubjectTraces) {
    names = names.filter { !traces.contain($0.key) }
  }
}

extension [NameHistory.FormerName] {
  /// Returns the index of the first name that ends after an instant; the count if none does.
  fileprivate func firstIndex(endingAfter instant: Timestamp) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].end <= instant { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension SubjectTraces {
  /// Returns whether an identity is the subject or its place.
  package func contain(_ identity: NamedIdentity) -> Bool {
    switch identity {
    case .observer(let observer), .place(let observer): contains(observer)
    case .beacon(let constraint):
      constraint.onlyBeacon.map(contains) == true || beacon?.namingConstraints.first == constraint
    case .zone: false
    }
  }
}

/// The names of one identity, as a store keeps them.
package struct NameRecord: Hashable, Sendable {
  /// The identity.
  package let identity: NamedIdentity
  /// Its present name, or nil if it has none.
  package let present: String?
  /// Its former names, in the order of their ends.
  package let former: [NameHistory.FormerName]
}

extension NameRecord: FieldRecord {
  /// The version of the layout; records of other versions are not read.
  private static let version: UInt8 = 1

  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    try coder.code(version: version)
    return Self(
      identity: try coder.field(value().identity),
      present: try coder.field(value().present),
      former: try coder.field(value().former)
    )
  }
}

extension NameHistory.FormerName: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(name: try coder.field(value().name), end: try coder.field(value().end))
  }
}

extension NamedIdentity: FieldUnion {
  /// The name of the field.
  package static var fieldName: String { "a named identity's kind" }

  /// Hands each case to a coder.
  package static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.observer) {
      if case .observer(let observer) = $0 { observer } else { nil }
    }
    try coder.code(&union, 1, Self.beacon) {
      if case .beacon(let constraint) = $0 { constraint } else { nil }
    }
    try coder.code(&union, 2, Self.zone) { if case .zone(let zone) = $0 { zone } else { nil } }
    try coder.code(&union, 3, Self.place) { if case .place(let observer) = $0 { observer } else { nil } }
  }
}

extension NamedIdentity: CustomStringConvertible {
  /// The kind and the identity: a text that differs from that of any other.
  package var description: String {
    switch self {
    case .observer(let observer): "observer/\(observer)"
    case .beacon(let constraint): "beacon/\(constraint)"
    case .zone(let identifier): "zone/\(identifier)"
    case .place(let observer): "place/\(observer)"
    }
  }
}
