import Logging
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPipeline
import PharosPresence
import PharosPublishing
import PharosWire
import Synchronization

/// One run of the server, from its start to its end: the real parts, put together as `ServerParts` of PharosService does.
final class Life {
  let number: Int
  let journal: Journal
  let hub = EventHub()
  let commitPublisher: CommitPublisher
  let feeds: FeedService
  let authorisations: Authorisations
  private(set) var door: SignedDoor?
  /// When it began.
  let beganAt: TrueTime
  private(set) var pipeline: Pipeline
  /// Datagrams that were handed to it.
  private(set) var datagrams: UInt64 = 0
  /// Whether it is shutting down: it accepts no further datagrams.
  private(set) var isStopping = false
  private(set) var decoder = DatagramDecoder()
  /// When the events of the latest commit were judged by the authorisations.
  var judgedAt: TrueTime { store.judgedAt }
  /// Whether a pause of the machine keeps it from reading.
  var isPaused = false
  /// Indicates whether it reads nothing: a pause of the machine, or a full queue of decisions; one that stops reads all there is.
  var isHeld: Bool { isPaused || !isEnding && hub.isFull.load(ordering: .relaxed) }
  private var isEnding = false

  private unowned let world: FaultWorld
  private let store: LifeStore
  private var batch = ReportBatch()
  private var delivered: UInt64 = 0
  /// When it last did anything.
  private var lookedAt: TrueTime

  /// The place of the version in a checkpoint's bytes.
  static let placeOfVersion = 4

  /// What waits for a run of the server at its start.
  private static let tick = TrueTime.seconds(0.25)

  /// Starts: opens the journal, and goes on from what the run before has left.
  init(_ number: Int, in world: FaultWorld) throws {
    self.number = number
    self.world = world
    lookedAt = world.clockwork.now
    beganAt = world.clockwork.now
    let stream = world.plan.site.stream
    journal = try Journal.open(.folder(world.folder), stream: stream)
    do {
      store = LifeStore(journal, world: world, life: number)
      let logger = Logger(label: "faults") { _ in SwiftLogNoOpLogHandler() }
      authorisations = try Authorisations(store: journal)
      commitPublisher = CommitPublisher(
        hub: hub,
        store: store,
        authorisations: authorisations,
        stream: stream,
        settings: Life.settings(world.plan),
        logger: logger,
        threads: Life.threads(number, world.clockwork)
      )
      feeds = FeedService(
        committed: commitPublisher.committed,
        live: commitPublisher.live,
        authorisations: authorisations,
        stream: stream,
        history: store,
        settings: FeedSettings(),
        ended: Life.ended(world),
        logger: logger,
        lost: { [weak commitPublisher] in commitPublisher?.statistics.lost ?? 0 },
        clock: Life.clock(world.clockwork)
      )
      pipeline = try Pipeline(site: world.site, shards: world.shards(number), monitoring: world.plan.limits)
    } catch {
      journal.leave()
      throw error
    }
  }

  /// Goes on from the newest checkpoint and what the journal's rows say beyond it, and begins to work.
  func begin() throws {
    let restoration = try restoration()
    let checkpoint = restoration.checkpoint
    world.clock.start(
      at: world.clockwork.now,
      behind: restoration.reached.map { $0 + TimeSpan(nanoseconds: journal.head) },
      correction: checkpoint?.clockOffset ?? .zero
    )
    world.beginRun(behind: checkpoint?.clockOffset ?? .zero)
    try restore(restoration)
    if world.plan.stations.contains(where: { $0.key != nil }) {
      door = try SignedDoor(of: self, in: world)
    }
    every(Life.tick) { $0.look() }
    every(.seconds(1)) { $0.watchClock() }
    every(.seconds(0.5)) { $0.feeds.tick() }
    every(world.plan.checkpointInterval) { $0.makeCheckpoint() }
  }

  private func restore(_ restoration: Restoration) throws {
    let now = world.clock.received(world.clockwork.now)
    switch world.plant {
    case .checkpointWithoutEvents where restoration.checkpoint != nil:
      guard let checkpoint = restoration.checkpoint else { return }
      pipeline = try Pipeline(
        site: world.site,
        restoring: checkpoint,
        shards: world.shards(number),
        monitoring: world.plan.limits
      )
    case .downtimeIsSilence:
      let instant = restoration.checkpoint?.instant ?? now
      publish(pipeline.process(.restored(restoration, at: instant + .oneNanosecond)))
    default: publish(pipeline.process(.restored(restoration, at: now)))
    }
    if pipeline.counters.refusedCheckpoints > 0 {
      world.violate(.start, "a checkpoint that was kept cannot be gone on from")
    }
  }

  /// The same as `ServerParts.restoration(from:logger:)`, which a program of this package cannot import without all of HTTP.
  private func restoration() throws -> Restoration {
    var checkpoint: Checkpoint?
    var through: Int64 = 0
    if let stored = try journal.latestCheckpoint(), let bytes = world.found(ofCheckpoint: stored.bytes) {
      let isWhole = bytes == stored.bytes
      do {
        checkpoint = try Checkpoint(decoding: world.plant == .readsFormerStates ? stored.bytes : bytes)
        through = stored.through
        if !isWhole { world.violate(.start, "a damaged checkpoint is taken for a whole one") }
      } catch {
        if isWhole { world.violate(.start, "the journal's checkpoint cannot be read: \(error)") }
      }
    }
    let committed = try journal.publishedState(after: through)
    if world.plant == .ignoresPublishedStates, checkpoint == nil { return Restoration(checkpoint: nil) }
    return Restoration(checkpoint: checkpoint, publishedState: committed)
  }

