import PharosDocuments
package import PharosModel

/// A beacon's change of zone, as the visits take it.
package struct ZoneMove: Sendable {
  var from: String?
  var to: String?
  var time: Timestamp
  var reason: ZoneTransition.Reason
  var probability: Double?

  /// Makes a value of its parts.
  package init(
    from: String? = nil,
    to: String? = nil,
    time: Timestamp,
    reason: ZoneTransition.Reason,
    probability: Double? = nil
  ) {
    self.from = from
    self.to = to
    self.time = time
    self.reason = reason
    self.probability = probability
  }
}

/// The stay of a tag without fixes in a zone.
struct ZoneStay: Hashable, Sendable {
  var zone: String
  var enteredAt: Timestamp
  /// The probability of the zone.
  var probability: Double?
  /// The time of the next decision: the arrival, or the end of the hold.
  var deadline: Timestamp
  /// Indicates whether the arrival was published.
  var isOpen = false
  /// The time since which the zone is not known, or nil while it is.
  var unknownSince: Timestamp?
  var maximumGap = TimeSpan.zero

  /// Takes a change of zone, and returns whether it ends the stay.
  ///
  /// A zone that has become unsure is a gap: the stay goes on if the beacon is soon seen in the same zone. So is one whose
  /// observers are down, for as long as they are.
  mutating func update(_ move: ZoneMove, at instant: Timestamp, _ settings: VisitSettings) -> Bool {
    if move.to == zone {
      if let since = unknownSince {
        maximumGap = max(maximumGap, move.time - since)
        unknownSince = nil
        deadline = isOpen ? .distantFuture : max(instant, enteredAt + settings.minimum)
      }
      return false
    }
    guard move.to == nil, move.reason == .notSure || move.reason == .observerDown else { return true }
    if unknownSince == nil { lose(at: move.time, decided: instant, settings) }
    if move.reason == .observerDown { deadline = .distantFuture }
    return false
  }

  /// Begins a gap.
  mutating func lose(at time: Timestamp, decided instant: Timestamp, _ settings: VisitSettings) {
    unknownSince = time
    deadline = instant + settings.hold
  }

  /// Returns the end of a stay that a change of zone ends.
  func end(_ move: ZoneMove) -> (time: Timestamp, reason: VisitDetail.Evidence.End) {
    unknownSince.map { ($0, .silence) } ?? (move.time, .leftZone)
  }

  /// Goes on after a downtime.
  mutating func resume(after downtime: TimeSpan, at instant: Timestamp) {
    guard deadline != .distantFuture else { return }
    deadline = max(instant, unknownSince == nil ? deadline : deadline + downtime)
  }
}

extension ZoneStay: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      zone: try coder.field(value().zone),
      enteredAt: try coder.field(value().enteredAt),
      probability: try coder.field(value().probability),
      deadline: try coder.field(value().deadline),
      isOpen: try coder.field(value().isOpen),
      unknownSince: try coder.field(value().unknownSince),
      maximumGap: try coder.field(value().maximumGap)
    )
  }
}
