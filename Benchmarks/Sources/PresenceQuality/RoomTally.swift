import PharosModel

/// What one rule said about rooms in one scene.
struct RoomTally: Codable, Sendable {
  /// How long it named the right room, a wrong one and none, in seconds.
  var right = 0.0
  var wrong = 0.0
  var unsure = 0.0
  /// How often it went from one room to another.
  var changes = 0
  /// How often the tag did.
  var trueChanges = 0
  /// From a tag's step into another room until the rule names that room, in seconds.
  var changeDelays: [Double] = []
  /// From a tag's beginning until the rule names a room at all, in seconds; until the end if it never does.
  var firstDelays: [Double] = []
  /// How many of those rooms were another one than the tag's.
  var wrongFirsts = 0
  /// True changes that it had not noticed by the next.
  var missedChanges = 0

  /// How long it was watched, in hours.
  var hours: Double { (right + wrong + unsure) / 3_600 }
  /// The share of time with a wrong room.
  var wrongShare: Double { hours > 0 ? wrong / (hours * 3_600) : 0 }
  /// The share of time without a room.
  var unsureShare: Double { hours > 0 ? unsure / (hours * 3_600) : 0 }
  /// Changes of room in an hour.
  var changesPerHour: Double { hours > 0 ? Double(changes) / hours : 0 }

  /// Adds what happened in another part of the scene.
  mutating func add(_ other: RoomTally) {
    right += other.right
    wrong += other.wrong
    unsure += other.unsure
    changes += other.changes
    trueChanges += other.trueChanges
    changeDelays += other.changeDelays
    firstDelays += other.firstDelays
    wrongFirsts += other.wrongFirsts
    missedChanges += other.missedChanges
  }
}

/// Which room a tag is in, over time: the truth, or what a rule says.
struct RoomTrace {
  /// A change.
  struct Step {
    var time: Timestamp
    var room: Int?
  }

  /// How long after its first advert a tag is not yet judged.
  static let unjudgedTime = TimeSpan.seconds(1)

  private(set) var steps: [Step] = []

  /// It is in this room from now on.
  mutating func move(to room: Int?, at time: Timestamp) {
    guard steps.last.map({ $0.room != room }) ?? true else { return }
    steps.append(Step(time: time, room: room))
  }

  /// Compares what a rule says with the truth, which is this trace, up to a time.
  func judge(_ said: RoomTrace, until end: Timestamp) -> RoomTally {
    var tally = RoomTally()
    guard let first = steps.first else { return tally }
    let start = first.time + RoomTrace.unjudgedTime
    addShares(of: said, from: start, until: end, to: &tally)
    let named = said.steps.first { $0.room != nil }
    tally.firstDelays.append(((named?.time ?? end) - first.time).seconds)
    let isWrong = named.map { step in steps.last { $0.time <= step.time }?.room != step.room }
    tally.wrongFirsts = isWrong == true ? 1 : 0
    tally.trueChanges = max(0, steps.count - 1)
    tally.changes = said.changes(after: start)
    for place in steps.indices.dropFirst() {
      let next = place + 1 < steps.count ? steps[place + 1].time : end
      if let committed = said.firstTime(in: steps[place].room, from: steps[place].time, before: next) {
        tally.changeDelays.append((committed - steps[place].time).seconds)
      } else if place + 1 < steps.count {
        tally.missedChanges += 1
      }
    }
    return tally
  }

  private func addShares(
    of said: RoomTrace,
    from start: Timestamp,
    until end: Timestamp,
    to tally: inout RoomTally
  ) {
    var (mine, theirs) = (0, -1)
    var now = start
    while now < end {
      while mine + 1 < steps.count, steps[mine + 1].time <= now { mine += 1 }
      while theirs + 1 < said.steps.count, said.steps[theirs + 1].time <= now { theirs += 1 }
      var next = end
      if mine + 1 < steps.count { next = min(next, steps[mine + 1].time) }
      if theirs + 1 < said.steps.count { next = min(next, said.steps[theirs + 1].time) }
      let seconds = (next - now).seconds
      let room = theirs >= 0 ? said.steps[theirs].room : nil
      if room == nil {
        tally.unsure += seconds
      } else if room == steps[mine].room {
        tally.right += seconds
      } else {
        tally.wrong += seconds
      }
      now = next
    }
  }

  /// How often it goes from one room to another after a time; being in none in between is no change.
  private func changes(after start: Timestamp) -> Int {
    var last: Int?
    var count = 0
    for step in steps {
      guard let room = step.room else { continue }
      if let last, last != room, step.time > start { count += 1 }
      last = room
    }
    return count
  }

  /// When it is in a room for the first time within a span.
  private func firstTime(in room: Int?, from start: Timestamp, before end: Timestamp) -> Timestamp? {
    if let before = steps.last(where: { $0.time <= start }), before.room == room { return start }
    return steps.first { $0.time > start && $0.time < end && $0.room == room }?.time
  }
}
