import PharosModel
import PharosSpace
import PharosWays
import Testing

@Suite("Routes")
struct RouterTests {
  private static func steps(_ route: WalkingRoute) -> [String] {
    route.steps.map { step in
      let modifier = step.maneuver.modifier.map { " \($0.rawValue)" } ?? ""
      let level = step.maneuver.targetLevel.map { " to \($0)" } ?? ""
      return "\(step.maneuver.kind.rawValue)\(modifier)\(level) \((step.distance * 10).rounded() / 10)"
    }
  }

  @Test("a way out of a room bends at the jamb of its door and is as long as a taut string")
  func rooms() throws {
    let route = try #require(try WayVenue.router.routes(from: .place("r2-0"), to: .place("west")).first)
    let jamb = Point(x: 14.5, y: 12)
    let length = Point(x: 15, y: 16).distance(to: jamb) + jamb.distance(to: Point(x: 0.5, y: 10))
    #expect(abs(route.distance - length) < 0.01)
    #expect(abs(route.duration - route.distance / 1.3) < 1e-9)
    #expect(Self.steps(route) == ["depart 4.0", "leave right 14.1", "arrive 0.0"])
    let sentences = route.steps.map { $0.instruction(in: .english) }
    #expect(sentences == ["Start walking", "Leave Room 02", "You have arrived at west"])
    #expect(route.steps.map(\.maneuver.bearingAfter) == [187, 262, 0])
    #expect(route.steps.map(\.maneuver.bearingBefore) == [0, 187, 262])
  }

