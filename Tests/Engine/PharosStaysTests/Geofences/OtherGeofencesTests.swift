import PharosDocuments
import PharosModel
import PharosPipeline
import PharosStays
import PharosTestSupport
import Testing

@Suite("Outside of all geofences that are not near")
struct OtherGeofencesTests {
  private static let subject = SubjectID.observer(GeofenceScript.visitor)

  private static func key(_ region: String) -> RegionKey { RegionKey(application: "gallery", region: region) }

  private static func state(_ region: String, in stage: StageTwo) -> RegionState? {
    stage.state(of: subject, in: key(region))?.state
  }

  /// The events that state where the subject stands: `others`, or `unknown>outside yard`.
  private static func states(_ events: [Event]) -> [String] {
    events.filter { $0.kind.group == .state }.map { event in
      guard event.kind == .regionState, let transition = event.transition else { return "others" }
      return "\(transition.from.name)>\(transition.to.name) \(event.region)"
    }
  }

  private static let far = (0..<40).map { number in
    ("far \(number)", GeofenceScript.circle(10, east: 400 + 30 * Double(number), north: 200))
  }

  @Test("one event says of a located subject that it is outside of all that are far, however many there are")
  func once() throws {
    var stage = StageTwo(site: GeofenceScript.site(Self.far))
    var events: [Event] = []
    #expect(Self.state("far 0", in: stage) == .unknown)
    for second in 0..<30 { stage.decide(by: GeofenceScript.fix(0, at: Double(second)), into: &events) }
    #expect(Self.states(events) == ["others"])
    let event = try #require(events.first)
    #expect(event.kind == .regionsOutside && event.region.isEmpty && event.application == "gallery")
    #expect(event.time == GeofenceScript.time(0) && event.transition?.to == .outside)
    #expect(Self.far.allSatisfy { Self.state($0.0, in: stage) == .outside })
    #expect(stage.state(of: .observer(.name("another")), in: Self.key("far 0"))?.state == .unknown)
    let ask = RegionChange.requestState(application: "gallery", identifier: "far 7", subject: Self.subject)
    stage.apply(ask, at: GeofenceScript.time(30), into: &events)
    #expect(events.last?.transition?.to == .outside && events.last?.transition?.isAnswer == true)
  }

  @Test("each application with geofences about such subjects gets one event of its own")
  func applications() {
    var site = GeofenceScript.site(Self.far)
    let about = { (identifier: String, subject: Region.Subject) in
      Application(
        identifier: identifier,
        regions: [Region(identifier: "hall", geofence: GeofenceScript.circle(9, east: 300), subject: subject)]
      )
    }
    site.applications += [about("shop", .observer), about("store", .beacon(observers: nil))]
    let events = GeofenceScript.events(site, [GeofenceScript.fix(0, at: 0)], until: 1)
    #expect(events.map(\.application) == ["gallery", "shop"])
    #expect(Set(events.map(\.id)).count == 2)
  }

  @Test("areas that are near are decided first, and then are no part of the others")
  func near() {
    let site = GeofenceScript.site(Self.far + [("yard", GeofenceScript.circle(10))])
    let inside = (0..<6).map { GeofenceScript.fix(0, at: Double($0), accuracy: 2) }
    let events = GeofenceScript.events(site, inside, until: 6)
    #expect(Self.states(events) == ["unknown>inside yard", "others"])
    #expect(events.first { $0.kind == .regionsOutside }?.time == GeofenceScript.time(3))
  }

  @Test("a geofence that cannot be decided keeps the others waiting for 10 s, and is then named as unknown")
  func undecided() {
    let site = GeofenceScript.site(Self.far + [("yard", GeofenceScript.circle(10))])
    var stage = StageTwo(site: site)
    var events: [Event] = []
    for second in 0..<10 {
      stage.decide(by: GeofenceScript.fix(10, at: Double(second), accuracy: 2), into: &events)
    }
    #expect(events.isEmpty)
    #expect(Self.state("far 0", in: stage) == .unknown)
    stage.decide(by: GeofenceScript.fix(10, at: 10, accuracy: 2), into: &events)
    #expect(Self.states(events) == ["unknown>unknown yard"])
    stage.decide(by: GeofenceScript.fix(10, at: 10.5, accuracy: 2), into: &events)
    #expect(Self.states(events) == ["unknown>unknown yard", "others"])
    #expect(Self.state("yard", in: stage) == .unknown && Self.state("far 0", in: stage) == .outside)
    for second in 11..<16 {
      stage.decide(by: GeofenceScript.fix(60, at: Double(second), accuracy: 2), into: &events)
    }
    #expect(Self.states(events).last == "unknown>outside yard")
    #expect(GeofenceScript.words(events).isEmpty)
  }

  @Test("a geofence that is added is unknown until the next fix, which says it of the others again")
  func added() {
    var stage = StageTwo(site: GeofenceScript.site(Self.far))
    var events: [Event] = []
    for second in 0..<3 { stage.decide(by: GeofenceScript.fix(0, at: Double(second)), into: &events) }
    let region = Region(identifier: "new", geofence: GeofenceScript.circle(10, east: 300))
    let start = RegionChange.startMonitoring(application: "gallery", region)
    stage.apply(start, at: GeofenceScript.time(3), into: &events)
    #expect(Self.state("new", in: stage) == .unknown && Self.state("far 0", in: stage) == .outside)
    for second in 4..<8 { stage.decide(by: GeofenceScript.fix(0, at: Double(second)), into: &events) }
    #expect(Self.state("new", in: stage) == .outside)
    #expect(events.map(\.kind) == [.regionsOutside, .regionsOutside])
    #expect(events.map(\.time) == [0, 4].map { GeofenceScript.time($0) })
  }

