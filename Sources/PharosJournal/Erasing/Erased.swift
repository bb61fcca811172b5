/// What was removed of a subject, by sort.
package struct Erased: Hashable, Sendable {
  /// Events about it: nothing is left of them but their places in the sequence.
  package var events = 0
  /// Events about others that named it, and now name ``Journal/erasedObserver`` or ``Journal/erasedBeacon`` instead.
  package var mentions = 0
  /// Rows that said where it stands, and those of others that named it as the reason.
  package var rows = 0
  /// Its entries in the list of names.
  package var names = 0
  /// Lists of the places of events that mention it.
  package var postings = 0
  /// Deliveries to webhooks that were waiting for it.
  package var deliveries = 0
  /// Deliveries to webhooks that had been given up.
  package var deadLetters = 0
  /// Checkpoints that were taken before it was forgotten, dropped as a whole.
  package var checkpoints = 0

  /// Starts with nothing removed.
  package init() {}

  /// Whether there was nothing to remove but checkpoints, which are dropped unread.
  package var isEmpty: Bool {
    events + mentions + rows + names + postings + deliveries + deadLetters == 0
  }
}
