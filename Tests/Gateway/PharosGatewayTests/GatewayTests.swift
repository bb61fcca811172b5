import PharosGateway
import PharosModel
import PharosWire
import Testing

@Suite("A gateway on virtual time")
struct GatewayTests {
  /// A world whose first heartbeat was sent and not refused: the usual state.
  private func running(limits: GatewayLimits = GatewayLimits()) throws -> GatewayWorld {
    var world = GatewayWorld(limits: limits)
    try world.pass(to: .at(500))
    world.arrived = []
    world.sent = []
    return world
  }

  @Test("an advert is sent when it has waited for a tenth of a second, with its age")
  func delay() throws {
    var world = try running()
    try world.receive(1)
    try world.pass(to: .at(599))
    #expect(world.arrived.isEmpty)
    try world.pass(to: .at(600))
    let datagram = try #require(world.arrived.first)
    #expect(world.sent == [.at(600)])
    #expect(datagram.sightings.map(\.heard) == [.at(500)])
    #expect(datagram.head.bootID == 7)
    #expect(datagram.head.uptime == .milliseconds(600))
  }

  @Test("the time in the pipe counts towards the delay and the age")
  func pipe() throws {
    var world = try running()
    try world.receive(1, waited: .milliseconds(70))
    try world.pass(to: .at(530))
    #expect(world.sent == [.at(530)])
    #expect(world.arrived.first?.sightings.first?.heard == .at(430))
  }

  @Test("a full datagram is sent at once and is no longer than it may be", arguments: [nil, 5] as [UInt32?])
  func full(key: UInt32?) throws {
    var world = GatewayWorld(key: key)
    try world.pass(to: .at(500))
    world.arrived = []
    for number in 0..<UInt64(60) { try world.receive(number, data: [UInt8](repeating: 1, count: 31)) }
    try world.pass(to: .at(510))
    // 34 bytes of head and, with a key, 16 of tag; 49 for each advert.
    #expect(world.arrived.map(\.sightings.count) == [27, 27])
    #expect(world.arrived.allSatisfy { ($0.head.keyID != 0) == (key != nil) })
    try world.pass(to: .at(610))
    #expect(world.arrived.map(\.sightings.count) == [27, 27, 6])
  }

