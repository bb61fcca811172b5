import Logging
import NIOCore
import PharosCaptures
import PharosModel
import PharosPipeline
import PharosSite
import PharosWire

/// What a loop has to do with the log of inputs; lives on its event loop.
final class LoggedLoop {
  /// The longest datagram that is published.
  ///
  /// - Units: bytes.
  static let largestMessage = 900 << 10

  /// The time for which a request waits until it is read from the log.
  static let patience = TimeAmount.seconds(10)

  /// The settings.
  let settings: LoggedIngest
  /// The name under which the loop publishes.
  let publisher: String
  /// What waits to be published.
  var gathering: InputGathering
  /// The time of the last batch that was published, by the loop's own clock.
  var latest = Timestamp.distantPast
  /// The part of loop 0, which reads the log for all.
  let applied: AppliedLog?

  /// Makes the part of a loop.
  init(_ settings: LoggedIngest, loop: Int, applied: AppliedLog?) {
    self.settings = settings
    publisher = "\(settings.node)/\(loop)"
    gathering = InputGathering(publisher: publisher, start: settings.start)
    self.applied = applied
  }

  /// Appends an input, behind a full batch if there is no room for it.
  ///
  /// - Returns: false if it is longer than any batch.
  func append(_ input: LoggedInput) -> Bool {
    if gathering.append(input) { return true }
    publish(at: input.received)
    return gathering.append(input)
  }

  /// Publishes what waits, or a tick if nothing does.
  func publish(at time: Timestamp) {
    let (id, bytes) = gathering.drain()
    latest = time
    if !settings.isReadOnly { settings.log.publish(id, bytes) }
  }

  /// Publishes what is due at a time; the loop that reads the log is never silent for longer than a tick's interval.
  func publishDue(at time: Timestamp) {
    let isSilent = applied != nil && time - latest >= LogReading.tickInterval
    if isSilent || gathering.isDue(at: time) { publish(at: time) }
  }

  /// The instant through which the log was read; the distant past of a loop that does not read it.
  var through: Timestamp { applied?.reading.through ?? .distantPast }

  /// Publishes what waits, and fails those who wait for the log.
  func finish(at time: Timestamp) {
    if !gathering.isEmpty { publish(at: time) }
    applied?.fail(IngestError.stopped)
  }

  /// Indicates whether a batch was published by this start of the loop.
  func isOwn(_ id: BatchID?) -> Bool { id?.publisher == publisher && id?.start == settings.start }
}

/// What loop 0 reads from the log, on its way to the engines.
final class AppliedLog {
  /// Messages that were given, and how far they have been taken.
  private struct Delivery {
    var entries: ArraySlice<LogEntry>
    let answer: EventLoopPromise<Void>
  }

  /// The reading so far.
  var reading: LogReading
  /// Decodes what was read.
  var intake: Intake
  /// The batch that is being taken, and its inputs that are left.
  var batch: (placed: PlacedBatch, left: ArraySlice<PlacedBatch.Input>)?
  /// The requests of this server that were published and not read yet, by their time.
  var requests: [Timestamp: EventLoopPromise<Void>] = [:]
  /// Indicates whether nothing more is read.
  var isEnded = false
  /// Is called with each edit that was made.
  var edited: (@Sendable (SiteEdit) -> Void)?
  private var delivery: Delivery?

  /// Makes one that has read nothing yet.
  init(_ reading: LogReading, shards: Int) {
    self.reading = reading
    intake = Intake(shard: 0, shards: shards, iBeaconCompanies: [])
  }

  /// Indicates whether a batch was taken in part: nothing may be concluded or kept before it was taken as a whole.
  var isWithinBatch: Bool { batch != nil }

  /// Takes messages; the promise is fulfilled once the engines have them.
  func deliver(_ entries: [LogEntry], _ answer: EventLoopPromise<Void>) {
    precondition(delivery == nil, "the log gives messages one after the other")
    delivery = Delivery(entries: entries[...], answer: answer)
  }

  /// Turns to the next batch, unless one is being taken.
  ///
  /// - Returns: true if the batch has just begun; false if there is none, or it had begun before.
  func next() throws(LogError) -> Bool {
    while batch == nil, !isEnded, let entry = delivery?.entries.popFirst() {
      guard let placed = try reading.read(entry) else { continue }
      batch = (placed, placed.inputs[...])
      return true
    }
    return false
  }

  /// Answers the log if all that it gave was taken, or nothing more is.
  func answer() {
    if batch == nil, isEnded { return fail(IngestError.stopped) }
    guard batch == nil, let delivery, delivery.entries.isEmpty else { return }
    self.delivery = nil
    delivery.answer.succeed(())
  }

  /// Ends: the log is answered, and those who wait for their requests.
  func fail(_ error: any Error) {
    delivery?.answer.fail(error)
    delivery = nil
    for request in requests.values { request.fail(error) }
    requests.removeAll()
  }
}

extension ReadingLoop {
  /// Indicates whether the bytes of datagrams are kept behind their decoding.
  var keepsDatagrams: Bool { logged != nil || exchange.records }

  /// Appends what was received to what is to be published; no shard gets it from here.
  func gather(for logged: LoggedLoop) {
    intake.incoming.removeAll()
    for destination in intake.outgoing.indices { intake.outgoing[destination].removeAll() }
    var start = 0
    for entry in intake.log.entries {
      let bytes = Array(intake.log.bytes[start..<entry.end])
      start = entry.end
      // None is longer than the largest message.
      _ = logged.append(
        .datagram(bytes, from: entry.source, to: entry.destination, at: entry.received)
      )
    }
    intake.log.removeAll()
    if logged.gathering.isDue(at: clock.last) { logged.publish(at: clock.last) }
  }

