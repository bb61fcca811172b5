import Logging
import NIOCore
import PharosCaptures
import PharosModel
import PharosPipeline
import PharosSite
package import PharosWire

/// The inputs that no socket brings: changes of regions and of the site, datagrams that came over HTTP, markers of
/// checkpoints, and steps of the wall clock.
///
/// Loop 0 takes them, so that they have an R and a place in the order of all inputs.
struct ServerInputs {
  /// The maximum number of requests that wait for room; loops that are not behind take each at once.
  static let requestLimit = 256
  /// The maximum length of all datagrams of the requests that wait, in bytes.
  static let byteLimit = 16 << 20
  /// The longest datagram that is taken, in bytes: a body of 1 MiB, or an MQTT message of 1 MiB with its topic.
  static let largestMessage = (1 << 20) + (1 << 17)

  /// The part of a change of the site that a request asks for.
  enum ChangePart {
    /// The check and the change.
    case whole
    /// Only the check: nothing changes.
    case check
    /// The change, which was checked and committed before: it waits for room however many requests do.
    case committed
  }

  /// A request that waits for room in the rings, with the promise for its answer.
  enum Request {
    /// An edit of the site.
    case change(SiteEdit, ChangePart, EventLoopPromise<Void>)
    /// Datagrams of one sender, at most ``IngestServer/maximumAtOnce``, and the policy under which they are taken.
    case datagrams([[UInt8]], from: Endpoint, ListenPolicy, EventLoopPromise<[Receipt]>)
    /// A checkpoint.
    case checkpoint(EventLoopPromise<Void>)
    /// Events that the engines did not decide; the function takes them where the server stops before they have a place.
    case announce([Event], otherwise: @Sendable ([Event]) -> Void)
    /// A recording; the answer is the R behind which it has begun.
    case record(RecordingOrder, EventLoopPromise<Timestamp>)

    /// Indicates whether what it asks for is committed already, so that it waits for room however many requests do.
    var isCommitted: Bool {
      switch self {
      case .change(_, .committed, _), .announce: true
      case .change, .datagrams, .checkpoint, .record: false
      }
    }

    /// The length of its datagrams.
    var bytes: Int {
      guard case .datagrams(let datagrams, from: _, _, _) = self else { return 0 }
      return datagrams.reduce(0) { $0 + $1.count }
    }

    /// Fails the request's promise.
    func fail(_ error: any Error) {
      switch self {
      case .change(_, _, let answer): answer.fail(error)
      case .datagrams(_, from: _, _, let answer): answer.fail(error)
      case .checkpoint(let answer): answer.fail(error)
      case .record(_, let answer): answer.fail(error)
      case .announce(let events, let otherwise): otherwise(events)
      }
    }
  }

  /// The owner of the site, which accepts or refuses changes before any shard sees them.
  let owner: SiteOwner
  /// The requests, in order of arrival.
  var requests: [Request] = []
  /// Notices steps of the wall clock.
  var watch: ClockWatch
  /// Steps that wait for room in the rings.
  var steps: [TimeSpan] = []
  /// The pause to report to the shards, while the rings have no room for it.
  var pause: (received: Timestamp, through: Timestamp)?
  /// The time at which the next checkpoint is due.
  var nextCheckpoint: Timestamp?
  /// The lease of the last checkpoint, which lives until that checkpoint is written.
  ///
  /// Until then no other one is taken: each holds a copy of the engines.
  weak var lease: CheckpointLease?
  /// The promises of those who have asked for the next checkpoint.
  var checkpointAnswers: [EventLoopPromise<Void>] = []
  /// The recording that begins with the next checkpoint.
  var nextRecording: (order: RecordingOrder, answer: EventLoopPromise<Timestamp>)?

  /// Indicates whether someone waits for a checkpoint.
  var wantsCheckpoint: Bool { !checkpointAnswers.isEmpty || nextRecording != nil }
}

extension ReadingLoop {
  /// Takes a request and fulfills its promise with the outcome.
  func request(_ request: ServerInputs.Request) {
    guard case .running = phase, let waiting = server?.requests.count else {
      return request.fail(IngestError.stopped)
    }
    let bytes = waiting == 0 ? 0 : server?.requests.reduce(0) { $0 + $1.bytes } ?? 0
    let hasRoom = waiting < ServerInputs.requestLimit && bytes < ServerInputs.byteLimit && !hold.isLong
    guard hasRoom || request.isCommitted else {
      return request.fail(IngestError.overloaded(waiting: waiting))
    }
    server?.requests.append(request)
    if !isHeld, watchPause() { processServerInputs() }
    runShard()
  }

  /// Takes the pending server inputs, as long as the rings have room.
  func processServerInputs() {
    while let step = server?.steps.first, hasRoomForServerInput {
      server?.steps.removeFirst()
      announce(.clockStep(step), at: clock.next())
    }
    while let request = server?.requests.first, hasRoomForServerInput {
      server?.requests.removeFirst()
      process(request)
    }
  }

