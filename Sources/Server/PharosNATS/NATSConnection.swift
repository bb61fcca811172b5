#if NATS
import CNats
import Foundation
import Synchronization

/// The changes of a connection's state.
package enum NATSConnectionChange: Sendable, Equatable {
  /// The connection to a server was lost; the library looks for another server until one answers.
  case disconnected
  /// A server answered again; its address.
  case reconnected(server: String)
  /// The connection ended, by ``NATSConnection/close()`` or because a server refused the credentials twice.
  case closed(reason: String)
}

/// The state of a connection and of the server that it is with.
package struct NATSStatus: Sendable, Equatable {
  /// Indicates whether a server answers at present.
  package var isConnected: Bool
  /// The address of the server; nil while there is none.
  package var server: String?
  /// What the server says of itself; nil if it could not be asked.
  package var greeting: NATSGreeting?
  /// The bytes of all streams of the account, each counted once for every replica; nil if JetStream did not answer.
  package var storedBytes: UInt64?
  /// The number of the account's streams; nil if JetStream did not answer.
  package var streams: Int?
}

/// What the callbacks of a connection are given.
private final class NATSReceiver: Sendable {
  let receive: @Sendable (NATSConnectionChange) -> Void
  /// The number of times that the connection came back.
  let reconnections = Atomic<Int>(0)

  init(_ receive: @escaping @Sendable (NATSConnectionChange) -> Void) { self.receive = receive }
}

private let receivers = NATSRegistry<NATSReceiver>()

