import PharosCaptures
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosTestSupport
import PharosWire
import Testing

@Suite("Recordings and captures")
struct RecordingTests {
  private static let gateway = Endpoint(IPAddress(v4: 0x0A00_0001), port: 40_000)
  private static let server = Endpoint(IPAddress(v4: 0x0A00_0002), port: 50_001)

  /// A server's run: its recording and the events it gave.
  private static func serve(seed: UInt64, shards: Int) throws -> (recording: [UInt8], lines: [String]) {
    var writer = try RecordingWriter(site: Traffic.site)
    var pipeline = try Pipeline(site: Traffic.site, shards: shards)
    var decoder = DatagramDecoder()
    var random = SeededGenerator(seed: seed)
    var events: [Event] = []
    var bytes: [UInt8] = []
    var last = Traffic.start
    for input in Traffic.inputs(seed: seed, count: 600, changes: true) {
      last = input.instant
      if case .change(let change, let instant) = input {
        try writer.write(.change(change, at: instant))
        events += pipeline.apply(change, at: instant)
      } else if let payload = datagram(input, &random) {
        try writer.write(datagram: payload.span.bytes, from: gateway, to: server, received: last)
        var batch = ReportBatch()
        _ = decoder.decode(payload.span.bytes, received: last, into: &batch)
        events += pipeline.ingest(batch)
      }
      if Int.random(in: 0..<100, using: &random) == 0 {
        let end = last + .seconds(Double.random(in: 1...20, using: &random))
        try writer.write(.pause(through: end, at: last))
        events += pipeline.pause(through: end, at: last)
      }
      if Bool.random(using: &random) { bytes += writer.drainBytes() }
    }
    try writer.write(.clockStep(.seconds(3), at: last + .seconds(1)))
    events += pipeline.stepClock(by: .seconds(3), at: last + .seconds(1))
    try writer.finish(through: last + .seconds(200))
    events += pipeline.advance(to: last + .seconds(200))
    return (bytes + writer.drainBytes(), events.map { $0.cloudEvent(stream: Traffic.site.stream) })
  }

  /// A report as the datagram of a gateway; now and then one that is no datagram at all, or longer than a packet can hold.
  private static func datagram(_ input: Traffic.Input, _ random: inout SeededGenerator) -> [UInt8]? {
    guard case .report(let observer, _, _, .advert(let minor, let level)) = input else { return nil }
    guard Int.random(in: 0..<20, using: &random) > 0 else { return [1, 2, 3] }
    let data = Hex.text(Traffic.iBeacon(minor: minor))
    let address = "c0:00:00:00:00:0\(minor)"
    let padding =
      Int.random(in: 0..<40, using: &random) == 0 ? Int.random(in: 65_400...1_100_000, using: &random) : 0
    return Array(
      #"{"observer":"\#(observer)","address":"\#(address)","rssi":\#(level),"data":"\#(data)"}"#.utf8
    ) + Array(repeating: 0x20, count: padding)
  }

  /// What `process` does: the pipeline made from the site inside, the inputs taken one by one.
  private static func process(
    _ recording: [UInt8],
    shards: Int,
    chunk: Int,
    maxReports: Int
  ) throws -> [String] {
    var feed = CaptureFeed(observer: .name("file"))
    var pipeline: Pipeline?
    var events: [Event] = []
    var position = 0
    while position < recording.count {
      let end = min(position + chunk, recording.count)
      feed.append(Array(recording[position..<end]))
      position = end
      while let input = try feed.next(maxReports: maxReports) {
        if case .site(let site) = input { pipeline = try Pipeline(site: site, shards: shards) }
        events += pipeline?.process(input) ?? []
      }
    }
    try feed.finish()
    events += pipeline?.finish() ?? []
    #expect(feed.isRecording)
    return events.map { $0.cloudEvent(stream: Traffic.site.stream) }
  }

