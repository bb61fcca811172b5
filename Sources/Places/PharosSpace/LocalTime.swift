public import PharosModel

/// The local time of a venue: its difference from UTC, which changes where clocks are put forward and back.
public struct LocalTime: Hashable, Sendable {
  /// A change of the difference.
  public struct Change: Hashable, Sendable {
    /// The moment from which on it holds.
    public let time: Timestamp
    /// The local time minus UTC from then on.
    ///
    /// - Units: minutes.
    public let utcOffset: Int

    /// Makes a change.
    public init(at time: Timestamp, utcOffset: Int) {
      self.time = time
      self.utcOffset = utcOffset
    }
  }

  /// The source of a local time.
  package enum Source: Hashable, Sendable {
    /// Nothing says it: UTC.
    case none
    /// The venue states it.
    case stated
    /// The place of the venue, near which all time zones agree.
    case place
  }

  /// The local time minus UTC before the first change.
  ///
  /// - Units: minutes.
  public let utcOffset: Int
  /// The changes in their order.
  public let changes: [Change]
  /// The name of the time zone, as in `Europe/Berlin`; nil for a difference that never changes.
  public let zone: String?
  /// The source.
  package var source = Source.none

  /// Makes a local time.
  ///
  /// - Parameters:
  ///   - utcOffset: the local time minus UTC in minutes, before the first change.
  ///   - changes: the changes in their order.
  ///   - zone: the name of the time zone.
  public init(utcOffset: Int = 0, changes: [Change] = [], zone: String? = nil) {
    self.utcOffset = utcOffset
    self.changes = changes
    self.zone = zone
  }

  /// Returns the local time minus UTC at a moment, in minutes.
  ///
  /// - Complexity: O(log n) of the number of changes.
  public func utcOffset(at time: Timestamp) -> Int {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? utcOffset : changes[low - 1].utcOffset
  }

  /// The local time as one that a venue states.
  var stated: LocalTime {
    var stated = self
    stated.source = .stated
    return stated
  }

  /// A time zone as venues name theirs.
  static let exampleZone = "the name of a time zone, as in Europe/Berlin"

  /// Returns whether clocks show the same as of another time zone.
  package func isAlike(_ other: LocalTime) -> Bool {
    utcOffset == other.utcOffset && changes == other.changes
  }
}

/// The time zones that the machine knows.
package struct KnownTimeZones: Sendable {
  /// Returns the local time of a time zone by its name; nil for none that is known.
  package let named: @Sendable (String) -> LocalTime?
  /// Returns the local time at a place; nil where the time zones about it differ.
  package let around: @Sendable (Coordinate) -> LocalTime?

  /// Makes time zones of their lookups.
  package init(
    named: @escaping @Sendable (String) -> LocalTime?,
    around: @escaping @Sendable (Coordinate) -> LocalTime?
  ) {
    self.named = named
    self.around = around
  }

  /// No time zones at all.
  package static let none = KnownTimeZones(named: { _ in nil }, around: { _ in nil })
}
