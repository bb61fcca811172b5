import PharosReports

/// How far and where to a subject was carried in the last while, in the directions of its own sensors.
///
/// What a phone heard seconds ago says where it was then. The way since is the same for all particles but for each one's own
/// turn and stretch, so one trail serves them all.
struct WalkedTrail: Sendable, Hashable {
  private struct Mark: Hashable {
    var time: Timestamp
    var east: Float
    var north: Float
  }

  /// How many steps are remembered: about 30 s of walking.
  static let capacity = 64

  private var marks: [Mark] = []
  private var next = 0
  /// The whole way so far, in metres.
  private(set) var east: Float = 0
  private(set) var north: Float = 0

  init() { marks.reserveCapacity(WalkedTrail.capacity) }

  /// Adds a step.
  mutating func walk(east: Float, north: Float, at time: Timestamp) {
    let mark = Mark(time: time, east: self.east, north: self.north)
    if marks.count < WalkedTrail.capacity { marks.append(mark) } else { marks[next] = mark }
    next = (next + 1) % WalkedTrail.capacity
    self.east += east
    self.north += north
  }

  /// Forgets the way, as when directions get another reference.
  mutating func removeAll() {
    marks.removeAll(keepingCapacity: true)
    next = 0
    (east, north) = (0, 0)
  }

  /// The way since a time: all steps that ended after it.
  func way(since time: Timestamp) -> (east: Float, north: Float) {
    var found: (east: Float, north: Float) = (0, 0)
    var place = next
    for _ in 0..<marks.count {
      place = place == 0 ? marks.count - 1 : place - 1
      guard marks[place].time > time else { break }
      found = (east - marks[place].east, north - marks[place].north)
    }
    return found
  }
}
