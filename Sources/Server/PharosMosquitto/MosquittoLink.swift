import PharosModel
package import PharosMQTT

#if MQTT
import CMosquitto
import Foundation
import Synchronization
#endif

/// Connections to MQTT brokers by libmosquitto, which are there if the package is built with the trait `MQTT`.
package enum Mosquitto {
  /// The sentence for an operator whose server was built without MQTT; nil if it was built with it.
  package static var isMissing: String? {
    #if MQTT
    nil
    #else
    "this pharos was built without MQTT. Install libmosquitto (on Debian: apt-get install libmosquitto-dev) and build it "
      + "with: swift build --traits MQTT"
    #endif
  }

  /// Makes a link that is not connected yet; nil if the server was built without MQTT.
  package static func link(_ settings: MQTTLinkSettings) -> (any MQTTLink)? {
    #if MQTT
    MosquittoLink(settings)
    #else
    nil
    #endif
  }
}

#if MQTT
/// A client of libmosquitto.
///
/// The library locks a client in each call, so that any thread may publish while the link's thread runs the client's loop; it
/// does not protect a client against its own end, which the link's lock does.
private struct MosquittoClient: @unchecked Sendable {
  let pointer: OpaquePointer
}

/// A connection to a broker by libmosquitto, on a thread of its own.
private final class MosquittoLink: MQTTLink {
  /// What the library's callbacks are given.
  private final class Receiver: Sendable {
    let receive: @Sendable (MQTTLinkEvent) -> Void
    /// The reason for which the broker refused the connection.
    let refusal = Mutex<String?>(nil)
    /// Indicates whether the broker has accepted a connection.
    let isAccepted = Mutex(false)

    init(_ receive: @escaping @Sendable (MQTTLinkEvent) -> Void) { self.receive = receive }