  /// Refuses the pending requests while the sockets are not read, except those that are committed already.
  func refuseWaitingRequests() {
    let waiting = server?.requests.filter { !$0.isCommitted } ?? []
    for request in waiting { request.fail(IngestError.overloaded(waiting: waiting.count)) }
    server?.requests.removeAll { !$0.isCommitted }
  }

  /// Refuses the pending requests when the server stops.
  func refuseRequests() {
    for request in server?.requests ?? [] { request.fail(IngestError.stopped) }
    server?.requests.removeAll()
    for answer in server?.checkpointAnswers ?? [] { answer.fail(IngestError.stopped) }
    server?.checkpointAnswers.removeAll()
    server?.nextRecording?.answer.fail(IngestError.stopped)
    server?.nextRecording = nil
  }

  /// Checks whether the process stood still, and if so informs the engines before they see any input received since.
  ///
  /// Datagrams that arrived meanwhile are still in the sockets. Loop 0 reports the pause for all loops, since no shard
  /// decides beyond its watermark: the pause is placed directly after the last input of loop 0.
  ///
  /// - Returns: `true` if the loop may continue; `false` while the rings have no room for the pause.
  func watchPause() -> Bool {
    guard server != nil, logged == nil else { return true }
    let before = clock.last
    let now = clock.next()
    guard server?.pause == nil else {
      server?.pause?.through = now
      return publishPause()
    }
    guard before != .distantPast, now - before >= configuration.clock.minimumPause else { return true }
    server?.pause = (LoopClock.following(before), now)
    logger.warning(
      "The server was paused. Silence during this time does not count as absence.",
      metadata: [LogKey.pause: "\((now - before).seconds)"]
    )
    return publishPause()
  }

  private func publishPause() -> Bool {
    guard let pause = server?.pause, hasRoomForServerInput else { return false }
    server?.pause = nil
    pauseShards(through: pause.through, at: pause.received)
    return true
  }

  /// Pushes a pause to all shards, the merger and the recorder.
  func pauseShards(through end: Timestamp, at received: Timestamp) {
    for recyclingQueue in exchange.toShards[index] {
      push(ShardParcel(received: received, content: .pause(through: end)), to: recyclingQueue.full)
    }
    announce(.pause(through: end), at: received)
  }

  /// Checks whether the wall clock was set.
  func watchClock() {
    guard let step = server?.watch.look() else { return }
    server?.steps.append(step)
    logger.notice(
      "The wall clock was set. Decisions keep the clock of the start, and events have the new time.",
      metadata: [LogKey.step: "\(step.seconds)"]
    )
    processServerInputs()
  }

  /// Has a checkpoint taken if it is time for one, or if one was asked for, and the last one has been written.
  ///
  /// - Parameter instant: an instant that no input has, where they go through a log: nil there takes none.
  func watchCheckpoint(at instant: Timestamp? = nil) {
    guard logged == nil || instant != nil else { return }
    let now = clock.last
    let interval = configuration.checkpoint == nil ? nil : configuration.checkpointInterval
    // The first one at once: what a start has begun again does not begin again behind a crash.
    let isDue = interval != nil && server.map { now >= $0.nextCheckpoint ?? now } ?? false
    let isWanted = server?.wantsCheckpoint ?? false
    guard isDue || isWanted, server?.lease == nil, hasRoomForServerInput else { return }
    server?.nextCheckpoint = interval.map { now + $0 }
    let lease = CheckpointLease()
    server?.lease = lease
    let answers = server?.checkpointAnswers ?? []
    server?.checkpointAnswers.removeAll()
    let received = instant ?? clock.next()
    let start = beginRecording(at: received)
    let marker = CheckpointMarker(
      lease: lease,
      record: start.map { $0.supply },
      answers: answers,
      place: logPlace
    )
    mark(marker, at: received)
  }

  /// The place of a checkpoint that is taken now; nil without a log.
  var logPlace: LogPlace? {
    guard let reading = logged?.applied?.reading, let owner = server?.owner else { return nil }
    return LogPlace(reading: reading, sources: owner.sources, site: owner.site)
  }

  /// Places the beginning of the recording that was asked for, if any, among the inputs for the recorder.
  private func beginRecording(at received: Timestamp) -> RecordingStart? {
    guard let server, let (order, answer) = server.nextRecording else { return nil }
    self.server?.nextRecording = nil
    let start = RecordingStart(order: order, site: server.owner.site, answer: answer)
    push(RecorderParcel(received: received, content: .begin(start)), to: exchange.toRecorder[index].full)
    return start
  }

  /// Indicates whether all rings that an input of this loop may need have room.
  var hasRoomForServerInput: Bool { exchange.hasRoom(from: index) && exchange.serverInputs.hasRoom }

  private func process(_ request: ServerInputs.Request) {
    let received = clock.next()
    exchange.recordTraffic(at: received, on: index)
    switch request {
    case .change(let edit, let part, let answer):
      if let logged {
        publish(edit, at: received, answer, through: logged)
      } else {
        apply(edit, part, at: received, answer)
      }
    case .datagrams(let datagrams, from: let source, let policy, let answer):
      answer.succeed(receive(datagrams, from: source, under: policy, at: received))
    case .announce(let events, let otherwise):
      if let logged {
        if !logged.append(.announced(events, at: received)) { otherwise(events) }
      } else {
        announce(.announcement(events), at: received)
      }
    case .checkpoint(let answer):
      server?.checkpointAnswers.append(answer)
      watchCheckpoint()
    case .record(let order, let answer):
      server?.nextRecording = (order, answer)
      watchCheckpoint()
    }
  }

