#if NATS
import CNats
import Dispatch
import Synchronization

/// Receives the outcome of a publication: that the message is stored, or why it may not be.
package typealias NATSCompletion = @Sendable (Result<NATSAcknowledgement, NATSError>) -> Void

/// The publications of a publisher that are under way.
private final class NATSFlight: Sendable {
  /// A message, by whose address the library names it.
  private struct Entry {
    let completion: NATSCompletion
    /// Indicates whether the call that sends it has ended.
    var isSent = false
    /// Indicates whether its answer is there; then it waits only for the end of that call.
    var isAnswered = false
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())
  private let places: DispatchSemaphore
  private let group = DispatchGroup()

  init(limit: Int) {
    // A semaphore must not end below the value that it began with.
    places = DispatchSemaphore(value: 0)
    for _ in 0..<limit { places.signal() }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Waits for a place among the publications under way; returns whether there is one.
  func reserve(within time: Int) -> Bool {
    guard places.wait(timeout: .now() + .milliseconds(time)) == .success else { return false }
    group.enter()
    return true
  }

  func release() {
    group.leave()
    places.signal()
  }

  /// Keeps the completion of a message before it is sent: its acknowledgement may be faster than the call that sends it.
  func add(_ message: OpaquePointer, _ completion: @escaping NATSCompletion) {
    state.withLock { $0.entries[Int(bitPattern: message)] = Entry(completion: completion) }
  }

  /// Forgets a message that was not sent; returns whether it has no answer.
  func remove(_ message: OpaquePointer) -> Bool {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: Int(bitPattern: message)) else { return false }
      return !entry.isAnswered
    }
  }

  /// Records that the call that sends a message has ended; returns whether the message is the caller's to destroy.
  func sent(_ message: OpaquePointer) -> Bool {
    state.withLock { state in
      let key = Int(bitPattern: message)
      guard state.entries[key]?.isAnswered == true else {
        state.entries[key]?.isSent = true
        return false
      }
      state.entries[key] = nil
      return true
    }
  }

  /// Passes an answer on; returns whether the message is the handler's to destroy, and not in use by the call that sends it.
  func complete(_ message: OpaquePointer, _ result: Result<NATSAcknowledgement, NATSError>) -> Bool {
    let (completion, isSent) = state.withLock { state -> (NATSCompletion?, Bool) in
      let key = Int(bitPattern: message)
      guard let entry = state.entries[key] else { return (nil, true) }
      if entry.isSent { state.entries[key] = nil } else { state.entries[key]?.isAnswered = true }
      return (entry.completion, entry.isSent)
    }
    if let completion {
      completion(result)
      release()
    }
    return isSent
  }

  /// Waits until nothing is under way.
  func wait(within time: Int) -> Bool { group.wait(timeout: .now() + .milliseconds(time)) == .success }

  func close() {
    let left = state.withLock { state -> [Entry] in
      state.isClosed = true
      defer { state.entries = state.entries.filter { !$0.value.isSent } }
      return state.entries.values.filter { $0.isSent }
    }
    for entry in left {
      entry.completion(.failure(.closed))
      release()
    }
  }
}

private let flights = NATSRegistry<NATSFlight>()

