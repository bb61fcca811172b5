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
  /// The place in the log from which the engines continue; nil for its beginning.
  let place: LogPlace?
  /// The state of the engines there; nil if there is none that can be read.
  let checkpoint: Checkpoint?
  /// The journalled events that the engines decide once more, with their sequence numbers.
  let known: [EventID: Int64]
  /// The stores of documents.
  let documents: ReplicatedDocuments
  /// The reading with which the engines begin.
  let reading: LogReading
  /// The version by which it decides.
  let version: String
  /// Indicates whether the node decides for itself alone.
  let isShadow: Bool
  /// Indicates whether the journal is that of a single server.
  let isSingle: Bool
  /// Indicates whether states resume from the published events, as those of a single server do that has been started again.
  let resumes: Bool
  /// What is set while the node delivers.
  let duty = Duty()

  /// Reads what an earlier run has left, and finds the place in the log.
  ///
  /// - Throws: the reason why the node cannot take part.
  init(_ bus: any ClusterBus, _ journal: Journal, of plan: ServerParts.Plan, logger: Logger) throws {
    self.bus = bus
    let dataFolder = plan.settings.data
    guard dataFolder != nil else {
      throw CommandFailure("A node of a cluster needs a folder for its journal: say --data DIR.")
    }
    let kept = try NodeName(of: journal)
    let identity = NodeName(
      name: kept?.name ?? Hex.text((0..<4).map { _ in UInt8.random(in: .min ... .max) }),
      start: (kept?.start ?? 0) + 1
    )
    let contents = try JournalContents(journal)
    // What has been promoted is a shadow no longer, whatever the command line says.
    let promotion = try Promotion(of: journal)
    version = plan.version
    isShadow = plan.isShadow && promotion?.version != version
    if !isShadow { try ClusterVersion.agree(on: version, with: bus) }
    try journal.changeHere([DocumentChange(kind: NodeName.kind, key: "", document: identity.encoded)])
    (name, number) = (identity.name, identity.start)
    (place, checkpoint, isSingle) = (contents.place, contents.checkpoint, contents.isSingle)
    resumes = contents.isSingle || contents.isUnreadable
    if resumes, !isShadow {
      try ClusterVersion.found(by: name, of: version, on: bus, isFirst: contents.isSingle)
      logger.notice("The cluster begins with the states of this journal; other nodes get it from this one.")
    }
    if contents.isSingle {
      guard !isShadow else {
        throw CommandFailure("The data folder belongs to a single server. A shadow starts with an empty one.")
      }
      // The log begins behind its first position, so that all others begin with this journal.
      let position = try bus.store([])
      try bus.trim(through: position)
      reading = LogReading(behind: position)
    } else {
      reading = place?.reading ?? LogReading()
    }
    known = resumes ? [:] : try ClusterStart.ids(in: journal, behind: contents.through)
    log = SharedLog(bus: bus, spool: BatchSpool(folder: dataFolder), logger: logger)
    documents = ReplicatedDocuments(journal, duty, logger: logger)
  }

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
    try plan.bus.map { try ClusterStart($0, journal, of: plan, logger: logger) }
  }

  /// Makes the node.
  func node(of plan: ServerParts.Plan, _ journal: Journal, logger: Logger) -> ClusterNode {
    var record = NodeRecord()
    (record.node, record.version, record.isShadow) = (name, version, isShadow)
    record.since = reading.through
    record.http = plan.settings.http.map { "\($0)" } ?? ""
    return ClusterNode(
      ClusterNode.Parts(
        bus: bus,
        log: log,
        journal: journal,
        duty: duty,
        record: record,
        logger: logger
      )
    )
  }

  /// The sources of the site at the place in the log.
  func sources(stream: String) -> SiteSources {
    place?.sources ?? SiteSources(declared: Site(stream: stream))
  }

  /// The settings of an engine that reads the log.
  var ingest: LoggedIngest {
    var ingest = LoggedIngest(
      log: log,
      // Of this start alone: a folder that was put back, or a copy, would take its batches for repeats of others.
      node: name + "-" + Hex.text((0..<4).map { _ in UInt8.random(in: .min ... .max) }),
      start: number,
      reading: reading,
      store: { [documents] in documents.store($0) }
    )
    ingest.isReadOnly = isShadow
    ingest.isEnd = { [isShadow, version] documents in
      documents.contains {
        $0.kind == ClusterVersion.kind && (isShadow || $0.document != Array(version.utf8))
      }
    }
    return ingest
  }
}

/// Has all nodes of a cluster store the same documents, in the order of the log.
///
/// A change is published, and returns once this node has read and stored it. What holds documents in memory reads them again.
final class ReplicatedDocuments: Sendable {
  private let journal: Journal
  private let duty: Duty
  private let logger: Logger
  private let queue = DispatchQueue(label: "pharos.cluster.documents", qos: .userInitiated)
  private let readers = Mutex<[(kinds: [String], reload: @Sendable () throws -> Void)]>([])
  private let eraser = Mutex<(@Sendable (SubjectTraces) async throws -> Void)?>(nil)
  /// The kind of the documents that name subjects which this server has to erase still.
  private static let erasure = "cluster.erasure"

  init(_ journal: Journal, _ duty: Duty, logger: Logger) {
    (self.journal, self.duty, self.logger) = (journal, duty, logger)
  }

  /// Calls a function whenever documents have changed whose kinds begin as one of some do.
  func follow(_ kinds: String..., reload: @escaping @Sendable () throws -> Void) {
    readers.withLock { $0.append((kinds, reload)) }
  }

  /// Calls a function for each subject that the engines have forgotten because another server was asked to erase it.
  func erase(by eraser: @escaping @Sendable (SubjectTraces) async throws -> Void) {
    self.eraser.withLock { $0 = eraser }
  }

  /// Erases what is to be erased, and what a run before was to; the server must run.
  func eraseRest() {
    Task { [self] in
      do {
        for (key, _) in try journal.documents(kind: ReplicatedDocuments.erasure) {
          guard let traces = SubjectTraces(key) else { continue }
          try await eraser.withLock { $0 }?(traces)
          try journal.changeHere([DocumentChange(kind: ReplicatedDocuments.erasure, key: key)])
        }
      } catch {
        logger.error(
          "A subject that another node has erased cannot be erased here. The next start erases it.",
          metadata: [LogKey.error: "\(error)"]
        )
      }
    }
  }

  /// Notes that a subject is to be erased.
  private func note(_ edit: LoggedEdit) throws {
    var subjects: [DocumentChange] = []
    for case .forget(let traces) in edit.changes {
      subjects.append(
        DocumentChange(kind: ReplicatedDocuments.erasure, key: traces.description, document: [])
      )
    }
    guard !subjects.isEmpty else { return }
    try journal.changeHere(subjects)
    eraseRest()
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
      // The loop answers in time, whatever becomes of the log.
      isAnswered.wait()
      if let error = answer.withLock({ $0 }) { throw error }
    }
    journal.replicate(by: replicate) { [weak server] deliveries in server?.store(deliveries) { _ in } }
  }

  /// Stores what was read of the log.
  func store(_ edit: LoggedEdit) {
    let isErasure = !edit.isOwn && edit.changes.contains { if case .forget = $0 { true } else { false } }
    guard !edit.documents.isEmpty || isErasure else { return edit.stored(nil) }
    queue.async { [self] in
      do {
        if isErasure { try note(edit) }
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
    if node.isCaughtUp, node.isShadow {
      parts.documents?.eraseRest()
    } else if node.isCaughtUp {
      parts.documents?.eraseRest()
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
