import Foundation
import PharosModel
import PharosSite
import PharosSpace
import Testing

@Suite("Places, doors and connectors of a venue's folder")
struct PlacesTests {
  private static func hall(_ old: String = "", _ new: String = "") -> MemoryVenue {
    let yaml = """
      id: hall
      origin: { latitude: 52.52, longitude: 13.29 }
      utcOffset: "+01:00"
      geoidHeight: 39.5
      buildings:
        - id: main
          floors:
            - level: 0
              altitude: -3.25
              map: [{ file: hall.geojson }]
              places:
                - { id: cafe, name: Café, category: foodservice, room: Café, hours: "Mo-Fr 08:00-18:00" }
                - { id: wc, category: restroom, at: [3, 4], accessible: false }
            - { level: 1 }
      connectors:
        - id: up
          kind: escalator
          direction: up
          hours: 24/7
          stops: [{ level: 0, at: [1, 1] }, { level: 1, at: [2, 2] }]
        - { id: lift, kind: lift, accessible: false, stops: [{ level: 0, at: [1, 1] }, { level: 1, at: [2, 2] }] }
      """
    return MemoryVenue([
      "venue.yaml": old.isEmpty ? yaml : yaml.replacing(old, with: new),
      "hall.geojson": MemoryVenue.collection([
        MemoryVenue.feature(
          "h",
          "\"as\": \"room\", \"name\": \"Hall\"",
          "Polygon",
          MemoryVenue.box(13.29, 52.52, 13.291, 52.521)
        ),
        MemoryVenue.feature(
          "c",
          "\"as\": \"obstacle\", \"name\": \"Café\"",
          "Polygon",
          MemoryVenue.box(13.2901, 52.5201, 13.2903, 52.5203)
        ),
        MemoryVenue.feature(
          "d",
          "\"as\": \"door\", \"name\": \"Gate\", \"accessible\": false, \"hours\": \"Su off\"",
          "LineString",
          "[[13.2904,52.52],[13.2905,52.52]]"
        ),
      ]),
    ])
  }

  @Test("places, doors and one-way connectors are read with their hours")
  func everything() throws {
    #expect(Self.hall().problems().isEmpty)
    let venue = try Self.hall().read()
    #expect(venue.localTime.utcOffset == 60 && venue.geoidHeight == 39.5)
    #expect(venue.buildings[0].floors.map(\.altitude) == [-3.25, nil])
    let floor = try #require(venue.floor(FloorID(building: "main", level: 0)))
    let cafe = try #require(floor.pointsOfInterest.first)
    #expect(cafe.name == "Café" && cafe.category == "foodservice" && cafe.isAccessible)
    #expect(cafe.area == floor.obstacles.first && floor.obstacles[0].contains(cafe.point))
    #expect(cafe.hours == OpeningHours("Mo-Fr 08:00-18:00"))
    #expect(floor.pointsOfInterest[1].name == "wc" && !floor.pointsOfInterest[1].isAccessible)
    #expect(floor.doors.map(\.name) == ["Gate"] && !floor.doors[0].isAccessible)
    #expect(floor.doors[0].hours == OpeningHours([]))
    #expect(venue.connectors.map(\.direction) == [.up, .both])
    #expect(venue.connectors.map(\.isAccessible) == [false, false])
  }

  @Test(
    "mistakes are named with their line",
    arguments: [
      (
        "id: wc", "id: cafe",
        "v/venue.yaml:13: building \"main\": floor 0: place \"cafe\": this id is already in use"
      ),
      ("room: Café", "room: Cafe", "the floor has no room \"Cafe\"; did you mean \"Café\"?"),
      ("Mo-Fr 08:00-18:00", "8 to 6", "hours is \"8 to 6\""),
      (
        "direction: up", "direction: upp",
        "direction is \"upp\"; did you mean \"up\"? (expected both, up or down)"
      ),
      ("category: restroom", "kategory: restroom", "unknown key \"kategory\"; did you mean \"category\"?"),
      ("+01:00", "1", "local time minus UTC in quotes"),
      (", at: [3, 4]", "", "nothing says where it is"),
    ]
  )
  func mistakes(old: String, new: String, message: String) {
    let problems = Self.hall(old, new).problems()
    #expect(problems.count == 1 && problems[0].contains(message), "\(problems)")
  }

