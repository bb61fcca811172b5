import Logging
import NIOCore
import PharosCaptures
import PharosModel
import PharosPipeline

/// Writes all inputs in their total order, while a recording is wanted.
///
/// Lives on an event loop of its own, since its sink may wait for a disc. Whatever goes wrong with it ends the
/// recording, says so once, and leaves ingest alone.
final class RecorderLoop {
  /// The phase of the recorder.
  private enum State {
    /// Nothing is recorded; what loops still push is discarded.
    case idle
    /// A recording waits for the checkpoint that it begins with; the inputs behind that wait in their rings.
    case starting(RecordingStart)
    /// Inputs are written.
    case recording(Session)
  }

  /// The number of bytes that are gathered before the sink gets them.
  private static let chunk = 1 << 20

  private let exchange: Exchange
  private let eventLoop: any EventLoop
  private let logger: Logger
  private var state: State
  private var isTicking = false

  /// Makes a recorder, which records from the start if there is a session.
  init(exchange: Exchange, eventLoop: any EventLoop, session: Session?, logger: Logger) {
    self.exchange = exchange
    self.eventLoop = eventLoop
    self.logger = logger
    state = session.map { .recording($0) } ?? .idle
  }

  /// Has the loops push their inputs, for a recording that begins soon.
  ///
  /// - Returns: false if another one is under way.
  func prepare(every interval: TimeSpan) -> Bool {
    run()
    guard case .idle = state, exchange.startRecording() else { return false }
    tick(every: interval)
    return true
  }

  /// Runs at an interval for as long as something is recorded.
  func tick(every interval: TimeSpan) {
    guard !isTicking else { return }
    isTicking = true
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .nanoseconds(interval.nanoseconds)) { task in
      bound.value.run()
      guard bound.value.isIdle else { return }
      bound.value.isTicking = false
      task.cancel()
    }
  }

  private var isIdle: Bool {
    guard case .idle = state else { return false }
    return !exchange.records
  }

  /// Writes what the loops' watermarks allow.
  func run() {
    let limit = exchange.inputsThrough
    // Looked at behind the watermark: a loop stops pushing before it publishes a watermark without its parcels.
    if !exchange.records { end(.tooSlow) }
    begin()
    while !isStarting, let next = nextParcel(upTo: limit) {
      if case .recording(let session) = state, let end = session.end(before: next.received) {
        conclude(session, through: end.instant, end.reason)
      } else if let parcel = exchange.toRecorder[next.loop].full.pop() {
        record(parcel, from: next.loop)
        begin()
      }
    }
    guard case .recording(let session) = state else { return }
    if limit >= session.deadline { return conclude(session, through: session.end, .complete) }
    attempt { try session.flush() }
  }

  /// Ends the recording at the instant at which all inputs end.
  func finish(through last: Timestamp) {
    run()
    guard case .recording(let session) = state else { return end(.stopped) }
    conclude(session, through: last, .stopped)
  }

  /// Ends a recording that was ordered while the server runs, with all inputs so far.
  func endOrder() {
    // Read before the parcels are taken: all inputs up to it are then written.
    let limit = exchange.inputsThrough
    run()
    guard case .recording(let session) = state else { return end(.stopped) }
    if session.isOrdered { conclude(session, through: max(limit, session.latest), .stopped) }
  }

  /// Abandons the recordings that have not begun, as the server stops at once.
  func abandon() {
    if case .starting(let start) = state { start.answer.fail(IngestError.stopped) }
    for recyclingQueue in exchange.toRecorder {
      while let parcel = recyclingQueue.full.pop() {
        if case .begin(let start) = parcel.content { start.answer.fail(IngestError.stopped) }
      }
    }
  }

  private var isStarting: Bool {
    if case .starting = state { true } else { false }
  }

  private func nextParcel(upTo limit: Timestamp) -> (received: Timestamp, loop: Int)? {
    exchange.firstParcel(upTo: limit) { exchange.toRecorder[$0].full.withFirst { $0.received } }
  }

  /// Begins the recording that waits for its checkpoint, once that was taken.
  private func begin() {
    guard case .starting(let start) = state, let pending = start.drainCheckpoint() else { return }
    attempt {
      state = .recording(try Session(start, from: pending))
      start.answer.succeed(pending.instant)
    }
  }

  private func record(_ parcel: consuming RecorderParcel, from loop: Int) {
    let received = parcel.received
    switch parcel.content {
    case .begin(let start):
      end(.stopped)
      state = .starting(start)
    case .server(let content):
      if case .recording(let session) = state { attempt { try session.write(content, received) } }
    case .datagrams(var datagrams):
      if case .recording(let session) = state { attempt { try session.write(datagrams, received) } }
      datagrams.removeAll()
      exchange.toRecorder[loop].recycle(datagrams)
    }
    guard case .recording(let session) = state, session.pendingCount >= RecorderLoop.chunk else { return }
    attempt { try session.flush() }
  }

  /// Writes the instant through which all inputs were written, and ends the recording.
  private func conclude(_ session: Session, through instant: Timestamp, _ reason: RecordingEnd) {
    attempt {
      try session.conclude(through: instant)
      end(reason)
    }
  }

  private func end(_ reason: RecordingEnd) {
    let ended: @Sendable (RecordingEnd) -> Void
    switch state {
    case .idle: return
    case .starting(let start):
      ended = start.order.ended
      start.answer.fail(reason.refusal)
    case .recording(let session): ended = session.ended
    }
    state = .idle
    exchange.stopRecording()
    ended(reason)
  }

  /// Does a part of the work; a failure ends the recording.
  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      logger.error(
        "Recording stopped because it could not be written. Ingest continues.",
        metadata: [LogKey.error: "\(error)"]
      )
      end(.failed("\(error)"))
    }
  }
}

