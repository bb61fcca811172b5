import PharosEvents
import PharosReports

/// Which streams may want an event: each stands under the narrowest thing that its filter names.
///
/// A thousand clients that look at a subject each cost an event about one of them one look-up, not a thousand filters.
struct FeedIndex {
  private enum Key: Hashable {
    case subject(SubjectID)
    case region(String)
    case application(String)
    case kind(EventKind)

    /// Whether two keys are of one sort, so that no event has both.
    func isAlike(_ other: Key) -> Bool {
      switch (self, other) {
      case (.subject, .subject), (.region, .region), (.application, .application), (.kind, .kind): true
      default: false
      }
    }
  }

  private var narrow: [Key: [UInt64: FeedCore]] = [:]
  private var wide: [UInt64: FeedCore] = [:]
  /// All streams.
  private(set) var all: [UInt64: FeedCore] = [:]

  mutating func insert(_ core: FeedCore) {
    all[core.id] = core
    guard let keys = FeedIndex.keys(core.request) else {
      wide[core.id] = core
      return
    }
    for key in keys { narrow[key, default: [:]][core.id] = core }
  }

  mutating func remove(_ core: FeedCore) {
    all[core.id] = nil
    wide[core.id] = nil
    for key in FeedIndex.keys(core.request) ?? [] {
      narrow[key]?[core.id] = nil
      if narrow[key]?.isEmpty == true { narrow[key] = nil }
    }
  }

  /// Calls a function with each stream whose filter wants an event, once.
  func each(wanting event: Event, _ body: (FeedCore) -> Void) {
    for core in wide.values where core.request.wants(event) { body(core) }
    guard !narrow.isEmpty else { return }
    // A stream stands under one sort of key alone, and under each of them once, so it is met once.
    let keys: [Key] = [
      .subject(event.subject), .region(event.region), .application(event.application), .kind(event.kind),
    ]
    for key in keys {
      guard let cores = narrow[key] else { continue }
      for core in cores.values where core.request.wants(event) { body(core) }
    }
  }

  /// The keys of a stream; nil where only one that every event is offered to will do.
  private static func keys(_ request: FeedRequest) -> Set<Key>? {
    guard let own = keys(request.filter) else { return nil }
    guard let filter = request.shared else { return Set(own) }
    guard let shared = keys(filter), let one = own.first, let other = shared.first else { return nil }
    return one.isAlike(other) ? Set(own).union(shared) : nil
  }

  private static func keys(_ filter: EventFilter) -> [Key]? {
    if let subjects = filter.subjects { return subjects.map { .subject($0) } }
    if let regions = filter.regions { return regions.map { .region($0) } }
    if let applications = filter.applications { return applications.map { .application($0) } }
    return filter.kinds.map { kinds in kinds.map { .kind($0) } }
  }
}
