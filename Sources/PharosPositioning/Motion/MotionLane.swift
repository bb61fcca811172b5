import PharosReports

/// The samples of one kind that wait for their turn, in order of their times; a ring that grows up to a bound.
package struct MotionLane: Hashable, Sendable {
  /// One sample.
  package struct Entry: Hashable, Sendable {
    /// When it was sampled.
    var time: Timestamp
    /// The first value.
    var x: Float
    /// The second value.
    var y: Float
    /// The third value.
    var z: Float
  }

  /// How many samples the ring may hold.
  let limit: Int
  /// The least time between two samples that are kept.
  let spacing: TimeSpan
  private var ring: [Entry] = []
  private var head = 0
  private(set) var count = 0
  /// The time of the last sample that came, kept or not.
  private(set) var latest = Timestamp.distantPast
  private var kept = Timestamp.distantPast

  /// Makes a lane for a number of samples at a distance.
  init(limit: Int, spacing: TimeSpan) {
    self.limit = limit
    self.spacing = spacing
  }

  /// The sample whose turn it is.
  var first: Entry? { count > 0 ? ring[head] : nil }

  /// Whether there is no room for another one.
  var isFull: Bool { count == limit }

  /// Notes that a sample came, and says whether it is far enough from the last one that was kept.
  mutating func admits(_ time: Timestamp) -> Bool {
    latest = time
    guard kept == .distantPast || time - kept >= spacing else { return false }
    kept = time
    return true
  }

  /// Adds a sample, for which there is room.
  mutating func append(_ entry: Entry) {
    if count == ring.count { grow() }
    ring[(head + count) % ring.count] = entry
    count += 1
  }

  /// Takes out the sample whose turn it is.
  mutating func popFirst() -> Entry? {
    guard count > 0 else { return nil }
    let entry = ring[head]
    head = (head + 1) % ring.count
    count -= 1
    return entry
  }

  /// Forgets what waits from a time on, and takes that time for the latest: the clock was set back.
  mutating func rewind(to time: Timestamp) -> Int {
    let before = count
    while count > 0, ring[(head + count - 1) % ring.count].time >= time { count -= 1 }
    latest = count > 0 ? ring[(head + count - 1) % ring.count].time : .distantPast
    kept = latest
    return before - count
  }

  private mutating func grow() {
    var wider: [Entry] = []
    let size = min(limit, max(8, 2 * ring.count))
    wider.reserveCapacity(size)
    for index in 0..<count { wider.append(ring[(head + index) % ring.count]) }
    let blank = Entry(time: .distantPast, x: 0, y: 0, z: 0)
    while wider.count < size { wider.append(blank) }
    ring = wider
    head = 0
  }
}