/// A connection to the servers of NATS, and what JetStream needs of it.
///
/// The library reads, writes and reconnects on threads of its own. Any thread may use the connection; its calls block that thread
/// until the server has answered or the time is over.
///
/// The class is `Sendable` because libnats locks the connection and the context of JetStream in each call (`natsMutex` in
/// `conn.c` and `js.c` of nats.c 3.4.1), and neither pointer changes or is freed before the last reference goes.
package final class NATSConnection: @unchecked Sendable {
  /// The size of the buffer in which publications wait for a connection that is interrupted, in bytes.
  private static let waitingBytes: Int32 = 16 << 20
  /// The wait between two attempts to reach the same server, and the random part of it, in milliseconds.
  private static let reconnectWait = (fixed: Int64(250), random: Int64(100))
  /// The time after which a write to a server that does not read fails, in milliseconds.
  private static let writeTime: Int64 = 3_000

  let pointer: OpaquePointer
  /// The context of JetStream for all calls but asynchronous publications.
  let context: OpaquePointer
  private let key: Int
  private let receiver: NATSReceiver
  private let retired: NATSRetired
  /// How to reach the servers.
  package let settings: NATSSettings

  /// Connects to the first of the servers that answers.
  ///
  /// Each server has the settings' connect time, and none is tried twice, so that the call ends.
  ///
  /// - Parameters:
  ///   - settings: How to reach the servers, and as what.
  ///   - onChange: Receives changes of the connection's state, on a thread of the library that it must not block.
  /// - Throws: ``NATSError/unreachable(servers:reason:)``, ``NATSError/refused(_:reason:)`` or ``NATSError/settings(_:)``.
  package init(
    _ settings: NATSSettings,
    onChange: @escaping @Sendable (NATSConnectionChange) -> Void = { _ in }
  ) throws(NATSError) {
    self.settings = settings
    if let problem = settings.problem { throw .settings(problem) }
    receiver = NATSReceiver(onChange)
    key = receivers.add(receiver)
    do {
      pointer = try NATSConnection.connect(settings, key)
    } catch {
      receivers.remove(key)
      throw error
    }
    var context: OpaquePointer?
    let status = natsConnection_JetStream(&context, pointer, nil)
    guard status == NATS_OK, let context else {
      natsConnection_Destroy(pointer)
      throw NATSError(status, at: "the context of JetStream")
    }
    self.context = context
    retired = NATSRetired(pointer)
  }

  deinit {
    // The thread that reads has ended then, and nothing is delivered.
    natsConnection_Close(pointer)
    retired.destroyAll()
    jsCtx_Destroy(context)
    natsConnection_Destroy(pointer)
    receivers.remove(key)
  }

  /// Ends a subscription, and destroys it when the library does not use it.
  func retire(_ subscription: OpaquePointer) { retired.add(subscription: subscription) }

  /// Destroys a context of JetStream at the end of the connection.
  func retire(context: OpaquePointer) { retired.add(context: context) }

  /// Closes the connection; calls that wait end with ``NATSError/closed``.
  package func close() { natsConnection_Close(pointer) }

  /// The number of times that the connection came back to a server.
  var reconnections: Int { receiver.reconnections.load(ordering: .acquiring) }

  /// The largest message that the server accepts, in bytes.
  package var maximumPayload: Int64 { natsConnection_GetMaxPayload(pointer) }

  /// Indicates whether a server answers at present, as far as the connection has noticed.
  package var isConnected: Bool { natsConnection_Status(pointer) == NATS_CONN_STATUS_CONNECTED }

  /// The address of the server of the present connection; nil while there is none.
  package var server: String? { NATSConnection.server(of: pointer) }

  /// Asks for the state of the connection, its server and the account.
  ///
  /// - Parameter time: The time for each of two questions, in milliseconds.
  /// - Returns: What is known; what did not answer in time is nil.
  package func status(within time: Int = 1_000) -> NATSStatus {
    let server = server
    var status = NATSStatus(isConnected: isConnected, server: server)
    status.greeting = server.flatMap { NATSGreeting(of: $0, within: time) }
    var (options, account) = (NATSConnection.options(time), UnsafeMutablePointer<jsAccountInfo>?.none)
    guard js_GetAccountInfo(&account, context, &options, nil) == NATS_OK, let account else { return status }
    defer { jsAccountInfo_Destroy(account) }
    status.storedBytes = account.pointee.Store
    status.streams = Int(account.pointee.Streams)
    return status
  }

  /// The options of a call of JetStream that has a time, in milliseconds.
  static func options(_ time: Int) -> jsOptions {
    var options = jsOptions()
    jsOptions_Init(&options)
    options.Wait = Int64(max(time, 1))
    return options
  }

  private static func server(of pointer: OpaquePointer?) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      guard let base = buffer.baseAddress,
        natsConnection_GetConnectedUrl(pointer, base, buffer.count) == NATS_OK
      else { return nil }
      let text = String(cString: base)
      return text.isEmpty ? nil : text
    }
  }

  private static func connect(_ settings: NATSSettings, _ key: Int) throws(NATSError) -> OpaquePointer {
    var made: OpaquePointer?
    try check(natsOptions_Create(&made), at: "the options of a connection")
    guard let options = made else { throw .closed }
    defer { natsOptions_Destroy(options) }
    try configure(options, settings)
    try authenticate(options, settings)
    setCallbacks(of: options, key)
    var connection: OpaquePointer?
    let status = natsConnection_Connect(&connection, options)
    if status == NATS_OK, let connection { return connection }
    let text = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
    switch status {
    case NATS_CONNECTION_AUTH_FAILED: throw .refused("the connection \(settings)", reason: text)
    case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_REQUIRED, NATS_SECURE_CONNECTION_WANTED:
      throw .settings("no encrypted connection to \(settings.servers.joined(separator: ", ")): \(text)")
    case NATS_NO_SERVER, NATS_TIMEOUT, NATS_IO_ERROR:
      throw .unreachable(servers: settings.servers, reason: text)
    default: throw NATSError(status, at: "the connection \(settings)")
    }
  }

  private static func configure(_ options: OpaquePointer, _ settings: NATSSettings) throws(NATSError) {
    let what = "the settings of the connection"
    try check(
      withCStrings(settings.servers) { natsOptions_SetServers(options, $0, Int32(settings.servers.count)) },
      at: what
    )
    try check(natsOptions_SetName(options, settings.name), at: what)
    try check(natsOptions_SetTimeout(options, Int64(settings.connectTime)), at: what)
    try check(natsOptions_SetPingInterval(options, Int64(settings.pingInterval)), at: what)
    try check(natsOptions_SetMaxPingsOut(options, 2), at: what)
    try check(natsOptions_SetMaxReconnect(options, -1), at: what)
    try check(natsOptions_SetReconnectWait(options, reconnectWait.fixed), at: what)
    try check(natsOptions_SetReconnectJitter(options, reconnectWait.random, reconnectWait.random), at: what)
    try check(natsOptions_SetReconnectBufSize(options, waitingBytes), at: what)
    try check(natsOptions_SetWriteDeadline(options, writeTime), at: what)
    try check(natsOptions_SetFailRequestsOnDisconnect(options, true), at: what)
    guard settings.isEncrypted else { return }
    try check(natsOptions_SetSecure(options, true), at: "encryption")
    if let file = settings.authorities {
      try check(natsOptions_LoadCATrustedCertificates(options, file), at: "the certificates in \(file)")
    }
  }

  private static func authenticate(_ options: OpaquePointer, _ settings: NATSSettings) throws(NATSError) {
    switch settings.credentials {
    case .none: break
    case .password(let user, let password):
      try check(natsOptions_SetUserInfo(options, user, password), at: "the user \(user)")
    case .seed(let file):
      let key = try NATSKey.publicKey(ofSeedIn: file)
      try check(natsOptions_SetNKeyFromSeed(options, key, file), at: "the key in \(file)")
    case .file(let file):
      try check(
        natsOptions_SetUserCredentialsFromFiles(options, file, nil),
        at: "the credentials in \(file)"
      )
    }
  }

  private static func setCallbacks(of options: OpaquePointer, _ key: Int) {
    let closure = UnsafeMutableRawPointer(bitPattern: key)
    natsOptions_SetDisconnectedCB(
      options,
      { _, key in receivers[key]?.receive(.disconnected) },
      closure
    )
    natsOptions_SetReconnectedCB(
      options,
      { connection, key in
        guard let receiver = receivers[key] else { return }
        receiver.reconnections.add(1, ordering: .acquiringAndReleasing)
        receiver.receive(.reconnected(server: NATSConnection.server(of: connection) ?? "?"))
      },
      closure
    )
    natsOptions_SetClosedCB(
      options,
      { connection, key in
        var text: UnsafePointer<CChar>?
        _ = natsConnection_GetLastError(connection, &text)
        receivers[key]?.receive(.closed(reason: text.map { String(cString: $0) } ?? ""))
      },
      closure
    )
    // Without a handler the library prints to the standard error; what fails is seen by those who call.
    natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil)
  }
}

