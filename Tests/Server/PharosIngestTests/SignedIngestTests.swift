import PharosCaptures
import PharosIngest
import PharosModel
import PharosPresence
import PharosSecurity
import PharosTestSupport
import PharosWire
import Testing

/// Signed datagrams over real sockets: what belongs is taken, whatever else there is, and nothing else is.
@Suite("A server that asks for signatures", .serialized, .timeLimit(.minutes(20)))
struct SignedIngestTests {
  private let clock = ManualClock()
  private let kept = KeptWindows()
  private let gateway = ObserverID.eui48(0xAC23_3FA0_0001)
  private let roof = ObserverID.name("roof")
  private let other = ObserverID.eui48(0xAC23_3FA0_0002)
  private let key: ObserverKey
  private let otherKey: ObserverKey

  init() {
    var generator = SeededGenerator(seed: 7)
    key = ObserverKey.random(using: &generator)
    otherKey = ObserverKey.random(using: &generator)
  }

  private var observers: [KeyedObserver] {
    [KeyedObserver(gateway, key, radios: [roof]), KeyedObserver(other, otherKey)]
  }

  private func start(
    _ policy: ListenPolicy = .signed,
    loops: Int = 1,
    site: Site = Samples.site,
    observers: [KeyedObserver]? = nil,
    isRecording: Bool = false,
    machineStart: String = "a"
  ) async throws -> ServerHarness {
    try await ServerHarness.start(
      site: site,
      listeners: [ListenAddress(host: "127.0.0.1", port: 0, policy: policy)],
      isRecording: isRecording
    ) {
      $0.loops = loops
      $0.clock = clock.ingest
      $0.signing = kept.signing(observers ?? self.observers, clock: clock.ingest, machineStart: machineStart)
    }
  }

  private func refusals(_ snapshot: IngestSnapshot, _ reason: DatagramRefusal) -> UInt64 {
    (WireFormat.allCases as [WireFormat?] + [nil]).reduce(0) { $0 + snapshot.decoding.refusals($1, reason) }
  }

  /// Waits until so many datagrams have been taken or refused.
  private func waitForDatagrams(_ harness: ServerHarness, _ count: UInt64) async -> IngestSnapshot {
    while true {
      let snapshot = await harness.server.snapshot()
      if snapshot.decoding.totalDatagrams + snapshot.decoding.totalRefusals >= count { return snapshot }
      await Task.yield()
    }
  }

  @Test(
    "a signed datagram is accepted, also out of order, and a repeat is refused, on any loop",
    arguments: [1, 2, 4]
  )
  func repeats(loops: Int) async throws {
    let harness = try await start(loops: loops)
    var device = SignedGateway(gateway, key)
    var datagrams = (0..<200).map { device.datagram(minor: 1, uptime: .seconds(10 + Double($0))) }
    datagrams.swapAt(3, 50)
    datagrams.swapAt(100, 199)
    // Sixteen sockets, which the kernel spreads over the loops.
    let senders = try (0..<16).map { _ in try harness.sender() }
    for (index, datagram) in datagrams.enumerated() { try senders[index % 16].sendWaiting(datagram) }
    _ = await waitForDatagrams(harness, 200)
    for index in datagrams.indices { try senders[(index * 7 + 3) % 16].sendWaiting(datagrams[index]) }
    let snapshot = await waitForDatagrams(harness, 400)
    #expect(snapshot.decoding.datagrams(.pharos) == 200)
    #expect(refusals(snapshot, .replayed) == 200)
    #expect(snapshot.decoding.totalRefusals == 200)
    #expect(snapshot.datagrams == 400)
    await harness.server.shutdown()
  }

  @Test("two of one datagram that arrive at once at different loops are taken once", arguments: [2, 4])
  func race(loops: Int) async throws {
    let harness = try await start(loops: loops)
    var device = SignedGateway(gateway, key)
    let senders = try (0..<8).map { _ in try harness.sender() }
    // Each race is over before the next begins: what has to wait for the disk, as the first datagrams of a boot do and those
    // after a stall, is held in small numbers only.
    for number in 0..<100 {
      let datagram = device.datagram(minor: 1, uptime: .seconds(10))
      for sender in senders { try sender.sendWaiting(datagram) }
      _ = await waitForDatagrams(harness, UInt64(8 * (number + 1)))
    }
    let snapshot = await waitForDatagrams(harness, 800)
    #expect(snapshot.decoding.datagrams(.pharos) == 100)
    #expect(refusals(snapshot, .replayed) == 700)
    await harness.server.shutdown()
  }

