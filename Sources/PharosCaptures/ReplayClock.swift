public import PharosReports

/// Says when each packet of a replay is due, counted from the replay's start.
///
/// Deadlines are absolute: whoever sleeps until them does not add up its own lateness. They never go back,
/// even where a capture's times do.
public struct ReplayClock: Sendable, Equatable {
  /// How fast a capture is replayed.
  public enum Pace: Sendable, Equatable {
    /// With the capture's own gaps, divided by a factor: 2 is twice as fast.
    case captured(speed: Double)
    /// So many datagrams a second, evenly.
    case rate(perSecond: Double)
    /// As fast as it goes.
    case unpaced
  }

  /// How fast the capture is replayed.
  public let pace: Pace
  private var packets = 0
  private var origin: Timestamp?
  private var latest: Timestamp?
  private var due = TimeSpan.zero
  private var lapStart = TimeSpan.zero
  private var packetsInLap = 0
  private var shift = TimeSpan.zero

  /// Makes a clock that has not started; speeds and rates must be above 0.
  public init(pace: Pace) {
    switch pace {
    case .captured(let factor), .rate(let factor):
      precondition(factor > 0 && factor.isFinite, "a pace must be a number above 0")
    case .unpaced: break
    }
    self.pace = pace
  }

  /// When the next packet is due, whose time in the capture is given, or nil if it has none.
  public mutating func deadline(of time: Timestamp?) -> TimeSpan {
    defer {
      packets += 1
      packetsInLap += 1
    }
    switch pace {
    case .unpaced: return .zero
    case .rate(let perSecond): return .seconds(Double(packets) / perSecond)
    case .captured(let speed):
      guard let time else { return due }
      let start = origin ?? time
      origin = start
      latest = max(latest ?? time, time)
      due = max(due, lapStart + (time - start) * (1 / speed))
      return due
    }
  }

  /// Starts the capture anew: its first packet follows the last after the mean gap between packets.
  ///
  /// Times are handed to `deadline(of:)` as the capture has them, in every lap. What this gives is to be
  /// added where they are sent on, so that they go on rising.
  public mutating func startLap() -> TimeSpan {
    defer { packetsInLap = 0 }
    guard let origin, let latest else { return shift }
    let length = latest - origin
    let lap = length + length * (1 / Double(max(1, packetsInLap - 1)))
    shift = shift + lap
    if case .captured(let speed) = pace { lapStart = lapStart + lap * (1 / speed) }
    return shift
  }
}
