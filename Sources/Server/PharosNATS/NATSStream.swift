#if NATS
import CNats
import Glibc

/// What a stream has to be.
package struct NATSStreamSettings: Sendable, Equatable {
  /// The name, of letters, digits, `-` and `_`.
  package var name: String
  /// The subjects whose messages the stream stores, with wildcards.
  package var subjects: [String]
  /// The number of servers that store each message: 1, 3 or 5.
  package var replicas: Int
  /// The limit of stored bytes, which the servers reserve on disk; -1 for none.
  package var maximumBytes: Int64 = -1
  /// The age at which a message is removed, in nanoseconds; 0 for none.
  package var maximumAge: Int64 = 0
  /// The time in which a message id is recognised as a repeat, in nanoseconds.
  package var duplicates: Int64 = 120_000_000_000
  /// Refuses new messages at the limit of bytes instead of removing the oldest.
  package var discardsNew = true
  /// The number of messages that remain for each subject; -1 for all.
  package var maximumPerSubject: Int64 = -1
  /// The flags of a bucket of keys and values: single messages cannot be deleted, and any replica may be asked for one.
  var isBucket = false

  /// Makes the settings of a stream without limits.
  package init(name: String, subjects: [String], replicas: Int) {
    self.name = name
    self.subjects = subjects
    self.replicas = replicas
  }

  /// What a stream that exists has otherwise.
  func differences(from stream: jsStreamConfig) -> [String] {
    var found: [String] = []
    func compare<Value: Equatable>(_ name: String, _ value: Value, _ wanted: Value) {
      if value != wanted { found.append("\(name) is \(value), wanted is \(wanted)") }
    }
    let theirs = (0..<Int(stream.SubjectsLen)).compactMap { stream.Subjects[$0].map { String(cString: $0) } }
    compare("subjects", theirs.sorted(), subjects.sorted())
    compare("replicas", Int(stream.Replicas), replicas)
    compare("max_bytes", stream.MaxBytes, maximumBytes)
    compare("max_age", stream.MaxAge, maximumAge)
    compare("duplicate_window", stream.Duplicates, duplicates)
    compare("discard", stream.Discard == js_DiscardNew ? "new" : "old", discardsNew ? "new" : "old")
    compare("max_msgs_per_subject", stream.MaxMsgsPerSubject, maximumPerSubject)
    compare("storage", stream.Storage == js_FileStorage ? "file" : "memory", "file")
    return found
  }

  /// Calls a function with the configuration that the library knows.
  func withConfiguration<Result>(_ body: (inout jsStreamConfig) -> Result) -> Result {
    withCStrings(subjects) { pointers in
      name.withCString { name in
        var configuration = jsStreamConfig()
        jsStreamConfig_Init(&configuration)
        configuration.Name = name
        configuration.Subjects = pointers
        configuration.SubjectsLen = Int32(subjects.count)
        configuration.Replicas = Int64(replicas)
        configuration.MaxBytes = maximumBytes
        configuration.MaxAge = maximumAge
        configuration.Duplicates = duplicates
        configuration.Discard = discardsNew ? js_DiscardNew : js_DiscardOld
        configuration.MaxMsgsPerSubject = maximumPerSubject
        configuration.AllowRollup = isBucket
        configuration.DenyDelete = isBucket
        configuration.AllowDirect = isBucket
        return body(&configuration)
      }
    }
  }
}