    static func of(_ context: UnsafeMutableRawPointer?) -> Receiver? {
      context.map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  private struct State {
    /// The client of the present connection.
    var client: MosquittoClient?
    var isStopping = false
  }

  /// The interval of keep-alive packets, in seconds; a broker that is silent for one and a half of them is gone.
  private static let keepAlive: Int32 = 30
  /// The longest time that the library waits for packets in one call, in milliseconds; publishing wakes it.
  private static let loopTime: Int32 = 1_000
  /// The waits between attempts to connect, in seconds: the first one, and the longest.
  private static let waits = (first: 0.25, maximum: 15.0)
  /// The time that the thread has to end, in seconds.
  private static let patience = 2.0
  /// The library, initialised once.
  private static let library: Int32 = mosquitto_lib_init()

  private let settings: MQTTLinkSettings
  private let state = Mutex(State())
  private let stopping = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  init(_ settings: MQTTLinkSettings) {
    self.settings = settings
    _ = MosquittoLink.library
  }

  func start(_ receive: @escaping @Sendable (MQTTLinkEvent) -> Void) {
    let receiver = Receiver(receive)
    // After a stop, as where another server has published meanwhile.
    state.withLock { $0.isStopping = false }
    for semaphore in [stopping, ended] { while semaphore.wait(timeout: .now()) == .success {} }
    let thread = Thread { [self] in
      run(receiver)
      ended.signal()
    }
    thread.name = "pharos.mqtt"
    thread.start()
  }

  func publish(_ message: MQTTMessage) -> MQTTPacketID? {
    state.withLock { state in
      guard let client = state.client else { return nil }
      var packet: Int32 = 0
      let code = mosquitto_publish(
        client.pointer,
        &packet,
        message.topic,
        Int32(message.payload.count),
        message.payload,
        message.isAcknowledged ? 1 : 0,
        message.isRetained
      )
      return code == MOSQ_ERR_SUCCESS.rawValue ? packet : nil
    }
  }

  func subscribe(_ filters: [String]) {
    withClient { client in
      for filter in filters { mosquitto_subscribe(client.pointer, nil, filter, 0) }
    }
  }

  func unsubscribe(_ filters: [String]) {
    withClient { client in
      for filter in filters { mosquitto_unsubscribe(client.pointer, nil, filter) }
    }
  }

  func stop() {
    let isFirst = state.withLock { state in
      defer { state.isStopping = true }
      if let client = state.client { mosquitto_disconnect(client.pointer) }
      return !state.isStopping
    }
    guard isFirst else { return }
    stopping.signal()
    // The library may be waiting for a host that does not answer, which the end of the process ends.
    _ = ended.wait(timeout: .now() + MosquittoLink.patience)
  }

  private func withClient(_ body: (MosquittoClient) -> Void) {
    state.withLock { state in
      if let client = state.client { body(client) }
    }
  }

  /// Connects again and again until the link is stopped.
  private func run(_ receiver: Receiver) {
    var wait = MosquittoLink.waits.first
    while !state.withLock({ $0.isStopping }) {
      receiver.isAccepted.withLock { $0 = false }
      let reason = connect(receiver)
      receiver.receive(.disconnected(reason: reason))
      if receiver.isAccepted.withLock({ $0 }) { wait = MosquittoLink.waits.first }
      if stopping.wait(timeout: .now() + wait) == .success { return }
      wait = min(2 * wait, MosquittoLink.waits.maximum)
    }
  }

  /// Connects once and stays until the connection ends; returns the reason.
  private func connect(_ receiver: Receiver) -> String {
    let context = Unmanaged.passUnretained(receiver).toOpaque()
    guard let pointer = mosquitto_new(settings.clientID, true, context) else {
      return "no memory for a client"
    }
    let client = MosquittoClient(pointer: pointer)
    defer { mosquitto_destroy(pointer) }
    receiver.refusal.withLock { $0 = nil }
    MosquittoLink.setCallbacks(of: pointer)
    if let problem = configure(pointer) { return problem }
    let isConnecting = state.withLock { state in
      guard !state.isStopping else { return false }
      state.client = client
      return true
    }
    defer { state.withLock { $0.client = nil } }
    guard isConnecting else { return "stopped" }
    var code = mosquitto_connect(pointer, settings.host, Int32(settings.port), MosquittoLink.keepAlive)
    while code == MOSQ_ERR_SUCCESS.rawValue {
      code = mosquitto_loop(pointer, MosquittoLink.loopTime, 1)
    }
    return receiver.refusal.withLock { $0 } ?? MosquittoLink.text(of: code)
  }

  /// Sets the parameters of a client; returns the problem if one is refused.
  private func configure(_ pointer: OpaquePointer) -> String? {
    mosquitto_threaded_set(pointer, true)
    // The outbox has a limit of its own.
    mosquitto_max_inflight_messages_set(pointer, 0)
    mosquitto_int_option(pointer, MOSQ_OPT_TCP_NODELAY, 1)
    if let username = settings.username {
      mosquitto_username_pw_set(pointer, username, settings.password)
    }
    if let authorities = settings.authorities {
      let code =
        authorities.isEmpty
        ? mosquitto_int_option(pointer, MOSQ_OPT_TLS_USE_OS_CERTS, 1)
        : mosquitto_tls_set(pointer, authorities, nil, nil, nil, nil)
      guard code == MOSQ_ERR_SUCCESS.rawValue else {
        return "the certificates \(authorities) cannot be used: \(MosquittoLink.text(of: code))"
      }
    }
    guard let will = settings.will else { return nil }
    let code = mosquitto_will_set(
      pointer,
      will.topic,
      Int32(will.payload.count),
      will.payload,
      1,
      will.isRetained
    )
    return code == MOSQ_ERR_SUCCESS.rawValue
      ? nil : "the last will is refused: \(MosquittoLink.text(of: code))"
  }

  private static func setCallbacks(of pointer: OpaquePointer) {
    mosquitto_connect_callback_set(pointer) { pointer, context, code in
      guard let receiver = Receiver.of(context) else { return }
      guard code == 0 else {
        return receiver.refusal.withLock { $0 = String(cString: mosquitto_connack_string(code)) }
      }
      receiver.isAccepted.withLock { $0 = true }
      let (peer, port) = MosquittoLink.peer(of: pointer.map { mosquitto_socket($0) } ?? -1)
      receiver.receive(.connected(peer: peer, port: port))
    }
    mosquitto_publish_callback_set(pointer) { _, context, packet in
      Receiver.of(context)?.receive(.acknowledged(packet))
    }
    mosquitto_message_callback_set(pointer) { _, context, message in
      guard let receiver = Receiver.of(context), let message = message?.pointee, let topic = message.topic
      else {
        return
      }
      let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
      receiver.receive(
        .message(topic: String(cString: topic), payload: Array(payload), isRetained: message.retain)
      )
    }
  }

  private static func text(of code: Int32) -> String {
    code == MOSQ_ERR_ERRNO.rawValue
      ? String(cString: strerror(errno)) : String(cString: mosquitto_strerror(code))
  }

  /// The address of the other end of a socket.
  private static func peer(of socket: Int32) -> (IPAddress?, UInt16) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { storage in
      let found = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getpeername(socket, $0, &length)
      }
      guard found == 0 else { return (nil, 0) }
      switch Int32(storage.pointee.ss_family) {
      case AF_INET:
        return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          let bits = UInt32(bigEndian: address.pointee.sin_addr.s_addr)
          return (IPAddress(v4: bits), UInt16(bigEndian: address.pointee.sin_port))
        }
      case AF_INET6:
        return storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
          let (high, low) = withUnsafeBytes(of: address.pointee.sin6_addr) { bytes in
            (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
          }
          return (
            IPAddress(v6: UInt64(bigEndian: high), UInt64(bigEndian: low)),
            UInt16(bigEndian: address.pointee.sin6_port)
          )
        }
      default: return (nil, 0)
      }
    }
  }
}
#endif