  @Test("positions get turns and doors")
  func positions() throws {
    let route = try #require(
      try WayVenue.router.routes(from: WayVenue.at(2, 9, 0), to: WayVenue.at(38, 19, 0)).first
    )
    #expect(
      Self.steps(route) == ["depart 32.6", "pass door left 7.8", "arrive 0.0"],
      "\(Self.steps(route))"
    )
    #expect(route.steps[1].instruction(in: .english) == "Go through the glass door")
    #expect(route.steps.allSatisfy { $0.floor == FloorID(building: "house", level: 0) })
  }

  @Test("connectors are taken where they are fastest, one-way ones only in their direction")
  func connectors() throws {
    let up = try #require(
      try WayVenue.router.routes(from: WayVenue.at(2, 10, 0), to: WayVenue.at(2, 10, 1)).first
    )
    #expect(Self.steps(up).map { $0.prefix(14) }.contains("take escalator"))
    #expect(up.steps[1].instruction(in: .english) == "Take the escalator up to level 1")
    #expect(up.floors.map(\.level) == [0, 1])
    let down = try #require(
      try WayVenue.router.routes(
        from: WayVenue.at(2, 10, 1),
        to: WayVenue.at(2, 10, 0),
        options: RouteOptions(avoided: [.stairs])
      ).first
    )
    #expect(down.steps.contains { $0.instruction(in: .german) == "Nehmen Sie den Aufzug auf Ebene 0" })
    #expect(down.steps.contains { $0.instruction(in: .french) == "Continuez au niveau 0" })
    let steps = try #require(
      try WayVenue.router.routes(from: WayVenue.at(38, 10, 1), to: WayVenue.at(38, 10, 0)).first
    )
    #expect(steps.steps.contains { $0.maneuver.kind == .stairs && $0.maneuver.targetLevel == 0 })
  }

  @Test("without steps, lifts replace stairs and doors that a wheelchair cannot pass are walls")
  func accessible() throws {
    let options = RouteOptions(isAccessible: true)
    let route = try #require(
      try WayVenue.router.routes(from: WayVenue.at(38, 10, 1), to: WayVenue.at(38, 10, 0), options: options)
        .first
    )
    #expect(route.steps.contains { $0.maneuver.kind == .lift })
    #expect(throws: RoutingError.noWay(isAccessible: true, isRestricted: false)) {
      try WayVenue.router.routes(from: WayVenue.at(2, 10, 0), to: .place("r2-0"), options: options)
    }
    #expect(throws: RoutingError.noWay(isAccessible: false, isRestricted: true)) {
      let avoided = RouteOptions(avoided: [.lift, .stairs])
      return try WayVenue.router.routes(
        from: WayVenue.at(2, 10, 1),
        to: WayVenue.at(2, 10, 0),
        options: avoided
      )
    }
  }

  @Test("a door outside of its hours is a wall")
  func hours() throws {
    // 1 January 1970 was a Thursday; the house is one hour ahead of UTC.
    let open = RouteOptions(departure: Timestamp(seconds: 7 * 3_600))
    let shut = RouteOptions(departure: Timestamp(seconds: 7 * 3_600 - 1))
    #expect(try WayVenue.router.routes(from: .place("west"), to: .place("r3-0"), options: open).count == 1)
    #expect(throws: RoutingError.noWay(isAccessible: false, isRestricted: true)) {
      try WayVenue.router.routes(from: .place("west"), to: .place("r3-0"), options: shut)
    }
  }

  @Test("alternatives use other connectors")
  func alternatives() throws {
    let options = RouteOptions(alternatives: 3)
    let routes = try WayVenue.router.routes(
      from: WayVenue.at(20, 11, 0),
      to: WayVenue.at(22, 11, 1),
      options: options
    )
    let kinds = routes.map { $0.steps.compactMap { $0.maneuver.targetLevel == nil ? nil : $0.maneuver.kind } }
    #expect(
      kinds == [[.stairs], [.escalator], [.lift]],
      "\(kinds)"
    )
    #expect(routes.map(\.duration) == routes.map(\.duration).sorted())
  }

  @Test("the nearest place of a category is the one that is reached first, not the one beeline")
  func nearest() throws {
    let found = try WayVenue.router.nearest(category: "restroom", from: WayVenue.at(38, 10, 1), limit: 5)
    #expect(found.map(\.place.identifier) == ["r1-1", "r1-0"])
    #expect(found[0].distance < 40 && found[0].duration < found[1].duration)
    #expect(throws: RoutingError.unknownCategory("restrom", known: ["restroom", "room"])) {
      try WayVenue.router.nearest(category: "restrom", from: WayVenue.at(38, 10, 1))
    }
  }

  @Test("of several places of one name, the way leads to the one that is reached first")
  func namesakes() throws {
    let route = try #require(
      try WayVenue.router.routes(from: WayVenue.at(8, 10, 1), to: .place("restroom")).first
    )
    #expect(route.floors.map(\.level) == [1])
  }

  @Test("a matrix has the same figures as routes")
  func matrix() throws {
    let ends = [WayVenue.at(2, 10, 0), .place("r4-1"), WayVenue.at(10, 3, 0)]
    let rows = try WayVenue.router.matrix(from: ends, to: ends)
    for (row, from) in ends.enumerated() {
      for (column, to) in ends.enumerated() {
        let route = try? WayVenue.router.routes(from: from, to: to).first
        #expect(rows[row][column]?.duration == route?.duration)
        #expect((rows[row][column] == nil) == (row != column && (row == 2 || column == 2)))
      }
    }
  }

  @Test(
    "a question that takes more searches than its budget allows is refused with the number, before any is made"
  )
  func budget() throws {
    let ends = [WayVenue.at(2, 10, 0), .place("r4-1")]
    #expect(throws: RoutingError.tooManySearches(4, limit: 3)) {
      try WayVenue.router.matrix(from: ends, to: ends, budget: SearchBudget(limit: 3))
    }
    #expect(try WayVenue.router.matrix(from: ends, to: ends, budget: SearchBudget(limit: 4)).count == 2)
    // A name that several places bear counts as all of them.
    #expect(throws: RoutingError.self) {
      try WayVenue.router.matrix(from: [.place("restroom")], to: ends, budget: SearchBudget(limit: 2))
    }
    let ended = SearchBudget { true }
    #expect(throws: RoutingError.ended) { try WayVenue.router.matrix(from: ends, to: ends, budget: ended) }
    #expect(throws: RoutingError.ended) {
      try WayVenue.router.nearest(category: "restroom", from: WayVenue.at(38, 10, 1), budget: ended)
    }
  }

  @Test("errors say what to do")
  func errors() {
    func text(_ from: Waypoint, _ to: Waypoint) -> String {
      do throws(RoutingError) {
        _ = try WayVenue.router.routes(from: from, to: to)
        return ""
      } catch { return "\(error)" }
    }
    let here = WayVenue.at(2, 10, 0)
    #expect(
      text(here, WayVenue.at(2, 10, 7))
        == "there is no level 7 for the destination: the venue has the levels 0, 1"
    )
    #expect(text(here, .place("Rom 02")) == "the venue has no place \"Rom 02\"; did you mean \"Room 02\"?")
    #expect(
      text(here, WayVenue.at(60, 10, 0))
        == "the destination is 20.0 m from where people can walk on level 0; at most 10.0 m are bridged: check the "
        + "coordinate and the level"
    )
    #expect(
      text(here, WayVenue.at(10, 3, 0))
        == "there is no way: `pharos check` names the parts of the venue that cannot be walked to"
    )
    #expect(text(WayVenue.at(60, 10, 0), here).hasPrefix("the origin is 20.0 m from where people can walk"))
    #expect(
      throws: RoutingError.position(RouteEnd(.origin, index: 1), .outside(level: 0, meters: 20))
    ) {
      do throws(RoutingError) {
        _ = try WayVenue.router.matrix(from: [here, WayVenue.at(60, 10, 0)], to: [here])
      } catch .position(let end, .outside(let level, let meters?)) {
        throw RoutingError.position(end, .outside(level: level, meters: meters.rounded()))
      }
    }
    #expect(text(here, .coordinate(WayVenue.origin, level: 0)) != "")
  }

  @Test("every language has a sentence for every manoeuvre")
  func sentences() throws {
    let step = try #require(
      try WayVenue.router.routes(from: .place("west"), to: .place("r2-0")).first?.steps.first
    )
    for kind in Maneuver.Kind.allCases {
      for modifier in [nil] + Maneuver.Modifier.allCases.map(Optional.some) {
        var step = step
        step.maneuver.kind = kind
        step.maneuver.modifier = modifier
        step.maneuver.targetLevel = 3
        step.maneuver.name = "Café"
        let sentences = Set(RouteLanguage.allCases.map { step.instruction(in: $0) })
        #expect(
          sentences.count == 3 && !sentences.contains { $0.isEmpty || $0.contains("{") },
          "\(sentences)"
        )
      }
    }
  }
}
