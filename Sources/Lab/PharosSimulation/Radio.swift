package import PharosModel
import PharosSpace

/// The radio propagation model of a scene, with its disturbances.
package struct Radio: Hashable, Sendable {
  /// A variation of the level from place to place by surrounding objects, and only slowly with time.
  package struct Shadowing: Hashable, Sendable {
    /// The deviation of levels from the mean.
    ///
    /// - Units: dB, one standard deviation. 3 to 6 indoors.
    package var deviation: Double
    /// The movement of either end over which the correlation of the level falls to 1/e.
    ///
    /// - Units: metres.
    /// - Source: Gudmundson, "Correlation model for shadow fading", Electronics Letters 27 (1991).
    package var distance: Double
    /// The time over which the correlation falls to 1/e while both ends rest, as objects are moved about.
    package var time: TimeSpan

    /// Makes a shadowing.
    package init(deviation: Double = 3, distance: Double = 3, time: TimeSpan = .minutes(5)) {
      self.deviation = deviation
      self.distance = distance
      self.time = time
    }
  }

  /// Losses in bursts, as caused by other networks: adverts in a burst are lost together.
  package struct BurstLoss: Hashable, Sendable {
    /// The share of the time with a burst, below 1.
    package var share: Double
    /// The mean duration of a burst.
    package var duration: TimeSpan
    /// The chance that an advert in a burst is lost.
    package var loss: Double

    /// Makes a burst loss.
    package init(share: Double, duration: TimeSpan, loss: Double = 0.95) {
      self.share = share
      self.duration = duration
      self.loss = loss
    }
  }

  /// People who step into the line between two radios and out of it again.
  package struct Passersby: Hashable, Sendable {
    /// The share of the time during which a person stands there, below 1.
    package var share: Double
    /// The mean time that a person stands there.
    package var duration: TimeSpan
    /// The attenuation by a body.
    ///
    /// - Units: dB. 10 to 20 at 2.4 GHz.
    package var attenuation: Double

    /// Makes passers-by.
    package init(share: Double, duration: TimeSpan, attenuation: Double = 12) {
      self.share = share
      self.duration = duration
      self.attenuation = attenuation
    }
  }

  /// The path-loss exponent: the level falls by 10 × this many dB for each tenfold distance.
  package var pathLossExponent: Double
  /// The slow differences from place to place, or nil for none.
  package var shadowing: Shadowing?
  /// The power of the direct way over that of all reflections, or nil for no fading; 0 is Rayleigh's fading.
  ///
  /// Each advert fades on its own, since its channel and the surroundings differ. In decibels the fades are
  /// lopsided: dips are deeper than peaks are high.
  ///
  /// - Units: a ratio of powers. 3 to 10 with a line of sight, 0 to 1 without.
  package var riceFactor: Double?
  /// The deviation of the levels of the three advertising channels of one link.
  ///
  /// - Units: dB, one standard deviation.
  package var channelDeviation: Double
  /// The softness of the edge of reception: the chance of reception is 0.5 at an observer's sensitivity and 0.73 one
  /// softness above it; 0 makes the edge hard.
  ///
  /// - Units: dB.
  package var softness: Double
  /// Bursts of loss on each link, or nil for none.
  package var burstLoss: BurstLoss?
  /// Bodies in the way of each link, or nil for none.
  package var passersby: Passersby?

  /// Makes a radio; the defaults are those of a furnished room.
  package init(
    pathLossExponent: Double = 2.2,
    shadowing: Shadowing? = Shadowing(),
    riceFactor: Double? = 6,
    channelDeviation: Double = 1.5,
    softness: Double = 1.5,
    burstLoss: BurstLoss? = nil,
    passersby: Passersby? = nil
  ) {
    self.pathLossExponent = pathLossExponent
    self.shadowing = shadowing
    self.riceFactor = riceFactor
    self.channelDeviation = channelDeviation
    self.softness = softness
    self.burstLoss = burstLoss
    self.passersby = passersby
  }

  /// Free space without any chance in it: distance and walls alone decide.
  package static let ideal = Radio(
    pathLossExponent: 2,
    shadowing: nil,
    riceFactor: nil,
    channelDeviation: 0,
    softness: 0
  )

  /// The shortest distance that the model distinguishes: closer than this, the antennas touch.
  ///
  /// - Units: metres.
  package static let nearestDistance = 0.1

  /// Returns the loss by distance relative to the level at one metre; negative at shorter distances.
  ///
  /// - Units: dB.
  /// - Source: the log-distance model, Rappaport, Wireless Communications, 4.9.
  package func pathLoss(distance: Double) -> Double {
    10 * pathLossExponent * RadioMath.decadicLog(max(Radio.nearestDistance, distance))
  }

  /// The distance at which a level at one metre has fallen by so many dB.
  package func distance(pathLoss: Double) -> Double {
    RadioMath.powerOfTen(pathLoss / (10 * pathLossExponent))
  }

  /// The chance that an advert of a level is received.
  package func receptionChance(level: Double, sensitivity: Double) -> Double {
    guard softness > 0 else { return level >= sensitivity ? 1 : 0 }
    return 1 / (1 + RadioMath.exponential((sensitivity - level) / softness))
  }
}

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

  /// The distance below the sensitivity beyond which an advert is lost without further computation.
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
  ///   - time: The time at which it is sent, not before the last one.
  ///   - channel: The advertising channel, 37 to 39.
  ///   - ends: The positions of both ends, their power and sensitivity.
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

  /// Returns the loss by distance and walls in dB, cached while neither end moves.
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

/// A random on-off process: interference, or a body that stands in the way.
///
/// A Markov chain of two states in continuous time. It is looked at whenever an advert passes, and the chance of
/// either state follows from the time since the last look, so that looking more often changes nothing.
///
/// - Source: Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39 (1960).
package struct OnOffProcess: Sendable {
  private var isOn = false
  private var lookedAt: TimeSpan?

  package init() {}

  /// Returns whether the process is on at a time, which must not lie before that of the previous call.
  ///
  /// - Parameters:
  ///   - time: The time since the scene began.
  ///   - share: The share of the time for which it is on, below 1.
  ///   - duration: The mean time for which it stays on.
  ///   - random: The source of randomness.
  /// - Returns: True if the process is on.
  package mutating func isOn(
    at time: TimeSpan,
    share: Double,
    duration: TimeSpan,
    random: inout RandomStream
  ) -> Bool {
    guard share > 0 else { return false }
    guard let previous = lookedAt else {
      lookedAt = time
      isOn = random.chance(share)
      return isOn
    }
    lookedAt = time
    // The rates of leaving the two states are 1/duration and share/(duration·(1−share)); their sum decides how
    // fast the chain forgets.
    let elapsed = (time - previous) / duration
    let memory = RadioMath.exponential(-elapsed / (1 - share))
    isOn = random.chance(share + ((isOn ? 1 : 0) - share) * memory)
    return isOn
  }
}