/// The state of a stream.
package struct NATSStreamInfo: Sendable, Equatable {
  /// Another server that stores the stream.
  package struct Replica: Sendable, Equatable {
    /// The server's name.
    package var name: String
    /// Indicates whether the replica has all messages.
    package var isCurrent: Bool
    /// Indicates whether the server cannot be reached.
    package var isOffline: Bool
    /// The number of operations that the replica lacks.
    package var lag: UInt64
  }

  /// The sequences of the first and the last message; an empty stream has a first one behind its last one.
  package var (first, last): (UInt64, UInt64)
  /// The number of messages.
  package var messages: UInt64
  /// The bytes of the messages, with what the server stores with each.
  package var bytes: UInt64
  /// The time at which the stream was created, in nanoseconds since 1970: another one is another stream of the same name.
  package var created: Int64
  /// The name of the server that decides for the stream; nil while there is none, and for a server alone.
  package var leader: String?
  /// The other servers that store the stream.
  package var replicas: [Replica]

  init(_ info: jsStreamInfo) {
    (first, last) = (info.State.FirstSeq, info.State.LastSeq)
    (messages, bytes) = (info.State.Msgs, info.State.Bytes)
    created = info.Created
    let cluster = info.Cluster?.pointee
    leader = cluster?.Leader.map { String(cString: $0) }
    replicas = (0..<Int(cluster?.ReplicasLen ?? 0)).compactMap { place in
      guard let peer = cluster?.Replicas[place]?.pointee else { return nil }
      return Replica(
        name: peer.Name.map { String(cString: $0) } ?? "?",
        isCurrent: peer.Current,
        isOffline: peer.Offline,
        lag: peer.Lag
      )
    }
    if let name = leader, name.isEmpty { leader = nil }
  }
}

/// A message of a stream.
package struct NATSMessage: Sendable, Equatable {
  /// The place in the stream, from 1.
  package var sequence: UInt64
  /// The time at which the leader stored the message, in nanoseconds since 1970.
  package var time: Int64
  /// The content.
  package var bytes: [UInt8]

  /// Makes a message.
  package init(sequence: UInt64, time: Int64, bytes: [UInt8]) {
    (self.sequence, self.time, self.bytes) = (sequence, time, bytes)
  }
}

/// What the servers answer to a publication that they have stored.
package struct NATSAcknowledgement: Sendable, Equatable {
  /// The place in the stream; of a repeat, the place of the message that was stored first.
  package var sequence: UInt64
  /// Indicates whether the message id had been stored already.
  package var isDuplicate: Bool

  /// Makes an acknowledgement.
  package init(sequence: UInt64, isDuplicate: Bool) {
    (self.sequence, self.isDuplicate) = (sequence, isDuplicate)
  }
}