  @Test(
    "processing a recording gives the events of the run, byte for byte",
    arguments: [201, 202] as [UInt64],
    [(1, 1 << 20, 1_000), (2, 4_096, 1), (3, 100, 7)]
  )
  func sameEvents(seed: UInt64, cut: (shards: Int, chunk: Int, maxReports: Int)) throws {
    let run = try Self.serve(seed: seed, shards: 2)
    #expect(run.lines.count > 100)
    let lines = try Self.process(
      run.recording,
      shards: cut.shards,
      chunk: cut.chunk,
      maxReports: cut.maxReports
    )
    #expect(lines == run.lines)
  }

  @Test("the site comes out as it went in, before anything else")
  func site() throws {
    var sites = RandomSites(seed: 77)
    for _ in 0..<20 {
      let site = sites.site()
      var writer = try RecordingWriter(site: site)
      var feed = CaptureFeed(observer: .name("file"))
      feed.append(writer.drainBytes())
      guard case .site(let read)? = try feed.next() else {
        Issue.record("no site")
        return
      }
      #expect(read == site)
      #expect(try feed.next() == nil)
      try feed.finish()
    }
  }

  @Test("a recording that is cut off anywhere gives what it holds and one error")
  func cut() throws {
    let run = try Self.serve(seed: 203, shards: 1)
    var whole = 0
    for length in stride(from: 40, to: run.recording.count, by: 4_001) {
      var feed = CaptureFeed(observer: .name("file"))
      feed.append(Array(run.recording[..<length]))
      var count = 0
      while try feed.next() != nil { count += 1 }
      #expect(count >= whole)
      whole = count
      do {
        try feed.finish()
      } catch {
        #expect(error.isCut)
        #expect(error.description.contains("at byte"))
      }
      try feed.finish()
    }
    #expect(whole > 1)
  }

