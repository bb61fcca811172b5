import PharosDocuments
import PharosModel
import Testing

@Suite("Fixes")
struct FixDetailTests {
  private static let indoors = FixDetail(
    venue: "museum",
    building: "main",
    level: -1,
    floorName: "Basement",
    latitude: 52.520_000_123_4,
    longitude: 13.404_95,
    x: 12.345_6,
    y: -7,
    horizontalAccuracy: 3.456,
    speed: 1.234,
    course: -.pi / 2,
    sources: [.wifi, .motion],
    age: .milliseconds(1_250),
    satellites: .notNeeded
  )

  private static func event(_ detail: FixDetail) -> Event {
    Event(
      stream: "s",
      kind: .fix,
      time: Timestamp(seconds: 100),
      decidedAt: Timestamp(seconds: 101),
      stage: 2,
      subject: .observer(.name("phone")),
      counter: 1,
      detail: .fix(detail)
    )
  }

  private static func data(_ detail: FixDetail) -> String {
    let line = event(detail).cloudEvent(stream: "s")
    return String(line.split(separator: "\"subjectKind\":\"observer\",", maxSplits: 1).last ?? "")
  }

  @Test("a fix on a floor says where it is on the Earth and on the plan, in metres, degrees and seconds")
  func floor() {
    let expected =
      "\"venue\":\"museum\",\"building\":\"main\",\"level\":-1,\"floorName\":\"Basement\","
      + "\"latitude\":52.52000012,\"longitude\":13.40495,\"x\":12.346,\"y\":-7,\"horizontalAccuracy\":3.46,"
      + "\"speed\":1.23,\"course\":270,\"sources\":[\"wifi\",\"motion\"],\"age\":1.25,"
      + "\"satellites\":\"notNeeded\"}}"
    #expect(FixDetailTests.data(FixDetailTests.indoors) == expected)
  }

  @Test("the further members of CLLocation follow, in metres and degrees, as far as they are known")
  func accuracies() throws {
    var fix = FixDetailTests.indoors
    fix.floorCertainty = 0.987
    (fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy) = (-3.256, 36.744, 1.5)
    (fix.speedAccuracy, fix.courseAccuracy) = (0.2, .pi / 18)
    (fix.heading, fix.headingAccuracy) = (.pi, .pi / 36)
    fix.sourceInformation = [.simulatedBySoftware, .visualPositioning]
    let expected =
      "\"satellites\":\"notNeeded\",\"floorCertainty\":0.99,\"altitude\":-3.26,\"ellipsoidalAltitude\":36.74,"
      + "\"verticalAccuracy\":1.5,\"speedAccuracy\":0.2,\"courseAccuracy\":10,\"heading\":180,"
      + "\"headingAccuracy\":5,\"sourceInformation\":[\"simulatedBySoftware\",\"visualPositioning\"]}}"
    #expect(FixDetailTests.data(fix).hasSuffix(expected))
    let event = FixDetailTests.event(fix)
    #expect(try EventRecord(event).event().cloudEvent(stream: "s") == event.cloudEvent(stream: "s"))
  }

  @Test("outdoors there is no floor, and no place on its plan")
  func outdoors() {
    let fix = FixDetail(
      venue: "museum",
      latitude: 1,
      longitude: 2,
      horizontalAccuracy: 8,
      sources: .outside,
      age: .zero
    )
    let expected =
      "\"venue\":\"museum\",\"latitude\":1,\"longitude\":2,\"horizontalAccuracy\":8,"
      + "\"sources\":[\"outside\"],\"age\":0,\"satellites\":\"needed\"}}"
    #expect(FixDetailTests.data(fix) == expected)
    #expect(!fix.isIndoors)
  }

  /// Courses in quarters of a turn, and their published text.
  static let courses: [(quarters: Double, degrees: String)] = [
    (0, "0"), (0.5, "45"), (2, "180"), (-1, "270"), (6, "180"), (-1e-9, "0"), (3.9999, "0"),
  ]

  @Test("a course is stated in degrees from north clockwise, below a whole turn", arguments: courses)
  func course(quarters: Double, degrees: String) {
    var fix = FixDetailTests.indoors
    fix.course = quarters * Double.pi / 2
    #expect(FixDetailTests.data(fix).contains("\"course\":\(degrees),"))
  }

  @Test("a course that is none is left out", arguments: [Double.nan, .infinity, 1e9])
  func noCourse(radians: Double) {
    var fix = FixDetailTests.indoors
    fix.course = radians
    #expect(!FixDetailTests.data(fix).contains("course"))
  }

  @Test("the bytes of a record give the same JSON, and a bit that no source has is refused")
  func records() throws {
    let event = FixDetailTests.event(FixDetailTests.indoors)
    let record = EventRecord(event)
    #expect(try record.event().cloudEvent(stream: "s") == event.cloudEvent(stream: "s"))
    #expect(record.body.count < 100)
    let sources = FixDetailTests.indoors.sources.rawValue
    let place = try #require(record.body.lastIndex(of: sources))
    var damaged = record.body
    damaged[place] |= 0x80
    #expect(throws: FieldError.self) { try EventRecord(names: record.names, body: damaged).event() }
  }

  /// The bytes of ``indoors`` as records had them before its members were listed.
  private static let earlier: [UInt8] = [
    0x09, 0x1F, 0x05, 0x01, 0xE8, 0x81, 0x03, 0xDE, 0xDA, 0x01, 0xB0, 0xC8, 0xB2, 0xA1,
    0x4E, 0xE0, 0xA4, 0xE5, 0xFC, 0x13, 0xEC, 0x03, 0xB0, 0x54, 0xE8, 0x0A, 0xC4, 0x13,
  ]

  @Test("a fix is read from a record of before its members were listed, and written as one of today")
  func earlierRecords() throws {
    let event = FixDetailTests.event(FixDetailTests.indoors)
    let record = EventRecord(event)
    // Kind, flags, time, id, and the span of one second from the time to the decision.
    let head = record.body.prefix(1 + 1 + 8 + 16 + 2)
    let read = try EventRecord(names: record.names, body: head + FixDetailTests.earlier).event()
    #expect(read.cloudEvent(stream: "s") == event.cloudEvent(stream: "s"))
    #expect(EventRecord(read) == record)
  }

  @Test("a clock that is set moves the time of a fix and nothing else in it")
  func clock() {
    let event = FixDetailTests.event(FixDetailTests.indoors)
    let committed = event.restamped(withClockSetBy: .seconds(5))
    #expect(committed.time == event.time + .seconds(5))
    #expect(committed.detail == event.detail)
    #expect(committed.id == event.id)
  }
}