  @Test("heartbeats come once a second and say what was heard since the last one")
  func heartbeats() throws {
    var world = try running()
    for number in 0..<UInt64(5) { try world.receive(number) }
    try world.pass(to: .at(999))
    #expect(world.arrived.flatMap(\.heartbeats).isEmpty)
    try world.pass(to: .at(2_000))
    #expect(
      world.arrived.flatMap(\.heartbeats) == [
        Heartbeat(advertsHeard: 5, scanDuty: nil, dropped: 0),
        Heartbeat(advertsHeard: 0, scanDuty: nil, dropped: 0),
      ]
    )
  }

  @Test("adverts of an outage of the server are sent when it returns, oldest first, with true ages")
  func outage() throws {
    var world = try running()
    world.network = [(.at(0), .up), (.at(1_000), .refusing(after: .milliseconds(1))), (.at(5_000), .up)]
    try world.pass(to: .at(1_000))
    world.arrived = []
    for number in 0..<UInt64(300) {
      try world.receive(number)
      try world.pass(to: world.now + .milliseconds(10))
    }
    #expect(world.arrived.isEmpty)
    try world.pass(to: .at(12_000))
    let sightings = world.arrived.flatMap(\.sightings)
    #expect(sightings.map(\.number) == Array(0..<300))
    #expect(sightings.map(\.heard) == (0..<300).map { .at(1_000 + $0 * 10) })
    #expect(world.notices.first == .lost(.refused))
    guard case .reached(_, let kept, dropped: 0)? = world.notices.last else {
      throw DecodedDatagram.Unexpected()
    }
    #expect(kept == 300)
    #expect(world.gateway.counters.outages == 1)
    // The heartbeat that tells of them comes behind all of them: it proves that who is silent has left.
    let committed = try #require(
      world.arrived.firstIndex { $0.heartbeats.contains { $0.advertsHeard ?? 0 >= 300 } }
    )
    #expect(world.arrived[...committed].flatMap(\.sightings).count == 300)
  }

  @Test("the numbers of datagrams have no gap behind an outage in which nothing was dropped")
  func numbers() throws {
    var world = try running()
    world.network = [(.at(0), .up), (.at(1_000), .refusing(after: .milliseconds(40))), (.at(4_000), .up)]
    for number in 0..<UInt64(800) {
      try world.receive(number)
      try world.pass(to: world.now + .milliseconds(10))
    }
    try world.pass(to: .at(15_000))
    let numbers = world.arrived.map(\.head.sequence)
    #expect(numbers == Array(numbers[0]..<numbers[0] + UInt32(numbers.count)))
  }

  @Test("a full ring drops the oldest, and the next heartbeat says how many")
  func ring() throws {
    var limits = GatewayLimits()
    limits.ring = 64 << 10
    var world = try running(limits: limits)
    world.network = [(.at(0), .up), (.at(500), .nameless), (.at(20_000), .up)]
    try world.pass(to: .at(1_600))
    world.arrived = []
    for number in 0..<UInt64(2_000) {
      try world.receive(number)
      try world.pass(to: world.now + .milliseconds(5))
    }
    try world.pass(to: .at(40_000))
    let sightings = world.arrived.flatMap(\.sightings)
    let dropped = world.gateway.counters.dropped
    #expect(dropped > 0)
    #expect(sightings.map(\.number) == Array(UInt64(dropped)..<2_000))
    #expect(world.arrived.flatMap(\.heartbeats).reduce(0) { $0 + UInt64($1.dropped) } == dropped)
    #expect(world.notices.contains(.dropping))
  }

  @Test("an unreachable neighbour is noticed after three seconds and loses nothing")
  func unreachable() throws {
    var world = try running()
    world.network = [(.at(0), .up), (.at(1_000), .unreachable(after: .seconds(3))), (.at(30_000), .up)]
    try world.pass(to: .at(1_000))
    world.arrived = []
    for number in 0..<UInt64(2_000) {
      try world.receive(number)
      try world.pass(to: world.now + .milliseconds(10))
    }
    try world.pass(to: .at(50_000))
    #expect(world.arrived.flatMap(\.sightings).map(\.number) == Array(0..<2_000))
  }

  @Test("adverts that a full ring gave up once sent count as dropped if their datagram is found lost")
  func lostAfterRelease() throws {
    var limits = GatewayLimits()
    limits.ring = 20_000
    var world = try running(limits: limits)
    world.network = [(.at(0), .up), (.at(1_000), .unreachable(after: .seconds(3))), (.at(30_000), .up)]
    try world.pass(to: .at(1_000))
    world.arrived = []
    for number in 0..<UInt64(2_000) {
      try world.receive(number)
      try world.pass(to: world.now + .milliseconds(5))
    }
    try world.pass(to: .at(50_000))
    let counters = world.gateway.counters
    #expect(counters.dropped > 0)
    #expect(counters.sent == 2_000 - counters.dropped)
    #expect(UInt64(world.arrived.flatMap(\.sightings).count) == counters.sent)
    #expect(world.arrived.flatMap(\.heartbeats).reduce(0) { $0 + UInt64($1.dropped) } == counters.dropped)
    guard case .reached(_, _, let dropped)? = world.notices.last else {
      throw DecodedDatagram.Unexpected()
    }
    #expect(dropped == counters.dropped)
  }

  @Test("a full socket buffer holds datagrams back")
  func blocked() throws {
    var world = try running()
    world.network = [(.at(0), .up), (.at(500), .full), (.at(3_000), .up)]
    try world.receive(1)
    try world.pass(to: .at(2_999))
    #expect(world.arrived.isEmpty)
    try world.pass(to: .at(3_100))
    #expect(world.arrived.flatMap(\.sightings).map(\.heard) == [.at(500)])
  }

  @Test("the end sends what there is and a last heartbeat at once")
  func end() throws {
    var world = try running()
    try world.receive(1)
    world.gateway.end(at: world.now)
    try world.pass(to: .at(10_000))
    #expect(world.isOver)
    #expect(world.now <= .at(10_000))
    #expect(world.sent == [.at(500)])
    #expect(world.arrived.flatMap(\.heartbeats).map(\.advertsHeard) == [1])
  }

  @Test("the end gives up on a server that cannot be reached, and says what is left")
  func endWithoutServer() throws {
    var world = GatewayWorld()
    world.network = [(.at(0), .refusing(after: .milliseconds(1)))]
    try world.receive(1)
    world.gateway.end(at: world.now)
    try world.pass(to: .at(4_999))
    #expect(!world.isOver)
    try world.pass(to: .at(5_000))
    #expect(world.isOver)
    #expect(world.gateway.counters.unsent == 1)
    #expect(world.gateway.trouble == .refused)
  }

  @Test("an advert that is longer than a datagram keeps the AD structures that fit")
  func shortened() throws {
    var world = try running()
    var batch = ReportBatch()
    let structure = [UInt8(100)] + [UInt8](repeating: 0xFF, count: 100)
    let payload = batch.append(payload: (0..<16).flatMap { _ in structure })
    let advert = Advert(address: DeviceAddress(bits: 9, kind: .random), rssi: nil, payload: payload)
    let report = Report(
      observer: batch.index(of: .name("gate")),
      received: world.now,
      timing: .received,
      body: .advert(advert)
    )
    world.gateway.add(report, from: batch)
    try world.pass(to: .at(600))
    #expect(world.arrived.first?.sightings.map(\.data.count) == [13 * 101])
    #expect(world.gateway.counters.shortened == 1)
  }
}
