import PharosFixes
import PharosModel
import PharosSpace
import PharosSurvey

/// The walks that a survey holds back from a second map, to see how far from the truth the fixes of a map are.
struct HeldBackWalks {
  private struct Walk {
    var file: TraceFile
    var path: WalkedPath
    var sensesMotion: Bool
  }

  private let venue: Venue
  private var learner: SurveyLearner
  private var held: [Walk] = []
  /// The number of walks on each floor so far.
  private var counts: [FloorID: Int] = [:]

  /// One of so many walks of a floor is held back.
  private static let interval = 5

  /// Starts with no walk.
  init(_ venue: Venue) {
    self.venue = venue
    learner = SurveyLearner(venue: venue)
  }

  /// Adds a walk, for the second map or to be located with it.
  mutating func add(_ walk: SurveyWalk, from file: TraceFile) {
    let count = counts[walk.floor, default: 0] + 1
    counts[walk.floor] = count
    guard count.isMultiple(of: HeldBackWalks.interval) else { return learner.add(walk) }
    let path = WalkedPath(waypoints: walk.waypoints, steps: walk.steps)
    held.append(Walk(file: file, path: path, sensesMotion: !walk.motion.isEmpty))
  }

  /// Locates the walks that were held back, and compares the errors of their fixes with the radii.
  ///
  /// - Returns: the factors of the kinds of subjects for which there are enough walks.
  /// - Throws: an error if a trace cannot be read again.
  func scales() throws -> [RadiusScale] {
    guard held.count >= RadiusEvidence.minimumWalks else { return [] }
    let ground = LocatableVenue(venue: venue, radio: learner.learned().map)
    return try RadiusScale.Kind.allCases.compactMap { kind in
      let thinning = TraceThinning(sensesMotion: kind == .moving)
      let locator = TraceLocator(ground: ground, site: Site(), thinning: thinning)
      var evidence = RadiusEvidence()
      for walk in held where kind == .blind || walk.sensesMotion {
        let ratios = try locator.locate(walk.file).rows.compactMap { row in
          walk.path.position(at: row.time).flatMap { truth in
            row.accuracy.map { truth.distance(to: Point(x: row.x, y: row.y)) / $0 }
          }
        }
        evidence.add(ratios)
      }
      return evidence.scale(kind)
    }
  }
}
