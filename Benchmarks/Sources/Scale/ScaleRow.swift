/// What was measured at one size.
struct ScaleRow: Codable {
  /// The size and what its traffic was like.
  var shape: Shape
  /// How many tracks, all observers together.
  var tracks: Int
  /// CPU time from the bytes of datagrams to decisions, the median of the rounds.
  ///
  /// - Units: nanoseconds an advert.
  var whole: Double
  /// The quickest round.
  ///
  /// - Units: nanoseconds an advert.
  var quickest: Double
  /// CPU time of decoding alone.
  ///
  /// - Units: nanoseconds an advert.
  var wire: Double
  /// CPU time of the yardstick on the same datagrams.
  ///
  /// - Units: nanoseconds an advert.
  var yardstick: Double
  /// The whole divided by the yardstick: the median of the ratios of rounds that followed each other.
  var ratio: Double
  /// CPU time of the naive reference in the same rounds, or nil if it was left out.
  ///
  /// - Units: nanoseconds an advert.
  var naive: Double?
  /// Resident memory that the engine took, divided by its tracks.
  var bytesPerTrack: Double
  /// Allocations divided by adverts, in the measured rounds.
  var allocationsPerAdvert: Double
  /// How many adverts the engine heard in the measured rounds.
  var adverts: Int
  /// What a change of an application's regions cost, or nil if none was made.
  var change: RegionChangeCost?

  /// What monitoring takes without decoding.
  var engine: Double { whole - wire }

  /// The most that monitoring may take at this size.
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
