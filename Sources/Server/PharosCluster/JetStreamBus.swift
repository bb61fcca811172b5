import Foundation
package import Logging
import PharosJournal
import PharosModel
import PharosNATS
import PharosPipeline
import Synchronization

/// How a node reaches the broker of its cluster.
package struct ClusterSettings: Hashable, Sendable {
  /// The servers of NATS, `nats://HOST:PORT` or `tls://HOST:PORT`.
  package var servers: [String]
  /// The file with the seed of the node's NKey; nil for none.
  package var seed: String?
  /// The user, whose password is in ``passwordFile``; nil for none.
  package var user: String?
  /// The file with the password.
  package var passwordFile: String?
  /// The file with the certificates that the servers' certificates must descend from; nil for the system's.
  package var authorities: String?
  /// The number of servers that store each message; nil for 3, or 1 where there is one server.
  package var replicas: Int?
  /// The limit of the log.
  ///
  /// - Units: bytes, which each server of NATS reserves on its disk.
  package var logSize: Int64

  /// Makes settings.
  package init(servers: [String], replicas: Int? = nil, logSize: Int64 = 1 << 30) {
    (self.servers, self.replicas, self.logSize) = (servers, replicas, logSize)
  }
}

/// The clusters that a program can take part in.
package enum Clusters {
  /// Connects to a broker, for the name of a site's stream.
  package typealias Connect = @Sendable (_ stream: String, _ logger: Logger) throws -> any ClusterBus

  /// The sentence for an operator whose server was built without NATS; nil if it was built with it.
  package static var isMissing: String? { NATS.isMissing }

  /// Connects to the broker, and makes the log of a site if there is none.
  ///
  /// - Parameters:
  ///   - settings: the servers.
  ///   - stream: the name of the site's stream.
  ///   - logger: the logger for messages to the operator.
  /// - Returns: the connection.
  /// - Throws: ``ClusterError`` that says why it cannot be used.
  package static func open(
    _ settings: ClusterSettings,
    stream: String,
    logger: Logger
  ) throws(ClusterError) -> any ClusterBus {
    #if NATS
    try JetStreamBus(settings, stream: stream, logger: logger)
    #else
    throw .refused(NATS.isMissing ?? "")
    #endif
  }
}

#if NATS
/// The log, the values and the objects of a site in NATS JetStream.
final class JetStreamBus: ClusterBus {
  private let connection: NATSConnection
  private let log: NATSStream
  private let publisher: NATSPublisher
  private let values: NATSKeyValue
  private let objects: NATSObjects
  private let subject: String

