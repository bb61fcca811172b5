import CPharos
import Foundation
import PharosCaptures
import PharosIngest
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("The sockets of a server", .serialized, .timeLimit(.minutes(20)))
struct SocketBinderTests {
  @Test("are not opened beside another server's, with one loop or several", arguments: [1, 2], [1, 2])
  func refusesAPortInUse(first: Int, second: Int) async throws {
    let harness = try await ServerHarness.start { $0.loops = first }
    let port = Int(try #require(harness.server.localAddresses.first).port)
    let address = ListenAddress(host: "127.0.0.1", port: port)
    await #expect(throws: IngestError.cannotListen(address, reason: .addressInUse)) {
      _ = try await ServerHarness.start(listeners: [address]) { $0.loops = second }
    }
    await harness.server.shutdown()
    let next = try await ServerHarness.start(listeners: [address]) { $0.loops = second }
    #expect(next.server.localAddresses.map(\.port) == [UInt16(port)])
    await next.server.shutdown()
  }

  @Test("are one for each loop at one port, or a single one for a multicast listener")
  func countsSockets() async throws {
    let harness = try await ServerHarness.start { $0.loops = 3 }
    #expect(harness.server.sockets.map(\.loop) == [0, 1, 2])
    #expect(harness.server.localAddresses.count == 1)
    await harness.server.shutdown()
  }

  @Test("give an observer's datagrams to the loop that decides about it", arguments: [2, 3, 8])
  func steers(loops: Int) async throws {
    let harness = try await ServerHarness.start { $0.loops = loops }
    let sender = try harness.sender()
    var generator = SeededGenerator(seed: UInt64(loops))
    // One sender, whom the kernel alone would give to one loop.
    for number in 0..<96 as Range<UInt64> {
      let id: ObserverID =
        switch number % 3 {
        case 0: .eui48(generator.next() & 0xFFFF_FFFF_FFFF)
        case 1: .eui64(generator.next())
        default: .uuid(UUID128(high: generator.next(), low: generator.next()))
        }
      try sender.sendWaiting(SocketBinderTests.heartbeat(of: id))
    }
    let steered = await harness.snapshot(datagrams: 96)
    let isSteered = !harness.logs.lines.contains { $0.contains("The kernel cannot steer datagrams") }
    if isSteered {
      #expect(steered.forwarded == 0)
    } else {
      print("skipped that datagrams go to the loop of their observer: the kernel takes no packet filter")
    }
    // Named observers and other formats show which loops hand over what is not theirs.
    for number in 0..<48 as Range<UInt64> {
      try sender.sendWaiting(SocketBinderTests.heartbeat(of: .name("gate \(number)")))
      try sender.sendWaiting(Samples.raddec(observer: number, minor: 1))
    }
    for length in 1..<36 { try sender.sendWaiting([UInt8](repeating: 0x50, count: length)) }
    var all = await harness.snapshot(datagrams: 96 + 96 + 35)
    while all.observers.count < 96 + 96 {
      await Task.yield()
      all = await harness.server.snapshot()
    }
    #expect(all.datagrams == 96 + 96 + 35)
    #expect(all.forwarded > 0)
    await harness.server.shutdown()
  }

  private static func heartbeat(of observer: ObserverID) -> [UInt8] {
    var batch = ReportBatch()
    let place = batch.index(of: observer)
    batch.append(
      Report(observer: place, received: .distantPast, timing: .received, body: .heartbeat(Heartbeat()))
    )
    var encoder = PharosDatagramEncoder(observer: observer, bootID: 1)
    let fits = encoder.append(batch.reports[0], from: batch)
    #expect(fits)
    return Array(encoder.finish(uptime: .zero))
  }

