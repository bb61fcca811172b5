import PharosModel
import PharosSimulation

/// A running room drill: its items in order of time.
package struct RoomDrillPlay: IteratorProtocol, Sendable {
  /// The state of the air between one tag and one observer.
  private struct Way: Sendable {
    var slow = 0.0
    var time: Int64 = 0
  }

  private let drill: RoomDrill
  private let end: Int64
  private var randoms: [RandomStream]
  private var tags: [RoomTag]
  private var ways: [[Way]]
  private var queue = DrillQueue()
  private var heard: [UInt32]
  private var nextHeartbeat: Int64 = 1_000_000_000
  /// The items not returned yet, in reverse order.
  private var ready: [DrillItem] = []

  init(_ drill: RoomDrill, seed: UInt64) {
    precondition(
      drill.length <= Drill.maximumLength && drill.subjects <= Drill.maximumSubjects && !drill.rooms.isEmpty,
      "room drill \(drill.name): at most \(Drill.maximumLength.seconds) s and \(Drill.maximumSubjects) tags, and a room"
    )
    self.drill = drill
    end = drill.length.nanoseconds
    randoms = (0..<drill.subjects).map { RandomStream(seed: seed, 21, UInt64($0)) }
    heard = Array(repeating: 0, count: drill.observers.count)
    tags = []
    ways = []
    let period = Double(drill.interval.nanoseconds)
    for number in 0..<drill.subjects {
      let tag = RoomTag(drill, random: &randoms[number])
      tags.append(tag)
      ways.append(drill.observers.map { _ in Way(slow: drill.noise.slow * randoms[number].bell()) })
      queue.insert(time: Int64(randoms[number].uniform() * period), number: number)
      ready.append(.room(subject: Int32(number), time: Drill.start, room: Int32(tag.room)))
    }
    for observer in drill.observers.indices {
      ready.append(.boot(observer: Int32(observer), time: Drill.start, bootID: 1))
    }
    ready.reverse()
  }

  /// The next item, or nil once the drill is over.
  package mutating func next() -> DrillItem? {
    while true {
      if let item = ready.popLast() { return item }
      guard let first = queue.first else { return nil }
      guard min(first.time, nextHeartbeat) <= end else { return nil }
      if nextHeartbeat <= first.time { beat() } else { send(first.number, at: first.time) }
    }
  }

  private mutating func beat() {
    let time = RoomDrillPlay.stamp(nextHeartbeat)
    for observer in drill.observers.indices.reversed() {
      ready.append(.heartbeat(observer: Int32(observer), time: time, advertsHeard: heard[observer]))
      heard[observer] = 0
    }
    nextHeartbeat += 1_000_000_000
  }

  private mutating func send(_ number: Int, at time: Int64) {
    let delay = Int64(randoms[number].uniform() * 10_000_000)
    queue.replaceFirst(time: time + drill.interval.nanoseconds + delay, number: number)
    let (place, hasChanged) = tags[number].place(at: time, in: drill, random: &randoms[number])
    let stamp = RoomDrillPlay.stamp(time)
    for observer in drill.observers.indices.reversed() {
      guard let level = receive(number, at: observer, from: place, time: time) else { continue }
      heard[observer] &+= 1
      ready.append(
        .advert(
          subject: Int32(number),
          observer: Int32(observer),
          time: stamp,
          level: DrillPlay.rounded(level)
        )
      )
    }
    if hasChanged {
      ready.append(.room(subject: Int32(number), time: stamp, room: Int32(tags[number].room)))
    }
  }

  private mutating func receive(
    _ number: Int,
    at observer: Int,
    from place: RoomTag.Place,
    time: Int64
  ) -> Double? {
    let station = drill.observers[observer]
    let (x, y) = (place.x - station.x, place.y - station.y)
    let floors = abs(place.floor - Double(drill.rooms[station.room].floor))
    // Three metres from floor to floor.
    let distance = (x * x + y * y + 9 * floors * floors).squareRoot()
    var level = RoomDrill.measuredPower + station.gain - drill.ceiling * floors
    level -= DrillAir.radio.pathLoss(distance: distance)
    level += scatter(number, at: observer, time: time)
    guard !randoms[number].chance(drill.loss) else { return nil }
    return DrillAir.isReceived(level, random: &randoms[number]) ? level : nil
  }

  private mutating func scatter(_ number: Int, at observer: Int, time: Int64) -> Double {
    let noise = drill.noise
    var level = noise.fast * randoms[number].bell()
    if randoms[number].chance(drill.multipath.share) { level -= drill.multipath.attenuation }
    guard noise.slow > 0 else { return level }
    var way = ways[number][observer]
    let memory = RadioMath.exponential(
      -Double(time - way.time) / Double(max(1, noise.time.nanoseconds))
    )
    way.slow =
      way.slow * memory + noise.slow * (1 - memory * memory).squareRoot() * randoms[number].bell()
    way.time = time
    ways[number][observer] = way
    return level + way.slow
  }

  private static func stamp(_ time: Int64) -> Timestamp {
    Timestamp(nanoseconds: Drill.start.nanoseconds + time)
  }
}

/// A tag in a room drill: its place, and its way to the next room.
struct RoomTag: Sendable {
  /// A place in a building; the height counts floors.
  struct Place: Sendable {
    var x: Double
    var y: Double
    var floor: Double
  }

  /// The walking speed of people who carry something.
  ///
  /// - Units: m/s.
  private static let speed = 1.0
  /// The time that a flight of stairs takes.
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

  /// Returns its place at a time, and whether it has entered another room by then.
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

  /// Returns whether the tag enters its target room at a place, and updates ``room`` if so.
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
