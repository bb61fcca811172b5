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

  /// The kinds that the first generator had; plans of it are drawn without the others.
  static let narrow = allCases.filter { !wide.contains($0) }
  /// The kinds that wide plans add.
  static let wide: [FaultKind] = [.sleep, .twin, .lostCheckpoint, .edit, .erase, .tornWrite]
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