  @Test("are refused in words where they cannot be")
  func refusesInWords() async throws {
    let foreign = ListenAddress(host: "192.0.2.1", port: 0)
    await #expect(throws: IngestError.cannotListen(foreign, reason: .addressNotAvailable)) {
      _ = try await ServerHarness.start(listeners: [foreign])
    }
    await #expect(throws: IngestError.nothingToListenAt) { _ = try await ServerHarness.start(listeners: []) }
    await #expect(throws: IngestError.outOfRange(setting: "loops", value: 0, range: 1...16)) {
      _ = try await ServerHarness.start { $0.loops = 0 }
    }
    await #expect(throws: IngestError.notADatagramSocket(descriptor: 0)) {
      _ = try await ServerHarness.start(listeners: [ListenAddress(descriptor: 0)])
    }
    let group = ListenAddress(host: "127.0.0.1", port: 0, multicastGroups: ["192.0.2.1"])
    await #expect {
      _ = try await ServerHarness.start(listeners: [group])
    } throws: { error in
      "\(error)".hasPrefix("cannot join multicast group 192.0.2.1 on udp 127.0.0.1:0: ")
    }
  }

  @Test("are several, of both versions of the protocol")
  func listensTwice() async throws {
    let listeners = [ListenAddress(host: "127.0.0.1", port: 0), ListenAddress(host: "::1", port: 0)]
    let harness = try await ServerHarness.start(listeners: listeners)
    #expect(harness.server.localAddresses.map(\.address.version) == [.v4, .v6])
    for (number, address) in harness.server.localAddresses.enumerated() {
      let sender = try DatagramSender(to: address)
      try sender.sendWaiting(Samples.raddec(observer: UInt64(number), minor: 1))
    }
    let heard = await harness.snapshot(datagrams: 2).heard
    #expect(heard.observers.map(\.source.address.version) == [.v4, .v6])
    await harness.server.shutdown()
  }

  @Test("are taken over from the parent process")
  func adoptsSockets() async throws {
    let socket = try TestSocket()
    // As systemd does, the descriptor is passed at a known place; the server then owns it.
    let passed = fcntl(socket.descriptor, F_DUPFD, 200)
    let environment = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1"]
    let listeners = SocketActivation.listeners(
      environment: environment,
      processID: getpid(),
      firstDescriptor: passed
    )
    #expect(listeners == [ListenAddress(descriptor: passed)])
    #expect(fcntl(passed, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
    let sender = try DatagramSender(to: socket.address)
    // Sent before there is a server, as when a datagram starts it.
    try sender.sendWaiting(Samples.raddec(observer: 9, minor: 1))
    let harness = try await ServerHarness.start(listeners: listeners) { $0.loops = 2 }
    #expect(harness.server.localAddresses == [socket.address])
    try sender.sendWaiting(Samples.raddec(observer: 9, minor: 1))
    #expect(await harness.snapshot(datagrams: 2).decoding.totalDatagrams == 2)
    await harness.server.shutdown()
  }

  @Test("are not taken for ours when the variables were inherited or are nonsense")
  func ignoresOthersSockets() throws {
    let socket = try TestSocket()
    let cases = [
      [:], ["LISTEN_PID": "1", "LISTEN_FDS": "1"], ["LISTEN_PID": "7"],
      ["LISTEN_PID": "7", "LISTEN_FDS": "x"],
      ["LISTEN_PID": "7", "LISTEN_FDS": "-1"], ["LISTEN_PID": "7", "LISTEN_FDS": "0"],
    ]
    for environment in cases {
      let listeners = SocketActivation.listeners(
        environment: environment,
        processID: 7,
        firstDescriptor: socket.descriptor
      )
      #expect(listeners.isEmpty)
    }
  }

  @Test("that get a smaller receive buffer than was asked for come with the command that helps")
  func warnsOfSmallBuffers() async throws {
    let harness = try await ServerHarness.start { $0.receiveBuffer = 1 << 30 }
    let status = try #require(harness.server.sockets.first)
    await harness.server.shutdown()
    let warnings = harness.logs.lines.filter { $0.contains("sudo sysctl -w net.core.rmem_max=1073741824") }
    #expect(warnings.count == (status.receiveBuffer < 1 << 30 ? 1 : 0))
  }
}