/// A stream of JetStream.
///
/// Its calls block the calling thread; each has a time, in milliseconds, after which it fails with
/// ``NATSError/unavailable(_:reason:)``.
package final class NATSStream: Sendable {
  /// The name of the stream.
  package let name: String
  /// The connection by which it is reached.
  package let connection: NATSConnection

  /// Names a stream that is there already.
  package init(_ name: String, on connection: NATSConnection) {
    (self.name, self.connection) = (name, connection)
  }

  /// Creates a stream, or checks that the one that exists is what is wanted.
  ///
  /// - Parameters:
  ///   - settings: What the stream has to be; storage is by files.
  ///   - connection: The connection.
  ///   - time: The time of each of at most three calls, in milliseconds.
  /// - Returns: The stream.
  /// - Throws: ``NATSError/differs(stream:differences:)`` if it exists otherwise.
  package static func ensure(
    _ settings: NATSStreamSettings,
    on connection: NATSConnection,
    within time: Int = 5_000
  ) throws(NATSError) -> NATSStream {
    let stream = NATSStream(settings.name, on: connection)
    for _ in 0..<2 {
      var (options, code) = (NATSConnection.options(time), jsErrCode(0))
      var info: UnsafeMutablePointer<jsStreamInfo>?
      defer { jsStreamInfo_Destroy(info) }
      let status = js_GetStreamInfo(&info, connection.context, settings.name, &options, &code)
      if status == NATS_OK, let configuration = info?.pointee.Config?.pointee {
        let differences = settings.differences(from: configuration)
        guard differences.isEmpty else { throw .differs(stream: settings.name, differences: differences) }
        return stream
      }
      guard case .notFound = NATSError(status, code, at: stream.text) else {
        throw NATSError(status, code, at: stream.text)
      }
      let made = settings.withConfiguration { js_AddStream(nil, connection.context, &$0, &options, &code) }
      // Two clients may create it at once; the second one compares.
      if made != NATS_OK, code.rawValue == JSStreamNameExistErr.rawValue { continue }
      try check(made, code, at: stream.text)
      return stream
    }
    throw .unavailable(stream.text, reason: "it is being created and deleted at once")
  }

  var text: String { "the stream \(name)" }

  /// Asks the leader for the state.
  package func info(within time: Int = 2_000) throws(NATSError) -> NATSStreamInfo {
    var (options, code) = (NATSConnection.options(time), jsErrCode(0))
    var info: UnsafeMutablePointer<jsStreamInfo>?
    defer { jsStreamInfo_Destroy(info) }
    try check(js_GetStreamInfo(&info, connection.context, name, &options, &code), code, at: text)
    guard let info else { throw .notFound(text) }
    return NATSStreamInfo(info.pointee)
  }

  /// The subjects that have messages, and match a filter.
  func subjects(_ filter: String, within time: Int) throws(NATSError) -> [String] {
    var (options, code) = (NATSConnection.options(time), jsErrCode(0))
    var info: UnsafeMutablePointer<jsStreamInfo>?
    defer { jsStreamInfo_Destroy(info) }
    let status = filter.withCString { filter in
      options.Stream.Info.SubjectsFilter = filter
      return js_GetStreamInfo(&info, connection.context, name, &options, &code)
    }
    try check(status, code, at: text)
    guard let list = info?.pointee.State.Subjects?.pointee else { return [] }
    return (0..<Int(list.Count)).compactMap { list.List[$0].Subject.map { String(cString: $0) } }
  }

  /// Publishes a message and waits until most of the servers have stored it.
  ///
  /// With nats-server 2.9.10 and three replicas, an acknowledged message can be missing after its leader was killed or stopped, and
  /// each replica recognises a repeated id by its own memory, so that after such a fault one replica may store what another
  /// drops, and they differ from there on. What must not be lost is published without an id, with a number in its content, kept
  /// until a ``NATSReader`` has returned it, and published again otherwise; those who read drop repeated numbers.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - subject: One of the stream's subjects.
  ///   - id: What a repeat is recognised by within the stream's window of duplicates; nil for none.
  ///   - time: The time to wait, in milliseconds. If it ends, the message may be stored or not: publish it again with the same id.
  /// - Returns: The place in the stream.
  /// - Throws: ``NATSError/full(_:reason:)`` at the stream's limit, and what else ``NATSError`` has.
  package func publish(
    _ bytes: [UInt8],
    subject: String,
    id: String?,
    within time: Int = 5_000
  ) throws(NATSError) -> NATSAcknowledgement {
    try publish(NATSOutgoing(bytes, subject, id: id), within: time)
  }

  func publish(_ outgoing: NATSOutgoing, within time: Int) throws(NATSError) -> NATSAcknowledgement {
    let message = try outgoing.message(on: connection)
    defer { natsMsg_Destroy(message) }
    var (acknowledgement, code) = (UnsafeMutablePointer<jsPubAck>?.none, jsErrCode(0))
    defer { jsPubAck_Destroy(acknowledgement) }
    let status = outgoing.withOptions(time, stream: name) {
      js_PublishMsg(&acknowledgement, connection.context, message, &$0, &code)
    }
    try check(status, code, at: "a message on \(outgoing.subject)")
    guard let acknowledgement else { throw .unavailable(text, reason: "no acknowledgement") }
    return NATSAcknowledgement(acknowledgement.pointee)
  }

  /// Publishes a message if the last one of its subject has a sequence, nil for none, and returns the new sequence.
  ///
  /// The expectation is of the last sequence of the whole stream, which every replica compares when it applies the message. The one
  /// of the subject's last sequence, `Nats-Expected-Last-Subject-Sequence`, is compared by clustered servers only before they
  /// propose the message (`processClusteredInboundMsg` of nats-server 2.9.10), so that of two at once both are stored.
  ///
  /// - Parameters:
  ///   - outgoing: The message.
  ///   - sequence: The sequence of the subject's last message; nil for none.
  ///   - marker: A header that makes a message count as none.
  ///   - deadline: The end of the time for all attempts.
  /// - Returns: The place in the stream.
  /// - Throws: ``NATSError/wrongLastSequence(_:)`` if the subject has another last message.
  func publish(
    _ outgoing: NATSOutgoing,
    replacing sequence: UInt64?,
    marker: String? = nil,
    until deadline: NATSDeadline
  ) throws(NATSError) -> UInt64 {
    var outgoing = outgoing
    while true {
      // What is stored after this makes the publication fail, so that the subject's last message is the one that is read next.
      outgoing.last = try info(within: deadline.remaining).last
      let found = try lastMessage(of: outgoing.subject, header: marker, within: deadline.remaining)
      let present = found.flatMap { $0.header == nil ? $0.message.sequence : nil }
      guard present == sequence else { throw .wrongLastSequence("a message on \(outgoing.subject)") }
      do {
        return try publish(outgoing, within: deadline.remaining).sequence
      } catch .wrongLastSequence(let what) {
        // A message of another subject may have been stored.
        guard !deadline.isOver else { throw .unavailable(what, reason: "\(text) changes all the time") }
      }
    }
  }

  /// Asks the leader for one message.
  ///
  /// - Throws: ``NATSError/notFound(_:)`` if the message was removed, or does not exist yet.
  package func message(at sequence: UInt64, within time: Int = 2_000) throws(NATSError) -> NATSMessage {
    var (options, code, message) = (NATSConnection.options(time), jsErrCode(0), OpaquePointer?.none)
    defer { natsMsg_Destroy(message) }
    try check(
      js_GetMsg(&message, connection.context, name, sequence, &options, &code),
      code,
      at: "message \(sequence) of \(text)"
    )
    guard let message else { throw .notFound("message \(sequence) of \(text)") }
    return NATSMessage(stored: message)
  }

  /// Asks the leader for the last message of a subject, with one header of it; nil without a message.
  func lastMessage(
    of subject: String,
    header: String? = nil,
    within time: Int
  ) throws(NATSError) -> (message: NATSMessage, header: String?)? {
    var (options, code, message) = (NATSConnection.options(time), jsErrCode(0), OpaquePointer?.none)
    defer { natsMsg_Destroy(message) }
    let status = js_GetLastMsg(&message, connection.context, name, subject, &options, &code)
    if status != NATS_OK, case .notFound = NATSError(status, code, at: subject) { return nil }
    try check(status, code, at: "the last message on \(subject)")
    guard let message else { return nil }
    var value: UnsafePointer<CChar>?
    if let header { _ = natsMsgHeader_Get(message, header, &value) }
    return (NATSMessage(stored: message), value.map { String(cString: $0) })
  }

  /// Removes the messages before a sequence; that one and later ones remain.
  package func purge(upTo sequence: UInt64, within time: Int = 10_000) throws(NATSError) {
    // The servers read 0 and 1 as no limit, and would remove all.
    guard sequence > 1 else { return }
    try purge(subject: nil, upTo: sequence, within: time)
  }

  /// Removes messages of the subjects that match a filter, all of them if no sequence is given.
  func purge(subject: String?, upTo sequence: UInt64, within time: Int) throws(NATSError) {
    var (options, code) = (NATSConnection.options(time), jsErrCode(0))
    options.Stream.Purge.Sequence = sequence
    let copy = subject.map { strdup($0) } ?? nil
    defer { free(copy) }
    options.Stream.Purge.Subject = copy.map { UnsafePointer($0) }
    try check(js_PurgeStream(connection.context, name, &options, &code), code, at: "the trim of \(text)")
  }

  /// Deletes the stream with all its messages.
  package func delete(within time: Int = 5_000) throws(NATSError) {
    var (options, code) = (NATSConnection.options(time), jsErrCode(0))
    try check(js_DeleteStream(connection.context, name, &options, &code), code, at: text)
  }
}

extension NATSAcknowledgement {
  init(_ acknowledgement: jsPubAck) {
    self.init(sequence: acknowledgement.Sequence, isDuplicate: acknowledgement.Duplicate)
  }
}

extension NATSMessage {
  /// Copies a message that the leader was asked for.
  init(stored message: OpaquePointer) {
    self.init(
      sequence: natsMsg_GetSequence(message),
      time: natsMsg_GetTime(message),
      bytes: NATSMessage.bytes(of: message)
    )
  }

  static func bytes(of message: OpaquePointer) -> [UInt8] {
    let content = UnsafeRawBufferPointer(
      start: natsMsg_GetData(message),
      count: Int(natsMsg_GetDataLength(message))
    )
    return Array(content)
  }
}
#endif
