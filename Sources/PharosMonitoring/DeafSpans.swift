package import PharosReports

/// The times in which an observer is known to have heard nothing or next to nothing, so that silence in them is no
/// evidence.
///
/// The latest eight, in order and apart; when there are more, the two that are closest together become one. What lies
/// between those was probably no better, and the credit that a silence gets is bounded anyway.
package struct DeafSpans: Sendable {
  /// The maximum number of separate spans.
  static let most = 8
  /// A silence is made longer by at most so much: an exit must come some day.
  package static let greatestCredit = TimeSpan.minutes(15)

  package var spans: [Range<Int64>] = []
  /// The end of the latest one.
  package var end = Timestamp.distantPast

  package init() {}

  /// Adds a span.
  package mutating func add(from start: Timestamp, to end: Timestamp) {
    guard end > start else { return }
    var added = start.nanoseconds..<end.nanoseconds
    spans.removeAll { span in
      guard span.upperBound >= added.lowerBound, span.lowerBound <= added.upperBound else { return false }
      added = min(span.lowerBound, added.lowerBound)..<max(span.upperBound, added.upperBound)
      return true
    }
    let place = spans.firstIndex { $0.lowerBound > added.lowerBound } ?? spans.count
    spans.insert(added, at: place)
    if spans.count > DeafSpans.most { joinClosest() }
    self.end = max(self.end, end)
  }

  /// How much of the time from one instant on was deaf, within bounds.
  package func credit(since start: Timestamp) -> TimeSpan {
    guard end > start else { return .zero }
    var sum: Int64 = 0
    for span in spans where span.upperBound > start.nanoseconds {
      sum += span.upperBound - max(span.lowerBound, start.nanoseconds)
    }
    return min(TimeSpan(nanoseconds: sum), DeafSpans.greatestCredit)
  }

  private mutating func joinClosest() {
    var place = 0
    var least = Int64.max
    for index in 0..<(spans.count - 1) {
      let gap = spans[index + 1].lowerBound - spans[index].upperBound
      guard gap < least else { continue }
      least = gap
      place = index
    }
    spans[place] = spans[place].lowerBound..<spans[place + 1].upperBound
    spans.remove(at: place + 1)
  }
}
