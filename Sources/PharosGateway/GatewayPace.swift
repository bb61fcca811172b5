package import PharosReports

/// When the packets of a capture count as heard.
package enum GatewayPace: Hashable, Sendable {
  /// As they come: live input as old as it is, anything else at the moment it is read.
  case asItComes
  /// At the intervals of the capture, faster or slower by a factor.
  case recorded(speed: Double)

  /// Reads a factor on the capture's speed, or `max` for as it comes; nil if it is neither.
  package init?(_ text: String) {
    if text == "max" {
      self = .asItComes
      return
    }
    guard let speed = Double(text), speed > 0, speed <= 1e6 else { return nil }
    self = .recorded(speed: speed)
  }
}

/// Plays the packets of a capture at their intervals.
package struct Playback: Sendable {
  private let speed: Double
  private var origin: (packet: Timestamp, now: Timestamp)?
  private var latest: Timestamp?

  package init(speed: Double) { self.speed = speed }

  /// When a packet is due; the first one now, one that goes back in time together with the one before.
  package mutating func due(_ time: Timestamp?, at now: Timestamp) -> Timestamp {
    guard let time = time ?? latest else { return now }
    guard let origin else {
      origin = (time, now)
      latest = time
      return now
    }
    let forward = max(time, latest ?? time)
    latest = forward
    return origin.now + (forward - origin.packet) * (1 / speed)
  }
}