extension RecordingEnd {
  /// The error of a recording that ends before it has begun.
  fileprivate var refusal: IngestError {
    switch self {
    case .complete, .stopped, .full: .stopped
    case .tooSlow: .cannotRecord(reason: "the state of the server takes too long to write")
    case .failed(let reason): .cannotRecord(reason: reason)
    }
  }
}

extension RecorderLoop {
  /// A recording under way: its writer, its sink and its limits.
  final class Session {
    private var writer: RecordingWriter
    private let sink: @Sendable ([UInt8]) throws -> Void
    private let maximumBytes: Int
    private var flushed = 0
    /// Indicates whether it was ordered while the server runs.
    let isOrdered: Bool
    /// The time at which it ends.
    let deadline: Timestamp
    /// Is called with the reason when it has ended.
    let ended: @Sendable (RecordingEnd) -> Void
    /// The R from which the R of each of the last inputs counts.
    private(set) var latest = Timestamp.distantPast

    /// Makes a recording without limits, which lasts as long as the server.
    init(_ writer: RecordingWriter, sink: @escaping @Sendable ([UInt8]) throws -> Void) {
      self.writer = writer
      self.sink = sink
      maximumBytes = .max
      isOrdered = false
      deadline = .distantFuture
      ended = { _ in }
    }

    /// Makes a recording that begins with the state of the engines at one instant.
    ///
    /// - Throws: that the site is too large to be recorded.
    init(_ start: RecordingStart, from pending: PendingCheckpoint) throws {
      writer = try RecordingWriter(site: start.site)
      try writer.write(Restoration(checkpoint: pending.checkpoint), at: pending.instant)
      sink = start.order.sink
      maximumBytes = start.order.maximumBytes
      isOrdered = true
      deadline = pending.instant + start.order.duration
      ended = start.order.ended
      latest = pending.instant
    }

    /// The number of bytes that wait for the sink.
    var pendingCount: Int { writer.pendingCount }

    /// The instant through which it has all inputs when its time is over.
    var end: Timestamp { max(deadline, latest) }

    /// Returns the instant and the reason of the end if an input received at a time no longer belongs to it.
    func end(before received: Timestamp) -> (instant: Timestamp, reason: RecordingEnd)? {
      if received > deadline { return (end, .complete) }
      return flushed + pendingCount >= maximumBytes ? (received - .oneNanosecond, .full) : nil
    }

    /// Writes an input that is no datagram.
    func write(_ content: ServerInput.Content, _ received: Timestamp) throws {
      latest = received
      switch content {
      case .changes(let changes, refusal: _):
        // A refused change is refused again, with the same event, when the recording is run.
        for change in changes { try writer.write(.change(change, at: received)) }
      case .clockStep(let step): try writer.write(.clockStep(step, at: received))
      case .pause(through: let end): try writer.write(.pause(through: end, at: received))
      case .announcement(let events):
        for event in events { try writer.write(.announced(event, at: received)) }
      case .marker: break  // No input: what a checkpoint holds is the same as if none had been taken.
      }
    }

    /// Writes datagrams.
    func write(_ datagrams: DatagramLog, _ received: Timestamp) throws {
      latest = received
      var start = 0
      for entry in datagrams.entries {
        try writer.write(
          datagram: datagrams.bytes.span.bytes.extracting(start..<entry.end),
          from: entry.source,
          to: entry.destination,
          received: entry.received
        )
        start = entry.end
        latest = entry.received
      }
    }

    /// Hands what was written to the sink.
    func flush() throws {
      guard pendingCount > 0 else { return }
      let bytes = writer.drainBytes()
      flushed += bytes.count
      try sink(bytes)
    }

    /// Writes the instant at which it ends, and hands over the rest.
    func conclude(through instant: Timestamp) throws {
      try writer.finish(through: instant)
      try flush()
    }
  }
}
