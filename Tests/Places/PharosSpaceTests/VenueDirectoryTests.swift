import PharosSpace
import PharosTestSupport
import Testing

/// Places that are searched by words and by position.
@Suite("The directory of a venue")
struct VenueDirectoryTests {
  private static func plane() throws -> FloorPlane {
    .ground(GroundPlane(origin: try #require(Coordinate(latitude: 52.52, longitude: 13.405))))
  }

  private static func square(_ x: Double, _ y: Double, _ side: Double, _ name: String = "") -> Area {
    let corner = Point(x: x, y: y)
    return Area(name: name, outline: Polygon(rectangleFrom: corner, to: corner + Point(x: side, y: side)))
  }

  /// A ward with a desk and a bath beside a hall, and a café on the floor above.
  private static func house() throws -> Venue {
    var ground = Floor(level: 0, names: ["Ground floor"], plane: try plane())
    ground.walkable = [square(0, 0, 100, "Ground floor"), square(0, 0, 10, "Ward"), square(1, 1, 2, "Bath")]
    ground.observers = [
      PlacedObserver(.name("hall"), at: Point(x: 11, y: 5)),
      PlacedObserver(.name("ward"), at: Point(x: 9, y: 9)),
      PlacedObserver(.name("far hall"), at: Point(x: 90, y: 90)),
    ]
    ground.pointsOfInterest = [
      PointOfInterest(
        identifier: "desk-1",
        name: "Front desk",
        category: "information",
        point: Point(x: 8, y: 8),
        caption: Caption(
          title: "L’accueil",
          description: "Tickets for the café as well.",
          address: "Door 7",
          properties: ["altName": "Réception", "phone": "+33 1 23"]
        )
      ),
      PointOfInterest(identifier: "wc", name: "Größe", category: "restroom", point: Point(x: 60, y: 60)),
      PointOfInterest(identifier: "shop", name: "Cafeteria shop", point: Point(x: 30, y: 30)),
    ]
    var upper = Floor(level: 1, plane: try plane())
    upper.walkable = [square(0, 0, 100)]
    upper.pointsOfInterest = [
      PointOfInterest(identifier: "cafe", name: "Café", category: "foodservice", point: Point(x: 50, y: 50))
    ]
    var building = Building(identifier: "main", floors: [ground, upper])
    building.address = "Main street 1"
    var annex = Building(identifier: "annex", floors: [Floor(level: 0, plane: try plane())])
    annex.floors[0].walkable = [square(200, 0, 10)]
    var venue = Venue(identifier: "house", buildings: [building, annex])
    venue.address = "Old street 2"
    return venue
  }

  @Test(
    "words are folded: case, accents and marks do not count, in every script that has them",
    arguments: [
      ("Café Größe", ["cafe", "grosse"]), ("CAFE\u{301}", ["cafe"]),
      ("l’Été d'Œuvre", ["l", "ete", "d", "oeuvre"]),
      ("Łódź Ørsted Þór", ["lodz", "orsted", "thor"]), ("Ёлка Йод", ["елка", "иод"]),
      ("Άλφα Ὀδός", ["αλφα", "οδοσ"]),
      ("İstanbul ISIK ışık", ["istanbul", "isik", "isik"]), ("Gate B-12/4", ["gate", "b", "12", "4"]),
      ("東京 タワー", ["東京", "タワー"]), (" –…! ", []), ("Việt", ["viet"]),
    ] as [(String, [String])]
  )
  func folding(text: String, words: [String]) {
    #expect(FoldedText.words(text) == words)
  }

  @Test("the best match comes first, then the nearest, then the name; the words may stand in different texts")
  func order() throws {
    let directory = VenueDirectory(try Self.house())
    func ids(_ query: String, near point: Point? = nil, limit: Int = 20) throws -> [String] {
      let position = try point.flatMap { try Self.plane().coordinate(of: $0) }
      return directory.search(query, from: position, limit: limit).map(\.entry.place.identifier)
    }
    #expect(try ids("CAFE") == ["cafe", "shop", "desk-1"])
    #expect(directory.search("cafe", limit: 9).map(\.match) == [.whole, .beginning, .text])
    #expect(try ids("caf", near: Point(x: 31, y: 30)) == ["shop", "cafe", "desk-1"])
    #expect(try ids("caf", near: Point(x: 50, y: 49), limit: 1) == ["cafe"])
    #expect(try ids("reception tick") == ["desk-1"])
    #expect(directory.search("reception", limit: 1).map(\.match) == [.kind])
    #expect(directory.search("accueil", limit: 1).map(\.match) == [.heading])
    #expect(try ids("desk front") == ["desk-1"])
    #expect(try ids("grosse rest") == ["wc"])
    #expect(try ids("front cafeteria") == [])
    #expect(try ids("esk") == [])
    #expect(try ids("") == [] && ids("!") == [])
    let near = try #require(
      directory.search("cafe", from: Self.plane().coordinate(of: .origin), limit: 1).first
    )
    #expect(abs((near.distance ?? 0) - 50 * 2.0.squareRoot()) < 0.01)
  }

  @Test("a search finds what a slow reading of every place finds", arguments: Seeds.drawn(0..<20))
  func reference(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let syllables = ["ca", "fé", "Gr", "ö", "ß", "no", "12", "x"]
    func word() -> String {
      (0..<Int.random(in: 1...3, using: &random)).map { _ in syllables.randomElement(using: &random) ?? "a" }
        .joined()
    }
    func text() -> String {
      (0..<Int.random(in: 1...3, using: &random)).map { _ in word() }.joined(separator: " ")
    }
    var floor = Floor(level: 0, plane: try Self.plane())
    floor.pointsOfInterest = (0..<300).map { number in
      PointOfInterest(
        identifier: "#\(number)",
        name: text(),
        point: Point(x: Double(number), y: 0),
        caption: Caption(description: Bool.random(using: &random) ? text() : nil)
      )
    }
    let venue = Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])])
    let directory = VenueDirectory(venue)
    for _ in 0..<30 {
      let query = text()
      let asked = FoldedText.words(query)
      let expected = floor.pointsOfInterest.filter { place in
        let words = [place.name, place.identifier, place.caption.description ?? ""].flatMap(FoldedText.words)
        return asked.allSatisfy { asked in words.contains { $0.hasPrefix(asked) } }
      }
      let found = directory.search(query, limit: 1_000)
      #expect(Set(found.map(\.entry.place.identifier)) == Set(expected.map(\.identifier)), "\(query)")
      #expect(found.map(\.match) == found.map(\.match).sorted())
      #expect(
        directory.search(query, limit: 7).map(\.entry.place.identifier)
          == found.prefix(7).map(\.entry.place.identifier)
      )
    }
  }

  /// The slow reading does what a program without an index would: it folds the texts of every place.
  @Test("a search over 10,000 places takes less than a tenth of a reading of all of them")
  func speed() throws {
    var random = SeededGenerator(seed: 7)
    let words = (0..<3_000).map { _ in
      String(
        (0..<Int.random(in: 3...9, using: &random)).map { _ in
          "aeiourstlnmé".randomElement(using: &random) ?? "a"
        }
      )
    }
    func text(_ count: Int) -> String {
      (0..<count).map { _ in words.randomElement(using: &random) ?? "a" }.joined(separator: " ")
    }
    var floor = Floor(level: 0, plane: try Self.plane())
    floor.pointsOfInterest = (0..<10_000).map { number in
      PointOfInterest(
        identifier: "\(number)",
        name: text(2),
        point: Point(x: Double(number % 100), y: Double(number / 100)),
        caption: Caption(description: text(10))
      )
    }
    let venue = Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])])
    let directory = VenueDirectory(venue)
    let queries = (0..<20).map { _ in "\(words.randomElement(using: &random) ?? "a") \(text(1).prefix(2))" }
    let first = floor.pointsOfInterest[0].name
    let position = try Self.plane().coordinate(of: Point(x: 50, y: 50))
    let clock = ContinuousClock()
    var found = 0
    let fast = (0..<3).map { _ in
      clock.measure {
        found = queries.reduce(0) { $0 + directory.search($1, from: position, limit: 20).count }
      }
    }.min()
    var read = 0
    let slow = clock.measure {
      let asked = FoldedText.words(first)
      for place in floor.pointsOfInterest {
        let words = FoldedText.words(place.name) + FoldedText.words(place.caption.description ?? "")
        if asked.allSatisfy({ asked in words.contains { $0.hasPrefix(asked) } }) { read += 1 }
      }
    }
    #expect(found > 0 && read > 0)
    let perSearch = try #require(fast) / queries.count
    #expect(perSearch * 10 < slow, "\(perSearch) a search, \(slow) for a reading of all places")
  }

  @Test("a position has the smallest room and place, the address of the nearest of place, building and venue")
  func spots() throws {
    let directory = VenueDirectory(try Self.house())
    func spot(_ x: Double, _ y: Double, _ level: Int = 0) throws -> VenueDirectory.Spot? {
      let coordinate = try #require(try Self.plane().coordinate(of: Point(x: x, y: y)))
      return directory.spot(at: coordinate, level: level)
    }
    let desk = try #require(try spot(8, 8))
    #expect(desk.floor.description == "main/0" && desk.room == "Ward")
    #expect(desk.place?.identifier == "desk-1" && desk.address == "Door 7")
    #expect(desk.observers == [.name("ward")])
    let bath = try #require(try spot(2, 2))
    #expect(bath.room == "Bath" && bath.place == nil && bath.address == "Main street 1")
    #expect(bath.observers == [])
    let hall = try #require(try spot(20, 5))
    #expect(hall.room == nil && hall.observers == [.name("hall"), .name("far hall")])
    let annex = try #require(try spot(205, 5))
    #expect(annex.floor.building == "annex" && annex.address == "Old street 2")
    #expect(try spot(50, 50, 1)?.place?.identifier == "cafe")
    #expect(try spot(150, 5) == nil && spot(205, 5, 1) == nil && spot(5, 5, 2) == nil)
    #expect(directory.levels == [0, 1])
  }
}
