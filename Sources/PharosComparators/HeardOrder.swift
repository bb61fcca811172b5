import PharosReports

/// Who was heard when, in the order of when: what has been silent longest is always at the head.
///
/// All that a time-out asks. Every place is in the list once at most, and a place that is heard moves to the tail, so
/// that an advert and an expiry both cost a handful of stores however many places there are.
///
/// - Precondition: times never go back.
struct HeardOrder: Sendable {
  private struct Link: Sendable {
    var previous: Int32
    var next: Int32
    var time: Timestamp
    var isListed: Bool
  }

  private static let none: Int32 = -1

  private var links: [Link] = []
  private var head = HeardOrder.none
  private var tail = HeardOrder.none

  /// The place that was heard longest ago, and when.
  var oldest: (place: Int, time: Timestamp)? {
    head == HeardOrder.none ? nil : (Int(head), links[Int(head)].time)
  }

  /// Whether a place is in the list.
  func contains(_ place: Int) -> Bool { links.indices.contains(place) && links[place].isListed }

  /// When a place was last heard, if it is in the list.
  func time(of place: Int) -> Timestamp? { contains(place) ? links[place].time : nil }

  /// Notes that a place was heard.
  mutating func hear(_ place: Int, at time: Timestamp) {
    while links.count <= place {
      links.append(
        Link(previous: HeardOrder.none, next: HeardOrder.none, time: .distantPast, isListed: false)
      )
    }
    links[place].time = time
    guard Int(tail) != place else { return }
    unlink(place)
    links[place].previous = tail
    links[place].next = HeardOrder.none
    links[place].isListed = true
    if tail == HeardOrder.none { head = Int32(place) } else { links[Int(tail)].next = Int32(place) }
    tail = Int32(place)
  }

  /// Takes a place out.
  mutating func remove(_ place: Int) {
    guard contains(place) else { return }
    unlink(place)
  }

  private mutating func unlink(_ place: Int) {
    guard links[place].isListed else { return }
    let (previous, next) = (links[place].previous, links[place].next)
    if previous == HeardOrder.none { head = next } else { links[Int(previous)].next = next }
    if next == HeardOrder.none { tail = previous } else { links[Int(next)].previous = previous }
    links[place].isListed = false
  }
}

/// A place for every pair of an observer and a beacon that was ever seen, without hashing.
struct PairPlaces: Sendable {
  private var places: [[Int32]] = []
  /// The pair of each place.
  private(set) var pairs: [(observer: Int32, beacon: Int32)] = []

  /// The place of a pair, made if it is new.
  ///
  /// - Precondition: numbers are dense and start at 0.
  mutating func place(observer: Int32, beacon: Int32) -> Int {
    let (row, column) = (Int(beacon), Int(observer))
    precondition(row >= 0 && column >= 0, "observers and beacons are numbered from 0")
    while places.count <= row { places.append([]) }
    while places[row].count <= column { places[row].append(-1) }
    if places[row][column] < 0 {
      places[row][column] = Int32(pairs.count)
      pairs.append((observer, beacon))
    }
    return Int(places[row][column])
  }
}

/// The instants at which a rule looks at what it has heard: multiples of a period, counted from the first advert.
struct ScanGrid: Sendable {
  let period: TimeSpan
  private(set) var origin: Timestamp?

  init(period: TimeSpan) { self.period = period }

  /// Begins with the first advert; later calls change nothing.
  mutating func begin(at time: Timestamp) {
    if origin == nil { origin = time }
  }

  /// The first instant at or after a time.
  func first(from time: Timestamp) -> Timestamp {
    guard let origin, period > .zero, time > origin else { return origin ?? time }
    let elapsed = (time - origin).nanoseconds
    let steps = (elapsed - 1) / period.nanoseconds + 1
    return origin + TimeSpan(nanoseconds: steps * period.nanoseconds)
  }
}

extension [Verdict] {
  /// Puts the verdicts from an index on into order of time; equal ones stay as they are.
  ///
  /// What one call appends is nearly always nothing or one, so that the plainest sort is the fastest.
  mutating func sortByTime(from start: Int) {
    guard count > start + 1 else { return }
    for index in start + 1..<count {
      var place = index
      while place > start, self[place - 1].time > self[place].time {
        swapAt(place - 1, place)
        place -= 1
      }
    }
  }
}
