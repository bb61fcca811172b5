package import PharosReports

/// How long one observer goes without hearing one beacon that is there: what its silence means.
///
/// Beacons lose adverts in runs, and each pair of beacon and observer its own share. A gap is the beacon's beat and, now and
/// then, a further wait whose chance falls exponentially. Its share and its scale are learned from the gaps of the pair,
/// so that a run of losses at an observer that has many of them says nothing, and the same silence at one that
/// misses no advert says much.
///
/// - Source: the moments of a geometric run of losses; its scale is the mean square of the waits over twice their mean.
package struct GapModel: Sendable {
  /// How many gaps the guess at the start counts for.
  private static let guesses = 2.0
  /// The beat before the first gap: between the tags that advertise every second and those that do every ten.
  ///
  /// - Units: seconds.
  private static let guessedBeat = 5.0
  /// The shortest beat, as summaries come once a second.
  ///
  /// - Units: seconds.
  private static let shortestBeat = 1.0
  /// The wait that is guessed, in beats: that of an observer that misses a third, in short runs.
  private static let guessedWait = 0.5
  /// Its mean square, in beats².
  private static let guessedSquare = 1.5
  /// For how many gaps what others have learned counts.
  private static let borrowed = 8.0
  /// Over how many gaps the moments are taken.
  private static let memory = 96.0
  /// How many beats a gap without a loss may last: summaries come in whole seconds, and lags change.
  private static let jitter = 1.25
  /// The scale at least, in beats, of an observer that has not missed anything yet.
  private static let leastScale = 0.5
  /// The least share of gaps with a wait that is believed in.
  private static let leastShare = 0.005
  /// The longest wait that is learned, in scales: what is longer was a way and not a loss.
  private static let longestWait = 8.0

  /// How often the beacon is heard when nothing is lost; no shorter than the second that summaries take.
  ///
  /// - Units: seconds.
  var beat = GapModel.guessedBeat
  /// Whether the beat is more than a guess.
  var isKnown = false
  /// How many gaps the moments are made of.
  var count = GapModel.guesses
  /// The mean of the waits, in beats.
  var wait = GapModel.guessedWait
  /// The mean of their squares, in beats².
  var square = GapModel.guessedSquare

  package init() {}

  /// What another observer of the same beacon starts with: the same, as long as it has learned little itself.
  package var lesson: GapModel {
    var lesson = self
    lesson.count = min(count, GapModel.borrowed)
    return lesson
  }

  /// The scale of the waits, in beats: half a beat at least.
  private var scale: Double { max(GapModel.leastScale, square / (2 * max(wait, 1e-6))) }

  /// Takes a gap between two summaries, in seconds, of a beacon whose beat is held at the longest that is known.
  package mutating func learn(_ gap: Double, longest: TimeSpan) {
    if !isKnown {
      isKnown = true
      beat = gap
    } else if gap < 1.5 * beat {
      // Fast towards a beacon that turns out to be quicker, slowly back.
      beat += (gap < beat ? 0.5 : 0.0625) * (gap - beat)
    } else {
      // A gap with a loss says nothing about the beat; a beacon that has become slower raises it bit by bit.
      beat *= 1.01
    }
    beat = min(max(beat, GapModel.shortestBeat), longest.seconds)
    let waited = min(max(0, gap / beat - GapModel.jitter), GapModel.longestWait * scale)
    count = min(count + 1, GapModel.memory)
    wait += (waited - wait) / count
    square += (waited * waited - square) / count
  }

  /// How unlikely a silence of a beacon that is there is, given in seconds: less the logarithm of its chance.
  package func surprise(after silence: Double) -> Double {
    let waited = silence / beat - GapModel.jitter
    guard waited > 0 else { return 0 }
    let scale = scale
    let share = min(1, max(wait / scale, GapModel.leastShare))
    return waited / scale - RadioMath.binaryLog(share) * RadioMath.naturalLogOfTwo
  }
}
