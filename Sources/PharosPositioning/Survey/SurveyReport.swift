package import PharosPlaces

/// What a survey covered, and what was made of it.
package struct SurveyReport: Hashable, Sendable {
  /// Why an emitter is not in the map.
  package enum Reason: String, Hashable, CaseIterable, Sendable {
    /// It was heard too seldom.
    case tooFew
    /// It was heard in one moment of one walk alone: a passer-by rather than a fixture.
    case fleeting
    /// Where it was strong does not fit one place: it moves, or several share its identity.
    case moving
    /// The map holds as many emitters as it may.
    case tooMany
  }

  /// One floor.
  package struct FloorCoverage: Hashable, Sendable {
    /// Which floor.
    package var floor: FloorID
    /// Walks on it.
    package var walks: Int
    /// How far they led.
    ///
    /// - Units: metres.
    package var meters: Double
    /// Readings of access points that count, each moment once.
    package var accessPointReadings: Int
    /// Readings of beacons.
    package var beaconReadings: Int
    /// Emitters that the map tells levels of here.
    package var emitters: Int
    /// The share of the walkable cells that lie within 3 m of a walk; nil where nothing says what is walkable.
    package var surveyedShare: Double?
    /// The grid that the following lists are over, row by row.
    package var grid: RadioGrid
    /// How often each cell was walked through, held at 255.
    package var passes: [UInt8]
    /// How many emitters are expected at −90 dBm or more in each cell, held at 255.
    package var audible: [UInt8]
    /// How far the levels of those are known, in each cell: their mean deviation in tenths of a decibel.
    package var doubt: [UInt8]
    /// Whether one can walk in each cell, as far as its middle tells.
    package var isWalkable: [Bool]
  }

  /// Walks that were taken in.
  package var walks = 0
  /// How far they led together.
  ///
  /// - Units: metres.
  package var meters = 0.0
  /// Walks with a floor that the venue does not have, by name.
  package var strangeWalks: [String] = []
  /// Walks with fewer than two waypoints, or with impossible ones, by name: nothing says where they led.
  package var placelessWalks: [String] = []
  /// Repeated entries of Wi-Fi scans, which are no new measurement.
  package var repeatedReadings = 0
  /// Readings from before the first or after the last waypoint.
  package var placelessReadings = 0
  /// Stretches between two waypoints that follow the walker's steps, and those at an even pace.
  package var pacedStretches = 0
  /// Stretches between two waypoints that were taken at an even pace, for want of motion.
  package var evenStretches = 0
  /// Access points in the map.
  package var accessPoints = 0
  /// Beacons in the map.
  package var beacons = 0
  /// Emitters left out, by reason.
  package var leftOut: [Reason: Int] = [:]
  /// Emitters whose place was found.
  package var anchored = 0
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

  /// Counts what a map tells, floor by floor.
  mutating func count(_ map: RadioMap, _ floors: [FloorSurvey]) {
    for emitter in map.emitters {
      switch emitter {
      case .accessPoint: accessPoints += 1
      case .beacon: beacons += 1
      case .observer: continue
      }
    }
    anchored = map.anchors.count
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
