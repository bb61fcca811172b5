import PharosReports

/// What the rule that most peers use would have said of the same adverts: here from the first advert on, gone after a
/// fixed time of silence.
///
/// - Source: AltBeacon's region exit period and Core Location's usual exit after 30 s; AltBeacon's sample applications
///   and Bermuda's area age use 10 s.
package struct FixedRule {
  /// One stay, as the rule sees it.
  package struct Visit: Hashable {
    /// The first advert.
    var entered: Timestamp
    /// The last advert.
    var lastHeard: Timestamp
    /// When the rule said that it is gone; nil if it had not when time ended.
    package var left: Timestamp?

    package init(entered: Timestamp, lastHeard: Timestamp, left: Timestamp? = nil) {
      self.entered = entered
      self.lastHeard = lastHeard
      self.left = left
    }
  }

  /// The time-outs that decisions are compared with.
  static let timeouts: [TimeSpan] = [.seconds(10), .seconds(30)]

  /// The time-out.
  package let timeout: TimeSpan
  /// Its stays, in order.
  package private(set) var visits: [Visit] = []

  package init(timeout: TimeSpan) { self.timeout = timeout }

  /// An advert was heard; one that is older than the last changes nothing.
  package mutating func hear(at time: Timestamp) {
    guard let last = visits.last, time <= last.lastHeard + timeout else {
      finish(at: time)
      visits.append(Visit(entered: time, lastHeard: time))
      return
    }
    visits[visits.count - 1].lastHeard = max(last.lastHeard, time)
  }

  /// Time ends, or has come so far.
  package mutating func finish(at time: Timestamp) {
    guard let last = visits.last, last.left == nil, time > last.lastHeard + timeout else { return }
    visits[visits.count - 1].left = last.lastHeard + timeout
  }

  /// The stay that an instant belongs to: the last one that began by then.
  func visit(at time: Timestamp) -> Visit? { visits.last { $0.entered <= time } }

  /// The exits that were taken back: the beacon was heard again, and by Pharos' own word it had been there throughout.
  package func falseExits(_ isStaying: (ClosedRange<Timestamp>) -> Bool) -> [Timestamp] {
    zip(visits, visits.dropFirst()).compactMap { visit, next in
      guard let left = visit.left, isStaying(visit.lastHeard...next.entered) else { return nil }
      return left
    }
  }
}
