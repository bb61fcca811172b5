package import PharosModel

/// Computes the time at which a packet was heard, by the gateway's own clock, from the packet's timestamp.
///
/// A capture stamps its packets with the wall clock; a gateway counts ages with a clock that is never set. In a live
/// stream both clocks belong to one machine, so the packet's age is the wall clock's time now less the packet's,
/// however long it lay in the pipe. Three things can make that wrong, and the clock detects each:
/// * the first packet shows that the stream is a capture of earlier times: then a packet is heard when it is read;
/// * the wall clock was set since the last look: then the packets of this look count as heard now;
/// * a packet is from the future: it was heard now.
package struct HearingClock: Sendable {
  /// One look at both clocks.
  package struct Reading: Hashable, Sendable {
    /// A clock that is never set and counts while the machine is suspended.
    package var now: Timestamp
    /// The wall clock.
    package var wall: Timestamp

    /// Makes a reading.
    package init(now: Timestamp, wall: Timestamp) {
      self.now = now
      self.wall = wall
    }
  }

  /// The oldest that the first packet of a live stream can be: a pipe of 64 KiB holds a few seconds of adverts.
  static let oldestFirst = TimeSpan.seconds(10)
  /// The least difference between the two clocks' progress that is a step: a clock that is slewed drifts by half a
  /// thousandth, and one look follows the other within a second or so.
  static let step = TimeSpan.milliseconds(50)
  /// The largest drift of the wall clock from the other one without a step: 500 ppm is the most that Linux slews, twice
  /// that is allowed.
  static let drift = 0.001

  /// Indicates whether the stream carries what is heard now; nil until a packet had a timestamp.
  package private(set) var isLive: Bool?
  private var latest: Reading?
  private var isStepped = false

  /// Makes a clock that has seen nothing.
  package init() {}

  /// Looks at both clocks: before each time that packets are read.
  package mutating func look(_ reading: Reading) {
    if let latest {
      let passed = reading.now - latest.now
      let difference = (reading.wall - latest.wall) - passed
      isStepped = max(difference, .zero - difference) > HearingClock.step + passed * HearingClock.drift
    }
    latest = reading
  }

  /// Returns the time at which a packet was heard, by the clock that is never set; call ``look(_:)`` before.
  package mutating func heard(_ time: Timestamp?) -> Timestamp {
    guard let reading = latest else { return Timestamp(nanoseconds: 0) }
    guard let time else { return reading.now }
    let age = reading.wall - time
    if isLive == nil {
      isLive = age <= HearingClock.oldestFirst && age >= .zero - HearingClock.oldestFirst
    }
    guard isLive == true, !isStepped, age > .zero else { return reading.now }
    return reading.now - age
  }
}

/// The rule for when the packets of a capture count as heard.
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

  /// Returns the time at which a packet is due; the first one now, one that goes back in time together with the one
  /// before.
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
