import PharosCluster
import PharosModel
import PharosTestSupport
import Testing

@Suite("The lease of a cluster")
struct LeaseTests {
  /// The broker's value, and nodes that step at random, stand still at random and lose answers.
  private struct World {
    var value: (record: LeaseRecord, revision: UInt64)?
    var leases: [Lease]
    var random: SeededGenerator
    /// Steady clocks of nodes: the same rate, from another zero.
    let offsets: [TimeSpan]
    /// The tenures that have acted, with the node that did.
    var acted: [UInt64: Int] = [:]
    var revision: UInt64 = 0

    init(nodes: Int, seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      leases = (0..<nodes).map { Lease(node: "node-\($0)") }
      offsets = (0..<nodes).map { _ in .milliseconds(Int64.random(in: 0..<1_000_000, using: &random)) }
      self.random = random
    }

    mutating func step(_ node: Int, at now: TimeSpan, answerLost: Bool) {
      let own = now + offsets[node]
      guard case .set(let record, let replacing) = leases[node].next(value, at: own) else { return }
      guard replacing == value?.revision ?? 0 else { return leases[node].failed() }
      revision += 1
      value = (record, revision)
      if answerLost { leases[node].failed() } else { leases[node].succeeded(revision: revision, at: own) }
    }

    func holders(at now: TimeSpan) -> [Int] {
      leases.indices.filter { leases[$0].tenure(at: now + offsets[$0]) != nil }
    }
  }

  @Test(
    "is held by one node at a time, whatever stands still and whichever answer is lost",
    arguments: Seeds.drawn(0..<200 as Range<UInt64>, first: 20)
  )
  func once(seed: UInt64) {
    var world = World(nodes: 3, seed: seed)
    var stillUntil = [TimeSpan](repeating: .zero, count: 3)
    var now = TimeSpan.zero
    var tenures: Set<UInt64> = []
    for _ in 0..<4_000 {
      now = now + .milliseconds(Int64.random(in: 1...400, using: &world.random))
      let node = Int.random(in: 0..<3, using: &world.random)
      if Int.random(in: 0..<60, using: &world.random) == 0 {
        stillUntil[node] = now + .milliseconds(Int64.random(in: 0...6_000, using: &world.random))
      }
      if now >= stillUntil[node] {
        world.step(node, at: now, answerLost: Int.random(in: 0..<30, using: &world.random) == 0)
      }
      let holders = world.holders(at: now)
      #expect(holders.count <= 1)
      guard let holder = holders.first,
        let tenure = world.leases[holder].tenure(at: now + world.offsets[holder])
      else { continue }
      let former = world.acted.updateValue(holder, forKey: tenure)
      #expect(former == nil || former == holder, "a tenure belongs to one node")
      tenures.insert(tenure)
    }
    #expect(tenures.count > 3, "the lease never passed on")
  }

  @Test("passes on within three seconds of the death of its holder, and at once when it is released")
  func death() {
    for seed in 0..<50 as Range<UInt64> {
      var world = World(nodes: 2, seed: seed)
      var now = TimeSpan.zero
      func pass(_ nodes: [Int], _ span: TimeSpan) {
        let end = now + span
        while now < end {
          for node in nodes { world.step(node, at: now, answerLost: false) }
          now = now + Lease.interval
        }
      }
      pass([0], .seconds(3))
      pass([0, 1], .seconds(10))
      #expect(world.holders(at: now) == [0])
      pass([1], .seconds(3))
      #expect(world.holders(at: now) == [1])
      if let record = world.leases[1].release() {
        world.revision += 1
        world.value = (record, world.revision)
      }
      pass([0], .milliseconds(500))
      #expect(world.holders(at: now) == [0])
    }
  }
}
