#if NATS
import CNats
import Dispatch
import Foundation
import Synchronization

/// Reads a stream in its order, each message once, from a sequence on.
///
/// The reader has a push consumer on one of the servers, without acknowledgements, with flow control and heartbeats. The messages'
/// numbers of delivery have no gap unless one was lost on the way; then, or when heartbeats stay away, or after a reconnection,
/// the consumer is opened again behind the last message that was returned. The library's own ordered consumers do the same, but
/// try only once and say nothing if that fails while a leader is being elected.
///
/// One thread reads. The class is `Sendable` because all of its state is behind a lock, and ``close()`` does not need it.
package final class NATSReader: @unchecked Sendable {
  /// An open consumer and its subscription.
  private struct Consumer {
    var subscription: OpaquePointer
    var name: String
    /// The server that runs it.
    var server: String?
    /// The number of the last delivery.
    var deliveries: UInt64 = 0
    /// The number of reconnections before it was opened.
    var reconnections: Int
    /// The time at which anything was received, in nanoseconds of the monotonic clock.
    var heard: UInt64
  }

  private struct State {
    var next: UInt64
    var consumer: Consumer?
    var problem: NATSError?
    /// The number of times that a consumer was opened.
    var openings = 0
    /// The time of the message before `next`, as it was stored; nil before the first one.
    var previousTime: Int64?
    /// The sequence before which a gap was found.
    var gap: UInt64?
    /// The last sequence of a stream that ends before `next`, and the time at which it grew to that, by the monotonic clock.
    var shortened: (last: UInt64, since: UInt64)?
    /// The time at which the caller left, in nanoseconds of the monotonic clock.
    var left: UInt64
  }

  /// The interval of the consumer's heartbeats, and the silence after which it is lost, in nanoseconds.
  private static let heartbeat: Int64 = 700_000_000
  private static let silence: UInt64 = 2_200_000_000
  /// The time after which a server removes a consumer that has no reader, in nanoseconds.
  private static let inactivity: Int64 = 10_000_000_000
  /// The longest waits: for a message before the consumer is looked after, and between attempts to open one, in milliseconds.
  private static let waits = (message: 200, opening: 100)
  /// The time of a call that opens a consumer, in milliseconds.
  private static let openingTime = 2_000
  /// The time in which a stream that ends too early must grow, in nanoseconds.
  ///
  /// A leader that was just elected applies what it had
  /// received before, and answers meanwhile with what it has: 12,000 messages of 64 KB were behind for over 15 s.
  private static let growth: UInt64 = 60_000_000_000
  /// The size of a batch, in bytes, after which no further message is added.
  private static let batchBytes = 8 << 20

  /// The stream.
  package let stream: NATSStream
  private let state: Mutex<State>
  private let isClosed = Atomic(false)
  private let closing = DispatchSemaphore(value: 0)

  /// Makes a reader that has not asked the servers for anything yet.
  ///
  /// - Parameters:
  ///   - stream: The stream.
  ///   - sequence: The first sequence to read, from 1; one behind the last message waits for it.
  package init(_ stream: NATSStream, from sequence: UInt64) {
    self.stream = stream
    state = Mutex(State(next: max(sequence, 1), left: DispatchTime.now().uptimeNanoseconds))
  }

  deinit { state.withLock { drop(&$0, deletes: true) } }

  /// The next sequence to be returned.
  package var next: UInt64 { state.withLock { $0.next } }
  /// Why no consumer could be opened the last time; nil while one is open.
  package var problem: NATSError? { state.withLock { $0.problem } }
  /// The number of times that a consumer was opened, 1 in a life without faults.
  package var openings: Int { state.withLock { $0.openings } }
  /// The name of the server that runs the consumer; nil without one, and with a server alone.
  package var server: String? { state.withLock { $0.consumer?.server } }

  /// Waits for messages.
  ///
  /// - Parameters:
  ///   - maximum: The maximum number of messages.
  ///   - time: The time to wait for the first one, in milliseconds.
  /// - Returns: What has arrived, in order; nothing if the time ended. Faults that pass are ``problem`` and end by themselves.
  /// - Throws: ``NATSError/trimmed(stream:wanted:first:)``, ``NATSError/missing(stream:from:through:)``,
  ///   ``NATSError/shortened(stream:wanted:last:)``, ``NATSError/changed(stream:sequence:)``, ``NATSError/notFound(_:)`` and what
  ///   else waiting does not mend; the reader throws it again until it is given up.
  package func next(maximum: Int = 256, within time: Int) throws(NATSError) -> [NATSMessage] {
    try state.withLock { state throws(NATSError) in
      let start = DispatchTime.now().uptimeNanoseconds
      let end = start + UInt64(time) * 1_000_000
      state.consumer?.heard += start - state.left
      defer { state.left = DispatchTime.now().uptimeNanoseconds }
      while true {
        guard !isClosed.load(ordering: .acquiring) else {
          drop(&state, deletes: true)
          throw .closed
        }
        if let batch = try step(&state, maximum, until: end) { return batch }
        if DispatchTime.now().uptimeNanoseconds >= end { return [] }
      }
    }
  }

  /// Ends a call that waits, within a quarter of a second, and all that follow.
  package func close() {
    isClosed.store(true, ordering: .releasing)
    closing.signal()
  }

  /// Opens a consumer if there is none and waits a moment for messages; nil if there are none yet.
  private func step(
    _ state: inout State,
    _ maximum: Int,
    until end: UInt64
  ) throws(NATSError) -> [NATSMessage]? {
    if let consumer = state.consumer, consumer.reconnections != stream.connection.reconnections {
      drop(&state, deletes: true)
    }
    guard state.consumer != nil else {
      do {
        try open(&state)
      } catch {
        state.problem = error
        guard error.isTransient else { throw error }
        let now = DispatchTime.now().uptimeNanoseconds
        let left = end > now ? Int((end - now) / 1_000_000) : 0
        _ = closing.wait(timeout: .now() + .milliseconds(min(left, NATSReader.waits.opening)))
      }
      return nil
    }
    var (batch, size) = ([NATSMessage](), 0)
    while batch.count < maximum, size < NATSReader.batchBytes, let consumer = state.consumer {
      let now = DispatchTime.now().uptimeNanoseconds
      let left = end > now ? Int64((end - now) / 1_000_000) : 0
      let wait = batch.isEmpty ? min(left, Int64(NATSReader.waits.message)) : 0
      var message: OpaquePointer?
      let status = natsSubscription_NextMsg(&message, consumer.subscription, wait)
      defer { natsMsg_Destroy(message) }
      guard status == NATS_OK, let message else {
        if status != NATS_TIMEOUT
          || DispatchTime.now().uptimeNanoseconds > consumer.heard + NATSReader.silence
        {
          drop(&state, deletes: status == NATS_TIMEOUT)
        }
        break
      }
      state.consumer?.heard = DispatchTime.now().uptimeNanoseconds
      do {
        guard let received = try receive(message, &state) else { continue }
        size += received.bytes.count
        batch.append(received)
      } catch {
        drop(&state, deletes: true)
        // What was received before the fault is returned first; the next call finds the fault again.
        guard batch.isEmpty, !error.isTransient else { break }
        throw error
      }
    }
    return batch.isEmpty ? nil : batch
  }

  /// Reads a delivery: a message that is next in order, or a control message, which is answered here.
  private func receive(_ message: OpaquePointer, _ state: inout State) throws(NATSError) -> NATSMessage? {
    guard let reply = natsMsg_GetReply(message).map({ String(cString: $0) }),
      let delivery = NATSDelivery(reply)
    else {
      answer(message)
      return nil
    }
    guard delivery.number == (state.consumer?.deliveries ?? 0) + 1 else {
      // Something was lost on the way; the consumer is opened again behind what has been returned.
      drop(&state, deletes: true)
      return nil
    }
    state.consumer?.deliveries = delivery.number
    guard delivery.sequence >= state.next else {
      // A replica that lacks the wanted message begins with what it has (`selectStartingSeqNo` of nats-server 2.9.10).
      guard delivery.sequence + 1 == state.next else { return nil }
      guard state.previousTime == delivery.time else {
        throw .changed(stream: stream.name, sequence: delivery.sequence)
      }
      return nil
    }
    if delivery.sequence > state.next {
      let wanted = state.next
      let info = try stream.info()
      guard info.first <= wanted else {
        throw .trimmed(stream: stream.name, wanted: wanted, first: info.first)
      }
      guard state.gap == wanted else {
        // A replica may lack what the leader has; another look decides.
        state.gap = wanted
        drop(&state, deletes: true)
        return nil
      }
      throw .missing(stream: stream.name, from: wanted, through: delivery.sequence - 1)
    }
    state.next = delivery.sequence + 1
    state.previousTime = delivery.time
    return NATSMessage(
      sequence: delivery.sequence,
      time: delivery.time,
      bytes: NATSMessage.bytes(of: message)
    )
  }

  /// Answers a request of the flow control, which stands between the messages, so that the answer says that they were read.
  private func answer(_ message: OpaquePointer) {
    var stalled: UnsafePointer<CChar>?
    if let reply = natsMsg_GetReply(message) {
      natsConnection_Publish(stream.connection.pointer, reply, nil, 0)
    } else if natsMsgHeader_Get(message, "Nats-Consumer-Stalled", &stalled) == NATS_OK, let stalled {
      natsConnection_Publish(stream.connection.pointer, stalled, nil, 0)
    }
  }

  private func open(_ state: inout State) throws(NATSError) {
    let connection = stream.connection
    guard connection.isConnected else {
      throw .unavailable(stream.text, reason: "the connection is interrupted")
    }
    let reconnections = connection.reconnections
    let info = try stream.info(within: NATSReader.openingTime)
    guard info.first <= state.next else {
      throw .trimmed(stream: stream.name, wanted: state.next, first: info.first)
    }
    guard info.last + 1 >= state.next else {
      let now = DispatchTime.now().uptimeNanoseconds
      if state.shortened?.last != info.last { state.shortened = (info.last, now) }
      guard let shortened = state.shortened, now < shortened.since + NATSReader.growth else {
        throw .shortened(stream: stream.name, wanted: state.next, last: info.last)
      }
      throw .unavailable(stream.text, reason: "it ends at \(info.last), before \(state.next)")
    }
    state.shortened = nil
    var inbox: UnsafeMutablePointer<natsInbox>?
    try check(natsInbox_Create(&inbox), at: stream.text)
    defer { natsInbox_Destroy(inbox) }
    var subscription: OpaquePointer?
    try check(natsConnection_SubscribeSync(&subscription, connection.pointer, inbox), at: stream.text)
    guard let subscription else { throw .closed }
    natsSubscription_SetPendingLimits(subscription, -1, -1)
    do {
      // The last message that was returned is delivered again, so that a stream that lost it is noticed.
      let repeats = state.previousTime != nil && info.first < state.next
      let (name, server) = try create(inbox, from: repeats ? state.next - 1 : state.next)
      state.consumer = Consumer(
        subscription: subscription,
        name: name,
        server: server,
        reconnections: reconnections,
        heard: DispatchTime.now().uptimeNanoseconds
      )
    } catch {
      connection.retire(subscription)
      throw error
    }
    state.openings += 1
    state.problem = nil
  }

  /// Creates a consumer that delivers from a sequence on.
  private func create(
    _ inbox: UnsafePointer<CChar>?,
    from sequence: UInt64
  ) throws(NATSError) -> (name: String, server: String?) {
    var configuration = jsConsumerConfig()
    jsConsumerConfig_Init(&configuration)
    configuration.DeliverSubject = inbox
    configuration.DeliverPolicy = js_DeliverByStartSequence
    configuration.OptStartSeq = sequence
    configuration.AckPolicy = js_AckNone
    configuration.MaxDeliver = 1
    configuration.FlowControl = true
    configuration.Heartbeat = NATSReader.heartbeat
    configuration.InactiveThreshold = NATSReader.inactivity
    configuration.MemoryStorage = true
    configuration.Replicas = 1
    var (options, code) = (NATSConnection.options(NATSReader.openingTime), jsErrCode(0))
    var info: UnsafeMutablePointer<jsConsumerInfo>?
    defer { jsConsumerInfo_Destroy(info) }
    try check(
      js_AddConsumer(&info, stream.connection.context, stream.name, &configuration, &options, &code),
      code,
      at: "a consumer of \(stream.text)"
    )
    guard let info, let name = info.pointee.Name else { throw .closed }
    return (String(cString: name), info.pointee.Cluster?.pointee.Leader.map { String(cString: $0) })
  }

  /// Ends the subscription, and the consumer too if its server may answer.
  private func drop(_ state: inout State, deletes: Bool) {
    guard let consumer = state.consumer else { return }
    state.consumer = nil
    stream.connection.retire(consumer.subscription)
    guard deletes, stream.connection.isConnected else { return }
    // Without waiting for an answer: the server removes it anyway when nothing reads it.
    let subject = "$JS.API.CONSUMER.DELETE.\(stream.name).\(consumer.name)"
    natsConnection_PublishString(stream.connection.pointer, subject, "")
  }
}

/// What the reply subject of a delivery says: `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.TRIES.SEQUENCE.NUMBER.TIME.PENDING[.…]`.
struct NATSDelivery: Equatable {
  /// The place in the stream.
  var sequence: UInt64
  /// The number of the delivery by this consumer, from 1.
  var number: UInt64
  /// The time at which the message was stored, in nanoseconds since 1970.
  var time: Int64

  init?(_ reply: String) {
    guard reply.hasPrefix("$JS.ACK.") else { return nil }
    let parts = reply.split(separator: ".", omittingEmptySubsequences: false)
    // nats-server's architecture decision ADR-15: 9 parts, or 11 and more with domain and account.
    let start = parts.count == 9 ? 5 : 7
    guard parts.count == 9 || parts.count >= 11, let sequence = UInt64(parts[start]),
      let number = UInt64(parts[start + 1]), let time = Int64(parts[start + 2])
    else { return nil }
    (self.sequence, self.number, self.time) = (sequence, number, time)
  }
}
#endif
