import PharosCaptures
import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("Indoor traces as a stream of reports")
struct TraceFeedTests {
  private static let observer = ObserverID.name("walk")

  private static func at(_ milliseconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: milliseconds * 1_000_000)
  }

  private static func motion(_ time: Int64, _ type: String = "ACCELEROMETER") -> String {
    "\(time)\tTYPE_\(type)\t0.5\t-0.25\t9.75\t3\n"
  }

  private static func accessPoint(_ time: Int64, _ number: Int, heard: Int64) -> String {
    let octet = Hex.text(UInt64(number % 256), bytes: 1)
    return "\(time)\tTYPE_WIFI\t\t02:00:5e:00:0\(number / 256):\(octet)\t-60\t2422\t\(heard)\n"
  }

  private static func beacon(_ time: Int64) -> String {
    "\(time)\tTYPE_BEACON\t9195B3AD-A9D0-4500-85FF-9FB0F65A5201\t3\t65535\t-56\t-72\t6.3\t02:00:5E:10:00:01\t\(time)\n"
  }

  private static func waypoint(_ time: Int64) -> String { "\(time)\tTYPE_WAYPOINT\t1\t2\n" }

  /// Feeds bytes in chunks of a length and gives all batches.
  private static func batches(
    of bytes: [UInt8],
    chunk: Int = .max
  ) -> (batches: [ReportBatch], feed: TraceFeed) {
    var feed = TraceFeed(observer: observer)
    var batches: [ReportBatch] = []
    var start = 0
    while start < bytes.count {
      let end = start + min(chunk, bytes.count - start)
      feed.append(bytes[start..<end])
      while let batch = feed.next() { batches.append(batch) }
      start = end
    }
    feed.finish()
    while let batch = feed.next() { batches.append(batch) }
    return (batches, feed)
  }

  private static func batches(of text: String) -> [ReportBatch] { batches(of: Array(text.utf8)).batches }

  /// The event time of a report.
  private static func eventTime(_ report: Report) -> Timestamp? {
    guard case .age(let age) = report.timing else { return nil }
    return report.received - age
  }

  /// A walk of some seconds as a phone writes it: sensors as they come, scans every two seconds, beacons in late heaps.
  private static func walk(seconds: Int64, seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    var text = "#\tstartTime:100000\n#\tSiteID:5d\tSiteName:house\tFloorName:F1\n"
    for second in 0..<seconds {
      let start = 100_000 + second * 1_000
      for tick in 0..<50 {
        for type in ["ACCELEROMETER", "GYROSCOPE", "MAGNETIC_FIELD", "ROTATION_VECTOR"] {
          text += motion(start + Int64(tick) * 20, type)
        }
      }
      if second.isMultiple(of: 2) {
        for number in 0..<Int.random(in: 1...300, using: &random) {
          text += accessPoint(
            start + 700,
            number,
            heard: start - Int64.random(in: 0...20_000, using: &random)
          )
        }
      }
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        text += beacon(start + Int64.random(in: -400...990, using: &random))
      }
      if second.isMultiple(of: 3) { text += waypoint(start + 10) }
    }
    return text + "#\tendTime:\(100_000 + seconds * 1_000)\n"
  }

  @Test("every line keeps its own time, and R is the greatest time so far")
  func times() throws {
    let batches = Self.batches(
      of: Self.motion(1_000) + Self.beacon(900) + Self.beacon(1_150) + Self.motion(1_100, "GYROSCOPE")
    )
    let batch = try #require(batches.first)
    #expect(batches.count == 1)
    #expect(batch.observers == [Self.observer])
    #expect(batch.reports.allSatisfy { $0.received == Self.at(1_150) && $0.observer == 0 })
    #expect(batch.reports.map(Self.eventTime) == [1_000, 900, 1_150, 1_100].map(Self.at))
  }

  @Test("a beacon is the advert that the phone heard: its iBeacon, its address and its level")
  func advert() throws {
    let batch = try #require(Self.batches(of: Self.beacon(900)).first)
    guard case .advert(let advert) = try #require(batch.reports.first).body else {
      Issue.record("not an advert")
      return
    }
    #expect(advert.address == DeviceAddress(bits: 0x0200_5E10_0001, kind: .unknown))
    #expect(advert.rssi == RSSI(dBm: -72))
    let payload = Array(batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)])
    let uuid = UUID128(high: 0x9195_B3AD_A9D0_4500, low: 0x85FF_9FB0_F65A_5201)
    let frame = Frame.iBeacon(IBeacon(uuid: uuid, major: 3, minor: 65_535, measuredPower: -56))
    #expect(payload == frame.legacyPayload)
  }

  @Test("motion lines in a row become one report whose ages count from its newest sample")
  func motion() throws {
    let text =
      Self.motion(1_000) + Self.motion(1_020) + Self.motion(1_010, "ROTATION_VECTOR") + Self.motion(990)
    let batch = try #require(Self.batches(of: text).first)
    #expect(batch.reports.count == 1)
    #expect(Self.eventTime(batch.reports[0]) == Self.at(1_020))
    #expect(batch.motionSamples.map(\.age.milliseconds) == [20, 0, 10, 30])
    #expect(
      batch.motionSamples.map(\.kind) == [.accelerometer, .accelerometer, .rotationVector, .accelerometer]
    )
    #expect(batch.motionSamples[0].x == 0.5 && batch.motionSamples[0].y == -0.25)
    #expect(batch.motionSamples[0].z == 9.75)
  }

  @Test("the access points of one time are a scan, in as many reports as its size needs")
  func scan() {
    let scan = (0..<300).map { Self.accessPoint(5_000, $0, heard: 1_208) }.joined()
    let batches = Self.batches(of: scan + Self.accessPoint(5_010, 0, heard: 5_020))
    let reports = batches.flatMap(\.reports)
    #expect(batches.count == 4)
    #expect(reports.map(Self.eventTime) == [5_000, 5_000, 5_000, 5_000, 5_010].map(Self.at))
    let points = batches.flatMap(\.accessPoints)
    #expect(points.count == 301)
    #expect(points.prefix(300).allSatisfy { $0.lastHeard == .milliseconds(3_792) && $0.frequency == 2_422 })
    #expect(Set(points.prefix(300).map(\.bssid)).count == 300)
    // A phone's clocks may be at odds by a little: nothing was heard after it was reported.
    #expect(points.last?.lastHeard == .zero)
  }

  @Test("a datagram spans a fifth of a second at most, so that no line waits long for the next ones")
  func span() {
    let text = (0..<100).map { Self.motion(1_000 + $0 * 20) }.joined()
    let batches = Self.batches(of: text)
    #expect(batches.map(\.motionSamples.count) == [11, 11, 11, 11, 11, 11, 11, 11, 11, 1])
    #expect(batches.compactMap(\.reports.first?.received).first == Self.at(1_200))
  }

  @Test("neither waypoints nor the header say anything")
  func truthIsNotRead() {
    let text = Self.walk(seconds: 9, seed: 1)
    let blind = text.split(separator: "\n").filter { !$0.contains("WAYPOINT") && !$0.hasPrefix("#") }
    let moved = text.replacing("TYPE_WAYPOINT\t1\t2", with: "TYPE_WAYPOINT\t77\t88")
    #expect(Self.batches(of: text) == Self.batches(of: blind.joined(separator: "\n") + "\n"))
    #expect(Self.batches(of: text) == Self.batches(of: moved.replacing("FloorName:F1", with: "FloorName:B3")))
    let early = Self.waypoint(9_000_000) + Self.motion(1_000)
    #expect(Self.batches(of: early).first?.reports.first?.received == Self.at(1_000))
  }

  @Test("the size of chunks changes nothing", arguments: [1, 7, 100, 4_096])
  func chunks(size: Int) {
    let bytes = Array(Self.walk(seconds: 4, seed: 2).utf8)
    let whole = Self.batches(of: bytes)
    let parts = Self.batches(of: bytes, chunk: size)
    #expect(parts.batches == whole.batches)
    #expect(parts.feed.counters == whole.feed.counters)
  }

  @Test(
    "the stream has the records of the trace in the order of the file",
    arguments: Seeds.drawn(0..<5)
  )
  func complete(seed: UInt64) {
    let bytes = Array(Self.walk(seconds: 20, seed: seed).utf8)
    let (batches, feed) = Self.batches(of: bytes)
    let trace = IndoorTrace(parsing: bytes)
    #expect(feed.counters.damaged == 0)
    #expect(feed.counters.lines == trace.counters.lines)
    #expect(feed.counters.otherTypes == trace.waypoints.count)
    #expect(batches.reduce(0) { $0 + $1.motionSamples.count } == trace.motion.count)
    #expect(batches.reduce(0) { $0 + $1.accessPoints.count } == trace.accessPoints.count)
    let adverts = batches.flatMap { batch in
      batch.reports.filter { if case .advert = $0.body { true } else { false } }
    }
    #expect(adverts.compactMap(Self.eventTime).sorted() == trace.beacons.map(\.time))
    var latest = Timestamp.distantPast
    for batch in batches {
      let received = Set(batch.reports.map(\.received))
      #expect(received.count == 1)
      #expect(received.allSatisfy { $0 >= latest })
      latest = received.max() ?? latest
    }
    #expect(feed.latestTime == latest)
  }

  @Test("a trace cut anywhere gives the very same datagrams up to the last one that it began")
  func cut() {
    let bytes = Array(Self.walk(seconds: 3, seed: 3).utf8)
    let whole = Self.batches(of: bytes).batches
    for length in stride(from: 0, through: bytes.count, by: 97) {
      let cut = Self.batches(of: Array(bytes.prefix(length))).batches
      #expect(whole.starts(with: cut.dropLast()), "cut after \(length) bytes")
    }
  }

  @Test("a time far ahead of all others is damage, and does not make the rest late")
  func jump() {
    let text = Self.motion(1_000) + Self.motion(1_000_000) + Self.motion(1_020)
    let (batches, feed) = Self.batches(of: Array(text.utf8))
    #expect(batches.flatMap(\.reports).map(\.received) == [Self.at(1_020)])
    #expect(feed.counters.wrongNumbers == 1)
  }

  @Test("a line without an end does not gather, and costs only itself", arguments: [100, 10_000])
  func endless(chunk: Int) {
    let junk = String(repeating: "x", count: 20_000)
    let text = Self.motion(1_000) + junk + "\n" + Self.motion(1_020)
    let (batches, feed) = Self.batches(of: Array(text.utf8), chunk: chunk)
    #expect(batches.reduce(0) { $0 + $1.motionSamples.count } == 2)
    #expect(feed.counters.wrongColumns == 1)
    #expect(feed.counters.lines == 3)
  }

  @Test("random damage never traps, and every line is accounted for", arguments: Seeds.drawn(0..<20))
  func fuzz(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let clean = Array(Self.walk(seconds: 2, seed: seed).utf8.prefix(6_000))
    for _ in 0..<10 {
      var bytes = clean
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.insert(bytes[place], at: place)
        }
      }
      let (batches, feed) = Self.batches(of: bytes)
      let counters = feed.counters
      var records = 0
      for batch in batches {
        records += batch.motionSamples.count + batch.accessPoints.count
        records += batch.reports.count { if case .advert = $0.body { true } else { false } }
        #expect(batch.motionSamples.allSatisfy { $0.age >= .zero })
        #expect(
          batch.reports.allSatisfy {
            Self.eventTime($0).map { time in time <= feed.latestTime ?? time } ?? false
          }
        )
      }
      #expect(records + counters.headerLines + counters.otherTypes + counters.damaged == counters.lines)
      let truth = IndoorTrace(truthIn: bytes)
      #expect(truth.waypoints == IndoorTrace(parsing: bytes).waypoints, "seed \(seed)")
    }
  }

  @Test("the truth alone is that of the whole trace")
  func truth() {
    let bytes = Array(Self.walk(seconds: 9, seed: 4).utf8)
    let whole = IndoorTrace(parsing: bytes)
    let truth = IndoorTrace(truthIn: bytes)
    #expect(truth.waypoints == whole.waypoints && truth.waypoints.count == 3)
    #expect(truth.header == whole.header)
    #expect(truth.counters.lines == whole.counters.lines)
    #expect(truth.motion.isEmpty && truth.beacons.isEmpty && truth.accessPoints.isEmpty)
  }
}
