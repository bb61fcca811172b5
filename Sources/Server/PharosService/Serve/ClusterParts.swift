import Dispatch
import Foundation
import Logging
import Pharos
import PharosCluster
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosPipeline
import PharosSite
import PharosTerminal
import ServiceLifecycle
import Synchronization

/// How a server that is a node of a cluster starts: who it is, and where in the log it reads on.
struct ClusterStart {
  /// The broker.
  let bus: any ClusterBus
  /// The name of the node, which it has as long as its data folder.
  let name: String
  /// The number of this start.
  let number: UInt32
  /// The log.
  let log: SharedLog
  /// The checkpoint from which the engines continue; nil for the beginning of the log.
  let checkpoint: LoggedCheckpoint?
  /// The journalled events that the engines decide once more, with their sequence numbers.
  let known: [EventID: Int64]
  /// The stores of documents.
  let documents: ReplicatedDocuments
  /// What is set while the node delivers.
  let duty = Duty()

  /// Reads what an earlier run has left, and finds the place in the log.
  ///
  /// - Throws: the reason why the node cannot take part.
  init(_ bus: any ClusterBus, _ journal: Journal, dataFolder: String?, logger: Logger) throws {
    self.bus = bus
    guard dataFolder != nil else {
      throw CommandFailure("A node of a cluster needs a folder for its journal: say --data DIR.")
    }
    let kept = try journal.document(kind: ClusterStart.kind, key: "").map { try NodeName(encoded: $0) }
    let identity = NodeName(
      name: kept?.name ?? Hex.text((0..<4).map { _ in UInt8.random(in: .min ... .max) }),
      start: (kept?.start ?? 0) + 1
    )
    try journal.changeHere([DocumentChange(kind: ClusterStart.kind, key: "", document: identity.encoded)])
    (name, number) = (identity.name, identity.start)
    let stored = try journal.latestCheckpoint()
    // The folder of another node, without its name, is one to begin with.
    if kept == nil, stored.map({ !LoggedCheckpoint.isOne($0.bytes) }) ?? (journal.head > 0) {
      throw CommandFailure(
        "\(dataFolder ?? "memory"): this folder belongs to a single server. A node of a cluster starts with an empty one."
      )
    }
    let own = try stored.map { try LoggedCheckpoint(decoding: $0.bytes) }
    let first = try bus.span().first
    let position = own?.place.reading.position ?? 0
    guard position + 1 >= first else {
      throw CommandFailure(
        "The log of the cluster begins at position \(first), behind what \(dataFolder ?? "memory") holds (\(position)). Stop another "
          + "node, copy its data folder, give the copy a name of its own with `pharos cluster rename`, and start with it."
      )
    }
    checkpoint = own
    known = try ClusterStart.ids(in: journal, behind: own == nil ? 0 : stored?.through ?? 0)
    log = SharedLog(bus: bus, spool: BatchSpool(folder: dataFolder), logger: logger)
    documents = ReplicatedDocuments(journal, duty, logger: logger)
  }

  /// Takes the name of a node from its data folder, of which it is a copy: the next start makes another one.
  ///
  /// - Returns: the name that it had.
  static func rename(_ folder: String, stream: String) throws -> String {
    guard FileManager.default.fileExists(atPath: folder + "/journal.sqlite") else {
      throw CommandFailure("\(folder): there is no journal here. Name the copy of a node's data folder.")
    }
    let journal = try Journal.open(.folder(folder), stream: stream)
    defer { journal.leave() }
    guard let kept = try journal.document(kind: kind, key: "") else {
      throw CommandFailure("\(folder): this is not the folder of a node, or it has no name already.")
    }
    try journal.changeHere([DocumentChange(kind: kind, key: "")])
    return try NodeName(encoded: kept).name
  }

  /// The kind of the document that names the node.
  private static let kind = "cluster.node"

  private static func ids(in journal: Journal, behind sequence: Int64) throws -> [EventID: Int64] {
    var (ids, last): ([EventID: Int64], Int64) = ([:], sequence)
    while true {
      let events = try journal.events(after: last, limit: 4_096)
      guard let newest = events.last else { return ids }
      for event in events { ids[event.event.id] = event.sequence }
      last = newest.sequence
    }
  }

  /// Starts as a plan says; nil for a single server.
  static func start(of plan: ServerParts.Plan, _ journal: Journal, logger: Logger) throws -> ClusterStart? {
    try plan.bus.map { try ClusterStart($0, journal, dataFolder: plan.settings.data, logger: logger) }
  }

  /// Makes the node.
  func node(of plan: ServerParts.Plan, _ journal: Journal, logger: Logger) -> ClusterNode {
    var record = NodeRecord()
    (record.node, record.version) = (name, PharosVersion.text)
    record.http = plan.settings.http.map { "\($0)" } ?? ""
    return ClusterNode(
      ClusterNode.Parts(bus: bus, log: log, journal: journal, duty: duty, record: record, logger: logger)
    )
  }

