/// The constants of a radio map that is made from what hangs where, without a survey.
package struct PlacedRadioRules: Hashable, Sendable {
  /// The side of the map's cells.
  ///
  /// - Units: metres.
  package var cell: Float = 3
  /// The level of an access point at one metre.
  ///
  /// - Units: dBm. 20 dBm sent, 40 dB lost over the first metre at 2.4 GHz, some in the hand.
  package var accessPointPower: Float = -30
  /// The level of a beacon at one metre, and that at which an observer hears a tag at one metre.
  ///
  /// - Units: dBm. What makers of iBeacons measure as a rule.
  package var beaconPower: Float = -59
  /// The loss over a tenfold distance.
  ///
  /// - Units: dB.
  /// - Source: ITU-R P.1238-12, table 2: 20 N with N of 28 to 30 for offices, 22 for shops.
  package var slope: Float = 25
  /// What a ceiling takes, for each floor between.
  ///
  /// - Units: dB.
  /// - Source: ITU-R P.1238-12, table 3: 10 to 15 for one floor.
  package var ceiling: Float = 14
  /// How far levels stray from all that: shadows, aerials, and makers' tolerances.
  ///
  /// - Units: dB.
  package var shadow: Float = 7
  /// How far a single reading scatters at one place.
  ///
  /// - Units: dB.
  package var readingNoise: Float = 5
  /// The level that bounds the patch of an emitter, which reaches as far as path loss alone stays above this level.
  ///
  /// - Units: dBm.
  package var faintest: Float = -98

  /// The usual rules.
  package init() {}
}
