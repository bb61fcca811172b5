import Logging
import PharosDocuments
import PharosModel
import PharosSite
import Synchronization

/// A gallery's site file, and the parts around its owner.
enum OwnedGallery {
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let desk = ObserverID.name("front-desk")
  static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  static let site = Site(
    applications: [
      Application(identifier: "gallery", regions: [region("anywhere"), region("tags", major: 1)])
    ],
    observers: [ObserverEntry(id: desk, name: "front desk")],
    zones: [Zone(identifier: "lobby", observers: [desk])]
  )

  static func region(_ identifier: String, major: UInt16? = nil) -> Region {
    Region(identifier: identifier, constraint: .proximity(uuid, major: major))
  }
}

/// A store of documents in memory, which refuses changes on demand.
final class MemoryDocuments: DocumentStore {
  struct Full: Error {}

  private struct State {
    var documents: [String: [String: [UInt8]]] = [:]
    var changes = 0
    var isFull = false
  }

  private let state = Mutex(State())

  /// The number of transactions with something to store or to drop.
  var changes: Int { state.withLock { $0.changes } }

  var isFull: Bool {
    get { state.withLock { $0.isFull } }
    set { state.withLock { $0.isFull = newValue } }
  }

  @discardableResult
  func change(_ changes: [DocumentChange]) throws(Full) -> Int {
    try state.withLock { (state) throws(Full) in
      guard !changes.isEmpty else { return 0 }
      if state.isFull { throw Full() }
      state.changes += 1
      for change in changes { state.documents[change.kind, default: [:]][change.key] = change.document }
      return changes.count
    }
  }

  func documents(kind: String) throws(Full) -> [(key: String, document: [UInt8])] {
    state.withLock { state in
      (state.documents[kind] ?? [:]).sorted { $0.key < $1.key }.map { (key: $0.key, document: $0.value) }
    }
  }
}

/// An engine that makes edits as a server does, with pauses in which another edit could come between.
final class PausingEngine: SiteEngine {
  private struct State {
    var isMaking = false
    var overlaps = 0
    var changes: [RegionChange] = []
  }

  private let owner: SiteOwner
  private let state = Mutex(State())

  /// Makes an engine and attaches it.
  init(_ owner: SiteOwner) {
    self.owner = owner
    owner.attach(to: self)
  }

  /// The changes that it has made.
  var changes: [RegionChange] { state.withLock { $0.changes } }
  /// The number of edits that began before the one before had ended.
  var overlaps: Int { state.withLock { $0.overlaps } }

  let isReplicated = false

  func change(
    _ edit: SiteEdit,
    with _: [DocumentChange],
    committing commit: () async throws -> Void
  ) async throws {
    state.withLock { state in
      if state.isMaking { state.overlaps += 1 }
      state.isMaking = true
    }
    defer { state.withLock { $0.isMaking = false } }
    try owner.check(edit)
    await Task.yield()
    try await commit()
    await Task.yield()
    let made = try owner.carryOut(edit)
    state.withLock { $0.changes += made }
  }
}
