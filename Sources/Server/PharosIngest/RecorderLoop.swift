import Logging
import PharosCaptures
import PharosModel
import PharosPipeline

/// Writes all inputs in their total order.
///
/// Lives on an event loop of its own, since its sink may wait for a disc. Whatever goes wrong with it ends the
/// recording, says so once, and leaves ingest alone.
final class RecorderLoop {
  /// The number of bytes that are gathered before the sink gets them.
  private static let chunk = 1 << 20

  private let exchange: Exchange
  private let sink: @Sendable ([UInt8]) throws -> Void
  private let logger: Logger
  private var writer: RecordingWriter
  private var hasEnded = false

  /// Makes a recorder.
  init(
    exchange: Exchange,
    writer: RecordingWriter,
    sink: @escaping @Sendable ([UInt8]) throws -> Void,
    logger: Logger
  ) {
    self.exchange = exchange
    self.writer = writer
    self.sink = sink
    self.logger = logger
  }

  /// Writes what the loops' watermarks allow.
  func run() {
    let limit = exchange.inputsThrough
    // Looked at behind the watermark: a loop stops pushing before it publishes a watermark without its parcels.
    if !exchange.records { hasEnded = true }
    while let (_, loop) = exchange.firstParcel(
      upTo: limit,
      { exchange.toRecorder[$0].full.withFirst { $0.received } }
    ), let parcel = exchange.toRecorder[loop].full.pop() {
      record(parcel, from: loop)
    }
    attempt { try flush() }
  }

  /// Writes the rest and the instant at which all ended.
  func finish(through end: Timestamp) {
    run()
    attempt {
      try writer.finish(through: end)
      try flush()
    }
    hasEnded = true
  }

  private func record(_ parcel: consuming RecorderParcel, from loop: Int) {
    let received = parcel.received
    switch parcel.content {
    case .server(.changes(let changes, refusal: _)):
      // A refused change is refused again, with the same event, when the recording is run.
      for change in changes { attempt { try writer.write(.change(change, at: received)) } }
    case .server(.clockStep(let step)):
      attempt { try writer.write(.clockStep(step, at: received)) }
    case .server(.pause(through: let end)):
      attempt { try writer.write(.pause(through: end, at: received)) }
    case .server(.marker): break  // No input: what a checkpoint holds is the same as if none had been taken.
    case .datagrams(var datagrams):
      attempt { try write(datagrams) }
      datagrams.removeAll()
      exchange.toRecorder[loop].recycle(datagrams)
    }
    if writer.pendingCount >= RecorderLoop.chunk { attempt { try flush() } }
  }

  private func write(_ datagrams: DatagramLog) throws {
    var start = 0
    for entry in datagrams.entries {
      try writer.write(
        datagram: datagrams.bytes.span.bytes.extracting(start..<entry.end),
        from: entry.source,
        to: entry.destination,
        received: entry.received
      )
      start = entry.end
    }
  }

  private func flush() throws {
    guard writer.pendingCount > 0 else { return }
    try sink(writer.drainBytes())
  }

  /// Does a part of the work unless the recording has ended; a failure ends it.
  private func attempt(_ body: () throws -> Void) {
    guard !hasEnded else { return }
    do {
      try body()
    } catch {
      hasEnded = true
      exchange.stopRecording()
      logger.error(
        "Recording stopped because it could not be written. Ingest continues.",
        metadata: [LogKey.error: "\(error)"]
      )
    }
  }
}
