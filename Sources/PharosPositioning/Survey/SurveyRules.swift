package import PharosReports

/// The constants of learning a radio map from walks.
package struct SurveyRules: Hashable, Sendable {
  /// The side of the map's cells.
  ///
  /// - Units: metres. Levels indoors change over some 7 m; between cells of 3 m straight lines are off by less than 1 dB.
  package var cell: Float = 3
  /// The side of the squares whose readings are pooled before fitting.
  ///
  /// - Units: metres. A surveyor passes through in two seconds, the time of one scan.
  package var pool: Float = 2
  /// The distance to which the map has levels of an emitter beyond the places where it was heard.
  ///
  /// - Units: metres.
  package var margin: Float = 18
  /// How far an emitter's levels stray from path loss: one standard deviation of the shadows of walls and shelves.
  ///
  /// - Units: dB.
  package var shadow: Float = 7
  /// Over which distance shadows change.
  ///
  /// - Units: metres.
  package var shadowLength: Float = 6
  /// How far a single reading scatters at one place.
  ///
  /// - Units: dB. People, hands, channels and the slow fading that a pool's mean does not level out.
  package var readingNoise: Float = 5
  /// How far a pool's mean is off, however many readings it has: they share an afternoon, a hand and a direction.
  ///
  /// - Units: dB.
  package var poolNoise: Float = 2.5
  /// The level that stands for "passed and not heard".
  ///
  /// - Units: dBm. Handsets report down to −95 or so, and miss more and more below −85.
  package var silentLevel: Float = -93
  /// How far a place where it was not heard may be from that level: scans miss emitters of any level.
  ///
  /// - Units: dB.
  package var silentNoise: Float = 14
  /// The usual loss per tenfold distance.
  ///
  /// - Units: dB. Halls and corridors guide radio: with 15, levels away from the walks were predicted 1 dB better than
  ///   with 30.
  package var usualSlope: Float = 15
  /// One standard deviation of the loss per tenfold distance.
  ///
  /// - Units: dB.
  package var slopeDeviation: Float = 5
  /// Indicates whether levels are carried to the unsurveyed parts of the floors above and below.
  package var carriesFloors = true
  /// The amount by which a level is lowered that is carried from the next floor.
  ///
  /// - Units: dB. On held-back walks, 20 to 80 m from the others, the error of single looks is 25.1 m with 0 dB, 26.6 m
  ///   with 10 dB, and 29.6 m without carrying. With 10 dB the floor of a single look is right more often (94 % against
  ///   91 %), but the floor of walks that are followed as a whole is right less often.
  package var floorLoss: Float = 0
  /// How far an emitter's level is off from what the next floor's level at the same place makes one expect.
  ///
  /// - Units: dB. 9 dB for faint and 13 dB for loud emitters on the surveyed malls.
  package var floorDeviation: Float = 12
  /// How much later than an access point's last-heard time the place was reached that its level belongs to.
  ///
  /// Handsets stamp what they heard when their scan began, smooth it, and surveyors tap a waypoint a moment after they passed it:
  /// on the surveyed malls held-back levels fit best with 2 s, and worse with 0 s and 3 s.
  package var accessPointDelay = TimeSpan.milliseconds(2_000)
  /// How much later than a beacon's time the place was reached that its level belongs to.
  ///
  /// Found as ``accessPointDelay`` was.
  package var beaconDelay = TimeSpan.milliseconds(1_500)
  /// The fewest readings with which an emitter is kept.
  package var fewestReadings = 5
  /// The most pools for one emitter on one floor; where there are more, pools are made larger.
  package var mostPools = 192
  /// The most emitters of a map.
  package var mostEmitters = 100_000

  /// The rules that were found on surveyed malls.
  package init() {}
}
