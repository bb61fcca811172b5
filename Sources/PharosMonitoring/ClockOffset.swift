import PharosReports

/// How far an observer's clock differs from ours, for formats that carry the sender's own absolute times.
///
/// The least of (receive − sent) over the last 30 to 60 s is the clock's difference plus the least delay; what a report has
/// above it is its age. Drift is followed as the window moves. A step of the sender's clock to a later time lowers the
/// minimum at once; one to an earlier time raises it when eight reports over three seconds agree on the new difference,
/// which a backlog that is being flushed does not: its differences fall.
struct ClockOffset: Sendable {
  /// The length of one of the two halves of the window.
  static let half = TimeSpan.seconds(30)
  /// An age above which a step of the sender's clock is suspected: the greatest lag there is.
  static let suspicious = TimeSpan.seconds(10)

  var current = TimeSpan.forever
  var previous = TimeSpan.forever
  var turned = Timestamp.distantPast
  var suspects = 0
  var suspectLow = TimeSpan.forever
  var suspectHigh = TimeSpan.zero
  var suspectSince = Timestamp.distantPast

  /// The offset in use, or nil before the first report.
  var offset: TimeSpan? {
    let least = min(current, previous)
    return least == .forever ? nil : least
  }

  /// The age of a report that was received and sent at these times by the two clocks.
  mutating func age(received: Timestamp, sent: Timestamp) -> TimeSpan {
    let difference = received - sent
    if received - turned >= ClockOffset.half {
      previous = received - turned >= ClockOffset.half + ClockOffset.half ? .forever : current
      current = .forever
      turned = received
    }
    guard let offset, difference - offset > ClockOffset.suspicious else {
      suspects = 0
      current = min(current, difference)
      return max(.zero, difference - min(current, previous))
    }
    return suspect(difference, received: received, offset: offset)
  }

  private mutating func suspect(_ difference: TimeSpan, received: Timestamp, offset: TimeSpan) -> TimeSpan {
    if suspects == 0 {
      suspectSince = received
      suspectLow = difference
      suspectHigh = difference
    }
    suspects += 1
    suspectLow = min(suspectLow, difference)
    suspectHigh = max(suspectHigh, difference)
    if suspectHigh - suspectLow > .seconds(2) {
      suspects = 0
    } else if suspects >= 8, received - suspectSince >= .seconds(3) {
      suspects = 0
      previous = .forever
      current = suspectLow
      return difference - suspectLow
    }
    return difference - offset
  }
}