  /// Has the owner of the site check an edit, or make it.
  private func apply(
    _ edit: SiteEdit,
    _ part: ServerInputs.ChangePart,
    at received: Timestamp,
    _ answer: EventLoopPromise<Void>
  ) {
    do throws(RegionRefusal) {
      if part == .check {
        do throws(RegionRefusal) { try server?.owner.check(edit) } catch {
          throw refuse(edit, error, at: received)
        }
        publishInputs(through: received)
      } else {
        try carryOut(edit, at: received)
      }
      answer.succeed(())
    } catch {
      answer.fail(error)
    }
  }

  /// Has the owner of the site make an edit, and passes its changes on to all shards, the merger and the recorder.
  ///
  /// - Throws: the refusal; nothing has changed then.
  func carryOut(_ edit: SiteEdit, at received: Timestamp) throws(RegionRefusal) {
    let changes: [RegionChange]
    do throws(RegionRefusal) {
      changes = try server?.owner.carryOut(edit, at: logged == nil ? nil : received) ?? []
    } catch {
      throw refuse(edit, error, at: received)
    }
    // Without a checkpoint behind it, a crash would have the regions that it changes begin again.
    if case .file = edit { server?.nextCheckpoint = nil }
    for recyclingQueue in exchange.toShards[index] {
      push(ShardParcel(received: received, content: .changes(changes)), to: recyclingQueue.full)
    }
    announce(.changes(changes, refusal: nil), at: received)
  }

  /// Passes a refusal on.
  ///
  /// The merger and the recorder receive a change that is refused on its own too: the merger publishes an event for each one that
  /// exceeds the region limit, both now and when the recording is processed.
  private func refuse(_ edit: SiteEdit, _ refusal: RegionRefusal, at received: Timestamp) -> RegionRefusal {
    if edit.changes.count == 1 {
      announce(.changes(edit.changes, refusal: refusal), at: received)
    } else if logged == nil {
      publishInputs(through: received)
    }
    return refusal
  }

  /// Takes datagrams as if a socket had brought them in one call, each with an R of its own.
  private func receive(
    _ datagrams: [[UInt8]],
    from source: Endpoint,
    under policy: ListenPolicy,
    at received: Timestamp
  ) -> [Receipt] {
    let isV4 = source.address.version == .v4
    var call = Intake.Call(
      received: received,
      destination: Endpoint(isV4 ? IPAddress(v4: 0) : IPAddress(v6: 0, 0), port: 0),
      isRecorded: keepsDatagrams,
      policy: policy
    )
    let largest = logged == nil ? ServerInputs.largestMessage : LoggedLoop.largestMessage
    let receipts = datagrams.map { bytes in
      let before = intake.decoder.counters.totalReports
      let outcome = bytes.withUnsafeBytes { bytes in
        let slice = UnsafeRawBufferPointer(rebasing: bytes.prefix(largest))
        return intake.receive(slice, isTruncated: bytes.count > largest, of: call) { source }
      }
      call.received = call.received + .oneNanosecond
      switch outcome {
      case .success(let format):
        let reports = Int(intake.decoder.counters.totalReports &- before)
        let skipped = Int(intake.decoder.notes.skipped.values.reduce(0, +))
        return Receipt.accepted(format: format, reports: reports, skipped: skipped)
      case .failure(let refusal): return Receipt.refused(refusal)
      }
    }
    ship(received)
    return receipts
  }

  /// Sends a marker through all shards to the merger.
  private func mark(_ marker: CheckpointMarker, at received: Timestamp) {
    for recyclingQueue in exchange.toShards[index] {
      push(ShardParcel(received: received, content: .marker), to: recyclingQueue.full)
    }
    push(ServerInput(received: received, content: .marker(marker)), to: exchange.serverInputs)
    publishInputs(through: received)
  }

  /// Pushes an input to the merger and, while recording, to the recorder, and publishes the watermark that covers it.
  func announce(_ content: ServerInput.Content, at received: Timestamp) {
    push(ServerInput(received: received, content: content), to: exchange.serverInputs)
    if exchange.records {
      push(RecorderParcel(received: received, content: .server(content)), to: exchange.toRecorder[index].full)
    }
    publishInputs(through: received)
  }

  private func publishInputs(through received: Timestamp) {
    exchange.publishInputs(of: index, through: logged == nil ? LoopClock.end(of: received) : received)
  }
}

/// The outcome for a datagram that did not come over a socket.
package enum Receipt: Hashable, Sendable {
  /// It was decoded, and its reports are under way, without the elements that could not be read.
  case accepted(format: WireFormat, reports: Int, skipped: Int = 0)
  /// It was refused, and changed nothing.
  case refused(DatagramRefusal)
}