  @Test("a place has the words that the folder gives it, and venue and building their address")
  func captions() throws {
    let words = """
      title: "Coffee & cake", description: "Since 1890.\\nCash only.", address: "Hall 2", \
      picture: "https://example.org/cafe.jpg", link: "https://example.org/cafe?a=1", \
      properties: { seats: 40, wifi: yes }, room: Café
      """
    var hall = Self.hall("room: Café", words)
    let text = String(decoding: hall.files["venue.yaml"] ?? [], as: UTF8.self)
    hall.files["venue.yaml"] = Array(
      text.replacing("id: hall\n", with: "id: hall\naddress: \"Street 1\\nBerlin\"\n")
        .replacing("- id: main\n", with: "- id: main\n    address: Yard 3\n").utf8
    )
    #expect(hall.problems().isEmpty, "\(hall.problems())")
    let venue = try hall.read()
    #expect(venue.address == "Street 1\nBerlin" && venue.buildings[0].address == "Yard 3")
    let places = try #require(venue.floor(FloorID(building: "main", level: 0))).pointsOfInterest
    #expect(
      places[0].caption
        == Caption(
          title: "Coffee & cake",
          description: "Since 1890.\nCash only.",
          address: "Hall 2",
          picture: "https://example.org/cafe.jpg",
          link: "https://example.org/cafe?a=1",
          properties: ["seats": "40", "wifi": "yes"]
        )
    )
    #expect(places[1].caption.isEmpty)
  }

  @Test(
    "words that are too long or no address of the web are mistakes",
    arguments: [
      ("title: \"\(String(repeating: "a", count: 201))\"", "a text of 1 to 200 characters on one line"),
      ("title: \"a\\nb\"", "a text of 1 to 200 characters on one line"),
      ("link: \"javascript:alert(1)\"", "a web address"), ("link: \"https://\"", "a web address"),
      ("picture: \"https://a b\"", "a web address"), ("link: \"https://user@host\"", "a web address"),
      ("properties: { a: \"\(String(repeating: "a", count: 1_001))\" }", "up to 32 properties"),
    ]
  )
  func captionMistakes(words: String, message: String) {
    let problems = Self.hall("room: Café", "\(words), room: Café").problems()
    #expect(problems.count == 1 && problems[0].contains(message), "\(problems)")
  }

  @Test(
    "opening hours follow OpenStreetMap's weekly rules",
    arguments: [
      ("24/7", [0..<10_080]),
      ("Mo-Fr 08:00-20:00; We off", [480..<1_200, 1_920..<2_640, 4_800..<5_520, 6_240..<6_960]),
      ("Sa,Su 10:00-12:00,13:00-24:00", [7_800..<7_920, 7_980..<8_640, 9_240..<9_360, 9_420..<10_080]),
      ("Su 22:00-02:00", [0..<120, 9_960..<10_080]),
      ("Sa-Mo", [0..<1_440, 7_200..<10_080]),
    ]
  )
  func hours(text: String, intervals: [Range<Int>]) {
    #expect(OpeningHours(text)?.intervals == intervals)
  }

  @Test(
    "other texts are no opening hours",
    arguments: [
      "", "Mo-", "Mo 8:00-9:00", "Mo 08:00", "Xx 08:00-09:00", "08:00-25:00", "Mo 08:00-09:00;",
      "Mo-Tu-We off",
    ]
  )
  func wrong(text: String) { #expect(OpeningHours(text) == nil) }

  @Test("a time is open by the venue's own clock")
  func localTime() throws {
    let hours = try #require(OpeningHours("Th 00:30-01:00"))
    #expect(hours.contains(Timestamp(seconds: 0), in: LocalTime(utcOffset: 45)))
    #expect(!hours.contains(Timestamp(seconds: 0), in: LocalTime(utcOffset: 0)))
    #expect(hours.contains(Timestamp(seconds: 7 * 86_400 + 1_800), in: LocalTime(utcOffset: 0)))
  }

  /// A venue at a place, with opening hours and perhaps a key more.
  private func venue(_ latitude: Double, _ longitude: Double, _ key: String = "") -> MemoryVenue {
    var venue = Self.hall()
    let text = """
      id: hall
      origin: { latitude: \(latitude), longitude: \(longitude) }
      \(key)
      buildings: [{ id: main, floors: [{ level: 0, places: [{ id: cafe, name: Café, at: [1, 1], hours: "12:00-13:00" }] }] }]
      """
    venue.files["venue.yaml"] = Array(text.utf8)
    return venue
  }

  @Test(
    "a venue that states no time zone has that of its place, where those about it agree",
    arguments: [
      (52.52, 13.40, "2026-07-01T10:30:00Z", true), (52.52, 13.40, "2026-12-01T10:30:00Z", false),
      (48.14, 11.58, "2026-12-01T11:30:00Z", true),
      (35.68, 139.77, "2026-07-01T03:30:00Z", true),
      (51.51, -0.12, "2026-07-01T11:30:00Z", true), (51.51, -0.12, "2026-12-01T12:30:00Z", true),
    ]
  )
  func placeTime(latitude: Double, longitude: Double, time: String, isOpen: Bool) throws {
    let venue = try venue(latitude, longitude).read()
    let cafe = try #require(venue.floors.first?.floor.pointsOfInterest.first)
    let date = try Date(time, strategy: .iso8601)
    let moment = Timestamp(seconds: Int64(date.timeIntervalSince1970))
    #expect(cafe.hours?.contains(moment, in: venue.localTime) == isOpen, "\(venue.localTime.zone ?? "-")")
  }

  @Test(
    "where the time zones about a venue differ, hours are read as UTC with a warning, unless it states one",
    arguments: [(42.88, -8.54), (50.95, 1.86), (54.35, 18.65), (23.24, 69.67)]
  )
  func borderTime(latitude: Double, longitude: Double) throws {
    let silent = venue(latitude, longitude)
    #expect(
      silent.problems().contains { $0.contains("opening hours are read as UTC") },
      "\(silent.problems())"
    )
    #expect(try silent.read().localTime.utcOffset(at: Timestamp(seconds: 1_780_000_000)) == 0)
    let stated = venue(latitude, longitude, "timeZone: Europe/Madrid")
    #expect(stated.problems().isEmpty, "\(stated.problems())")
    let local = try stated.read().localTime
    #expect(local.utcOffset(at: Timestamp(seconds: 1_782_900_000)) == 120)
    #expect(local.utcOffset(at: Timestamp(seconds: 1_796_000_000)) == 60)
    #expect(
      venue(latitude, longitude, "timeZone: Europe/Nowhere").problems().contains {
        $0.contains("no time zone")
      }
    )
    let both = venue(latitude, longitude, "timeZone: Europe/Madrid\nutcOffset: \"+01:00\"").problems()
    #expect(both.contains { $0.contains("both say the local time") }, "\(both)")
  }
}