  @Test("damage gives what came before it, then one error, then nothing")
  func damage() throws {
    var writer = try RecordingWriter(site: Traffic.site)
    let payload = Array(#"{"observer":"a","address":"c0:00:00:00:00:01","rssi":-60,"data":"020106"}"#.utf8)
    try writer.write(
      datagram: payload.span.bytes,
      from: Self.gateway,
      to: Self.server,
      received: Traffic.start
    )
    var bytes = writer.drainBytes()
    try writer.finish(through: Traffic.start + .seconds(1))
    var last = writer.drainBytes()
    // The version byte of the last block's content.
    last[12] = 9
    bytes += last
    var feed = CaptureFeed(observer: .name("file"))
    feed.append(bytes)
    guard case .site? = try feed.next(), case .reports(let batch)? = try feed.next() else {
      Issue.record("what came before the damage is missing")
      return
    }
    #expect(batch.reports.count == 1)
    let error = #expect(throws: CaptureFeedError.self) { try feed.next() }
    guard case .recording(let problem, offset: _)? = error else {
      Issue.record("\(String(describing: error)) is not about the recording")
      return
    }
    #expect(problem.problem == .version(9, expected: RecordedInput.version))
    #expect(try feed.next() == nil)
    try feed.finish()
  }

  @Test(
    "flipped bytes never crash a feed and never flood it",
    arguments: Seeds.drawn(0..<20 as Range<UInt64>)
  )
  func mutations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var writer = try RecordingWriter(site: Traffic.site)
    try writer.write(
      .change(.stopMonitoring(application: "gallery", identifier: "any"), at: Traffic.start)
    )
    let payload = Array(#"{"observer":"a","address":"c0:00:00:00:00:01","rssi":-60,"data":"020106"}"#.utf8)
    for _ in 0..<10 {
      try writer.write(
        datagram: payload.span.bytes,
        from: Self.gateway,
        to: Self.server,
        received: Traffic.start
      )
    }
    let bytes = writer.drainBytes()
    for _ in 0..<100 {
      var mutated = bytes
      for _ in 0..<3 {
        mutated[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var feed = CaptureFeed(observer: .name("file"))
      feed.append(mutated)
      var inputs = 0
      var errors = 0
      do {
        while try feed.next() != nil { inputs += 1 }
        try feed.finish()
      } catch {
        errors += 1
      }
      #expect(inputs <= 12 && errors <= 1)
    }
  }

  @Test("Bluetooth packets become adverts of the observer that is named")
  func bluetooth() throws {
    var writer = CaptureWriter(interfaces: [CaptureWriter.Interface(linkType: .bluetoothLEWithHeader)])
    let packet = Self.airPacket(payload: Traffic.iBeacon(minor: 7))
    for seconds in [10.0, 12, 11] {
      try writer.write(packet: packet.span.bytes, at: Traffic.start + .seconds(seconds))
    }
    var feed = CaptureFeed(observer: .name("sniffer"))
    feed.append(writer.drainBytes())
    guard case .reports(let batch)? = try feed.next() else {
      Issue.record("no reports")
      return
    }
    try feed.finish()
    #expect(batch.observers == [.name("sniffer")])
    #expect(batch.reports.map(\.received) == [10, 12, 12].map { Traffic.start + .seconds($0) })
    #expect(feed.counters.timeline.backwards == 1)
    #expect(feed.counters.packets == 3)
    #expect(feed.counters.reports == 3)
    #expect(Array(batch.payloads.prefix(30)) == Traffic.iBeacon(minor: 7))
    #expect(!feed.isRecording)
  }

  /// An ADV_NONCONN_IND behind the pseudo-header of link type 256, its checksum marked as checked and right.
  private static func airPacket(payload: [UInt8]) -> [UInt8] {
    let header: [UInt8] = [37, UInt8(bitPattern: -61), 0, 0, 0xD6, 0xBE, 0x89, 0x8E, 0x03, 0x0C]
    let address: [UInt8] = [1, 2, 3, 4, 5, 0xC6]
    let body = [0x42, UInt8(6 + payload.count)] + address + payload
    return header + [0xD6, 0xBE, 0x89, 0x8E] + body + [0, 0, 0]
  }

  @Test("datagrams of no known format are counted and disturb nothing")
  func refused() throws {
    var writer = CaptureWriter()
    for payload in [[1, 2, 3], [], Array("hello".utf8)] as [[UInt8]] {
      try writer.write(payload: payload.span.bytes, from: Self.gateway, to: Self.server, at: Traffic.start)
    }
    var feed = CaptureFeed(observer: .name("x"))
    feed.append(writer.drainBytes())
    #expect(try feed.next() == nil)
    try feed.finish()
    #expect(feed.counters.datagrams.totalRefusals == 3)
    #expect(feed.counters.udp.datagrams == 3)
    #expect(feed.counters.reports == 0)
  }

  @Test("blocks of other programs are passed over")
  func foreignBlocks() throws {
    var writer = try RecordingWriter(site: Site())
    var other = CaptureWriter()
    try other.write(block: 0x8000_1234, content: [1, 2, 3].span.bytes)
    var feed = CaptureFeed(observer: .name("x"))
    feed.append(writer.drainBytes() + other.drainBytes())
    guard case .site? = try feed.next() else {
      Issue.record("no site")
      return
    }
    #expect(try feed.next() == nil)
    #expect(feed.counters.foreignBlocks == 1)
    #expect(feed.counters.otherInputs == 1)
  }

  @Test(
    "captures of others are read to their end",
    .enabled(if: SharedData.isPresent),
    arguments: SharedData.files(
      in: "captures/ble",
      endingIn: [".pcap", ".pcapng", ".btsnoop", ".log", ".cap"]
    )
      + SharedData.files(in: "captures/udp", endingIn: [".pcap", ".pcapng"])
  )
  func captures(path: String) throws {
    let bytes = try SharedData.bytes(path)
    guard bytes.count < 400_000, !bytes.starts(with: [0x1F, 0x8B]) else { return }
    var feed = CaptureFeed(observer: .name("x"))
    feed.append(bytes)
    var reports = 0
    while let input = try feed.next(maxReports: 100) {
      guard case .reports(let batch) = input else { continue }
      reports += batch.reports.count
      #expect(zip(batch.reports, batch.reports.dropFirst()).allSatisfy { $0.received <= $1.received })
    }
    do { try feed.finish() } catch { #expect(error.isCut) }
    #expect(UInt64(reports) == feed.counters.reports)
    #expect(feed.counters.packets > 0)
  }
}
