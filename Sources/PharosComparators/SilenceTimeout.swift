import PharosReports

/// What nearly every peer does about presence: here on the first advert, gone after a fixed silence.
///
/// The peers differ in how long that silence is, in how often they look, and in whether a receiver of its own or the
/// whole site is asked; those are the parameters. Each peer's own file says which it has, and from where.
struct SilenceTimeout: Sendable {
  /// Whose silence counts.
  enum Scope: Sendable {
    /// Each observer's own.
    case observer
    /// That of all observers together.
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
  ///   - scope: whose silence counts.
  ///   - period: how often the rule looks, or nil for at every instant.
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
    order.hear(place, at: sighting.time)
    guard isNew else { return }
    switch enterDelay {
    case .none: tell(place, at: sighting.time, isHere: true, into: &verdicts)
    case .nextLook: entering.append((place, grid?.first(from: sighting.time) ?? sighting.time))
    case .span(let delay): entering.append((place, sighting.time + delay))
    }
  }

  /// Says everything that is due at or before an instant, in order of time.
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
        tell(enter.place, at: enter.due, isHere: true, into: &verdicts)
      } else if let exit, exit.due <= time {
        order.remove(exit.place)
        tell(exit.place, at: exit.due, isHere: false, into: &verdicts)
      } else {
        return
      }
    }
  }

  private func exitDue(lastHeard: Timestamp) -> Timestamp {
    let due = lastHeard + span
    return grid?.first(from: due) ?? due
  }

  private func tell(_ place: Int, at time: Timestamp, isHere: Bool, into verdicts: inout [Verdict]) {
    let pair = places.pairs[place]
    let observer = scope == .observer ? pair.observer : nil
    let change: Verdict.Change = isHere ? .enter(observer: observer) : .exit(observer: observer)
    verdicts.append(Verdict(beacon: pair.beacon, time: time, change: change))
  }
}