  @Test(
    "a subject that is assumed inside and located far away leaves, and one that is assumed outside does not"
  )
  func assumed() {
    var stage = StageTwo(site: GeofenceScript.site([]))
    var events: [Event] = []
    for (identifier, state) in [("in", RegionState.inside), ("out", .outside)] {
      let region = Region(identifier: identifier, geofence: GeofenceScript.circle(10, east: 300))
      let start = RegionChange.startMonitoring(application: "gallery", region, assuming: state)
      stage.apply(start, at: GeofenceScript.time(0), into: &events)
    }
    for second in 1..<8 { stage.decide(by: GeofenceScript.fix(0, at: Double(second)), into: &events) }
    #expect(GeofenceScript.words(events) == ["exit in @3"])
    #expect(Self.states(events) == ["inside>outside in", "others"])
    #expect(Self.state("in", in: stage) == .outside && Self.state("out", in: stage) == .outside)
  }

  @Test("a subject stays outside of all others without fixes and over a restart")
  func silence() throws {
    let site = GeofenceScript.site(Self.far + [("yard", GeofenceScript.circle(10))])
    var stage = StageTwo(site: site)
    var events: [Event] = []
    for second in 0..<6 {
      stage.decide(by: GeofenceScript.fix(0, at: Double(second), accuracy: 2), into: &events)
    }
    stage.advance(to: GeofenceScript.time(200), into: &events)
    #expect(Self.state("yard", in: stage) == .unmonitored && Self.state("far 3", in: stage) == .outside)
    var writer = FieldWriter()
    stage.writeState(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    var other = StageTwo(site: site)
    try other.restoreState(from: &reader)
    #expect(Self.state("far 3", in: other) == .outside)
    var third = StageTwo(site: site)
    var later: [Event] = []
    let published = StateTable(after: events).state
    third.resume(at: GeofenceScript.time(300), publishedState: published, into: &later)
    #expect(Self.state("far 3", in: third) == .outside && Self.state("yard", in: third) == .unmonitored)
    for second in 301..<306 {
      third.decide(by: GeofenceScript.fix(400, 200, at: Double(second), accuracy: 2), into: &later)
    }
    #expect(Set(Self.states(later)) == ["unmonitored>outside yard", "outside>inside far 0"])
  }

  // MARK: Drawn geofences and walks

  private struct Drawn {
    var fences: [(name: String, east: Double, north: Double, radius: Double)]
    var walk: [(east: Double, north: Double)]

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      fences = (0..<120).map { number in
        (
          "fence \(number)", Double.random(in: -400...400, using: &random),
          Double.random(in: -400...400, using: &random), Double.random(in: 12...45, using: &random)
        )
      }
      walk = []
      var (east, north) = (0.0, 0.0)
      while walk.count < 400 {
        let angle = Double.random(in: 0..<(2 * .pi), using: &random)
        let (sine, cosine) = Trigonometry.sineAndCosine(angle)
        let speeds: [Double] = [0, 0.7, 1.5]
        let speed = speeds.randomElement(using: &random) ?? 0
        for _ in 0..<Int.random(in: 5...60, using: &random) {
          (east, north) = (east + speed * cosine, north + speed * sine)
          walk.append((east, north))
        }
      }
    }

    var site: Site {
      GeofenceScript.site(
        fences.map { ($0.name, GeofenceScript.circle($0.radius, east: $0.east, north: $0.north)) }
      )
    }
  }

  /// How far inside of a geofence a position is, below zero outside.
  private static func depth(
    _ fence: (name: String, east: Double, north: Double, radius: Double),
    _ position: (east: Double, north: Double)
  ) -> Double {
    let (east, north) = (position.east - fence.east, position.north - fence.north)
    return fence.radius - (east * east + north * north).squareRoot()
  }

  /// The slow reference looks at every geofence for every fix: where the subject has clearly been for six seconds, it is.
  @Test(
    "where a subject clearly is, every geofence says so, and the events say what the engine knows",
    arguments: Seeds.drawn(0..<3 as Range<UInt64>)
  )
  func property(seed: UInt64) {
    let drawn = Drawn(seed: seed)
    var stage = StageTwo(site: drawn.site)
    var (events, table, clear) = ([Event](), StateTable(), [String: (isInside: Bool, since: Int)]())
    for (second, position) in drawn.walk.enumerated() {
      let before = events.count
      stage.decide(
        by: GeofenceScript.fix(position.east, position.north, at: Double(second), accuracy: 2),
        into: &events
      )
      for event in events[before...] { table.record(event) }
      for fence in drawn.fences {
        let depth = Self.depth(fence, position)
        let now = depth.magnitude < 8 ? nil : depth > 0
        if clear[fence.name]?.isInside != now {
          clear[fence.name] = now.map { (isInside: $0, since: second) }
        }
        let state = Self.state(fence.name, in: stage)
        let published = table.standing(of: Self.subject, in: Self.key(fence.name), isArea: true)?.record.state
        #expect(state == published ?? .unknown, "\(fence.name) at \(second), seed \(seed)")
        guard let known = clear[fence.name], second - known.since >= 6, second >= 18 else { continue }
        #expect(
          state == (known.isInside ? .inside : .outside),
          "\(fence.name) at \(second), \(depth) m, seed \(seed)"
        )
      }
    }
    #expect(events.count { $0.kind == .regionsOutside } == 1)
    let distant = drawn.fences.filter { fence in drawn.walk.allSatisfy { Self.depth(fence, $0) < -40 } }
    let named = Set(events.map(\.region))
    #expect(distant.allSatisfy { !named.contains($0.name) })
  }
}
