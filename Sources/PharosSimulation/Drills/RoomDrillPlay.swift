import PharosReports

/// A room drill as it is played: its items in order of time.
package struct RoomDrillPlay: IteratorProtocol, Sendable {
  /// What the air between one tag and one observer remembers.
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
  /// What is ready to be given, the first last.
  private var ready: [DrillItem] = []

  init(_ drill: RoomDrill, seed: UInt64) {
    precondition(
      drill.length <= Drill.longest && drill.subjects <= Drill.mostSubjects && !drill.rooms.isEmpty,
      "room drill \(drill.name): at most \(Drill.longest.seconds) s and \(Drill.mostSubjects) tags, and a room"
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
    let distance = max(0.1, (x * x + y * y + 9 * floors * floors).squareRoot())
    var level = RoomDrill.measuredPower + station.gain - drill.ceiling * floors
    level -= 10 * RoomDrill.exponent * RadioMath.decadicLog(distance)
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
