import PharosDelivery
import PharosHTTP
import PharosModel
import PharosPublishing
import Testing

extension TestService {
  /// Waits until an event of some kind was published about a subject, or about any of a kind of subjects.
  ///
  /// The journal is read through a feed from its beginning, so that nothing is missed and no test waits for time.
  func committed(_ kinds: Set<EventKind> = [.regionEnter], about subject: String) async throws {
    let feed = try backend.feeds.open(
      FeedRequest(filter: EventFilter(kinds: kinds), after: 0, limit: 4_096)
    )
    for await items in feed {
      for case .event(let committed) in items {
        let committed = committed.event.subject
        let isMeant = subject == "beacon" ? committed.isBeacon : committed.description == subject
        if isMeant { return }
      }
    }
    Issue.record("the server stopped before it published an event about \(subject)")
  }
}

extension TestService {
  /// Waits until so many events of the journal match a filter.
  func committed(_ filter: EventFilter, times: Int) async throws {
    let feed = try backend.feeds.open(FeedRequest(filter: filter, after: 0, limit: 4_096))
    var count = 0
    for await items in feed {
      for case .event in items { count += 1 }
      if count >= times { return }
    }
    Issue.record("the server stopped after \(count) of \(times) events")
  }
}

extension SubjectID {
  /// Whether it is a beacon.
  fileprivate var isBeacon: Bool { if case .beacon = self { true } else { false } }
}
