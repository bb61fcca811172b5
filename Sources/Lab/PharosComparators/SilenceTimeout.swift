package import PharosModel

/// The presence rule of nearly every peer: present from the first advert, absent after a fixed silence.
///
/// The peers differ in the length of that silence, in the period of their looks, and in whether the silence of each
/// observer or of the whole site counts; those are the parameters. Each peer below states its values and their source.
struct SilenceTimeout: Sendable {
  /// The scope of the silence that counts.
  enum Scope: Sendable {
    /// The silence of each observer separately.
    case observer
    /// The silence of all observers together.
    case site
  }

  /// The time at which a rule gives an enter verdict.
  enum EnterDelay: Sendable {
    /// With the first advert.
    case none
    /// The next time the rule looks.
    case nextLook
    /// So long after the first advert.
    case span(TimeSpan)
  }

  private let span: TimeSpan
  private let scope: Scope
  private let enterDelay: EnterDelay
  private var grid: ScanGrid?
  private var places = PairPlaces()
  private var order = HeardOrder()
  private var entering: [(place: Int, due: Timestamp)] = []
  private var nextEntering = 0

  /// Creates a time-out.
  ///
  /// - Parameters:
  ///   - span: the longest silence that is still presence.
  ///   - scope: the scope of the silence that counts.
  ///   - period: the period of the rule's looks, or nil if the rule looks at every instant.
  ///   - enterDelay: the time at which the rule gives an enter verdict.
  init(
    span: TimeSpan,
    scope: Scope = .observer,
    period: TimeSpan? = nil,
    enterDelay: EnterDelay = .none
  ) {
    self.span = span
    self.scope = scope
    self.enterDelay = enterDelay
    grid = period.map(ScanGrid.init(period:))
  }

  /// Takes an advert, after everything that was due before it.
  mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    advance(to: sighting.time - .oneNanosecond, into: &verdicts)
    grid?.begin(at: sighting.time)
    let observer = scope == .observer ? sighting.observer : 0
    let place = places.place(observer: observer, beacon: sighting.beacon)
    let isNew = !order.contains(place)
    order.receive(place, at: sighting.time)
    guard isNew else { return }
    switch enterDelay {
    case .none: publish(place, at: sighting.time, isHere: true, into: &verdicts)
    case .nextLook: entering.append((place, grid?.first(from: sighting.time) ?? sighting.time))
    case .span(let delay): entering.append((place, sighting.time + delay))
    }
  }

  /// Appends every verdict that is due at or before an instant, in order of time.
  mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    while true {
      let enter = nextEntering < entering.count ? entering[nextEntering] : nil
      let exit = order.oldest.map { (place: $0.place, due: exitDue(lastHeard: $0.time)) }
      if let enter, enter.due <= time, enter.due <= exit?.due ?? .distantFuture {
        nextEntering += 1
        if nextEntering == entering.count {
          entering.removeAll(keepingCapacity: true)
          nextEntering = 0
        }
        publish(enter.place, at: enter.due, isHere: true, into: &verdicts)
      } else if let exit, exit.due <= time {
        order.remove(exit.place)
        publish(exit.place, at: exit.due, isHere: false, into: &verdicts)
      } else {
        return
      }
    }
  }

  private func exitDue(lastHeard: Timestamp) -> Timestamp {
    let due = lastHeard + span
    return grid?.first(from: due) ?? due
  }

  private func publish(_ place: Int, at time: Timestamp, isHere: Bool, into verdicts: inout [Verdict]) {
    let pair = places.pairs[place]
    let observer = scope == .observer ? pair.observer : nil
    let change: Verdict.Change = isHere ? .enter(observer: observer) : .exit(observer: observer)
    verdicts.append(Verdict(beacon: pair.beacon, time: time, change: change))
  }
}

/// A peer's rule that is nothing but a time-out, for each observer separately.
package struct SilenceRule: Comparator {
  /// The name that tables show, as in `fixed 30 s`.
  package let name: String
  private var timeout: SilenceTimeout

  /// The simplest rule: enter on the first advert, exit a fixed time after the last one.
  ///
  /// It looks at every instant, so that it is the best that its span can do: a peer with the same span is later by up to
  /// its scan period, never earlier. An advert that comes when the span is just over still counts.
  package static func fixed(_ span: TimeSpan) -> SilenceRule {
    let milliseconds = span.nanoseconds / 1_000_000
    let text = milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    return SilenceRule(name: "fixed \(text)", timeout: SilenceTimeout(span: span))
  }

  /// The AltBeacon library for Android: enter on the first packet, exit when a scan cycle ends and the last packet is too
  /// old.
  ///
  /// - Source: `Settings.kt` (exit period 30,000 ms, foreground scan cycle 1,100 ms), `BeaconManager.DEFAULT_EXIT_PERIOD`
  ///   (10,000 ms, what older releases used and much code still sets), `RegionMonitoringState` (the packet must be older
  ///   than the exit period, asked at the end of a scan cycle only).
  /// - Simplified: scan cycles follow one another without a pause, as in the foreground; in the background the library
  ///   scans every five minutes and is later by as much. They are counted from the first packet.
  package static func altBeacon(seconds: Int64) -> SilenceRule {
    // Older than the period, not as old: so a nanosecond more.
    let span = TimeSpan.milliseconds(seconds * 1_000) + .oneNanosecond
    let timeout = SilenceTimeout(span: span, period: .milliseconds(1_100))
    return SilenceRule(name: "AltBeacon \(seconds) s", timeout: timeout)
  }

  /// A telephone's region monitoring as its users describe it: looked at once a second, gone after half a minute.
  ///
  /// - Source: users' reports, for no document gives the figure: exits after "up to 30 s", "at least 30 s in the
  ///   foreground", and one spike of level that enters. Apple publishes neither the span nor the filter, so that this is
  ///   no rule of Apple's.
  /// - Simplified: the foreground only; seconds are counted from the first advert.
  package static var coreLocationLike: SilenceRule {
    let timeout = SilenceTimeout(span: .seconds(30), period: .seconds(1), enterDelay: .nextLook)
    return SilenceRule(name: "Core Location-like 30 s", timeout: timeout)
  }

  /// Takes an advert.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    timeout.heard(sighting, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    timeout.advance(to: time, into: &verdicts)
  }
}

/// The places in the order in which they were last heard; the place that has been silent longest is at the head.
///
/// This is all that a time-out needs. Every place is in the list once at most, and a heard place moves to the tail, so
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

  /// Returns whether a place is in the list.
  func contains(_ place: Int) -> Bool { links.indices.contains(place) && links[place].isListed }

  /// Returns the time at which a place was last heard, or nil if it is not in the list.
  func time(of place: Int) -> Timestamp? { contains(place) ? links[place].time : nil }

  /// Notes that a place was heard.
  mutating func receive(_ place: Int, at time: Timestamp) {
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
  /// One call nearly always appends no verdict or one, so that insertion sort is the fastest.
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
