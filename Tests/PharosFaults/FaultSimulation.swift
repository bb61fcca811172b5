import Glibc
import PharosJournal
import PharosModel
import PharosPipeline

/// Plays the whole system on virtual time, from one seed, while everything around it goes wrong, and holds what it says against
/// the truth.
///
/// In the manner of FoundationDB's and TigerBeetle's simulators: one thread, one clock, no chance but the seed. What is real: the
/// encoders of datagrams and their decoders, the pipeline with its checkpoints, the hub and its OpenCombine streams, the commit
/// publisher, the journal with SQLite below it, the desk of live streams, authorisations, keys and replay windows, the schedule of a
/// webhook, and the outbox of MQTT. What is simulated: the air, the observers, the network, the disk (a file system of SQLite's, in
/// memory), the clocks, the threads, and the programs that subscribe.
///
/// ### What goes wrong
/// Every kind of ``FaultKind``, each switched on for about a third of the seeds, so that rare mixtures come up. A kill takes place
/// between any two steps, at any write or sync of the disk, or right behind a commit; what is not on the disk is gone.
///
/// ### What must hold
/// Every rule of ``Violation/Rule``, at any time and after the world has become quiet. Scenes are such that no
/// subject's presence is in doubt: loud beacons that are heard all the time, places that are apart. So an exit of who
/// is there is a fault of ours, and not one of those that radio noise makes now and then.
///
/// ### What is not modelled
/// Sockets and the threads of ingest (their order is proved by the tests of PharosIngest; here the pipeline takes their place), HTTP,
/// notifications, the history of minutes, rotated identities, radios that go deaf, weak and wavering signals, fixes on floor plans,
/// retention. A machine that stands still stops reading, while what is under way on other threads ends. What the server's shell does in
/// modules that need HTTP or NIO is mirrored: what a start goes on from (`ServerParts.restoration`), how R is taken from the clocks
/// (`Timeline`, `ClockWatch`), the admission of signed datagrams (`Gate`, `SigningStore`), and how a webhook's schedule and the outbox of
/// MQTT are fed (`WebhookWork`, `MQTTWork`).
package struct FaultSimulation {
  /// What came of a seed.
  package struct Outcome: Sendable {
    /// The seed.
    package var seed: UInt64
    /// What was found wrong; empty if all is well.
    package var violations: [Violation] = []
    /// What was injected.
    package var faults = FaultTally()
    /// Events that were decided.
    package var events = 0
    /// The number of events that subscribers over the network received.
    package var committed = 0
    /// Datagrams that reached the server.
    package var datagrams: UInt64 = 0
    /// Runs of the server.
    package var runs = 0
    /// Virtual time, in seconds.
    package var seconds = 0.0
  }

  /// How long the published state may take to become true after the last fault.
  ///
  /// Half an hour: what is known only by hearsay stands for five minutes of live silence, deafness gives a credit of up to fifteen.
  private static let maximumQuiet = TrueTime.seconds(1_800)
  /// How often it is looked.
  private static let look = TrueTime.seconds(20)

  private let folder: String

  /// Makes a simulation.
  ///
  /// - Parameter folder: an empty folder for the journal's lock; all else is in memory. One simulation at a time may use it.
  package init(folder: String) { self.folder = folder }

  /// Plays a seed.
  ///
  /// - Parameters:
  ///   - seed: the seed.
  ///   - plant: a bug to be put in, if any.
  ///   - more: kinds of faults that are injected whatever is drawn.
  ///   - generation: the generation of the generator of plans.
  ///   - trace: takes a line for each thing that happens.
  /// - Returns: what came of it.
  package func play(
    seed: UInt64,
    plant: Plant? = nil,
    adding more: Set<FaultKind> = [],
    generation: PlanGeneration = .fourth,
    trace: ((String) -> Void)? = nil
  ) -> Outcome {
    let world = FaultWorld(
      FaultPlan(seed: seed, adding: more, generation: generation),
      plant: plant,
      folder: folder
    )
    world.onTrace = trace
    SimulatedDisks.mount(world.disk, at: folder)
    defer {
      SimulatedDisks.unmount(folder)
      for suffix in ["", "-wal", "-shm", ".new"] { unlink("\(folder)/journal.sqlite\(suffix)") }
    }
    world.describe()
    if !world.plan.kinds.contains(.scramble) { world.truthCheck = TruthCheck(world) }
    world.clients = (0..<world.plan.clients).map { FeedClient($0, in: world) }
    world.start()
    for client in world.clients { client.begin() }
    for index in world.stations.indices { world.run(index) }
    Troublemaker(world).begin()
    world.clockwork.run(through: world.plan.active)
    let book = advanceUntilTrue(world)
    finish(world, book)
    return outcome(world)
  }

  /// Advances time until the published state is true.
  private func advanceUntilTrue(_ world: FaultWorld) -> StreamBook? {
    let check = TruthCheck(world)
    let deadline = world.clockwork.now + FaultSimulation.maximumQuiet
    var differences: [String] = []
    while world.clockwork.now < deadline {
      world.clockwork.run(through: world.clockwork.now + FaultSimulation.look)
      guard let life = world.life, let book = read(life, world)?.book else { continue }
      if world.plan.kinds.contains(.scramble) { return book }
      differences = check.differences(from: book)
      if differences.isEmpty { return book }
    }
    if world.life == nil { world.violate(.quiet, "the server is not up although the world is quiet") }
    for difference in differences { world.violate(.quiet, "\(difference) after half an hour of quiet") }
    if !differences.isEmpty { describeTracks(world) }
    return nil
  }

  /// Traces what the server knows of each beacon at each observer.
  private func describeTracks(_ world: FaultWorld) {
    guard world.onTrace != nil, let life = world.life else { return }
    for observer in Set(world.plan.stations.map(\.id)).sorted() {
      for beacon in world.plan.transmitters.compactMap(\.beacon) {
        guard let insight = life.pipeline.insight(observer: observer, beacon: beacon) else { continue }
        world.trace("\(observer) knows of \(beacon): \(insight)")
      }
    }
  }

  /// Ends the run, and looks at everything once more.
  private func finish(_ world: FaultWorld, _ book: StreamBook?) {
    if let life = world.life {
      for client in world.clients { client.read() }
      // The last of what was decided is committed and published, and what was decided until now is delivered.
      let head = life.journal.head
      let hasReaders = world.webhook != nil || world.broker != nil
      world.clockwork.run(through: world.clockwork.now + .seconds(hasReaders ? 60 : 10))
      let deadline = world.clockwork.now + FaultSimulation.maximumQuiet
      while world.clockwork.now < deadline, world.webhook?.isDone(through: head) == false {
        world.clockwork.run(through: world.clockwork.now + FaultSimulation.look)
      }
      for client in world.clients { client.catchUp() }
      if let (events, read) = read(life, world) {
        var read = read
        read.finish()
        for (rule, text) in read.complaints { world.violate(rule, text) }
        checkJournal(events, world)
        for client in world.clients { client.check(against: events) }
        world.webhook?.check(against: events, through: head)
        if let broker = world.broker {
          let delivered = self.book(of: events.filter { $0.sequence <= head }, world)
          broker.check(against: read, delivered: delivered)
        }
      } else {
        world.violate(.journal, "the journal cannot be read in a quiet world")
      }
      world.check(life, isOrderly: false)
    }
    world.shutDown()
  }

  private func read(_ life: Life, _ world: FaultWorld) -> (events: [JournaledEvent], book: StreamBook)? {
    guard let events = try? life.journal.events(after: 0, limit: .max) else { return nil }
    return (events, book(of: events, world))
  }

  private func book(of events: [JournaledEvent], _ world: FaultWorld) -> StreamBook {
    var book = StreamBook(erased: world.erased, hidden: world.consents.everHidden)
    for event in events { book.receive(event.event) }
    return book
  }

  private func checkJournal(_ events: [JournaledEvent], _ world: FaultWorld) {
    for (index, journaled) in events.enumerated() {
      if journaled.sequence != Int64(index + 1) {
        return world.violate(.journal, "number \(journaled.sequence) stands where \(index + 1) belongs")
      }
      let decided = world.ledger.entries[journaled.event.id]?.event
      if decided?.isPublished(like: journaled.event) != true {
        world.violate(.journal, "number \(journaled.sequence) is no event that was decided")
      }
    }
  }

  private func outcome(_ world: FaultWorld) -> Outcome {
    var outcome = Outcome(seed: world.plan.seed)
    outcome.violations = world.allViolations
    outcome.faults = world.tally
    outcome.events = world.ledger.count
    outcome.committed = world.clients.reduce(0) { $0 + $1.seen.count }
    outcome.datagrams = world.received
    outcome.runs = world.lives
    outcome.seconds = Double(world.clockwork.now) / 1e9
    return outcome
  }
}
