/// The constants of a radio map that is made from what hangs where, without a survey.
public struct PlacedRadioRules: Hashable, Sendable {
  /// The side of the map's cells.
  ///
  /// - Units: metres.
  public var cell: Float = 3
  /// The level of an access point at one metre.
  ///
  /// - Units: dBm. 20 dBm sent, 40 dB lost over the first metre at 2.4 GHz, some in the hand.
  public var accessPointPower: Float = -30
  /// The level of a beacon at one metre, and that at which an observer hears a tag at one metre.
  ///
  /// - Units: dBm. What makers of iBeacons measure as a rule.
  public var beaconPower: Float = -59
  /// The loss over a tenfold distance.
  ///
  /// - Units: dB.
  /// - Source: ITU-R P.1238-12, table 2: 20 N with N of 28 to 30 for offices, 22 for shops.
  public var slope: Float = 25
  /// What a ceiling takes, for each floor between.
  ///
  /// - Units: dB.
  /// - Source: ITU-R P.1238-12, table 3: 10 to 15 for one floor.
  public var ceiling: Float = 14
  /// How far levels stray from all that: shadows, aerials, and makers' tolerances.
  ///
  /// - Units: dB.
  public var shadow: Float = 7
  /// How far a single reading scatters at one place.
  ///
  /// - Units: dB.
  public var readingNoise: Float = 5
  /// The level that bounds the patch of an emitter, which reaches as far as path loss alone stays above this level.
  ///
  /// - Units: dBm.
  public var faintest: Float = -98

  /// The usual rules.
  public init() {}
}