  // MARK: Input

  /// Takes a datagram from the network.
  func receive(_ bytes: [UInt8]) {
    guard !isStopping else { return }
    watchPause()
    datagrams += 1
    batch.removeAll()
    _ = decoder.decode(
      bytes.span.bytes,
      received: world.clock.received(world.clockwork.now),
      into: &batch
    )
    if !batch.isEmpty { publish(pipeline.ingest(batch)) }
  }

  /// The same as `ReadingLoop` of PharosIngest does: who stood still says so before taking anything in.
  private func watchPause() {
    let (before, now) = (lookedAt, world.clockwork.now)
    lookedAt = now
    guard now - before >= PipelineInput.minimumPause.nanoseconds else { return }
    publish(pipeline.pause(through: world.clock.received(now), at: world.clock.received(before + 1)))
  }

  private func look() {
    guard !isHeld else { return }
    watchPause()
    world.readWaiting(self)
    publish(pipeline.advance(to: world.clock.received(world.clockwork.now)))
  }

  private func watchClock() {
    guard !isHeld else { return }
    watchPause()
    guard let step = world.clock.look() else { return }
    publish(pipeline.stepClock(by: step, at: world.clock.received(world.clockwork.now)))
  }

  private func publish(_ events: [Event]) {
    guard !events.isEmpty else { return }
    delivered += UInt64(events.count)
    world.record(events, decidedBy: self)
    hub.publish(events)
  }

  /// Adopts an edited site, as at SIGHUP.
  func adopt(_ site: Site) { process { (try? pipeline.adopt(site, at: $0)) ?? [] } }

  /// Applies a change of the regions or of the subjects, unless the server takes none now.
  @discardableResult
  func change(_ change: RegionChange) -> Bool { process { pipeline.apply(change, at: $0) } }

  @discardableResult
  private func process(_ decide: (Timestamp) -> [Event]) -> Bool {
    guard !isHeld, !isStopping else { return false }
    watchPause()
    publish(decide(world.clock.received(world.clockwork.now)))
    return true
  }

  func makeCheckpoint() {
    guard !isHeld else { return }
    look()
    let pipeline = pipeline
    let checkpoint = CommitPublisherCheckpoint(
      instant: world.clock.received(world.clockwork.now),
      eventsBefore: delivered
    ) { pipeline.checkpoint().encoded }
    commitPublisher.offer(checkpoint)
  }

  /// Shuts down: decided events are published, a last checkpoint is stored, then the function is called.
  func stop(_ stopped: @escaping () -> Void) {
    guard !isStopping else { return }
    isPaused = false
    isEnding = true
    makeCheckpoint()
    isStopping = true
    door?.finish()
    guard world.life === self else { return }
    let call = Call(stopped)
    commitPublisher.drain { call.function() }
  }

  // MARK: Threads

  private func every(_ period: TrueTime, _ work: @escaping (Life) -> Void) {
    world.clockwork.after(period, owner: number) { [weak self] in
      guard let self else { return }
      if !isStopping { work(self) }
      every(period, work)
    }
  }

  private static func threads(_ number: Int, _ clockwork: Clockwork) -> CommitPublisherThreads {
    let (work, keep) = (SerialThread(clockwork, owner: number), SerialThread(clockwork, owner: number))
    return CommitPublisherThreads(
      work: { job in work.submit { job() } },
      workLater: { delay, job in work.submit(after: TrueTime(delay)) { job() } },
      keep: { job in keep.submit { job() } },
      elapsed: Life.clock(clockwork)
    )
  }

  private static func settings(_ plan: FaultPlan) -> CommitPublisherSettings {
    var settings = CommitPublisherSettings()
    if let backlog = plan.backlog { settings.backlog = backlog }
    return settings
  }

  private static func ended(_ world: FaultWorld) -> @Sendable (Set<String>) -> Set<String> {
    let held = HeldWorld(world)
    guard world.plant != .streamsOutliveTokens else { return { _ in [] } }
    return { held.world?.ended($0) ?? [] }
  }

  private static func clock(_ clockwork: Clockwork) -> @Sendable () -> Duration {
    let start = clockwork.now
    let held = Held(clockwork)
    return { .nanoseconds(held.clockwork.now - start) }
  }
}

/// A clockwork for the closures of one world, all of which are called on that world's one thread.
private struct Held: @unchecked Sendable {
  let clockwork: Clockwork
  init(_ clockwork: Clockwork) { self.clockwork = clockwork }
}

/// A world for the closures of one run, all of which are called on that world's one thread.
private final class HeldWorld: @unchecked Sendable {
  private(set) weak var world: FaultWorld?
  init(_ world: FaultWorld) { self.world = world }
}

/// A function of one world, called on that world's one thread.
private struct Call: @unchecked Sendable {
  let function: () -> Void
  init(_ function: @escaping () -> Void) { self.function = function }
}

extension TrueTime {
  /// A duration's whole nanoseconds.
  fileprivate init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
