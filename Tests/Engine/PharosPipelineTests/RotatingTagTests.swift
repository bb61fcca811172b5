import PharosCaptures
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosSecurity
import PharosTestSupport
import PharosWire
import Testing

/// What `process` makes of a tag that changes its address: datagrams in a recording, read back and decided.
@Suite("A tag that changes its address")
struct RotatingTagTests {
  /// The key of the Core specification's sample data.
  private static let sample = "ec0234a357c8ad05341010a60a397d9b"
  private static let start = Timestamp(seconds: 1_750_000_000)
  private static let gateway = Endpoint(IPAddress(v4: 0x0A00_0001), port: 40_000)
  private static let server = Endpoint(IPAddress(v4: 0x0A00_0002), port: 50_001)
  private static let identity = DeviceAddress(bits: 0xAC23_3F00_0001, kind: .unknown)
  /// How often it changes here: the specification recommends 15 minutes.
  private static let rotation = 900
  private static let rotations = 8

  private static func site(_ key: IdentityKey?) -> Site {
    var region = Region(identifier: "ward", constraint: .address(identity))
    region.subject = .beacon(observers: nil)
    return Site(
      applications: [Application(identifier: "nurses", regions: [region])],
      beacons: [BeaconEntry(constraint: .address(identity), identityKey: key)]
    )
  }

  /// A recording of two gateways that hear the tag every second, each with other devices around it.
  private static func recording(site: Site, key: IdentityKey) throws -> [UInt8] {
    var writer = try RecordingWriter(site: site)
    var random = SeededGenerator(seed: 11)
    var encoders = ["east", "west"].map { PharosDatagramEncoder(observer: .name($0), bootID: 1) }
    var address = identity
    for second in 0..<(rotation * rotations) {
      if second % rotation == 0 {
        address = try #require(key.resolvableAddress(prand: .random(in: 0...0xFF_FFFF, using: &random)))
      }
      for place in encoders.indices {
        var batch = ReportBatch()
        let observer = batch.index(of: encoders[place].observer)
        let outsider = DeviceAddress(
          bits: 0x4000_0000_0000 | .random(in: 0...0xFFFF, using: &random),
          kind: .random
        )
        for advertiser in [address, outsider] {
          let advert = Advert(
            address: advertiser,
            rssi: RSSI(dBm: -60),
            payload: batch.append(payload: [2, 1, 6])
          )
          batch.append(Report(observer: observer, received: start, timing: .received, body: .advert(advert)))
        }
        for report in batch.reports {
          let fits = encoders[place].append(report, from: batch)
          #expect(fits)
        }
        try writer.write(
          datagram: encoders[place].finish(uptime: .seconds(Double(second))).span.bytes,
          from: gateway,
          to: server,
          received: start + .seconds(Double(second)) + .milliseconds(Int64(place))
        )
      }
    }
    try writer.finish(through: start + .seconds(Double(rotation * rotations)) + .milliseconds(100))
    return writer.drainBytes()
  }

  private static func process(
    _ recording: [UInt8],
    keys: Site?,
    shards: Int,
    maxReports: Int
  ) throws -> [Event] {
    var feed = CaptureFeed(observer: .name("file"))
    feed.append(recording)
    var pipeline: Pipeline?
    var events: [Event] = []
    while let input = try feed.next(maxReports: maxReports) {
      if case .site(let site) = input {
        pipeline = try Pipeline(site: keys.map(site.withKeys) ?? site, shards: shards)
      }
      events += pipeline?.process(input) ?? []
    }
    try feed.finish()
    return events + (pipeline?.finish() ?? [])
  }

  @Test(
    "with its key it enters once and stays over every change, at any number of shards and size of batches"
  )
  func stays() throws {
    let key = try #require(IdentityKey(Self.sample))
    let site = Self.site(key)
    let recording = try Self.recording(site: site, key: key)
    #expect(!recording.contains(run: try #require(Hex.bytes(Self.sample))))
    var committed: [[String]] = []
    for (shards, maxReports) in [(1, 1_024), (2, 7), (4, 1)] {
      let events = try Self.process(recording, keys: site, shards: shards, maxReports: maxReports)
      let moves = events.filter { [.regionEnter, .regionExit].contains($0.kind) }
      #expect(moves.map(\.kind) == [.regionEnter])
      #expect(moves.first?.subject == .beacon(.address(Self.identity)))
      committed.append(events.map { $0.cloudEvent(stream: site.stream) })
    }
    #expect(committed[0] == committed[1])
    #expect(committed[0] == committed[2])
  }

  @Test("without the key nothing ties the addresses together, and no tag is inside")
  func outsiders() throws {
    let key = try #require(IdentityKey(Self.sample))
    let recording = try Self.recording(site: Self.site(key), key: key)
    for keys in [nil, Self.site(nil), Self.site(IdentityKey("000102030405060708090a0b0c0d0e0f"))] as [Site?] {
      let events = try Self.process(recording, keys: keys, shards: 1, maxReports: 1_024)
      #expect(!events.contains { $0.kind == .regionEnter })
      #expect(!events.contains { $0.subject == .beacon(.address(Self.identity)) })
    }
  }

  @Test("a key that an edited site brings counts from that instant on")
  func adoption() throws {
    let key = try #require(IdentityKey(Self.sample))
    var pipeline = try Pipeline(site: Self.site(nil))
    var events: [Event] = []
    for second in 0..<60 {
      if second == 30 { events += try pipeline.adopt(Self.site(key), at: Self.start + .seconds(30)) }
      var batch = ReportBatch()
      let observer = batch.index(of: .name("gate"))
      let address = try #require(key.resolvableAddress(prand: UInt32(second)))
      let advert = Advert(address: address, rssi: RSSI(dBm: -60), payload: batch.append(payload: [2, 1, 6]))
      let received = Self.start + .seconds(Double(second))
      batch.append(Report(observer: observer, received: received, timing: .received, body: .advert(advert)))
      events += pipeline.ingest(batch)
    }
    events += pipeline.finish()
    let entered = events.filter { $0.kind == .regionEnter }
    #expect(entered.count == 1)
    #expect(entered.allSatisfy { $0.time >= Self.start + .seconds(30) })
  }
}
