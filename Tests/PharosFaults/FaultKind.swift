/// What goes wrong in a seed: each is switched on or off by itself, so that rare mixtures come up as well.
package enum FaultKind: String, CaseIterable, Sendable {
  /// Datagrams are lost here and there.
  case loss
  /// Datagrams take long, each its own time, so that later ones overtake them.
  case delay
  /// Datagrams come twice.
  case duplicate
  /// Bytes of datagrams are changed so that no decoder may take them.
  case corrupt
  /// Bytes of datagrams are changed anywhere, so that some have contents that no sender sent; later decisions are
  /// only checked for consistency.
  case scramble
  /// An observer's network is gone for a while, and what it heard with it.
  case partition
  /// An observer's network is gone for a while; what it heard comes later, with honest ages.
  case backlog
  /// An observer restarts.
  case restart
  /// An observer dies for good.
  case death
  /// An observer's clock runs fast or slow.
  case drift
  /// An observer's clock is set.
  case jump
  /// A flood of identities that no subject has.
  case flood
  /// The server is killed between two steps.
  case kill
  /// The server is killed while it writes.
  case killInWrite = "kill-write"
  /// The server is killed when a group is on the disk and not yet published.
  case killAfterCommit = "kill-commit"
  /// The power goes with the server: of what was not synced, some is gone.
  case power
  /// The server is stopped in an orderly way, and started again.
  case stop
  /// The server stands still for up to two seconds; what came meanwhile is read all at once.
  case pause
  /// The same for longer than many a silence lasts.
  case longPause = "long-pause"
  /// The server's wall clock is set.
  case clockStep = "clock-step"
  /// The disk refuses writes.
  case diskError = "disk-error"
  /// The disk does not say that what it took is durable.
  case syncError = "sync-error"
  /// The disk is full.
  case diskFull = "disk-full"
  /// The disk takes its time.
  case diskSlow = "disk-slow"
  /// The disk refuses reads.
  case readError = "read-error"
  /// A subscriber stops taking.
  case block
  /// A subscriber disconnects without a close, and comes back with the last number it has.
  case vanish
  /// A gateway sleeps at regular times: it hears nothing, and sends nothing.
  case sleep
  /// Two gateways carry one identity, as after a copied configuration.
  case twin
  /// The server starts without its checkpoint: it is gone, damaged, or of another version.
  case lostCheckpoint = "lost-checkpoint"
  /// The site file is edited while the server runs: an application's regions and the zones come, change and go.
  case edit
  /// All data about a tag are erased.
  case erase
  /// The power takes parts of writes: some sectors are there and some are not.
  case tornWrite = "torn-write"
  /// The receiver of a webhook fails, before or after it has taken an event, and is gone for a while.
  case receiver
  /// The connection to an MQTT broker breaks, and the broker restarts with or without what it has retained.
  case broker
  /// The operator hides tags from an application, and shows them again.
  case withdraw
  /// Signed datagrams that were taken are sent again, at once or to a later run.
  case replay
  /// The server starts with the checkpoint of a program whose states had a former version.
  case formerState = "former-state"
  /// Gateways upload what they have heard each 20 to 60 s.
  case batch
  /// One gateway is out again and again, for half a minute or two, and returns.
  case outage
  /// Hundreds of beacons enter at once, and the queue of decisions holds few.
  case rows
  /// Tokens of subscribers expire, and they come back with new ones.
  case expiry

  /// The kinds that the first generation of plans draws.
  static let first = allCases.filter { !(second + third + fourth).contains($0) }
  /// The kinds that the second generation adds.
  static let second: [FaultKind] = [.sleep, .twin, .lostCheckpoint, .edit, .erase, .tornWrite]
  /// The kinds that the third generation adds.
  static let third: [FaultKind] = [.receiver, .broker, .withdraw, .replay, .formerState]
  /// The kinds that the fourth generation adds.
  static let fourth: [FaultKind] = [.batch, .outage, .rows, .expiry]
}

/// The generations of the generator of plans: each draws what the one before it draws, and more.
///
/// What a generation adds is drawn from a stream of its own, so that seeds that once failed can be played as they were.
package enum PlanGeneration: Int, CaseIterable, Comparable, Sendable {
  /// Faults of the network, the disk, the clocks and the processes.
  case first = 1
  /// Beacons, gateways and sites as in the field.
  case second
  /// Webhooks, a broker, authorisations, signatures, and further formats.
  case third
  /// Uploads in batches, outages that return, many rows at once, and tokens that expire; rooms are held against the truth.
  case fourth

  package static func < (left: PlanGeneration, right: PlanGeneration) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// How often each kind of fault was injected.
package struct FaultTally: Sendable {
  private var counts: [FaultKind: Int] = [:]

  /// Nothing yet.
  package init() {}

  /// How often a kind was injected.
  package subscript(kind: FaultKind) -> Int { counts[kind, default: 0] }

  /// Counts one.
  package mutating func count(_ kind: FaultKind, _ number: Int = 1) { counts[kind, default: 0] += number }

  /// Adds another tally.
  package mutating func add(_ other: FaultTally) {
    for (kind, count) in other.counts { counts[kind, default: 0] += count }
  }
}
