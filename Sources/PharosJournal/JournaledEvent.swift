package import PharosEvents

/// An event and its place in the journal.
package struct JournaledEvent: Hashable, Sendable {
  /// Its place: 1 for the first event ever journalled, and no number left out behind it.
  package let sequence: Int64
  /// The event as it was published.
  package let event: Event

  /// Pairs an event with its place.
  package init(sequence: Int64, event: Event) {
    self.sequence = sequence
    self.event = event
  }
}
