import PharosModel
import PharosSimulation

/// Lets things go wrong, at drawn times, until the world is to be quiet.
struct Troublemaker {
  private let world: FaultWorld
  private let random: Draws
  /// Draws for the faults of the third generation, so that the times of the others stay as they are.
  private let readersRandom: Draws
  /// The same for the fourth generation.
  private let installationRandom: Draws

  /// Draws that go on while closures hold them.
  private final class Draws {
    var stream: RandomStream
    init(_ stream: RandomStream) { self.stream = stream }
    func uniform(_ low: Double, _ high: Double) -> Double { stream.uniform(low, high) }
    func chance(_ probability: Double) -> Bool { stream.chance(probability) }
    func below(_ count: Int) -> Int { Int(stream.next() % UInt64(max(1, count))) }
  }

  init(_ world: FaultWorld) {
    self.world = world
    random = Draws(RandomStream(seed: world.plan.seed, 7))
    readersRandom = Draws(RandomStream(seed: world.plan.seed, 14))
    installationRandom = Draws(RandomStream(seed: world.plan.seed, 17))
  }

  /// Asks for everything that will go wrong.
  func begin() {
    for kind in FaultKind.allCases where world.plan.kinds.contains(kind) { begin(kind) }
    world.clockwork.at(world.plan.active) { [world] in world.calm() }
  }

  private func begin(_ kind: FaultKind) {
    switch kind {
    case .loss: world.network.troubles.loss = random.uniform(0.01, 0.15)
    case .delay: world.network.troubles.delay = random.uniform(0.05, 1)
    case .duplicate: world.network.troubles.duplicates = random.uniform(0.01, 0.2)
    case .corrupt: world.network.troubles.corruption = random.uniform(0.01, 0.1)
    case .scramble: world.network.troubles.scrambling = random.uniform(0.01, 0.1)
    case .drift:
      for station in world.stations {
        world.tally.count(.drift)
        station.drift = random.uniform(-2e-4, 2e-4)
      }
    case .diskSlow, .block, .vanish, .sleep, .twin, .lostCheckpoint, .tornWrite, .formerState: break
    case .batch, .expiry: world.tally.count(kind)
    case .receiver, .broker, .withdraw, .replay: again(kind, readersRandom)
    case .rows: again(kind, installationRandom)
    case .outage: beginOutages()
    case .death:
      let station = random.below(world.stations.count)
      once(kind) { world in world.stations[station].die() }
    case .power: break
    default: again(kind, random)
    }
  }

  private func once(_ kind: FaultKind, _ work: @escaping (FaultWorld) -> Void) {
    world.clockwork.at(.seconds(random.uniform(5, Double(world.plan.active) / 1e9))) { [world] in
      guard world.isTroubled else { return }
      world.tally.count(kind)
      world.trace("fault \(kind.rawValue)")
      work(world)
    }
  }

  /// The same fault again and again, half a minute apart on the average and more than one.
  private func again(_ kind: FaultKind, _ random: Draws) {
    let wait = random.uniform(2, 60)
    world.clockwork.after(.seconds(wait)) { [self] in
      guard world.isTroubled else { return }
      world.trace("fault \(kind.rawValue)")
      inject(kind)
      again(kind, random)
    }
  }

  private func inject(_ kind: FaultKind) {
    switch kind {
    case .partition, .backlog:
      let duration = random.chance(0.7) ? random.uniform(1, 15) : random.uniform(15, 60)
      world.tally.count(kind)
      world.cut(random.below(world.stations.count), for: .seconds(duration), keeps: kind == .backlog)
    case .restart:
      let station = world.stations[random.below(world.stations.count)]
      guard station.isUp(world.clockwork.now) else { return }
      world.tally.count(kind)
      station.restart(at: world.clockwork.now, for: .seconds(random.uniform(0.5, 20)))
    case .jump:
      world.tally.count(kind)
      let length = random.chance(0.5) ? random.uniform(0.1, 5) : random.uniform(5, 3_600)
      let station = random.below(world.stations.count)
      let step = TrueTime.seconds(random.chance(0.5) ? length : -length)
      world.stations[station].setClock(by: step, at: world.clockwork.now)
    case .flood:
      let index = random.below(world.stations.count)
      let station = world.stations[index]
      guard station.isUp(world.clockwork.now) else { return }
      world.tally.count(kind)
      world.arrivals.recordFlood(of: index, at: world.clockwork.now)
      station.flood(20 + random.below(200), at: world.clockwork.now)
    case .clockStep:
      world.tally.count(kind)
      let length = random.chance(0.5) ? random.uniform(0.06, 5) : random.uniform(5, 7_200)
      world.clock.wallOffset += .seconds(random.chance(0.5) ? length : -length)
    case .pause:
      world.tally.count(kind)
      world.pause(for: .seconds(random.uniform(0.05, 2)))
    case .longPause:
      world.tally.count(kind)
      world.pause(for: .seconds(random.uniform(2, 60)))
    case .edit:
      world.tally.count(kind)
      world.edit()
    case .erase:
      world.tally.count(kind)
      world.erase()
    case .withdraw:
      world.tally.count(kind)
      world.withdraw()
    case .receiver:
      world.tally.count(kind)
      world.cutWebhook()
    case .broker:
      world.tally.count(kind)
      world.cutBroker()
    case .replay:
      world.tally.count(kind)
      world.replay()
    case .rows:
      let station = installationRandom.below(world.stations.count)
      guard world.stations[station].isUp(world.clockwork.now) else { return }
      world.tally.count(kind)
      world.crowd(50 + installationRandom.below(400), at: station)
    default: injectIntoServer(kind)
    }
  }

  /// One gateway is out again and again for as long each time, as by a loose plug or a bad radio link, and returns between.
  private func beginOutages() {
    let station = installationRandom.below(world.stations.count)
    let length = TrueTime.seconds(installationRandom.uniform(15, 120))
    let losesPower = installationRandom.chance(0.5)
    func next() {
      world.clockwork.after(.seconds(installationRandom.uniform(20, 90))) { [world] in
        guard world.isTroubled else { return }
        world.tally.count(.outage)
        world.trace("fault outage")
        if losesPower {
          world.stations[station].restart(at: world.clockwork.now, for: length)
        } else {
          world.cut(station, for: length, keeps: false)
        }
        world.clockwork.after(length) { next() }
      }
    }
    next()
  }

  private func injectIntoServer(_ kind: FaultKind) {
    let losesPower = world.plan.kinds.contains(.power) && random.chance(0.5)
    switch kind {
    case .kill:
      guard world.life != nil else { return }
      world.tally.count(kind)
      if losesPower { world.armPowerLoss() }
      world.kill()
    case .killInWrite:
      if losesPower { world.armPowerLoss() }
      world.disk.troubles.writesUntilKill = random.below(60)
    case .killAfterCommit: world.armKillAfterCommit()
    case .stop:
      world.tally.count(kind)
      world.stop()
    case .diskError: trouble(kind) { $0.failsWrites = $1 }
    case .syncError: trouble(kind) { $0.failsSyncs = $1 }
    case .readError: trouble(kind) { $0.failsReads = $1 }
    case .diskFull:
      let used = world.disk.used
      trouble(kind) { $0.capacity = $1 ? used : nil }
    default: break
    }
  }

  private func trouble(_ kind: FaultKind, _ change: @escaping (inout SimulatedDisk.Troubles, Bool) -> Void) {
    world.tally.count(kind)
    change(&world.disk.troubles, true)
    world.clockwork.after(.seconds(random.uniform(0.05, 25))) { [world] in
      change(&world.disk.troubles, false)
    }
  }
}
