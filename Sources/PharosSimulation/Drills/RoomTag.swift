import PharosReports

/// A tag in a room drill: where it is and how it gets to the next room.
struct RoomTag: Sendable {
  /// A place in a building; the height counts floors.
  struct Place: Sendable {
    var x: Double
    var y: Double
    var floor: Double
  }

  /// How fast people walk with something in their hands.
  ///
  /// - Units: m/s.
  private static let speed = 1.0
  /// How long a flight of stairs takes.
  ///
  /// - Units: seconds.
  private static let flight = 12.0
  /// The margin along the walls of a room in which no tag is put down.
  ///
  /// - Units: metres.
  private static let margin = 0.2

  /// The room that it was in last.
  private(set) var room: Int
  private var from: Place
  private var to: Place
  private var target: Int
  private var starts: Int64
  private var arrives: Int64

  init(_ drill: borrowing RoomDrill, random: inout RandomStream) {
    room = Int(random.next() % UInt64(drill.rooms.count))
    from = RoomTag.somewhere(in: drill.rooms[room], random: &random)
    to = from
    target = room
    starts = .max
    arrives = .max
    if let rest = drill.rest { starts = random.span(rest.lowerBound.seconds, rest.upperBound.seconds) }
  }

  /// Where it is at a time, and whether it has come into another room by then.
  mutating func place(
    at time: Int64,
    in drill: borrowing RoomDrill,
    random: inout RandomStream
  ) -> (place: Place, hasChanged: Bool) {
    guard time >= starts else { return (from, false) }
    if arrives == .max { set(out: drill, random: &random) }
    guard time < arrives, starts < arrives else { return arrive(in: drill, random: &random) }
    let share = Double(time - starts) / Double(arrives - starts)
    let place = Place(
      x: from.x + share * (to.x - from.x),
      y: from.y + share * (to.y - from.y),
      floor: from.floor + share * (to.floor - from.floor)
    )
    return (place, enter(place, in: drill))
  }

  private mutating func set(out drill: borrowing RoomDrill, random: inout RandomStream) {
    let doors = drill.rooms[room].neighbours
    guard !doors.isEmpty else {
      arrives = starts
      return
    }
    target = doors[Int(random.next() % UInt64(doors.count))]
    to = RoomTag.somewhere(in: drill.rooms[target], random: &random)
    let way = ((to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y)).squareRoot()
    let seconds = max(way / RoomTag.speed, abs(to.floor - from.floor) * RoomTag.flight)
    arrives = starts + Int64(max(1, seconds) * 1e9)
  }

  private mutating func arrive(
    in drill: borrowing RoomDrill,
    random: inout RandomStream
  ) -> (place: Place, hasChanged: Bool) {
    from = to
    let rest = drill.rest ?? .seconds(60)...(.seconds(60))
    starts = arrives + random.span(rest.lowerBound.seconds, rest.upperBound.seconds)
    arrives = .max
    return (from, enter(from, in: drill))
  }

  /// Whether a place is in another room than the one before, between those that it walks between.
  private mutating func enter(_ place: Place, in drill: borrowing RoomDrill) -> Bool {
    guard room != target else { return false }
    let goal = drill.rooms[target]
    let isThere =
      drill.rooms[room].floor == goal.floor
      ? goal.x.contains(place.x) && goal.y.contains(place.y) : abs(place.floor - Double(goal.floor)) < 0.5
    guard isThere else { return false }
    room = target
    return true
  }

  private static func somewhere(in room: RoomDrill.Room, random: inout RandomStream) -> Place {
    Place(
      x: random.uniform(room.x.lowerBound + margin, room.x.upperBound - margin),
      y: random.uniform(room.y.lowerBound + margin, room.y.upperBound - margin),
      floor: Double(room.floor)
    )
  }
}
