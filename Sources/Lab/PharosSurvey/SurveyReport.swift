package import PharosFixes
package import PharosSpace

/// The coverage of a survey, and the results of learning from it.
package struct SurveyReport: Hashable, Sendable {
  /// The reason why an emitter is not in the map.
  package enum Reason: String, Hashable, CaseIterable, Sendable {
    /// It was heard too seldom.
    case tooFew
    /// It was heard on one walk alone, although others passed by: a passer-by rather than a fixture.
    case fleeting
    /// The places where it was strong do not fit one position: it moves, or several emitters share its identity.
    case moving
    /// The map holds as many emitters as it may.
    case tooMany
  }

  /// One floor.
  package struct FloorCoverage: Hashable, Sendable {
    /// The floor.
    package var floor: FloorID
    /// Walks on it.
    package var walks: Int
    /// The length of these walks.
    ///
    /// - Units: metres.
    package var meters: Double
    /// Readings of access points that count, each moment once.
    package var accessPointReadings: Int
    /// Readings of beacons.
    package var beaconReadings: Int
    /// Emitters for which the map has levels here.
    package var emitters: Int
    /// The share of the walkable cells that lie within 3 m of a walk; nil where the walkable area is unknown.
    package var surveyedShare: Double?
    /// The grid of the following lists, row by row.
    package var grid: RadioGrid
    /// The number of times that each cell was walked through, at most 255.
    package var passes: [UInt8]
    /// The number of emitters that are expected at −90 dBm or more in each cell, at most 255.
    package var audible: [UInt8]
    /// The mean deviation of the levels of those emitters in each cell, in tenths of a decibel; 255 where there are
    /// none.
    package var doubt: [UInt8]
    /// A flag for each cell that is true if its middle is walkable.
    package var isWalkable: [Bool]
  }

  /// Walks that were taken in.
  package var walks = 0
  /// The total length of these walks.
  ///
  /// - Units: metres.
  package var meters = 0.0
  /// Walks with a floor that the venue does not have, by name.
  package var unmatchedWalks: [String] = []
  /// Walks with fewer than two waypoints, or with impossible ones, by name: their places are unknown.
  package var placelessWalks: [String] = []
  /// Repeated entries of Wi-Fi scans, which are no new measurement.
  package var repeatedReadings = 0
  /// Readings from before the first or after the last waypoint.
  package var placelessReadings = 0
  /// Stretches between two waypoints that follow the walker's steps.
  package var pacedStretches = 0
  /// Stretches between two waypoints that were taken at an even pace, because the motion data shows too few steps.
  package var evenStretches = 0
  /// Access points in the map.
  package var accessPoints = 0
  /// Beacons in the map.
  package var beacons = 0
  /// Emitters left out, by reason.
  package var leftOut: [Reason: Int] = [:]
  /// Emitters whose place was found.
  package var anchored = 0
  /// Plans on which walks went in other directions than by their compasses.
  package var turns: [PlanTurn] = []
  /// Floor by floor, in the order of the map.
  package var floors: [FloorCoverage] = []

  /// Makes an empty report.
  package init() {}
}

extension SurveyReport {
  /// The level from which on an emitter counts as audible in a cell.
  ///
  /// - Units: dBm. Handsets report down to −95; at −90 they hear most of what there is.
  package static let audibleLevel: Float = -90

  /// Counts the content of a map, floor by floor.
  mutating func count(_ map: RadioMap, _ floors: [FloorSurvey]) {
    for emitter in map.emitters {
      switch emitter {
      case .accessPoint: accessPoints += 1
      case .beacon: beacons += 1
      case .observer: continue
      }
    }
    anchored = map.anchors.count
    turns = map.turns
    self.floors = floors.indices.map { number in
      let survey = floors[number]
      let grid = survey.grid
      var (audible, doubt) = ([Int](repeating: 0, count: grid.count), [Int](repeating: 0, count: grid.count))
      var emitters = 0
      for patch in map.patches where patch.floor == Int32(number) {
        emitters += 1
        for row in 0..<Int(patch.rows) {
          for column in 0..<Int(patch.columns) {
            let place = Int(patch.offset) + row * Int(patch.columns) + column
            guard RadioMap.level(map.levels[place]) >= SurveyReport.audibleLevel else { continue }
            let cell = (Int(patch.row) + row) * grid.columns + Int(patch.column) + column
            audible[cell] += 1
            doubt[cell] += Int(map.deviations[place])
          }
        }
      }
      return FloorCoverage(
        floor: survey.id,
        walks: survey.walks,
        meters: survey.meters,
        accessPointReadings: survey.accessPointReadings,
        beaconReadings: survey.beaconReadings,
        emitters: emitters,
        surveyedShare: survey.surveyedShare,
        grid: grid,
        passes: survey.passes,
        audible: audible.map { UInt8(min(255, $0)) },
        doubt: zip(doubt, audible).map { UInt8(min(255, $1 == 0 ? 255 : $0 / $1)) },
        isWalkable: survey.isWalkable
      )
    }
  }
}