  /// The sources of the site at the place in the log.
  func sources(stream: String) -> SiteSources {
    checkpoint?.place.sources ?? SiteSources(declared: Site(stream: stream))
  }

  /// The settings of an engine that reads the log.
  var ingest: LoggedIngest {
    LoggedIngest(
      log: log,
      // Of this start alone: a folder that was put back, or a copy, would take its batches for repeats of others.
      node: name + "-" + Hex.text((0..<4).map { _ in UInt8.random(in: .min ... .max) }),
      start: number,
      reading: checkpoint?.place.reading ?? LogReading(),
      store: { [documents] in documents.store($0) }
    )
  }
}

/// `pharos cluster rename`.
package enum ClusterRename {
  /// Takes the name of a node from a copy of its data folder.
  ///
  /// - Parameters:
  ///   - folder: the copy.
  ///   - stream: the name of the site's stream.
  /// - Returns: the name that it had.
  /// - Throws: the reason why the folder cannot be used.
  package static func run(_ folder: String, stream: String) throws -> String {
    try ClusterStart.rename(folder, stream: stream)
  }
}

/// The name of a node and the number of its starts, as its journal keeps them.
private struct NodeName: FieldStruct {
  var name: String
  var start: UInt32

  init(name: String, start: UInt32) { (self.name, self.start) = (name, start) }

  init() { self.init(name: "", start: 0) }

  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&name)
    try coder.code(&start)
  }
}

/// Has all nodes of a cluster store the same documents, in the order of the log.
///
/// A change is published, and returns once this node has read and stored it. What holds documents in memory reads them again.
final class ReplicatedDocuments: Sendable {
  /// The time for which a change waits for the log.
  private static let patience: DispatchTimeInterval = .seconds(10)

  private let journal: Journal
  private let duty: Duty
  private let logger: Logger
  private let queue = DispatchQueue(label: "pharos.cluster.documents", qos: .userInitiated)
  private let readers = Mutex<[(kinds: [String], reload: @Sendable () throws -> Void)]>([])

  init(_ journal: Journal, _ duty: Duty, logger: Logger) {
    (self.journal, self.duty, self.logger) = (journal, duty, logger)
  }

  /// Calls a function whenever documents have changed whose kinds begin as one of some do.
  func follow(_ kinds: String..., reload: @escaping @Sendable () throws -> Void) {
    readers.withLock { $0.append((kinds, reload)) }
  }

  /// Has the journal pass its changes to the log of a server.
  func begin(through server: PharosServer) {
    let replicate: @Sendable ([DocumentChange]) throws -> Void = { [weak server] changes in
      guard let server else { throw IngestError.stopped }
      let answer = Mutex<(any Error)?>(nil)
      let isAnswered = DispatchSemaphore(value: 0)
      server.store(changes) { error in
        answer.withLock { $0 = error }
        isAnswered.signal()
      }
      guard isAnswered.wait(timeout: .now() + ReplicatedDocuments.patience) == .success else {
        throw CommandFailure(
          "the log of the cluster did not answer in time; whether the change was made is not known"
        )
      }
      if let error = answer.withLock({ $0 }) { throw error }
    }
    journal.replicate(by: replicate) { [weak server] deliveries in server?.store(deliveries) { _ in } }
  }

  /// Stores what was read of the log.
  func store(_ edit: LoggedEdit) {
    guard !edit.documents.isEmpty else { return edit.stored(nil) }
    queue.async { [self] in
      do {
        let apart = [SiteSources.declaredKind, Journal.deliveryKind]
        try journal.changeHere(edit.documents.filter { !apart.contains($0.kind) })
        // The node that delivers knows better.
        for change in edit.documents where change.kind == Journal.deliveryKind && !duty.isOn {
          if let document = change.document { try journal.saveDeliveries(document) }
        }
        let kinds = Set(edit.documents.map(\.kind))
        for reader in readers.withLock({ $0 })
        where kinds.contains(where: { kind in reader.kinds.contains { kind.hasPrefix($0) } }) {
          try reader.reload()
        }
        edit.stored(nil)
      } catch {
        logger.error(
          "Documents that another node may have changed cannot be stored. The next start stores them again.",
          metadata: [LogKey.error: "\(error)"]
        )
        edit.stored(error)
      }
    }
  }
}

/// Gives the cluster the site file of this node, if no node has given it one.
struct ClusterSiteService: Service {
  let node: ClusterNode
  let parts: ServerParts
  let declared: Site
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown { await node.catchUp() }
    if node.isCaughtUp {
      let present = parts.owner.sources.declared
      if present == Site(stream: declared.stream) {
        do {
          try await parts.owner.reload(declared)
        } catch {
          logger.error("The cluster refuses the site file.", metadata: [LogKey.error: "\(error)"])
        }
      } else if present != declared {
        logger.warning(
          "The site file of this node is not the cluster's, which counts. Send SIGHUP to have the cluster take this one."
        )
      }
    }
    try? await gracefulShutdown()
  }
}
