import AsyncAlgorithms
public import PharosEvents

extension EventSequence where Output == Event, Failure == Never {
  /// The newest event of each kind, application, region, subject and ranged constraint, at most once in an interval.
  ///
  /// For a display that wants to be redrawn once a second and not for each of a thousand tags. Each element holds the
  /// events in the order in which they came; those that a newer one replaces are left out. State is never lost, only
  /// the steps in between.
  ///
  /// - Parameter interval: the shortest time between two elements.
  /// - Returns: runs of events, none of them empty.
  public func coalesced(every interval: Duration) -> some AsyncSequence<[Event], any Error> & Sendable {
    chunked(by: .repeating(every: interval, clock: .continuous)).map { newestOnly($0) }
  }
}

/// Leaves out the events that a newer one about the same thing replaces.
func newestOnly(_ events: [Event]) -> [Event] {
  var seen: Set<EventTopic> = []
  return events.reversed().filter { seen.insert(EventTopic($0)).inserted }.reversed()
}
