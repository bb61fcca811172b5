import PharosCaptures
import PharosModel
import PharosTestSupport
import Testing

@Suite("Indoor traces")
struct IndoorTraceTests {
  static let header = """
    #\tstartTime:1574561333380
    #\tSiteID:5dd3\tSiteName:西溪\tFloorId:5dd4\tFloorName:B1
    #\tBrand:OPPO\tModel:PBCM10\tAndroidName:8.1.0\tAPILevel:27\t

    """
  static let beacon =
    "1574561333481\tTYPE_BEACON\t9195B3AD-A9D0-4500-85FF-9FB0F65A5201\t3\t65535\t-56\t-72\t6.356625926297197\t"
    + "02:00:5E:10:00:01\t1574561333481\n"
  static let waypoint = "1574561333388\tTYPE_WAYPOINT\t193.66296\t27.809504\n"

  static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }

  /// Why a line is no record.
  enum Reason { case columns, numbers, identities }

  private func parse(_ text: String) -> IndoorTrace { IndoorTrace(parsing: Array(text.utf8)) }

  @Test("the header tells site, floor, phone and times")
  func header() {
    let trace = parse(Self.header + Self.waypoint + "#\tendTime:1574561388416\n")
    #expect(trace.header.start == Self.at(1_574_561_333_380))
    #expect(trace.header.end == Self.at(1_574_561_388_416))
    #expect(trace.header.site == "5dd3")
    #expect(trace.header.siteName == "西溪")
    #expect(trace.header.floor == "B1")
    #expect(trace.header.model == "PBCM10")
    #expect(trace.counters.headerLines == 4)
    #expect(trace.counters.lines == 5)
    #expect(trace.counters.damaged == 0)
  }

  @Test("a beacon line becomes identity, address and levels")
  func beaconLine() {
    let trace = parse(Self.beacon)
    let uuid = UUID128(high: 0x9195_B3AD_A9D0_4500, low: 0x85FF_9FB0_F65A_5201)
    #expect(trace.beacons.count == 1)
    for heard in trace.beacons {
      #expect(heard.time == Self.at(1_574_561_333_481))
      #expect(heard.beacon == .proximity(uuid, major: 3, minor: 65_535))
      #expect(heard.address == DeviceAddress(bits: 0x0200_5E10_0001, kind: .unknown))
      #expect(heard.rssi == RSSI(dBm: -72))
      #expect(heard.txPower == -56)
      #expect(heard.distance == Meters(6.356625926297197))
    }
  }

  @Test("each sensor becomes motion of its kind, and other types are counted and passed over")
  func motion() {
    let types: [(String, MotionSample.Kind)] = [
      ("TYPE_ACCELEROMETER", .accelerometer), ("TYPE_GYROSCOPE", .gyroscope),
      ("TYPE_MAGNETIC_FIELD", .magnetometer), ("TYPE_ROTATION_VECTOR", .rotationVector),
    ]
    let lines = types.map { "1000\t\($0.0)\t-0.5994415\t0.25\t1.4433563E1\t2\n" }.joined()
    let trace = parse(lines + "1000\tTYPE_GYROSCOPE_UNCALIBRATED\t1\t2\t3\t4\t5\t6\t3\n")
    #expect(trace.motion.map(\.kind) == types.map(\.1))
    for read in trace.motion {
      #expect(read.x == -0.5994415 && read.y == 0.25 && read.z == 14.433563 && read.accuracy == 2)
    }
    #expect(trace.counters.otherTypes == 1)
    #expect(trace.counters.damaged == 0)
  }

  @Test("an access point keeps the time at which it was really heard")
  func accessPoint() {
    let trace = parse("5000\tTYPE_WIFI\t\t02:00:5e:00:00:01\t-59\t2422\t1208\n")
    #expect(trace.accessPoints.count == 1)
    for heard in trace.accessPoints {
      #expect(heard.time == Self.at(5_000))
      #expect(heard.bssid == DeviceAddress(bits: 0x0200_5E00_0001, kind: .unknown))
      #expect(heard.rssi == RSSI(dBm: -59))
      #expect(heard.frequency == 2_422)
      #expect(heard.lastHeard == Self.at(1_208))
    }
  }

  @Test("lines that are out of order come out sorted, and equal times stay in the order of their lines")
  func order() {
    let trace = parse(
      "3000\tTYPE_WAYPOINT\t3\t0\n1000\tTYPE_WAYPOINT\t1\t0\n2000\tTYPE_WAYPOINT\t2\t0\n1000\tTYPE_WAYPOINT\t9\t0\n"
    )
    #expect(trace.waypoints.map(\.x) == [1, 9, 2, 3])
    #expect(trace.counters.outOfOrder == 2)
  }

  @Test(
    "damage is counted by reason and costs only its own line",
    arguments: [
      ("1574561333388\tTYPE_WAYPOINT\t193.66296", .columns),
      ("1574561333388\tTYPE_WAYPOINT\t1\t2\t3", .columns),
      ("1574561333388", .columns),
      ("1574561333388\tTYPE_WAYPOINT\t1..5\t2", .numbers),
      ("1574561333388\tTYPE_WAYPOINT\t\t2", .numbers),
      ("1574561333388\tTYPE_WAYPOINT\t-\t2", .numbers),
      ("1574561333388\tTYPE_WAYPOINT\tnan\t2", .numbers),
      ("1574561333388\tTYPE_WAYPOINT\t1e999\t2", .numbers),
      ("5\tTYPE_ACCELEROMETER\t1e39\t0\t0\t3", .numbers),
      ("\tTYPE_WAYPOINT\t1\t2", .numbers),
      ("99999999999999\tTYPE_WAYPOINT\t1\t2", .numbers),
      ("-5\tTYPE_WAYPOINT\t1\t2", .numbers),
      ("5\tTYPE_WIFI\t\t02:00:5e:00:00\t-59\t2422\t1208", .identities),
      ("5\tTYPE_WIFI\t\t02:00:5e:00:00:01\t-590\t2422\t1208", .numbers),
      ("5\tTYPE_BEACON\t9195B3AD\t0\t0\t-56\t-72\t6\t02:00:5E:10:00:01\t5", .identities),
      (
        "5\tTYPE_BEACON\t9195B3AD-A9D0-4500-85FF-9FB0F65A5201\t65536\t0\t-56\t-72\t6\t02:00:5E:10:00:01\t5",
        .numbers
      ),
    ] as [(String, Reason)]
  )
  func damage(line: String, reason: Reason) {
    let trace = parse(Self.waypoint + line + "\r\n\n" + Self.beacon)
    let counters = trace.counters
    #expect(counters.wrongColumns == (reason == .columns ? 1 : 0))
    #expect(counters.wrongNumbers == (reason == .numbers ? 1 : 0))
    #expect(counters.wrongIdentities == (reason == .identities ? 1 : 0))
    #expect(counters.damaged == 1)
    #expect(trace.waypoints.count == 1)
    #expect(trace.beacons.count == 1)
    #expect(trace.accessPoints.isEmpty)
  }

  @Test("a file cut anywhere gives the whole lines before the cut and never a number that lacks digits")
  func cut() {
    let text = Array((Self.header + Self.waypoint + Self.beacon + Self.waypoint).utf8)
    let whole = IndoorTrace(parsing: text)
    for length in 0..<text.count {
      let trace = IndoorTrace(parsing: Array(text.prefix(length)))
      #expect(whole.waypoints.starts(with: trace.waypoints), "cut after \(length) bytes")
      #expect(whole.beacons.starts(with: trace.beacons), "cut after \(length) bytes")
      #expect(trace.counters.damaged <= 1)
    }
    #expect(whole.waypoints.count == 2)
  }

  @Test("random damage never traps, and every line is accounted for", arguments: Seeds.drawn(0..<20))
  func fuzz(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let clean = Array((Self.header + Self.waypoint + Self.beacon + Self.waypoint + Self.beacon).utf8)
    for _ in 0..<100 {
      var bytes = clean
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.insert(bytes[place], at: place)
        }
      }
      let trace = IndoorTrace(parsing: bytes)
      let counters = trace.counters
      let records =
        trace.waypoints.count + trace.beacons.count + trace.accessPoints.count + trace.motion.count
      #expect(
        records + counters.headerLines + counters.otherTypes + counters.damaged == counters.lines,
        "seed \(seed)"
      )
    }
  }

  @Test("between waypoints the walker is on the straight line, at them exactly there, outside nowhere")
  func position() throws {
    let trace = parse(
      "1000\tTYPE_WAYPOINT\t0\t0\n3000\tTYPE_WAYPOINT\t4\t2\n3000\tTYPE_WAYPOINT\t4\t3\n4000\tTYPE_WAYPOINT\t0\t3\n"
    )
    let middle = try #require(trace.position(at: Self.at(2_000)))
    #expect(middle.x == 2 && middle.y == 1)
    let later = try #require(trace.position(at: Self.at(3_500)))
    #expect(later.x == 2 && later.y == 3)
    let end = try #require(trace.position(at: Self.at(4_000)))
    #expect(end.x == 0 && end.y == 3)
    #expect(trace.position(at: Self.at(999)) == nil)
    #expect(trace.position(at: Self.at(4_001)) == nil)
    #expect(parse("").position(at: Self.at(0)) == nil)
  }

  @Test("the quick way to read a number agrees with the standard library", arguments: Seeds.drawn(0..<10))
  func decimals(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let digits = Int.random(in: 1...20, using: &random)
      var text = Bool.random(using: &random) ? "-" : ""
      for place in 0..<digits {
        if place > 0, place == digits / 2, Bool.random(using: &random) { text += "." }
        text += "\(Int.random(in: 0...9, using: &random))"
      }
      let trace = parse("1\tTYPE_WAYPOINT\t\(text)\t0\n")
      #expect(trace.waypoints.first?.x == Double(text), "\(text)")
    }
  }
}
