import Logging
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing

/// A commit publisher with a store that a test can make refuse, and a record of the published events.
struct CommitPublisherHarness {
  let hub = EventHub()
  let store = ModelStore()
  let authorisations: Authorisations
  let commitPublisher: CommitPublisher
  let log = RecordedLog()
  let committed: EventSequence<PublishedEvent, Never>

  init(
    known: [EventID: Int64] = [:],
    _ change: (inout CommitPublisherSettings) -> Void = { _ in }
  ) throws {
    var settings = CommitPublisherSettings()
    settings.interval = .milliseconds(1)
    settings.firstPause = .milliseconds(1)
    settings.maximumPause = .milliseconds(2)
    change(&settings)
    authorisations = try Authorisations(store: Journal.open(.memory, stream: "test"))
    commitPublisher = CommitPublisher(
      hub: hub,
      store: store,
      authorisations: authorisations,
      stream: "test",
      settings: settings,
      known: known,
      logger: Logger(label: "test") { [log] _ in log }
    )
    committed = commitPublisher.committed.events.buffering(1_000_000).sequence
  }

  /// Returns the events published so far, in order, and ends the streams.
  func finish() async -> [PublishedEvent] {
    await commitPublisher.drain()
    commitPublisher.committed.finish()
    var events: [PublishedEvent] = []
    for await event in committed { events.append(event) }
    return events
  }

  /// Marks the handset as a person, whom applications may learn of by name only.
  func declarePerson() {
    authorisations.declare(
      persons: Persons(observers: [.name("handset")]),
      purposes: ["gallery": "To guide visitors."]
    )
  }
}
