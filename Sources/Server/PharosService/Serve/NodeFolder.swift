import Foundation
import Logging
import NIOPosix
import PharosCluster
import PharosDocuments
import PharosIngest
import PharosJournal
import PharosPipeline
import PharosTerminal

/// The data folder of a node while its server does not run: before it starts, and behind its end.
package struct NodeFolder: Sendable {
  /// The path of the folder, which no other process uses.
  let path: String
  /// The name of the site's stream.
  let stream: String
  /// The version by which the node decides.
  let version: String
  /// The broker.
  let bus: any ClusterBus
  /// The logger for messages to the operator.
  let logger: Logger
  /// Returns whether to give up.
  let isStopping: @Sendable () -> Bool

  /// Gives the folder the journal of another node where the log does not reach back to what it holds.
  ///
  /// - Throws: the reason why that is not possible.
  func fill() async throws {
    // What it waits for may take minutes, which no thread of tasks should.
    try await NIOThreadPool.singleton.runIfActive { try fillAndWait() }
  }

  private func fillAndWait() throws {
    let (contents, name, promotion, own) = try JournalFolder(path, stream: stream).visit {
      (try JournalContents($0), try NodeName(of: $0), try Promotion(of: $0), try OwnDocuments(of: $0))
    }
    let first = try bus.span().first
    let isPromoted = promotion?.isOpen ?? false
    // States that resume from the events do so at one node, from which the others have them.
    let founder = contents.isUnreadable ? try ClusterVersion.founder(of: version, on: bus) : nil
    let isBehind = !contents.isSingle && contents.position + 1 < first
    guard isPromoted || isBehind || founder.map({ $0 != name?.name }) ?? false else { return }
    logger.notice(
      isPromoted
        ? "This node was a shadow. It begins with the journal of another node."
        : "The log begins behind what this node has. It begins with the journal of another node.",
      metadata: ["position": "\(contents.position)", "first": "\(first)"]
    )
    let draft = path + "/handover"
    try? FileManager.default.removeItem(atPath: draft)
    try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: draft) }
    let isWhole = try JournalHandover(through: bus).receive(
      into: draft + "/journal.sqlite",
      HandoverRequest(),
      waiting: {
        logger.warning(
          "No node has handed over its journal yet. One must run that has read the log; this node waits for it."
        )
      },
      isStopping: isStopping
    )
    guard isWhole else { return }
    let copied = try JournalFolder(draft, stream: stream).visit { copy in
      try own.replace(in: copy)
      if let promotion { try Promotion(version: promotion.version, isOpen: false).keep(in: copy) }
      return try JournalContents(copy)
    }
    guard try copied.position + 1 >= bus.span().first else {
      throw CommandFailure(
        "The journal that another node has handed over does not reach the log. Start this node again."
      )
    }
    try JournalFolder(draft, stream: stream).move(to: path)
    logger.notice("This node has the journal of another one.", metadata: ["position": "\(copied.position)"])
  }

  /// Does what has to be done behind the end of a server, and returns the error for the operator.
  func end(_ error: any Error) async throws -> any Error {
    switch error {
    case let change as ClusterSuperseded:
      try await NIOThreadPool.singleton.runIfActive { try end(by: change) }
      return CommandFailure("\(change)")
    case let difference as ClusterDifference:
      let place = try? setAside()
      return CommandFailure(
        "\(difference) "
          + (place.map { "Its journal is kept in \($0) for a report; the next start begins without it." }
            ?? "Keep its data folder for a report, and start it again with an empty one.")
      )
    default: return error
    }
  }

  /// Notes that a shadow has been promoted, or hands the journal of a node that decides no longer to those that do.
  private func end(by change: ClusterSuperseded) throws {
    let journal = try Journal.open(.folder(path), stream: stream)
    defer { journal.leave() }
    if change.isPromoted { return try Promotion(version: change.version, isOpen: true).keep(in: journal) }
    // All others begin with a journal that ends where this one does.
    let position = try JournalContents(journal).position
    guard position > 0 else { return }
    try bus.trim(through: position)
    logger.notice(
      "This node decides no longer. It hands its journal to those that do.",
      metadata: ["version": "\(change.version)", "position": "\(position)"]
    )
    let handover = JournalHandover(through: bus)
    var latest = ContinuousClock.now
    while !isStopping(), ContinuousClock.now - latest < JournalHandover.patience {
      let giver = JournalHandover.Giver(journal: journal, node: "", isHolder: true)
      if (try? handover.answer(giver)) ?? nil != nil {
        latest = .now
      } else {
        Thread.sleep(forTimeInterval: 0.2)
      }
    }
  }

  /// Sets the journal of a node that differs from the others aside, for a report; the next start begins without it.
  ///
  /// - Returns: the folder; nil if there is one from before, which is left as it is, and so is the journal.
  private func setAside() throws -> String? {
    let place = path + "/differs"
    guard !FileManager.default.fileExists(atPath: place) else { return nil }
    try JournalFolder(path, stream: stream).move(to: place)
    return place
  }

  /// Takes the name of a node from its data folder, of which it is a copy: the next start makes another one.
  ///
  /// - Parameters:
  ///   - folder: the copy.
  ///   - stream: the name of the site's stream.
  /// - Returns: the name that it had.
  /// - Throws: the reason why the folder cannot be used.
  package static func rename(_ folder: String, stream: String) throws -> String {
    guard FileManager.default.fileExists(atPath: folder + "/journal.sqlite") else {
      throw CommandFailure("\(folder): there is no journal here. Name the copy of a node's data folder.")
    }
    let journal = try Journal.open(.folder(folder), stream: stream)
    defer { journal.leave() }
    guard let kept = try journal.document(kind: NodeName.kind, key: "") else {
      throw CommandFailure("\(folder): this is not the folder of a node, or it has no name already.")
    }
    try OwnDocuments().replace(in: journal)
    return try NodeName(encoded: kept).name
  }
}

