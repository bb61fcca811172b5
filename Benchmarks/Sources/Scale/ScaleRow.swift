/// What was measured at one size.
struct ScaleRow: Codable {
  /// How many observers.
  var observers: Int
  /// How many tracks, all observers together.
  var tracks: Int
  /// Adverts in a datagram.
  var advertsPerDatagram: Int
  /// Whether one application in ten ranges.
  var hasRanging: Bool
  /// CPU time of the engine, the median of the rounds.
  ///
  /// - Units: nanoseconds an advert.
  var engine: Double
  /// The quickest round.
  ///
  /// - Units: nanoseconds an advert.
  var engineQuickest: Double
  /// CPU time of the naive reference in the same rounds, or nil if it was left out.
  ///
  /// - Units: nanoseconds an advert.
  var naive: Double?
  /// Resident memory that the engine took, divided by its tracks.
  var bytesPerTrack: Double
  /// Allocations divided by adverts, in the measured rounds.
  var allocationsPerAdvert: Double
  /// What a change of an application's regions cost.
  var change: RegionChangeCost

  /// The most that the engine may take at this size.
  var budget: Double { tracks > 100_000 ? 45 : 36 }
}

extension Array<Double> {
  /// The middle value, 0 of none.
  var median: Double {
    guard !isEmpty else { return 0 }
    let ordered = sorted()
    return (ordered[(count - 1) / 2] + ordered[count / 2]) / 2
  }
}
