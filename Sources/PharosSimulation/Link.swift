import PharosPlaces
import PharosReports

/// The air between one transmitter and one observer, and what it remembers from one advert to the next.
struct Link: Sendable {
  /// The two ends of the air at the time of an advert.
  struct Ends {
    let transmitter: Point
    let observer: Point
    /// The level at one metre with antennas and bodies taken into account, in dBm.
    let power: Double
    /// The level at which every second advert is received, in dBm.
    let sensitivity: Double
  }

  /// How far below the sensitivity a level may lie before an advert is given up unseen.
  ///
  /// - Units: dB. Ten standard deviations of the usual shadowing: nothing that chance adds reaches further.
  private static let hopeless = 30.0

  private var random: RandomStream
  private var channelOffsets: (Double, Double, Double)
  private var shadow: Double
  private var shadowAt = TimeSpan.zero
  private var loss: (transmitter: Point, observer: Point, decibels: Double)?
  private var lastEnds: (transmitter: Point, observer: Point)?
  private var bursts = OnOffProcess()
  private var bodies = OnOffProcess()

  init(seed: UInt64, transmitter: Int, observer: Int, radio: Radio) {
    var random = RandomStream(seed: seed, 1, UInt64(transmitter), UInt64(observer))
    shadow = (radio.shadowing?.deviation ?? 0) * random.normal()
    channelOffsets = (
      radio.channelDeviation * random.normal(),
      radio.channelDeviation * random.normal(),
      radio.channelDeviation * random.normal()
    )
    self.random = random
  }

  /// Lets an advert pass, or loses it.
  ///
  /// - Parameters:
  ///   - time: When it is sent, not before the last one.
  ///   - channel: The advertising channel, 37 to 39.
  ///   - ends: Where both ends are and what they are capable of.
  ///   - scene: The air between them.
  /// - Returns: The level in dBm at which it is received, or nil if it is lost.
  mutating func receive(at time: TimeSpan, channel: UInt8, ends: Ends, scene: borrowing Scene) -> Double? {
    let expected = ends.power - loss(between: ends, radio: scene.radio, walls: scene.walls)
    guard expected > ends.sensitivity - Link.hopeless else { return nil }
    let radio = scene.radio
    var level = expected + shadow(at: time, ends: ends, radio: radio) + channelOffset(channel)
    level += fade(radio.riceFactor)
    if let bodies = radio.passersby, isBlocked(at: time, by: bodies) { level -= bodies.attenuation }
    if let bursts = radio.burstLoss, isInBurst(at: time, bursts), random.chance(bursts.loss) { return nil }
    let chance = radio.receptionChance(level: level, sensitivity: ends.sensitivity)
    return random.chance(chance) ? level : nil
  }

  /// What distance and walls take in dB; remembered while neither end moves.
  private mutating func loss(between ends: Ends, radio: Radio, walls: Walls) -> Double {
    if let loss, loss.transmitter == ends.transmitter, loss.observer == ends.observer {
      return loss.decibels
    }
    let distance = ends.transmitter.distance(to: ends.observer)
    let decibels =
      radio.pathLoss(distance: distance)
      + walls.attenuation(between: ends.transmitter, and: ends.observer)
    loss = (ends.transmitter, ends.observer, decibels)
    return decibels
  }

  private mutating func shadow(at time: TimeSpan, ends: Ends, radio: Radio) -> Double {
    guard let shadowing = radio.shadowing else { return 0 }
    let moved =
      lastEnds.map {
        $0.transmitter.distance(to: ends.transmitter) + $0.observer.distance(to: ends.observer)
      } ?? 0
    let memory = RadioMath.exponential(-moved / shadowing.distance - (time - shadowAt) / shadowing.time)
    shadow = shadow * memory + shadowing.deviation * (1 - memory * memory).squareRoot() * random.normal()
    shadowAt = time
    lastEnds = (ends.transmitter, ends.observer)
    return shadow
  }

  private func channelOffset(_ channel: UInt8) -> Double {
    switch channel {
    case 37: channelOffsets.0
    case 38: channelOffsets.1
    default: channelOffsets.2
    }
  }

  /// One draw of the power of a direct way of fixed strength and many reflections, around a mean power of one.
  ///
  /// - Source: Rice's distribution; Rappaport, Wireless Communications, 5.6.2.
  private mutating func fade(_ riceFactor: Double?) -> Double {
    guard let riceFactor else { return 0 }
    let direct = (riceFactor / (riceFactor + 1)).squareRoot()
    let scattered = (1 / (2 * (riceFactor + 1))).squareRoot()
    let x = direct + scattered * random.normal()
    let y = scattered * random.normal()
    return RadioMath.decibels(x * x + y * y)
  }

  private mutating func isBlocked(at time: TimeSpan, by people: Radio.Passersby) -> Bool {
    bodies.isOn(at: time, share: people.share, duration: people.duration, random: &random)
  }

  private mutating func isInBurst(at time: TimeSpan, _ loss: Radio.BurstLoss) -> Bool {
    bursts.isOn(at: time, share: loss.share, duration: loss.duration, random: &random)
  }
}