/// How far the journal of a node is.
struct JournalContents {
  /// The place of the newest checkpoint in the log; nil for its beginning.
  let place: LogPlace?
  /// The newest checkpoint; nil if there is none, or none that this version can read.
  let checkpoint: Checkpoint?
  /// The sequence of the last event before it.
  let through: Int64
  /// Indicates whether a single server has written it.
  let isSingle: Bool

  /// Indicates whether another version has written the checkpoint, so that states resume from the published events.
  var isUnreadable: Bool { place != nil && checkpoint == nil }

  /// The position of the log behind which it continues.
  var position: UInt64 { place?.reading.position ?? 0 }

  init(_ journal: Journal) throws {
    let stored = try journal.latestCheckpoint()
    let logged = stored.flatMap { LoggedCheckpoint.isOne($0.bytes) ? $0 : nil }
    place = try logged.map { try LoggedCheckpoint.place(of: $0.bytes) }
    do {
      checkpoint = try logged.map { try LoggedCheckpoint(decoding: $0.bytes).checkpoint }
    } catch CheckpointError.unreadable {
      checkpoint = nil
    }
    through = logged?.through ?? 0
    // A node that was killed before its first checkpoint has a name, and reads the log from its beginning.
    let isNamed = try journal.document(kind: NodeName.kind, key: "") != nil
    isSingle = logged == nil && (stored != nil || journal.head > 0 && !isNamed)
  }
}

/// The promotion of a shadow, as its journal keeps it.
struct Promotion: FieldStruct {
  private static let kind = "cluster.promoted"

  /// The version that was promoted.
  var version = ""
  /// Indicates whether the node still has the journal that it had as a shadow.
  var isOpen = false

  init() {}

  init(version: String, isOpen: Bool) { (self.version, self.isOpen) = (version, isOpen) }

  /// Reads the one of a journal; nil if there is none.
  init?(of journal: Journal) throws {
    guard let document = try journal.document(kind: Promotion.kind, key: "") else { return nil }
    self = try Promotion(encoded: document)
  }

  /// Keeps it in a journal.
  func keep(in journal: Journal) throws {
    try journal.changeHere([DocumentChange(kind: Promotion.kind, key: "", document: encoded)])
  }

  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&version)
    try coder.code(&isOpen)
  }
}

/// The name of a node and the number of its starts, as its journal keeps them.
struct NodeName: FieldStruct {
  /// The kind of the document.
  static let kind = "cluster.node"

  var name: String
  var start: UInt32

  init(name: String, start: UInt32) { (self.name, self.start) = (name, start) }

  init() { self.init(name: "", start: 0) }

  /// Reads the one of a journal; nil if there is none.
  init?(of journal: Journal) throws {
    guard let document = try journal.document(kind: NodeName.kind, key: "") else { return nil }
    self = try NodeName(encoded: document)
  }

  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&name)
    try coder.code(&start)
  }
}