/// What a connection has used and the library may still use.
///
/// The thread that reads the connection looks a subscription up and uses it without holding a reference (`natsConn_processMsg` in
/// `conn.c` of nats.c 3.4.1; corrected in later versions), so that one that is destroyed while it receives crashes the process.
/// It first counts the message under the lock of the look-up; when a later message has been counted, the earlier one is done.
private final class NATSRetired: @unchecked Sendable {
  private struct State {
    /// The addresses of subscriptions that have ended, with the number of messages that the connection had received then.
    var subscriptions: [(address: Int, messages: UInt64)] = []
    /// The addresses of contexts of JetStream.
    var contexts: [Int] = []
  }

  private let connection: OpaquePointer
  private let state = Mutex(State())

  init(_ connection: OpaquePointer) { self.connection = connection }

  func add(subscription: OpaquePointer) {
    natsSubscription_Unsubscribe(subscription)
    let (address, messages) = (Int(bitPattern: subscription), received())
    state.withLock { state in
      for entry in state.subscriptions where entry.messages < messages {
        natsSubscription_Destroy(OpaquePointer(bitPattern: entry.address))
      }
      state.subscriptions.removeAll { $0.messages < messages }
      state.subscriptions.append((address, messages))
    }
  }

  func add(context: OpaquePointer) {
    let address = Int(bitPattern: context)
    state.withLock { $0.contexts.append(address) }
  }

  func destroyAll() {
    state.withLock { state in
      for entry in state.subscriptions { natsSubscription_Destroy(OpaquePointer(bitPattern: entry.address)) }
      for address in state.contexts { jsCtx_Destroy(OpaquePointer(bitPattern: address)) }
      state = State()
    }
  }

  /// The number of messages that the connection has received.
  private func received() -> UInt64 {
    var statistics: OpaquePointer?
    guard natsStatistics_Create(&statistics) == NATS_OK else { return 0 }
    defer { natsStatistics_Destroy(statistics) }
    natsConnection_GetStats(connection, statistics)
    var (messages, bytes, sent, sentBytes, reconnections) = (
      UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0)
    )
    natsStatistics_GetCounts(statistics, &messages, &bytes, &sent, &sentBytes, &reconnections)
    return messages
  }
}

/// Objects that a C library knows by a number instead of a pointer, so that a late callback finds nothing instead of freed memory.
final class NATSRegistry<Value: Sendable>: Sendable {
  private struct State {
    var next = 1
    var values: [Int: Value] = [:]
  }

  private let state = Mutex(State())

  /// The value of a number that a callback was given; nil after it was removed.
  subscript(closure: UnsafeMutableRawPointer?) -> Value? {
    state.withLock { $0.values[Int(bitPattern: closure)] }
  }

  func add(_ value: Value) -> Int {
    state.withLock { state in
      defer { state.next += 1 }
      state.values[state.next] = value
      return state.next
    }
  }

  func remove(_ key: Int) { state.withLock { _ = $0.values.removeValue(forKey: key) } }
}

/// Calls a function with an array of C strings, which end with the call.
func withCStrings<Result>(
  _ strings: [String],
  _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
  let copies = strings.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  var pointers = copies.map { $0.map { UnsafePointer<CChar>($0) } }
  return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress) }
}
#endif