  @Test("every attack is refused, counted by its reason, and changes nothing")
  func attacks() async throws {
    let harness = try await start(isRecording: true)
    let sender = try harness.sender()
    var device = SignedGateway(gateway, key)
    let good = device.datagram(minor: 1, uptime: .seconds(10))
    var expected: [DatagramRefusal: UInt64] = [:]
    var sent: UInt64 = 0
    func attack(_ datagram: [UInt8], _ reason: DatagramRefusal?) throws {
      try sender.sendWaiting(datagram)
      sent += 1
      if let reason { expected[reason, default: 0] += 1 }
    }
    // Every bit of a datagram that has not been taken yet, and every length.
    for bit in 0..<good.count * 8 {
      var flipped = good
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      try attack(flipped, nil)
      if sent % 100 == 0 { _ = await waitForDatagrams(harness, sent) }
    }
    for length in 1..<good.count { try attack(Array(good[..<length]), nil) }
    var snapshot = await waitForDatagrams(harness, sent)
    #expect(snapshot.decoding.totalDatagrams == 0)
    #expect(snapshot.decoding.totalRefusals == sent)
    #expect(refusals(snapshot, .badSignature) > 0 && refusals(snapshot, .lengthMismatch) > 0)
    let before = snapshot

    try sender.sendWaiting(good)
    sent += 1
    try attack(good, .replayed)
    try attack(Samples.raddec(observer: 0xAC23_3FA0_0001, minor: 2), .notSigned)
    try attack(Array("{\"observer\":\"x\"}".utf8), .notSigned)
    var plain = PharosDatagramEncoder(observer: gateway, bootID: 1, sequence: 9)
    try attack(plain.finish(uptime: .seconds(11)), .notSigned)
    // Another gateway's key, for this one and for its radio; and its own, with records of this one.
    var thief = SignedGateway(gateway, otherKey, sequence: 50)
    try attack(thief.datagram(minor: 2, uptime: .seconds(12)), .unknownKey)
    var neighbour = SignedGateway(other, otherKey)
    try attack(neighbour.datagram(minor: 2, uptime: .seconds(12), heardBy: [gateway]), .notVouched)
    try attack(neighbour.datagram(minor: 2, uptime: .seconds(12), heardBy: [roof]), .notVouched)
    try attack(neighbour.datagram(minor: 2, uptime: .seconds(12), heardBy: [other, .name("x")]), .notVouched)
    var forger = SignedGateway(gateway, try ObserverKey(id: key.id, secret: otherKey.secret), sequence: 60)
    try attack(forger.datagram(minor: 2, uptime: .seconds(12)), .badSignature)
    // The first datagrams of the boot wait for the disk: they are decided before the next boot comes.
    _ = await waitForDatagrams(harness, sent)
    var rebooted = SignedGateway(gateway, key, bootID: 2)
    try sender.sendWaiting(rebooted.datagram(minor: 1, uptime: .seconds(1), heardBy: [gateway, roof]))
    sent += 1
    _ = await waitForDatagrams(harness, sent)
    var old = SignedGateway(gateway, key, bootID: 1, sequence: 100)
    try attack(old.datagram(minor: 2, uptime: .seconds(100)), .olderBoot)
    snapshot = await waitForDatagrams(harness, sent)
    for (reason, count) in expected {
      #expect(refusals(snapshot, reason) - refusals(before, reason) == count, "\(reason.name)")
    }
    #expect(snapshot.decoding.totalDatagrams == 2)
    #expect(snapshot.datagrams == sent)
    #expect(snapshot.decoding.totalDatagrams + snapshot.decoding.totalRefusals == sent)
    #expect(snapshot.refusedSources.map(\.count) == [snapshot.decoding.totalRefusals])
    #expect(
      harness.logs.lines.contains {
        $0.contains("A datagram was refused.") && $0.contains("reason=bad_signature")
      }
    )
    await harness.server.shutdown()
    // What was refused is in no event, and running the recording needs no keys.
    #expect(harness.output.all.contains { $0.kind == .regionEnter })
    let lines = harness.output.all.map { "\($0)" }
    #expect(try harness.replayed(shards: 1).map { "\($0)" } == lines)
    #expect(try harness.replayed(shards: 3).map { "\($0)" } == lines)
  }

  @Test("on an allowlist an observer with a key must sign, and one without is accepted")
  func allowlist() async throws {
    var site = Samples.site
    site.admission = .listed
    site.observers = [ObserverEntry(id: gateway), ObserverEntry(id: .eui48(5)), ObserverEntry(id: roof)]
    let harness = try await start(.allowlist, site: site)
    let sender = try harness.sender()
    var device = SignedGateway(gateway, key)
    let signed = device.datagram(minor: 1, uptime: .seconds(10), heardBy: [gateway, roof, .eui48(5)])
    try sender.sendWaiting(signed)
    try sender.sendWaiting(Samples.raddec(observer: 5, minor: 1))
    var unkeyed = SignedGateway(.eui48(5), otherKey)
    try sender.sendWaiting(unkeyed.datagram(minor: 1, uptime: .seconds(1)))
    _ = await waitForDatagrams(harness, 3)
    try sender.sendWaiting(signed)
    try sender.sendWaiting(Samples.raddec(observer: 0xAC23_3FA0_0001, minor: 1))
    try sender.sendWaiting(device.datagram(minor: 1, uptime: .seconds(11), heardBy: [other]))
    try sender.sendWaiting(Samples.raddec(observer: 6, minor: 1))
    let snapshot = await waitForDatagrams(harness, 7)
    #expect(snapshot.decoding.totalDatagrams == 4)
    #expect(refusals(snapshot, .replayed) == 1)
    #expect(refusals(snapshot, .notSigned) == 1)
    #expect(refusals(snapshot, .notVouched) == 1)
    // An unknown observer without a key is for the engine, which shows it.
    while try await harness.server.quarantine().map(\.id) != [.eui48(6)] { await Task.yield() }
    await harness.server.shutdown()
  }

  @Test("an allowlist beside an open listener refuses unknown senders itself")
  func mixed() async throws {
    var site = Samples.site
    site.observers = [ObserverEntry(id: .eui48(5))]
    let harness = try await ServerHarness.start(
      site: site,
      listeners: [
        ListenAddress(host: "127.0.0.1", port: 0),
        ListenAddress(host: "127.0.0.1", port: 0, policy: .allowlist),
      ]
    ) {
      $0.clock = clock.ingest
      $0.signing = kept.signing(observers, clock: clock.ingest)
    }
    let addresses = harness.server.localAddresses
    let open = try DatagramSender(to: addresses[0])
    let listed = try DatagramSender(to: addresses[1])
    try open.sendWaiting(Samples.raddec(observer: 6, minor: 1))
    // Who may reach an open listener is believed in everything.
    try open.sendWaiting(Samples.raddec(observer: 0xAC23_3FA0_0001, minor: 1))
    try listed.sendWaiting(Samples.raddec(observer: 5, minor: 1))
    try listed.sendWaiting(Samples.raddec(observer: 6, minor: 1))
    var snapshot = await waitForDatagrams(harness, 4)
    #expect(snapshot.decoding.totalDatagrams == 3)
    #expect(refusals(snapshot, .notListed) == 1)
    site.observers.append(ObserverEntry(id: .eui48(6)))
    try await harness.server.adopt(site)
    // Behind the loop's own turn, in which it takes the list over.
    _ = await harness.server.snapshot()
    try listed.sendWaiting(Samples.raddec(observer: 6, minor: 1))
    snapshot = await waitForDatagrams(harness, 5)
    #expect(snapshot.decoding.totalDatagrams == 4)
    await harness.server.shutdown()
  }

  @Test(
    "keys change while the server runs: a new one counts at once, an old one for its overlap",
    arguments: [1, 4]
  )
  func rotation(loops: Int) async throws {
    let harness = try await start(loops: loops)
    let sender = try harness.sender()
    var device = SignedGateway(gateway, key)
    try sender.sendWaiting(device.datagram(minor: 1, uptime: .seconds(10)))
    _ = await waitForDatagrams(harness, 1)
    var generator = SeededGenerator(seed: 99)
    let newKey = ObserverKey.random(using: &generator)
    let end = clock.ingest.wall() + .seconds(60)
    let entries = [
      KeyedObserver.Entry(key: key, createdAt: Timestamp(seconds: 0), expiresAt: end),
      KeyedObserver.Entry(key: newKey, createdAt: Timestamp(seconds: 1)),
    ]
    try await harness.server.adopt(keys: [KeyedObserver(id: gateway, keys: entries)])
    var renewed = SignedGateway(gateway, newKey)
    try sender.sendWaiting(renewed.datagram(minor: 1, uptime: .seconds(11)))
    let late = device.datagram(minor: 1, uptime: .seconds(12))
    try sender.sendWaiting(late)
    var snapshot = await waitForDatagrams(harness, 3)
    #expect(snapshot.decoding.totalDatagrams == 3)
    try sender.sendWaiting(late)
    _ = await waitForDatagrams(harness, 4)
    await harness.pass(.seconds(61), on: clock)
    try sender.sendWaiting(device.datagram(minor: 1, uptime: .seconds(73)))
    snapshot = await waitForDatagrams(harness, 5)
    #expect(refusals(snapshot, .replayed) == 1)
    #expect(refusals(snapshot, .expiredKey) == 1)
    try await harness.server.adopt(keys: [KeyedObserver(id: gateway)])
    try sender.sendWaiting(renewed.datagram(minor: 1, uptime: .seconds(74)))
    snapshot = await waitForDatagrams(harness, 6)
    #expect(refusals(snapshot, .unknownKey) == 1)
    await harness.server.shutdown()
  }

  @Test(
    "after an orderly end or a kill nothing is taken again, and the gateway goes on",
    arguments: [false, true]
  )
  func restart(isKilled: Bool) async throws {
    var device = SignedGateway(gateway, key)
    var datagrams: [[UInt8]] = []
    let first = try await start(loops: 2)
    let sender = try first.sender()
    for number in 0..<50 {
      datagrams.append(device.datagram(minor: 1, uptime: .seconds(10 + Double(number) / 10)))
      try sender.sendWaiting(datagrams[number])
      // Time passes with the gateway's uptime.
      await first.pass(.milliseconds(100), on: clock)
      _ = await waitForDatagrams(first, UInt64(number + 1))
    }
    if isKilled { await first.server.stopAtOnce() } else { await first.server.shutdown() }
    clock.pass(.milliseconds(300))

    let second = try await start(loops: 3)
    let again = try second.sender()
    for datagram in datagrams { try again.sendWaiting(datagram) }
    var snapshot = await waitForDatagrams(second, 50)
    #expect(refusals(snapshot, .replayed) == 50)
    await second.pass(.milliseconds(100), on: clock)
    try again.sendWaiting(device.datagram(minor: 1, uptime: .seconds(15.4)))
    snapshot = await waitForDatagrams(second, 51)
    #expect(snapshot.decoding.totalDatagrams == 1)
    await second.server.stopAtOnce()

    // The machine itself restarts: all is refused until the lease is over, then ingest continues.
    clock.pass(.seconds(11))
    let third = try await start(machineStart: "b")
    let last = try third.sender()
    for datagram in datagrams { try last.sendWaiting(datagram) }
    await third.pass(.milliseconds(100), on: clock)
    try last.sendWaiting(device.datagram(minor: 1, uptime: .seconds(26.5)))
    snapshot = await waitForDatagrams(third, 51)
    #expect(refusals(snapshot, .replayed) == 50)
    #expect(snapshot.decoding.totalDatagrams == 1)
    await third.server.shutdown()
  }

  @Test("a disk that fails is logged once, and ingest goes on")
  func brokenDisk() async throws {
    kept.breakDown()
    let harness = try await start()
    let sender = try harness.sender()
    var device = SignedGateway(gateway, key)
    for number in 0..<5 {
      try sender.sendWaiting(device.datagram(minor: 1, uptime: .seconds(10 + Double(number))))
    }
    let snapshot = await waitForDatagrams(harness, 5)
    #expect(snapshot.decoding.totalDatagrams == 5)
    await harness.server.shutdown()
    #expect(harness.logs.lines.count { $0.contains("Cannot store replay windows") } == 1)
  }

  @Test("in the steady state nothing is written but the lease, whatever the number of datagrams")
  func writes() async throws {
    let harness = try await start()
    let sender = try harness.sender()
    var device = SignedGateway(gateway, key)
    for number in 0..<500 {
      try sender.sendWaiting(device.datagram(minor: 1, uptime: .seconds(10)))
      if number % 100 == 99 { _ = await waitForDatagrams(harness, UInt64(number + 1)) }
    }
    _ = await waitForDatagrams(harness, 500)
    // The first lease, the first record, and one more for each five seconds of the clock, which stands here.
    #expect(kept.writes <= 4)
    #expect(kept.records.count == 1)
    await harness.server.shutdown()
    #expect(kept.records.allSatisfy { $0.window != nil })
  }
}
