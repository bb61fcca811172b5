import PharosDocuments
import PharosModel
import Synchronization

/// A place where a named ``RegionMonitor`` keeps its conditions and records, such as a file.
public protocol MonitorStore: Sendable {
  /// Returns what was stored last; nil if nothing was stored yet.
  func load() throws -> [UInt8]?
  /// Replaces what is stored, as a whole or not at all.
  func store(_ bytes: [UInt8]) throws
}

/// What a monitor keeps: its conditions, as regions, and the last event about each subject.
struct MonitorBook: Sendable {
  struct Key: Hashable {
    let identifier: String
    let subject: SubjectID
  }

  var regions: [String: Region] = [:]
  var lastEvents: [Key: MonitorEvent] = [:]

  private static let version: UInt8 = 1

  init() {}

  /// Reads a book.
  init(_ bytes: [UInt8]) throws(FieldError) {
    var reader = FieldReader(bytes[...])
    let version = try reader.byte()
    guard version == MonitorBook.version else {
      throw reader.failure(.unknownTag(field: "a monitor's version", tag: version))
    }
    for region in try reader.list(Region.self) { regions[region.identifier] = region }
    for event in try reader.list(MonitorEvent.self) { file(event) }
  }

  /// The book as bytes, in an order that depends on its content alone.
  var bytes: [UInt8] {
    var writer = FieldWriter()
    writer.write(MonitorBook.version)
    writer.write(regions.values.sorted { $0.identifier < $1.identifier })
    writer.write(
      lastEvents.values.sorted { ($0.identifier, $0.subject) < ($1.identifier, $1.subject) }
    )
    return writer.bytes
  }

  /// Notes the last event about a subject.
  mutating func file(_ event: MonitorEvent) {
    lastEvents[Key(identifier: event.identifier, subject: event.subject)] = event
  }

  /// Removes what is known about a subject.
  mutating func forget(_ traces: SubjectTraces) {
    lastEvents = lastEvents.filter { !traces.contains($0.key.subject) }
    for (key, event) in lastEvents where event.refinement.map(traces.contains) == true {
      lastEvents[key]?.refinement = nil
    }
  }

  /// Removes what is known about the subjects of a condition.
  mutating func forget(_ identifier: String) {
    lastEvents = lastEvents.filter { $0.key.identifier != identifier }
  }
}

/// The store of a monitor, with what has become of it.
final class MonitorKeeper: Sendable {
  private struct State {
    /// The date of the last event in what was stored last.
    var date = Timestamp.distantPast
    /// Indicates whether the store cannot be read, so that it must not be written either.
    var isUnreadable = false
    var hasFailed = false
  }

  private let store: any MonitorStore
  private let state = Mutex(State())

  /// The number of records up to which each event is stored; above it, events of one second are stored together.
  ///
  /// 256 records are about 20 kB: one page of writing for each event.
  private static let few = 256

  init(_ store: any MonitorStore) { self.store = store }

  /// Indicates whether the store could not be read, or not be written the last time.
  var hasFailed: Bool { state.withLock { $0.isUnreadable || $0.hasFailed } }

  /// Returns what was stored, or an empty book.
  func load() -> MonitorBook {
    state.withLock { state in
      do {
        return try store.load().map { try MonitorBook($0) } ?? MonitorBook()
      } catch {
        state.isUnreadable = true
        return MonitorBook()
      }
    }
  }

  /// Stores a book, which has changed by an event, or otherwise if there is none.
  func store(behind event: MonitorEvent? = nil, _ book: () -> MonitorBook) {
    state.withLock { state in
      guard !state.isUnreadable else { return }
      let book = book()
      if let event {
        guard book.lastEvents.count <= MonitorKeeper.few || event.date - state.date >= .seconds(1) else {
          return
        }
        state.date = event.date
      }
      do {
        try store.store(book.bytes)
        state.hasFailed = false
      } catch {
        state.hasFailed = true
      }
    }
  }
}