  /// Publishes a request, which is answered when it was read.
  func publish(
    _ edit: SiteEdit,
    at received: Timestamp,
    _ answer: EventLoopPromise<Void>,
    through logged: LoggedLoop
  ) {
    guard let applied = logged.applied, case .logged(let changes, let documents) = edit.logged(with: [])
    else {
      return answer.fail(IngestError.stopped)
    }
    guard !changes.isEmpty || !documents.isEmpty else { return answer.succeed(()) }
    guard !logged.settings.isReadOnly else { return answer.fail(IngestError.readOnly) }
    // Whether it is accepted is decided where it is read.
    guard logged.append(.changes(changes, documents: documents, at: received)) else {
      return answer.fail(IngestError.tooLongForLog(limit: InputBatch.maximumLength))
    }
    applied.requests[received] = answer
    let bound = NIOLoopBound(applied, eventLoop: eventLoop)
    eventLoop.scheduleTask(in: LoggedLoop.patience) {
      bound.value.requests.removeValue(forKey: received)?.fail(IngestError.unanswered(LoggedLoop.patience))
    }
    logged.publish(at: received)
  }

  /// Takes messages of the log, which is answered once the engines have them.
  func receive(_ entries: [LogEntry]) -> EventLoopFuture<Void> {
    let answer = eventLoop.makePromise(of: Void.self)
    guard case .running = phase, let applied = logged?.applied else {
      answer.fail(IngestError.stopped)
      return answer.futureResult
    }
    applied.deliver(entries, answer)
    exchange.recordTraffic(at: clock.next(), on: index)
    if !isHeld { applyLog() }
    runShard()
    return answer.futureResult
  }

  /// Takes what the log has given, as long as the rings have room.
  func applyLog() {
    guard let logged, let applied = logged.applied else { return }
    do throws(LogError) {
      while hasRoomForServerInput {
        if try isStopping ? false : applied.next() { begin(applied) }
        guard let batch = applied.batch else { break }
        guard apply(batch.placed, applied, logged) else { break }
      }
    } catch {
      logger.critical(
        "The log of inputs cannot be read. This server decides nothing until it starts again.",
        metadata: [LogKey.error: "\(error)"]
      )
      applied.fail(error)
    }
    applied.answer()
  }

  /// Indicates whether no further batch is begun.
  private var isStopping: Bool {
    if case .running = phase { false } else { true }
  }

  /// Takes what the time of a batch says.
  private func begin(_ applied: AppliedLog) {
    guard let placed = applied.batch?.placed else { return }
    if let pause = placed.pause { pauseShards(through: pause.through, at: pause.at) }
    if let step = placed.clockStep { announce(.clockStep(step.span), at: step.at) }
  }

  /// Takes inputs of a batch while the rings have room; false if they are full.
  private func apply(_ placed: PlacedBatch, _ applied: AppliedLog, _ logged: LoggedLoop) -> Bool {
    while let input = applied.batch?.left.first {
      guard hasRoomForServerInput else { return false }
      if case .datagram = input.input {
        applyDatagrams(applied, from: input.instant)
        continue
      }
      applied.batch?.left.removeFirst()
      switch input.input {
      case .datagram: break
      case .announced(let events, at: _): announce(.announcement(events), at: input.instant)
      case .changes(let changes, documents: let documents, at: let received):
        let own = logged.isOwn(placed.id) ? applied.requests.removeValue(forKey: received) : nil
        make(.logged(changes, documents), at: input.instant, for: own, logged, applied)
      }
    }
    guard hasRoomForServerInput else { return false }
    applied.batch = nil
    watchCheckpoint(at: placed.through)
    exchange.publishInputs(of: index, through: placed.through)
    return true
  }

  /// Makes an edit, has it stored and then answers the one who asked this server for it.
  private func make(
    _ edit: SiteEdit,
    at instant: Timestamp,
    for own: EventLoopPromise<Void>?,
    _ logged: LoggedLoop,
    _ applied: AppliedLog
  ) {
    do throws(RegionRefusal) {
      try carryOut(edit, at: instant)
    } catch {
      own?.fail(error)
      return
    }
    applied.edited?(edit)
    guard case .logged(let changes, let documents) = edit else { return }
    if logged.settings.isEnd(documents) { applied.isEnded = true }
    logged.settings.store(
      LoggedEdit(changes: changes, documents: documents, isOwn: own != nil) { error in
        if let error { own?.fail(error) } else { own?.succeed(()) }
      }
    )
  }

  /// Takes datagrams that follow each other, as many as one call takes off a socket.
  private func applyDatagrams(_ applied: AppliedLog, from first: Timestamp) {
    var last = first
    for _ in 0..<DatagramDrain.slots {
      guard let input = applied.batch?.left.first,
        case .datagram(let bytes, from: let source, to: let destination, at: _) = input.input
      else { break }
      applied.batch?.left.removeFirst()
      let call = Intake.Call(
        received: input.instant,
        destination: destination,
        isRecorded: exchange.records,
        isNamed: false
      )
      _ = bytes.withUnsafeBytes { applied.intake.receive($0, isTruncated: false, of: call) { source } }
      last = input.instant
    }
    applied.intake.lines.removeAll()
    pushAll(of: &applied.intake, first)
    exchange.publishInputs(of: index, through: last)
  }
}