  init(_ settings: ClusterSettings, stream: String, logger: Logger) throws(ClusterError) {
    let name =
      "PHAROS_" + stream.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
    subject = "pharos.\(name).log"
    var credentials = NATSSettings.Credentials.none
    if let seed = settings.seed { credentials = .seed(file: seed) }
    guard (settings.user == nil) == (settings.passwordFile == nil) else {
      throw .refused(
        "PHAROS_CLUSTER_USER and PHAROS_CLUSTER_PASSWORD_FILE belong together, and one of them is missing"
      )
    }
    if let user = settings.user, let path = settings.passwordFile {
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw .refused("the file \"\(path)\" with the password of \(user) cannot be read")
      }
      let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      credentials = .password(user: user, password: text)
    }
    do throws(NATSError) {
      connection = try NATSConnection(
        NATSSettings(
          servers: settings.servers,
          name: "pharos \(stream)",
          credentials: credentials,
          authorities: settings.authorities
        )
      ) { change in
        logger.info("The connection to NATS has changed.", metadata: [LogKey.reason: "\(change)"])
      }
      var wanted = NATSStreamSettings(name: name, subjects: [subject], replicas: settings.replicas ?? 3)
      wanted.maximumBytes = settings.logSize
      // The oldest messages are dropped first: nodes that have not read them begin with the journal of another one.
      wanted.discardsNew = false
      log = try JetStreamBus.log(&wanted, on: connection, mayStandAlone: settings.replicas == nil)
      publisher = try NATSPublisher(log, underWay: SharedLog.maximumUnderWay)
      values = try NATSKeyValue.ensure("\(name)_STATE", on: connection, replicas: wanted.replicas)
      objects = try NATSObjects.ensure(
        NATSStreamSettings(name: "\(name)_OBJECTS", subjects: [], replicas: wanted.replicas),
        on: connection
      ) { "\(Journal.digest($0))" }
    } catch {
      throw ClusterError(error)
    }
  }

  /// Makes the log, on one server where there are no three.
  private static func log(
    _ wanted: inout NATSStreamSettings,
    on connection: NATSConnection,
    mayStandAlone: Bool
  ) throws(NATSError) -> NATSStream {
    do throws(NATSError) {
      return try NATSStream.ensure(wanted, on: connection)
    } catch {
      // 10074: replicas need a cluster of servers. A log that was made with one replica stays as it is.
      let isAlone =
        switch error {
        case .other(_, text: _, code: 10_074): true
        case .differs(stream: _, let differences):
          differences == ["replicas is 1, wanted is \(wanted.replicas)"]
        default: false
        }
      guard mayStandAlone, isAlone else { throw error }
      wanted.replicas = 1
      return try NATSStream.ensure(wanted, on: connection)
    }
  }

  func append(_ bytes: [UInt8], _ stored: @escaping @Sendable (Result<UInt64, ClusterError>) -> Void) {
    do throws(NATSError) {
      // Without an id: replicas of nats-server 2.9 recognise repeats each by its own memory, and may differ for good. Readers
      // recognise them by what is in the batch.
      try publisher.publish(bytes, subject: subject, id: nil) { result in
        stored(result.map(\.sequence).mapError { ClusterError($0) })
      }
    } catch {
      stored(.failure(ClusterError(error)))
    }
  }

  func reader(behind position: UInt64) throws(ClusterError) -> any ClusterReader {
    JetStreamReader(NATSReader(log, from: position + 1))
  }

  func span() throws(ClusterError) -> (first: UInt64, last: UInt64) {
    let info = try ClusterError.of { () throws(NATSError) in try log.info() }
    return (max(1, info.first), info.last)
  }

  func trim(through position: UInt64) throws(ClusterError) {
    try ClusterError.of { () throws(NATSError) in try log.purge(upTo: position + 1) }
  }

  func value(of key: String) throws(ClusterError) -> ClusterValue? {
    let entry = try ClusterError.of { () throws(NATSError) in try values.value(of: key) }
    return entry.map { ClusterValue(bytes: $0.value, revision: $0.revision) }
  }

  func set(_ bytes: [UInt8], of key: String, replacing revision: UInt64?) throws(ClusterError) -> UInt64 {
    try ClusterError.of { () throws(NATSError) in
      guard let revision else { return try values.put(key, bytes) }
      guard revision > 0 else { return try values.create(key, bytes) }
      return try values.update(key, bytes, expecting: revision)
    }
  }

  func keys() throws(ClusterError) -> [String] {
    try ClusterError.of { () throws(NATSError) in try values.keys() }
  }

  func put(_ bytes: [UInt8], object name: String) throws(ClusterError) {
    try ClusterError.of { () throws(NATSError) in try objects.put(name, bytes) }
  }

  func object(_ name: String) throws(ClusterError) -> [UInt8]? {
    try ClusterError.of { () throws(NATSError) in try objects.get(name) }
  }

  func remove(_ key: String) throws(ClusterError) {
    try ClusterError.of { () throws(NATSError) in try values.delete(key) }
  }

  func has(object name: String) throws(ClusterError) -> Bool {
    try ClusterError.of { () throws(NATSError) in try objects.object(name) != nil }
  }

  func drop(object name: String) throws(ClusterError) {
    try ClusterError.of { () throws(NATSError) in try objects.delete(name) }
  }

  var state: String {
    let status = connection.status()
    guard status.isConnected, let server = status.server else { return "not connected" }
    return server + (status.greeting.map { " (nats-server \($0.version))" } ?? "")
  }

  func close() {
    publisher.close()
    connection.close()
  }
}

/// Reads the log from JetStream.
private struct JetStreamReader: ClusterReader {
  let reader: NATSReader

  init(_ reader: NATSReader) { self.reader = reader }

  func next(_ limit: Int) throws(ClusterError) -> [LogEntry] {
    let messages = try ClusterError.of { () throws(NATSError) in try reader.next(maximum: limit, within: 250)
    }
    return messages.map {
      LogEntry(position: $0.sequence, stored: Timestamp(nanoseconds: $0.time), bytes: $0.bytes)
    }
  }

  func close() { reader.close() }
}

extension ClusterError {
  /// The same in this module's words.
  fileprivate init(_ error: NATSError) {
    switch error {
    case .conflict, .wrongLastSequence: self = .conflict
    case .trimmed(stream: _, wanted: _, let first): self = .trimmed(first: first)
    case .unreachable, .unavailable, .closed: self = .away("\(error)")
    default: self = .refused("\(error)")
    }
  }

  /// Calls NATS, and gives its errors in this module's words.
  fileprivate static func of<Value>(_ body: () throws(NATSError) -> Value) throws(ClusterError) -> Value {
    do throws(NATSError) { return try body() } catch { throw ClusterError(error) }
  }
}
#endif
