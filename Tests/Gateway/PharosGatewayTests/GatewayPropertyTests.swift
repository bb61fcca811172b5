import PharosGateway
import PharosModel
import PharosTestSupport
import Testing

@Suite("A gateway in any weather")
struct GatewayPropertyTests {
  @Test(
    "every advert arrives once with its true age, or was counted as dropped",
    arguments: Seeds.drawn(0..<60)
  )
  func conservation(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var limits = GatewayLimits()
    if seed % 3 == 0 { limits.ring = Int.random(in: 20_000...80_000, using: &random) }
    var world = GatewayWorld(limits: limits, key: seed % 2 == 0 ? 3 : nil)
    world.network = drawnNetwork(using: &random)
    var heard: [UInt64: Timestamp] = [:]
    let count = Int.random(in: 500...3_000, using: &random)
    for number in 0..<UInt64(count) {
      let waited = TimeSpan.milliseconds(Int64.random(in: 0...25, using: &random))
      let length = Int.random(in: 0...31, using: &random)
      heard[number] = world.now - waited
      try world.receive(number, data: [UInt8](repeating: 1, count: length), waited: waited)
      if Int.random(in: 0..<4, using: &random) == 0 {
        try world.pass(to: world.now + .milliseconds(Int64.random(in: 0...60, using: &random)))
      }
    }
    // The weather clears, and all that is left is sent.
    world.network.append((world.now, .up))
    try world.pass(to: world.now + .seconds(60))
    world.gateway.end(at: world.now)
    try world.pass(to: world.now + .seconds(10))

    #expect(world.isOver)
    let sightings = world.arrived.flatMap(\.sightings)
    let numbers = Set(sightings.map(\.number))
    #expect(numbers.count == sightings.count, "an advert arrived twice under different numbers")
    for sighting in sightings {
      let error = sighting.heard - (heard[sighting.number] ?? .distantPast)
      #expect(abs(error.nanoseconds) <= 1_000_000)
    }
    let counters = world.gateway.counters
    #expect(counters.heard == UInt64(count))
    #expect(counters.unsent == 0)
    let missing = UInt64(count - sightings.count)
    let committed = world.arrived.flatMap(\.heartbeats)
    if counters.dropped == 0 {
      #expect(missing == 0)
      #expect(committed.reduce(0) { $0 + UInt64($1.advertsHeard ?? 0) } == UInt64(count))
    } else {
      // What was taken back and then dropped may have arrived the first time.
      #expect(missing <= counters.dropped)
      #expect(counters.dropped <= missing + world.requeued)
      #expect(committed.reduce(0) { $0 + UInt64($1.dropped) } >= counters.dropped)
    }
  }

  /// States of the network that follow each other; failures show before the gateway stops waiting for them.
  private func drawnNetwork(
    using random: inout SeededGenerator
  ) -> [(from: Timestamp, state: GatewayWorld.Network)] {
    var timeline: [(from: Timestamp, state: GatewayWorld.Network)] = []
    var time = Timestamp.at(0)
    for _ in 0..<12 {
      let state: GatewayWorld.Network =
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1, 2: .up
        case 3: .refusing(after: .milliseconds(Int64.random(in: 0...240, using: &random)))
        case 4: .nameless
        case 5: .full
        default: .unreachable(after: .milliseconds(Int64.random(in: 0...240, using: &random)))
        }
      timeline.append((time, state))
      time = time + .milliseconds(Int64.random(in: 0...6_000, using: &random))
    }
    return timeline
  }

  @Test("memory stays within the ring whatever is heard", arguments: Seeds.drawn(0..<8))
  func memory(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var limits = GatewayLimits()
    limits.ring = 100_000
    var world = GatewayWorld(limits: limits)
    world.network = [(.at(0), seed % 2 == 0 ? .nameless : .refusing(after: .milliseconds(3)))]
    for number in 0..<UInt64(5_000) {
      let length = Int.random(in: 0...31, using: &random)
      try world.receive(number, data: [UInt8](repeating: 1, count: length))
      try world.pass(to: world.now + .milliseconds(Int64.random(in: 0...9, using: &random)))
      let gateway = world.gateway
      // A parcel that was handed out or taken back may stand above for a moment.
      #expect(gateway.recent.memory + gateway.waiting.memory + gateway.filling.memory <= limits.ring + 20_000)
    }
    #expect(world.gateway.counters.dropped > 0)
  }
}
