import PharosComparators
import PharosModel
import PharosSimulatedWorlds
import PharosTestSupport
import Testing

@Suite("Rules of rooms")
struct RoomRuleTests {
  /// Two observers 6 m apart, each in a room of its own.
  static let pair = [
    ComparatorObserver(room: 1, place: (x: 0, y: 0)), ComparatorObserver(room: 2, place: (x: 6, y: 0)),
  ]
  /// A house of 6 × 4 m with an observer in each corner room.
  static let house = [
    ComparatorObserver(room: 1, place: (x: 0, y: 0)), ComparatorObserver(room: 2, place: (x: 6, y: 0)),
    ComparatorObserver(room: 3, place: (x: 0, y: 4)), ComparatorObserver(room: 4, place: (x: 6, y: 4)),
  ]

  @Test("a site's rules say that they know rooms, and the companion's that it lacks places")
  func names() {
    let placeless = [ComparatorObserver(room: 1), ComparatorObserver(room: 2)]
    #expect(
      ComparatorCatalog.rooms(placed: Self.pair).map(\.name)
        == ["reelyActive strongest", "room-assistant nearest", "Bermuda areas", "ESPresense companion"]
    )
    #expect(ComparatorCatalog.rooms(observers: placeless).last?.name == "ESPresense nearest node")
  }

  @Test("the strongest mean of a second has the tag, and fifteen seconds of silence end it")
  func reelyActive() {
    var playback = Playback(ReelyActive(observers: Self.pair))
    playback.receive(observer: 0, at: 0, level: -60)
    playback.receive(observer: 1, at: 0.1, level: -55)
    playback.receive(observer: 1, at: 0.5, level: -75)
    playback.receive(observer: 1, at: 2, level: -50)
    playback.advance(to: 30)
    #expect(playback.lines() == ["enter 1.0", "room 1 1.0", "room 2 3.0", "exit 17.0", "room none 17.0"])
  }

  @Test("a tag between two rooms goes to and fro under room-assistant, a decibel being enough")
  func pingPong() {
    var playback = Playback(RoomAssistant(observers: Self.pair))
    for step in 0..<40 {
      let isFirstLouder = (step / 4).isMultiple(of: 2)
      playback.receive(observer: 0, at: Double(step), level: isFirstLouder ? -66 : -76)
      playback.receive(observer: 1, at: Double(step) + 0.1, level: isFirstLouder ? -74 : -64)
    }
    #expect(playback.rooms.count >= 4, "\(playback.lines())")
  }

  @Test("room-assistant hands a tag on when the nearest instance has been silent for a minute")
  func silentInstance() {
    var playback = Playback(RoomAssistant(observers: Self.pair))
    playback.receive(observer: 0, at: 0, level: -50)
    for step in 1...70 { playback.receive(observer: 1, at: Double(step), level: -80) }
    playback.advance(to: 200)
    #expect(
      playback.lines() == ["enter 0.0", "room 1 0.0", "room 2 60.0", "exit 130.0", "room none 130.0"]
    )
  }

  @Test(
    "the curve of Radius Networks, rounded to tenths",
    arguments: [(-59.0, 1.0), (-29.5, 0.0), (-65, 2.0), (-80, 9.5)]
  )
  func curve(level: Double, meters: Double) {
    #expect(RoomAssistant.distance(level: level, measuredPower: -59) == meters)
  }

  @Test(
    "Bermuda's challenger needs thirty percent at once",
    arguments: [
      // The distances of two levels differ by 30 % of their mean from 3.95 dB on at attenuation 3.
      (-68.0, [Int32?(1)], "3 dB nearer is 23 % nearer: not enough"),
      (-67.0, [1, 2], "4 dB nearer is 30.4 % nearer: at once"),
    ]
  )
  func thirtyPercent(level: Double, rooms: [Int32?], what: String) {
    var playback = Playback(Bermuda(observers: Self.pair))
    for step in 0..<4 { playback.receive(observer: 0, at: Double(step) * 1.05, level: -71) }
    playback.receive(observer: 1, at: 3.2, level: level)
    playback.advance(to: 5)
    #expect(playback.rooms == rooms, "\(what): \(playback.lines())")
  }

  @Test("Bermuda's challenger passes with fifteen percent once five looks lie below the incumbent's")
  func fifteenPercent() {
    var playback = Playback(Bermuda(observers: Self.pair))
    for step in 0..<8 {
      playback.receive(observer: 0, at: Double(step) * 1.05, level: -71)
      if step >= 2 { playback.receive(observer: 1, at: Double(step) * 1.05 + 0.05, level: -68.5) }
    }
    #expect(playback.lines() == ["enter 0.0", "room 1 0.0", "room 2 6.3"])
  }

  @Test("Bermuda keeps the nearer distance when a tag seems to run away, and believes an approach")
  func velocity() {
    var fleeing = Playback(Bermuda(observers: Self.pair))
    for step in 0..<6 { fleeing.receive(observer: 0, at: Double(step) * 1.05, level: -60) }
    // From 1.5 m to 15 m in a second: the reading is replaced, so that the challenger at 3.2 m stays farther.
    fleeing.receive(observer: 0, at: 6.3, level: -90)
    fleeing.receive(observer: 1, at: 6.3, level: -70)
    fleeing.advance(to: 7)
    #expect(fleeing.rooms == [1])
  }

  @Test("Bermuda's areas end with the look after thirty seconds of silence")
  func silentArea() {
    var playback = Playback(Bermuda(observers: Self.pair))
    playback.receive(observer: 1, at: 0)
    playback.advance(to: 100)
    #expect(playback.lines() == ["enter 0.0", "room 2 0.0", "exit 30.5", "room none 30.5"])
  }

  @Test("the companion finds the room of a still tag that all corners hear", arguments: 0..<4)
  func companion(corner: Int) {
    let places = [(1.0, 1.0), (5.0, 1.0), (1.0, 3.0), (5.0, 3.0)]
    var playback = Playback(ESPresense<ESPresenseCompanion>(observers: Self.house))
    for step in 0..<200 {
      for (index, node) in Self.house.enumerated() {
        guard let place = node.place else { continue }
        let (dx, dy) = (place.x - places[corner].0, place.y - places[corner].1)
        let level = -59 - 10 * 2.7 * RadioMath.decadicLog((dx * dx + dy * dy).squareRoot())
        playback.receive(observer: Int32(index), at: Double(step) * 0.1 + Double(index) * 0.001, level: level)
      }
    }
    #expect(playback.rooms.last == Int32(corner + 1), "\(playback.lines())")
  }

  @Test("without places the companion's rule takes the nearest node")
  func nearestNode() {
    let placeless = [ComparatorObserver(room: 1), ComparatorObserver(room: 2)]
    var playback = Playback(ESPresense<NearestNode>(observers: placeless))
    playback.receive(observer: 0, at: 0, level: -70)
    playback.receive(observer: 1, at: 1, level: -65)
    playback.advance(to: 200)
    #expect(
      playback.lines() == ["enter 0.0", "room 1 0.0", "room 2 1.0", "exit 121.0", "room none 121.0"]
    )
  }

  @Test("an undeclared observer decides no room and has no effect")
  func outsiders() {
    for rule in ComparatorCatalog.rooms(placed: Self.pair) {
      var playback = Playback(any: rule)
      playback.receive(observer: 7, at: 0)
      playback.advance(to: 500)
      #expect(playback.rooms.isEmpty)
      #expect(playback.exits == 1)
    }
  }
}
