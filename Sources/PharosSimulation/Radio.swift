package import PharosReports

/// How radio spreads through a scene, and how it is spoilt on the way.
package struct Radio: Hashable, Sendable {
  /// A level that differs from place to place by what stands around, and only slowly with time.
  package struct Shadowing: Hashable, Sendable {
    /// How far levels lie from the mean.
    ///
    /// - Units: dB, one standard deviation. 3 to 6 indoors.
    package var deviation: Double
    /// Over which movement of either end the level forgets what it was, by 1/e.
    ///
    /// - Units: metres.
    /// - Source: Gudmundson, "Correlation model for shadow fading", Electronics Letters 27 (1991).
    package var distance: Double
    /// Over which time the level forgets what it was, by 1/e, while both ends rest: things are moved about.
    package var time: TimeSpan

    /// Makes a shadowing.
    package init(deviation: Double = 3, distance: Double = 3, time: TimeSpan = .minutes(5)) {
      self.deviation = deviation
      self.distance = distance
      self.time = time
    }
  }

  /// Losses that come in bursts, as other networks make them: adverts in a burst are lost together.
  package struct BurstLoss: Hashable, Sendable {
    /// How much of the time there is a burst, below 1.
    package var share: Double
    /// How long a burst lasts in the mean.
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
    /// How much of the time somebody stands there, below 1.
    package var share: Double
    /// How long one stands there in the mean.
    package var duration: TimeSpan
    /// What a body takes.
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

  /// How fast level falls with distance: 10 × this many dB for each tenfold distance.
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
  /// How far the three advertising channels of one link lie apart.
  ///
  /// - Units: dB, one standard deviation.
  package var channelDeviation: Double
  /// How soft the edge of reception is: the chance of reception is 0.5 at an observer's sensitivity and 0.73 one
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

  /// What distance takes from the level at one metre; negative nearer than that.
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