/// Publishes messages to a stream without waiting for each: many are under way at once.
///
/// Messages are stored in the order in which they were published, but one that fails and is published again stands behind those
/// that followed it.
///
/// The class is `Sendable` because libnats locks a context of JetStream in each call (`js_lock` in `js.c` of nats.c 3.4.1), and
/// the pointer does not change and is freed with the last reference.
package final class NATSPublisher: @unchecked Sendable {
  /// The stream.
  package let stream: NATSStream
  private let context: OpaquePointer
  private let key: Int
  private let flight: NATSFlight
  private let time: Int

  /// Makes a publisher with a context of its own.
  ///
  /// - Parameters:
  ///   - stream: The stream.
  ///   - limit: The number of messages that may be under way; with 64 KB each, 64 are 4 MB.
  ///   - time: The time to wait for an acknowledgement, in milliseconds.
  /// - Throws: ``NATSError/closed`` if the connection is closed.
  package init(_ stream: NATSStream, underWay limit: Int = 64, within time: Int = 5_000) throws(NATSError) {
    (self.stream, self.time) = (stream, time)
    flight = NATSFlight(limit: limit)
    key = flights.add(flight)
    var options = NATSConnection.options(time)
    options.PublishAsync.AckHandlerClosure = UnsafeMutableRawPointer(bitPattern: key)
    options.PublishAsync.AckHandler = { _, message, stored, failed, closure in
      guard let message else { return }
      // The message is the handler's to destroy, and until then no other has its address.
      guard let flight = flights[closure] else { return natsMsg_Destroy(message) }
      var result = Result<NATSAcknowledgement, NATSError>.failure(.closed)
      if let stored {
        result = .success(NATSAcknowledgement(stored.pointee))
      } else if let failed = failed?.pointee {
        let subject = natsMsg_GetSubject(message).map { String(cString: $0) } ?? "?"
        let text = failed.ErrText.map { String(cString: $0) }
        result = .failure(NATSError(failed.Err, failed.ErrCode, at: "a message on \(subject)", text: text))
      }
      if flight.complete(message, result) { natsMsg_Destroy(message) }
    }
    var context: OpaquePointer?
    let status = natsConnection_JetStream(&context, stream.connection.pointer, &options)
    guard status == NATS_OK, let context else {
      flights.remove(key)
      throw NATSError(status, at: "a publisher of \(stream.text)")
    }
    self.context = context
  }

  deinit {
    close()
    stream.connection.retire(context: context)
    flights.remove(key)
  }

  /// Sends a message; its completion is called once if and only if the call does not throw.
  ///
  /// The call waits while the limit of messages is under way. While the connection is interrupted, messages wait in the library's
  /// buffer; a time that ends, a leader that is away and a full stream come as the completion's error, and the message is
  /// published again with the same id.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - subject: One of the stream's subjects.
  ///   - id: What the servers recognise a repeat by; nil for none. See ``NATSStream/publish(_:subject:id:within:)``.
  ///   - completion: Called on a thread of the library, which it must not block, nor publish from.
  /// - Throws: ``NATSError/unavailable(_:reason:)`` if too many are under way or the library's buffer is full,
  ///   ``NATSError/tooLong(_:bytes:maximum:)``, ``NATSError/closed``.
  package func publish(
    _ bytes: [UInt8],
    subject: String,
    id: String?,
    _ completion: @escaping NATSCompletion
  ) throws(NATSError) {
    let outgoing = NATSOutgoing(bytes, subject, id: id)
    var message = try outgoing.message(on: stream.connection)
    // The library clears the pointer when it has accepted the message.
    defer { natsMsg_Destroy(message) }
    guard let sent = message else { throw .closed }
    guard flight.reserve(within: time) else {
      throw .unavailable(
        "a message on \(subject)",
        reason: "too many messages wait for their acknowledgement"
      )
    }
    guard !flight.isClosed else {
      flight.release()
      throw .closed
    }
    flight.add(sent, completion)
    let status = outgoing.withOptions(time, stream: stream.name) {
      js_PublishMsgAsync(context, &message, &$0)
    }
    guard status != NATS_OK else {
      if flight.sent(sent) { natsMsg_Destroy(sent) }
      return
    }
    guard flight.remove(sent) else { return }
    flight.release()
    throw NATSError(status, at: "a message on \(subject)")
  }

  /// Waits until each message has been completed; returns whether that was within a time, in milliseconds.
  package func wait(within time: Int) -> Bool { flight.wait(within: time) }

  /// Completes what is under way with ``NATSError/closed``, and refuses more.
  package func close() { flight.close() }
}
#endif
