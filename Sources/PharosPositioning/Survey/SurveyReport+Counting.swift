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
