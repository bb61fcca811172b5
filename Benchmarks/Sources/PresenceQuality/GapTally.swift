/// What any fixed time-out would have done in a scene, from the gaps alone.
///
/// A fixed time-out tells an exit at the last advert received plus its span, at once; it is the best that a rule of one
/// number can be.
struct GapTally: Codable, Sendable {
  /// The time-outs of the sweep, in seconds.
  static let sweep: [Double] = [2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300]
  /// How many of the longest gaps are kept.
  private static let kept = 4_096

  /// How many gaps within stays were longer than each time-out of the sweep.
  private(set) var longer = Array(repeating: 0, count: sweep.count)
  /// The longest gaps, in seconds.
  private(set) var maximum: [Double] = []
  /// How long before its last advert within range each stay's last received one came; below 0 where an advert was
  /// received from behind the edge.
  private(set) var slacks: [Double] = []
  private var minimum = 0.0

  /// A gap between two received adverts of a stay, or from the last one to the end of the stay.
  mutating func record(gap: Double) {
    var place = 0
    while place < GapTally.sweep.count, gap > GapTally.sweep[place] {
      longer[place] += 1
      place += 1
    }
    guard place > 0, gap > minimum else { return }
    maximum.append(gap)
    if maximum.count >= 2 * GapTally.kept { trim() }
  }

  /// A stay ended so long after the last advert received.
  mutating func record(slack: Double) { slacks.append(slack) }

  /// Adds what happened in another part of the scene.
  mutating func add(_ other: GapTally) {
    for place in longer.indices { longer[place] += other.longer[place] }
    maximum += other.maximum
    minimum = max(minimum, other.minimum)
    slacks += other.slacks
    trim()
  }

  /// Puts the times in order, once all parts are in.
  mutating func sort() {
    maximum.sort(by: >)
    slacks.sort()
  }

  /// How many false exits a time-out of so many seconds makes; nil where that is no longer known.
  func falseExits(of timeout: Double) -> Int? {
    if let place = GapTally.sweep.firstIndex(of: timeout) { return longer[place] }
    guard timeout >= minimum, timeout >= GapTally.sweep[0] else { return nil }
    return maximum.prefix { $0 > timeout }.count
  }

  /// The shortest time-out of the sweep that makes at most so many false exits.
  func shortest(within count: Int) -> Double? {
    longer.firstIndex { $0 <= count }.map { GapTally.sweep[$0] }
  }

  /// The shortest time-out of any length that makes at most so many false exits, chosen with hindsight.
  func exactlyShortest(within count: Int) -> Double? {
    guard count < maximum.count else {
      return count < GapTally.kept ? GapTally.sweep[0] : nil
    }
    return maximum[count]
  }

  /// The quantile of the delay with which a time-out reports those departures that it has not reported too early.
  func delay(of timeout: Double, quantile share: Double) -> Double? {
    let committed = slacks.prefix { $0 <= timeout }
    return Statistics.quantile(1 - share, of: Array(committed)).map { timeout - $0 }
  }

  /// The delays of a time-out, sorted.
  func delays(of timeout: Double) -> [Double] {
    slacks.prefix { $0 <= timeout }.reversed().map { timeout - $0 }
  }

  private mutating func trim() {
    guard maximum.count > GapTally.kept else { return }
    maximum.sort(by: >)
    maximum.removeLast(maximum.count - GapTally.kept)
    minimum = max(minimum, maximum.last ?? 0)
  }
}
