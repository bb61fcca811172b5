import PharosModel

/// The truth about one subject: its stays, of which the last few are kept.
///
/// Decisions are reported a little after the time that they are for, so a judge looks up where the subject was then.
struct VisitLog {
  /// One stay.
  struct Visit {
    /// Counts the stays of the subject.
    var number: Int
    /// When it sent its first advert within range.
    var came: Timestamp
    /// When it sent its last one, or nil while it is still there.
    var left: Timestamp?
    /// When its first adverts were received.
    var heard: [Timestamp] = []

    /// Whether it is there at a time.
    func contains(_ time: Timestamp) -> Bool {
      guard time >= came else { return false }
      return left.map { time <= $0 } ?? true
    }

    /// How many adverts had been received by a time, up to as many as are kept.
    func heard(through time: Timestamp) -> Int { heard.reduce(0) { $1 <= time ? $0 + 1 : $0 } }
  }

  /// How many stays and how many adverts of each are kept.
  private static let kept = 4
  private static let keptAdverts = 12

  private(set) var visits: [Visit] = []
  private var count = 0

  /// The stay that goes on, or the last one.
  var latest: Visit? { visits.last }

  /// It came; the stay that makes room for this one, if one does.
  mutating func came(at time: Timestamp) -> Visit? {
    let dropped = visits.count == VisitLog.kept ? visits.removeFirst() : nil
    visits.append(Visit(number: count, came: time))
    count += 1
    return dropped
  }

  /// It left.
  mutating func left(at time: Timestamp) {
    guard !visits.isEmpty else { return }
    visits[visits.count - 1].left = time
  }

  /// An advert of it was received.
  mutating func heard(at time: Timestamp) {
    let last = visits.count - 1
    guard last >= 0, visits[last].left == nil, visits[last].heard.count < VisitLog.keptAdverts else { return }
    visits[last].heard.append(time)
  }

  /// The last stay that had begun by a time.
  func visit(at time: Timestamp) -> Visit? { visits.last { $0.came <= time } }
}
