import PharosDocuments
import PharosModel
import Testing

@Suite("Visits")
struct VisitDetailTests {
  private static let visit = VisitDetail(
    visit: EventID(high: 1, low: 2),
    arrival: Timestamp(seconds: 100),
    venue: "museum",
    floor: VisitDetail.Floor(building: "main", level: 1, name: "First floor", x: 3.25, y: -1),
    latitude: 52.5,
    longitude: 13.4,
    horizontalAccuracy: 2.5,
    place: VisitDetail.Place(kind: .pointOfInterest, identifier: "cafe", name: "Café", probability: 0.9375),
    evidence: VisitDetail.Evidence(fixes: 45, spread: 5.5, maximumGap: .seconds(3))
  )

  private static func event(_ visit: VisitDetail) -> Event {
    Event(
      stream: "s",
      kind: visit.departure == nil ? .visitArrive : .visitDepart,
      time: visit.departure ?? visit.arrival,
      decidedAt: Timestamp(seconds: 500),
      stage: 2,
      subject: .observer(.name("phone")),
      region: "cafe",
      counter: 1,
      detail: .visit(visit)
    )
  }

  private static func data(_ visit: VisitDetail) -> String {
    let line = event(visit).cloudEvent(stream: "s")
    return String(line.split(separator: "\"subjectKind\":\"observer\",", maxSplits: 1).last ?? "")
  }

  private static var departed: VisitDetail {
    var visit = visit
    visit.departure = Timestamp(seconds: 400)
    visit.evidence.end = .moved
    return visit
  }

  @Test("a visit that lasts has Core Location's distant future for a departure, and the place by its name")
  func lasting() {
    let expected =
      "\"visit\":\"00000000000000010000000000000002\",\"arrivalDate\":\"1970-01-01T00:01:40.000000000Z\","
      + "\"departureDate\":\"4001-01-01T00:00:00Z\",\"venue\":\"museum\",\"building\":\"main\",\"level\":1,"
      + "\"floorName\":\"First floor\",\"x\":3.25,\"y\":-1,\"latitude\":52.5,\"longitude\":13.4,"
      + "\"horizontalAccuracy\":2.5,\"place\":{\"kind\":\"pointOfInterest\",\"id\":\"cafe\",\"name\":\"Café\","
      + "\"probability\":0.9375},\"evidence\":{\"fixes\":45,\"spread\":5.5,\"maximumGap\":3,\"end\":\"lasting\"}}}"
    #expect(VisitDetailTests.data(VisitDetailTests.visit) == expected)
  }

  @Test("a visit that has ended has its departure and its length")
  func ended() {
    let data = VisitDetailTests.data(VisitDetailTests.departed)
    #expect(data.contains("\"departureDate\":\"1970-01-01T00:06:40.000000000Z\",\"duration\":300,"))
    #expect(data.contains("\"end\":\"moved\""))
  }

  @Test("a visit of a zone has no accuracy, which is −1 as in Core Location")
  func zone() {
    let place = VisitDetail.Place(kind: .zone, identifier: "lobby")
    let visit = VisitDetail(visit: EventID(high: 0, low: 1), arrival: Timestamp(seconds: 1), place: place)
    #expect(VisitDetailTests.data(visit).contains("\"horizontalAccuracy\":-1,"))
  }

  @Test("the bytes of a record give the same JSON", arguments: [visit, departed])
  func records(visit: VisitDetail) throws {
    let event = VisitDetailTests.event(visit)
    #expect(try EventRecord(event).event().cloudEvent(stream: "s") == event.cloudEvent(stream: "s"))
  }

  @Test("a clock that is set moves both ends of a visit, and not its length")
  func clock() throws {
    let committed = VisitDetailTests.event(VisitDetailTests.departed).restamped(withClockSetBy: .seconds(5))
    guard case .visit(let visit) = committed.detail else { throw FieldError(.badIdentity, at: 0) }
    #expect(visit.arrival == Timestamp(seconds: 105) && visit.departure == Timestamp(seconds: 405))
    let lasting = VisitDetailTests.event(VisitDetailTests.visit).restamped(withClockSetBy: .seconds(5))
    guard case .visit(let open) = lasting.detail else { throw FieldError(.badIdentity, at: 0) }
    #expect(open.departure == nil)
  }

  @Test("the published state holds the last visit of each subject, and the side of each threshold")
  func published() throws {
    var table = StateTable()
    table.record(VisitDetailTests.event(VisitDetailTests.visit))
    #expect(table.state.visits.map(\.visit.departure) == [nil])
    table.record(VisitDetailTests.event(VisitDetailTests.departed))
    #expect(table.state.visits.map(\.visit.departure) == [Timestamp(seconds: 400)])
    let threshold = OccupancyThreshold(above: 2, below: 1)
    for direction in [OccupancyTransition.Direction.above, .below] {
      let transition = OccupancyTransition(direction: direction, count: 3, threshold: threshold)
      let event = Event(
        stream: "s",
        kind: .zoneOccupancy,
        time: Timestamp(seconds: 7),
        decidedAt: Timestamp(seconds: 7),
        stage: 2,
        subject: .none,
        region: "lobby",
        counter: 1,
        detail: .occupancy(transition)
      )
      table.record(event)
      #expect(table.state.occupancies.map(\.transition.direction) == [direction])
      #expect(event.cloudEvent(stream: "s").contains("\"zone\":\"lobby\""))
    }
    var writer = FieldWriter()
    var state = table.state
    state.visitStays(&writer)
    var reader = FieldReader(writer.bytes[...])
    var read = PublishedState()
    try read.visitStays(&reader)
    #expect(read == state)
  }

  @Test("a site's visits and thresholds survive its codec, and a site without them has the bytes of before")
  func site() throws {
    var site = Site(zones: [
      Zone(identifier: "a", observers: [.name("a")]), Zone(identifier: "b", observers: [.name("b")]),
    ])
    var plain = FieldWriter()
    plain.write(site)
    site.visits = VisitSettings(minimum: .seconds(45), radius: 8, hold: .minutes(10))
    site.zones[1].occupancy = [OccupancyThreshold(above: 20, below: 15)]
    var writer = FieldWriter()
    writer.write(site)
    var reader = FieldReader(writer.bytes[...])
    #expect(try Site(from: &reader) == site)
    (site.visits, site.zones[1].occupancy) = (nil, [])
    var again = FieldWriter()
    again.write(site)
    #expect(again.bytes == plain.bytes)
  }

  @Test("a site's fingerprints survive its codec, and a site without them has the bytes of before")
  func fingerprints() throws {
    var site = Site(zones: [
      Zone(identifier: "a", observers: [.name("a")]), Zone(identifier: "b", observers: [.name("b")]),
    ])
    var plain = FieldWriter()
    plain.write(site)
    site.zones[1].fingerprint = ZoneFingerprint(
      levels: [ZoneFingerprint.Level(observer: .name("a"), mean: -61.5, deviation: 4, heard: 0.75)],
      looks: 12.5,
      learnedAt: Timestamp(seconds: 1_700_000_000)
    )
    var writer = FieldWriter()
    writer.write(site)
    var reader = FieldReader(writer.bytes[...])
    #expect(try Site(from: &reader) == site)
    site.zones[1].fingerprint?.levels[0].heard = 2
    writer = FieldWriter()
    writer.write(site)
    reader = FieldReader(writer.bytes[...])
    #expect(throws: FieldError.self) { try Site(from: &reader) }
    site.zones[1].fingerprint = nil
    var again = FieldWriter()
    again.write(site)
    #expect(again.bytes == plain.bytes)
  }
}
