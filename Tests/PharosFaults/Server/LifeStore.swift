import PharosDelivery
import PharosJournal
import PharosModel

/// The journal as a run of the server reaches it: through a disk that may be slow, and a process that may be killed at any step.
///
/// Touched by its world's one thread only, hence `@unchecked Sendable`.
final class LifeStore: EventStore, @unchecked Sendable {
  /// The error of writes after the kill.
  struct Killed: Error {}

  let journal: Journal
  private unowned let world: FaultWorld
  private let life: Int
  /// When the events of the latest commit were judged by the authorisations.
  private(set) var judgedAt: TrueTime = 0
  /// What a planted bug says to have committed.
  private var lie: Int64 = 0

  init(_ journal: Journal, world: FaultWorld, life: Int) {
    self.journal = journal
    self.world = world
    self.life = life
  }

  var head: Int64 { journal.head + lie }
  var oldest: Int64 { journal.oldest }
  var removals: UInt64 { journal.removals }

  func events(after: Int64, matching filter: EventFilter, limit: Int) throws -> [JournaledEvent] {
    try alive()
    return try journal.events(after: after, matching: filter, limit: limit)
  }

  func append(_ entries: [Journal.Entry]) throws -> [Int64?] {
    judgedAt = world.clockwork.now
    try waitForDisk()
    do {
      let sequences = try journal.append(entries)
      try alive()
      if world.isKillDueAfterCommit() { world.kill() }
      try alive()
      return sequences.map { $0.map { $0 + lie } }
    } catch {
      try alive()
      world.trace("journal refuses \(entries.count) events: \(error)")
      guard world.plant == .liesAboutCommits || world.plant == .refusedGroupDropped else { throw error }
      if world.plant == .refusedGroupDropped { return entries.map { _ in nil } }
      return entries.map { entry in
        guard entry.isPublished else { return nil }
        lie += 1
        return journal.head + lie
      }
    }
  }

  func save(checkpoint: [UInt8], instant: Timestamp, through: Int64) throws {
    try waitForDisk()
    let covered = world.plant == .checkpointClaimsTooMuch ? journal.head : through
    try journal.save(checkpoint: checkpoint, instant: instant, through: covered)
    try alive()
    world.arrivals.keep(through: world.clock.trueTime(instant))
    world.erasures.keep(through: world.clock.trueTime(instant))
  }

  /// The rest of the world goes on while the disk takes its time.
  private func waitForDisk() throws {
    try alive()
    let delay = world.diskDelay()
    if delay > 0 { world.clockwork.run(through: world.clockwork.now + delay) }
    try alive()
  }

  private func alive() throws {
    guard world.life?.number == life else { throw Killed() }
  }
}
