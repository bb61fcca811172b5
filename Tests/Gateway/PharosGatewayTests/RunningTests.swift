import Foundation
import PharosFiles
import PharosGateway
import PharosModel
import PharosSecurity
import PharosTestSupport
import PharosWire
import Testing

@Suite("A gateway with real sockets and pipes", .serialized)
struct RunningTests {
  private static let ibeacon: [UInt8] = [2, 1, 6, 3, 0xFF, 0x4C, 0]

  /// Writes a file that is gone when the test is over.
  private func file(_ bytes: [UInt8]) throws -> String {
    let path = NSTemporaryDirectory() + "pharos-gateway-\(UUID().uuidString).btsnoop"
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  @Test("packets of a pipe are sent while the pipe stays open")
  func live() async throws {
    let receiver = try Receiver()
    let pipe = try NamedPipe()
    let gateway = try RunningGateway(pipe.path, to: receiver.port)
    let writer = try pipe.writer()
    try writer.write(contentsOf: BtsnoopBytes.header)
    for round in 0..<UInt64(3) {
      let record = BtsnoopBytes.advert(round, data: Self.ibeacon, at: .wall)
      // As btmon does: the head and the data in two writes.
      try writer.write(contentsOf: record[..<24])
      try writer.write(contentsOf: record[24...])
      let datagrams = try receiver.datagrams(adverts: 1)
      let last = try DecodedDatagram(#require(datagrams.last))
      #expect(last.sightings.map(\.number) == [round])
      #expect(last.sightings.map(\.data) == [Self.ibeacon])
    }
    try writer.close()
    let report = try await gateway.end()
    #expect(report.isSuccess)
    #expect(report.counters.sent == 3)
    #expect(report.counters.dropped == 0)
  }

  @Test("an advert that lay in the pipe is as old as its time stamp says")
  func age() async throws {
    let receiver = try Receiver()
    let pipe = try NamedPipe()
    let gateway = try RunningGateway(pipe.path, to: receiver.port)
    let writer = try pipe.writer()
    let heard = Timestamp.wall - .seconds(4)
    try writer.write(contentsOf: BtsnoopBytes.header)
    try writer.write(contentsOf: BtsnoopBytes.advert(1, data: [], at: heard))
    let datagram = try DecodedDatagram(#require(receiver.datagrams(adverts: 1).last), sent: .wall)
    let age = Timestamp.wall - heard
    let committed = try Timestamp.wall - #require(datagram.sightings.first).heard
    #expect(committed >= .seconds(4))
    #expect(committed <= age + .milliseconds(2))
    gateway.stop.ask()
    #expect(try await gateway.end().isSuccess)
  }

  @Test("a stop sends what is there, though the pipe stays open")
  func stop() async throws {
    let receiver = try Receiver()
    let pipe = try NamedPipe()
    let gateway = try RunningGateway(pipe.path, to: receiver.port)
    let writer = try pipe.writer()
    try writer.write(contentsOf: BtsnoopBytes.header)
    for number in 0..<UInt64(10) {
      try writer.write(contentsOf: BtsnoopBytes.advert(number, data: [], at: .wall))
    }
    _ = try receiver.datagrams(adverts: 10)
    gateway.stop.ask()
    let report = try await gateway.end()
    #expect(report.wasStopped)
    #expect(report.isSuccess)
    #expect(report.counters.unsent == 0)
    try writer.close()
  }

  @Test("datagrams are signed with the key, and a lookup by name does as well")
  func signed() async throws {
    let receiver = try Receiver()
    let key = try ObserverKey(id: 5, secret: [UInt8](repeating: 9, count: 32))
    let bytes =
      BtsnoopBytes.header + (0..<100).flatMap { BtsnoopBytes.advert($0, data: [], at: .at(Int64($0))) }
    let path = try file(bytes)
    defer { unlink(path) }
    let gateway = try RunningGateway(path, to: receiver.port, key: key, host: "localhost")
    let datagrams = try receiver.datagrams(adverts: 100)
    for datagram in datagrams {
      #expect(try DecodedDatagram(datagram).head.keyID == 5)
      var again = datagram
      for index in again.indices.suffix(PharosDatagramLayout.tagLength) { again[index] = 0 }
      #expect(again != datagram)
      DatagramSigner(key: key).sign(&again)
      #expect(again == datagram)
    }
    #expect(try await gateway.end().counters.sent == 100)
  }

  @Test("a server that goes and comes back misses nothing, and the line says so")
  func restart() async throws {
    var receiver: Receiver? = try Receiver()
    let port = try #require(receiver?.port)
    let pipe = try NamedPipe()
    let gateway = try RunningGateway(pipe.path, to: port)
    var lines = gateway.lines.makeAsyncIterator()
    let writer = try pipe.writer()
    try writer.write(contentsOf: BtsnoopBytes.header)
    try writer.write(contentsOf: BtsnoopBytes.advert(0, data: [], at: .wall))
    _ = try receiver?.datagrams(adverts: 1)
    receiver = nil
    for number in 1..<UInt64(200) {
      try writer.write(contentsOf: BtsnoopBytes.advert(number, data: [], at: .wall))
    }
    let lost = await lines.next()
    #expect(lost?.contains("connection refused") == true)
    let again = try Receiver(port: port)
    var found: Set<UInt64> = []
    // What was sent shortly before the refusal may have been what was refused: it may come once more.
    while !found.isSuperset(of: 1..<200), let bytes = again.next() {
      found.formUnion(try DecodedDatagram(bytes).sightings.map(\.number))
    }
    #expect(found.union([0]) == Set(0..<200))
    let reached = await lines.next()
    #expect(reached?.contains("is reached again") == true)
    try writer.close()
    let report = try await gateway.end()
    #expect(report.counters.sent == 200)
    #expect(report.counters.outages == 1)
  }

  @Test("an end without a server says what could not be sent, and why")
  func refused() async throws {
    let port = try Receiver().port
    let path = try file(BtsnoopBytes.header + BtsnoopBytes.advert(1, data: [], at: .at(0)))
    defer { unlink(path) }
    let report = try await RunningGateway(path, to: port).end()
    #expect(!report.isSuccess)
    let text = report.lines(input: path, destination: HostPort(host: "h", port: 1)).joined()
    #expect(text.contains("1 adverts could not be sent: no process listens"))
  }

  @Test("damage in the input is reported, and what came before it is sent")
  func damage() async throws {
    let receiver = try Receiver()
    let path = try file(BtsnoopBytes.header + BtsnoopBytes.advert(1, data: [], at: .at(0)) + [1, 2, 3])
    defer { unlink(path) }
    let gateway = try RunningGateway(path, to: receiver.port)
    #expect(try receiver.datagrams(adverts: 1).count == 1)
    let report = try await gateway.end()
    #expect(!report.isSuccess)
    #expect(report.damage?.contains("record 2") == true)
  }

  @Test("a file that is no capture is refused in words, and one that is missing too")
  func refusals() async throws {
    let path = try file(Array("not a capture".utf8))
    defer { unlink(path) }
    let receiver = try Receiver()
    let report = try await RunningGateway(path, to: receiver.port).end()
    #expect(report.damage?.isEmpty == false)
    await #expect(throws: FileError(.system(.open, code: ENOENT), path: "/nowhere")) {
      try await RunningGateway("/nowhere", to: receiver.port).end()
    }
  }

  @Test("the number of a start is higher than the last one, whatever the clock says")
  func bootFile() throws {
    let path = NSTemporaryDirectory() + "pharos-boot-\(UUID().uuidString)"
    defer { unlink(path) }
    let first = try BootFile(path: path).next()
    #expect(try BootFile(path: path).next() > first)
    try Data("4000000000\n".utf8).write(to: URL(filePath: path))
    #expect(try BootFile(path: path).next() == 4_000_000_001)
    try Data("soon".utf8).write(to: URL(filePath: path))
    #expect(throws: BootFile.Failure.notANumber(path: path)) { try BootFile(path: path).next() }
    #expect(throws: BootFile.Failure.self) { try BootFile(path: "/nowhere/boot").next() }
  }

  @Test("a key comes from the command line, a file or the environment, and is never repeated in an error")
  func keys() throws {
    let secret = String(repeating: "5a", count: 32)
    let text = "pharos-key-00000005-\(secret)"
    let path = try file(Array("\(text)\n".utf8))
    defer { unlink(path) }
    chmod(path, 0o644)
    var said: [String] = []
    let source = KeySource(text: nil, file: path, environment: "nonsense")
    #expect(try source.key { said.append($0) }?.id == 5)
    #expect(said.contains { $0.contains("chmod 600") })
    #expect(try KeySource(text: nil, file: nil, environment: text).key { _ in }?.id == 5)
    #expect(try KeySource(text: nil, file: nil, environment: "").key { _ in } == nil)
    do {
      _ = try KeySource(text: "x\(text)", file: nil, environment: nil).key { _ in }
      Issue.record("a damaged key was taken")
    } catch {
      #expect("\(error)".hasPrefix("--key: "))
      #expect(!"\(error)".contains(secret))
    }
  }
}
