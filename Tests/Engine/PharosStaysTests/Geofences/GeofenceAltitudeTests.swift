import PharosModel
import PharosPipeline
import PharosStays
import Testing

@Suite("Geofences with a range of altitudes")
struct GeofenceAltitudeTests {
  private static let subject = SubjectID.observer(GeofenceScript.visitor)

  private static func deck(_ reference: Geofence.AltitudeRange.Reference = .seaLevel) -> Geofence {
    var deck = GeofenceScript.circle(10)
    deck.altitude = Geofence.AltitudeRange(from: Meters(35), to: Meters(39), reference: reference)
    return deck
  }

  private static func position(
    _ east: Double,
    at second: Double,
    altitude: Double?,
    vertical: Double? = 0.5
  ) -> LocatedPosition? {
    let place = GeofenceScript.position(east, 0)
    var position = LocatedPosition(
      subject: subject,
      time: GeofenceScript.time(second),
      decidedAt: GeofenceScript.time(second),
      latitude: place.latitude,
      longitude: place.longitude,
      accuracy: 2,
      source: .outside
    )
    position?.height = LocatedHeight(
      altitude: altitude,
      ellipsoidalAltitude: nil,
      verticalAccuracy: vertical,
      horizontalAccuracy: 2
    )
    return position
  }

  private static func state(_ stage: StageTwo) -> RegionState? {
    stage.state(of: subject, in: RegionKey(application: "gallery", region: "deck"))?.state
  }

  /// A character a second: `i` in the middle between the heights, `b` below them, `?` in the middle without a height, `v` with
  /// a vague one, `o` outside of the outline without one.
  private static func picture(_ fixes: String) -> (events: String, state: RegionState?) {
    var stage = StageTwo(site: GeofenceScript.site([("deck", deck())]))
    var picture = Array(repeating: Character("-"), count: fixes.count)
    for (second, character) in fixes.enumerated() {
      var events: [Event] = []
      let position = position(
        character == "o" ? 60 : 0,
        at: Double(second),
        altitude: character == "b" ? 30 : character == "i" || character == "v" ? 37 : nil,
        vertical: character == "v" ? 30 : 0.5
      )
      if let position { stage.follow(position, into: &events) }
      for event in events where event.kind == .regionState {
        switch event.transition?.to {
        case .inside: picture[second] = "I"
        case .outside: picture[second] = "O"
        case .unknown: picture[second] = "N"
        case .unmonitored, nil: picture[second] = "!"
        }
      }
    }
    return (String(picture), state(stage))
  }

  @Test(
    "a subject is inside within the outline and between the heights, and a missing height decides nothing",
    arguments: [
      ("iiiiii", "--I---", RegionState.inside),
      ("bbbbbb", "------", .outside),
      ("iiiibbbb", "--I---O-", .outside),
      ("bbbiiii", "-----I-", .inside),
      ("????????", "--------", .unknown),
      ("vvvvvvvv", "--------", .unknown),
      ("????iii", "------I", .inside),
      ("oooooo", "------", .outside),
      ("iiii????????????????????", "--I" + String(repeating: "-", count: 21), .inside),
    ]
  )
  func heights(fixes: String, expected: String, state: RegionState) {
    let found = Self.picture(fixes)
    #expect(found.events == expected)
    #expect(found.state == state)
  }

  @Test("beside the outline a subject is outside without a height, after one that was between the heights")
  func beside() {
    let found = Self.picture("iiii" + String(repeating: "o", count: 20))
    #expect(found.events.filter { $0 != "-" } == "IO", "\(found.events)")
    #expect(found.state == .outside)
  }

  /// A height counts for 10 s without another one: the last of them at second 12, and from 13 on nothing is known.
  @Test("a subject that was below is unknown once its fixes have stated no height for long")
  func lost() {
    let found = Self.picture("bbb" + String(repeating: "?", count: 14) + "ooo")
    #expect(found.events == String(repeating: "-", count: 15) + "N---O")
    #expect(found.state == .outside)
    #expect(Evidence.Rule.noAltitude.words.sentence.contains("no altitude"))
  }

  @Test(
    "an area that is undecided for long is named: for want of a height, or because the fixes say too little",
    arguments: [(nil, Evidence.Rule.noAltitude), (37, .assumed)]
  )
  func undecided(altitude: Double?, rule: Evidence.Rule) throws {
    var stage = StageTwo(site: GeofenceScript.site([("deck", Self.deck())]))
    var events: [Event] = []
    for second in 0..<12 {
      let position = Self.position(0, at: Double(second), altitude: altitude, vertical: 30)
      if let position { stage.follow(position, into: &events) }
    }
    let named = try #require(events.first { $0.kind == .regionState })
    #expect(named.transition?.to == .unknown && named.transition?.evidence.rule == rule)
    #expect((named.transition?.evidence.geofence != nil) == (rule == .noAltitude))
  }

  @Test("heights above the ellipsoid decide about those ranges alone")
  func references() {
    let site = GeofenceScript.site([("deck", Self.deck(.ellipsoid)), ("sea", Self.deck())])
    let links = (0..<6).map { GeofenceScript.fix(0, at: Double($0), accuracy: 0.25, altitude: 37) }
    let events = GeofenceScript.events(site, links, until: 6)
    #expect(GeofenceScript.words(events) == ["enter deck @2"])
  }

  @Test("an area with heights lies within one that has all of them")
  func nesting() {
    var hall = GeofenceScript.circle(40)
    hall.altitude = Geofence.AltitudeRange(from: Meters(20))
    var cellar = GeofenceScript.circle(40)
    cellar.altitude = Geofence.AltitudeRange(to: Meters(36))
    let site = GeofenceScript.site([("deck", Self.deck()), ("hall", hall), ("cellar", cellar)])
    var stage = StageTwo(site: site)
    var events: [Event] = []
    for second in 0..<6 {
      guard let position = Self.position(0, at: Double(second), altitude: 38) else { continue }
      stage.follow(position, into: &events)
    }
    #expect(Set(GeofenceScript.words(events)) == ["enter deck @2", "enter hall @2"])
  }

  @Test(
    "a range without a height, upside down or out of bounds is no area",
    arguments: [
      Geofence.AltitudeRange(), Geofence.AltitudeRange(from: Meters(3), to: Meters(3)),
      Geofence.AltitudeRange(from: Meters(9), to: Meters(3)), Geofence.AltitudeRange(to: Meters(1e6)),
      Geofence.AltitudeRange(from: Meters(.nan)),
    ]
  )
  func problems(range: Geofence.AltitudeRange) {
    var deck = GeofenceScript.circle(10)
    deck.altitude = range
    #expect(deck.problem == .altitude)
  }
}
