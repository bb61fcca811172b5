import PharosCaptures
import PharosDocuments
import PharosIngest
import PharosModel
import PharosPipeline
import PharosSecurity
import PharosTestSupport
import Testing

@Suite("Device data that a server publishes", .serialized)
struct DevicePrivacyTests {
  private static let secret = "ec0234a357c8ad05341010a60a397d9b"
  private static let own = DeviceAddress(bits: 0xAC23_3F00_0001, kind: .unknown)

  private static func site(_ key: IdentityKey?) -> Site {
    let region = Region(
      identifier: "ward",
      constraint: .address(own),
      subject: .beacon(observers: nil),
      presence: PresencePolicy(enterSamples: 1, silence: .never)
    )
    return Site(
      stream: "test",
      applications: [Application(identifier: "nurses", regions: [region])],
      beacons: [BeaconEntry(constraint: .address(own), identityKey: key)]
    )
  }

  private static func datagram(_ address: DeviceAddress, by observer: String) -> [UInt8] {
    Array(
      #"{"observer":"\#(observer)","address":"\#(address)","addressType":"random","rssi":-60,"data":"020106"}"#
        .utf8
    )
  }

  @Test(
    "a tag that changes its address stays inside, live and when the recording is run with the key",
    arguments: [1, 2]
  )
  func rotates(loops: Int) async throws {
    let key = try #require(IdentityKey(Self.secret))
    let site = Self.site(key)
    let harness = try await ServerHarness.start(site: site, isRecording: true) { $0.loops = loops }
    let sender = try harness.sender()
    for prand: UInt32 in 0..<40 {
      let address = try #require(key.resolvableAddress(prand: prand))
      for observer in ["east", "west", "north"] {
        try sender.sendWaiting(Self.datagram(address, by: observer))
      }
    }
    let heard = await harness.snapshot(datagrams: 120).heard
    await harness.output.wait { $0.contains { $0.kind == .regionEnter } }
    await harness.server.shutdown()
    let moves = harness.output.all.filter { [.regionEnter, .regionExit].contains($0.kind) }
    #expect(moves.map(\.kind) == [.regionEnter])
    #expect(moves.first?.subject == .beacon(.address(Self.own)))
    #expect(Set(heard.beacons.map { $0.address?.bits }) == [Self.own.bits])
    let recording = harness.output.recorded
    #expect(!recording.contains(run: try #require(Hex.bytes(Self.secret))))
    var committed: [[String]] = []
    for keys in [site, Self.site(nil)] {
      var feed = CaptureFeed(observer: .name("none"))
      feed.append(recording)
      var pipeline: Pipeline?
      var events: [Event] = []
      while let input = try feed.next(maxReports: 7) {
        if case .site(let recorded) = input {
          pipeline = try Pipeline(site: recorded.withKeys(of: keys), shards: 3)
        }
        events += pipeline?.process(input) ?? []
      }
      events += pipeline?.finish() ?? []
      committed.append(events.map { $0.cloudEvent(stream: "test") })
    }
    #expect(committed[0] == harness.output.all.map { $0.cloudEvent(stream: "test") })
    #expect(!committed[1].contains { $0.contains("\(Self.own)") })
  }

  @Test("no address of a device is in a log line of the default level, whatever is heard, refused and asked")
  func logs() async throws {
    let key = try #require(IdentityKey(Self.secret))
    let harness = try await ServerHarness.start(site: Self.site(key), isRecording: true) {
      $0.largestDatagram = 512
    }
    let sender = try harness.sender()
    var random = SeededGenerator(seed: 8)
    var addresses: [DeviceAddress] = [Self.own]
    var sent: UInt64 = 0
    for number in 0..<300 {
      let address =
        number % 3 == 0
        ? try #require(key.resolvableAddress(prand: .random(in: 0...0xFF_FFFF, using: &random)))
        : DeviceAddress(bits: .random(in: .min ... .max, using: &random), kind: .random)
      addresses.append(address)
      var bytes = Self.datagram(address, by: "east")
      switch number % 5 {
      case 1: bytes.removeLast(9)
      case 2: bytes += Array(repeating: UInt8(ascii: " "), count: 600)
      case 3: bytes = Array("$GPRP,\(address),nonsense".utf8)
      default: break
      }
      try sender.sendWaiting(bytes)
      sent += 1
    }
    _ = await harness.snapshot(datagrams: sent)
    for text in ["mac:\(Self.own)", "east"] {
      try await harness.server.apply(.forget(try #require(SubjectTraces(text))))
    }
    try await harness.server.adopt(Self.site(nil))
    await harness.server.shutdown()
    #expect(!harness.logs.lines.isEmpty, "refusals are logged")
    for line in harness.logs.lines.map({ $0.lowercased() }) {
      #expect(!line.contains(Self.secret))
      for address in addresses {
        #expect(!line.contains("\(address)"))
        #expect(!line.contains("\(address)".replacing(":", with: "")))
      }
    }
  }
}
