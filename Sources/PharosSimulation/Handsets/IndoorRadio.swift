/// How radio spreads through a house of several floors.
package struct IndoorRadio: Hashable, Sendable {
  /// How fast level falls with distance: 10 × this many dB for each tenfold distance.
  package var pathLossExponent: Double
  /// What the first floor between two places takes, in dB.
  ///
  /// - Source: ITU-R P.1238-10, table 3: 15 + 4 (n − 1) dB in offices at 2.4 GHz; malls with atria less.
  package var floorLoss: Double
  /// What each further floor takes, in dB.
  package var furtherFloorLoss: Double
  /// How far levels lie from what distance and walls say, by what stands around; the same at each visit.
  ///
  /// - Units: dB, one standard deviation.
  package var shadowing: Double
  /// Within which distance that is alike.
  ///
  /// - Units: metres. What surveyed levels of malls show.
  package var shadowLength: Double
  /// How far single readings lie from the mean at one place: fading, and the error of the radio that reads.
  ///
  /// - Units: dB, one standard deviation.
  package var fading: Double
  /// The level at which every second frame is received, and how soft that edge is.
  ///
  /// - Units: dBm and dB, as in ``Radio/softness``.
  package var sensitivity: Double
  /// See ``sensitivity``.
  package var softness: Double

  /// Makes a radio; the defaults are those of a mall or a museum.
  package init(
    pathLossExponent: Double = 2.6,
    floorLoss: Double = 15,
    furtherFloorLoss: Double = 10,
    shadowing: Double = 4,
    shadowLength: Double = 7,
    fading: Double = 4,
    sensitivity: Double = -92,
    softness: Double = 2
  ) {
    self.pathLossExponent = pathLossExponent
    self.floorLoss = floorLoss
    self.furtherFloorLoss = furtherFloorLoss
    self.shadowing = shadowing
    self.shadowLength = shadowLength
    self.fading = fading
    self.sensitivity = sensitivity
    self.softness = softness
  }

  /// Distance, walls and floors alone decide.
  package static let ideal = IndoorRadio(pathLossExponent: 2, shadowing: 0, fading: 0, softness: 0)
}
