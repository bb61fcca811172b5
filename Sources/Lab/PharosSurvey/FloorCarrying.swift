import PharosFixes
import PharosModel
import PharosSpace

/// The transfer of levels to the unsurveyed parts of the floors above and below.
///
/// An emitter that was not heard where the survey walked is not there. Where the survey did not walk, it may well be
/// there: what the next floor hears at the same place is a better guess than silence. Without this guess, a place that
/// was not surveyed would lose against a surveyed place of the wrong floor.
package struct FloorCarrying {
  let floors: [FloorSurvey]
  let neighbours: FloorNeighbours
  let rules: SurveyRules

  /// The level and deviation of a place within a patch where nothing is known.
  private static let unknown: (level: Float, deviation: Float) = (-95, 7)
  /// The level that makes carrying worth its cells.
  ///
  /// - Units: dBm.
  private static let faintest: Float = -88

  /// Returns the level to expect on the next floor, at a place where one floor has a given level.
  ///
  /// A loud level becomes much weaker on the next floor, because an emitter that is heard at −45 dBm hangs on the floor
  /// itself. A faint level hardly changes.
  ///
  /// - Source: the surveyed malls, squares of 6 m surveyed on both floors, silence taken for −95 dBm: −45 and −55 and −65
  ///   became −79 on the average, −75 became −82, −85 became −87.5, each ± 9 to 13 dB.
  package static func guess(_ level: Float) -> Float {
    switch level {
    case (-65)...: -79
    case (-75)...: -79 + (level + 65) * 0.3
    default: -82 + (level + 75) * 0.55
    }
  }

  /// Returns the rasters, with the levels that they carry to the neighbours of their floors.
  func carried(_ own: [LevelRaster]) -> [LevelRaster] {
    guard rules.carriesFloors else { return own }
    var rasters: [LevelRaster] = []
    for floor in floors.indices {
      let mine = own.first { $0.floor == floor }
      let sources = neighbours.bridges[floor].compactMap { bridge in
        own.first { $0.floor == bridge.floor }.map { (bridge, $0) }
      }
      let guesses = sources.isEmpty ? [:] : guesses(on: floor, from: sources)
      guard !guesses.isEmpty else {
        if let mine { rasters.append(mine) }
        continue
      }
      rasters.append(merged(mine, guesses, floor))
    }
    return rasters
  }

  /// Returns the louder neighbour's level at each cell that lies far from the survey, by the cell's number.
  private func guesses(
    on floor: Int,
    from sources: [(FloorNeighbours.Bridge, LevelRaster)]
  ) -> [Int: (level: Float, deviation: Float)] {
    let survey = floors[floor]
    var found: [Int: (level: Float, deviation: Float)] = [:]
    for cell in survey.farCells {
      let middle = survey.grid.middle(column: cell % survey.grid.columns, row: cell / survey.grid.columns)
      for (bridge, raster) in sources {
        let grid = floors[raster.floor].grid
        guard let other = grid.index(of: bridge.change(middle)),
          let place = raster.place(column: other % grid.columns, row: other / grid.columns)
        else { continue }
        let level = raster.levels[place]
        let guess = FloorCarrying.guess(level) - rules.floorLoss
        guard level >= FloorCarrying.faintest, guess > found[cell]?.level ?? -.infinity else { continue }
        let deviation = raster.deviations[place]
        let between = rules.floorDeviation
        found[cell] = (guess, (deviation * deviation * 0.25 + between * between).squareRoot())
      }
    }
    return found
  }

  /// Returns a floor's own raster, if it has one, with the guesses in its far cells.
  private func merged(
    _ mine: LevelRaster?,
    _ guesses: [Int: (level: Float, deviation: Float)],
    _ floor: Int
  ) -> LevelRaster {
    let grid = floors[floor].grid
    var (west, east) = (mine?.columns.lowerBound ?? .max, mine?.columns.upperBound ?? 0)
    var (south, north) = (mine?.rows.lowerBound ?? .max, mine?.rows.upperBound ?? 0)
    for cell in guesses.keys {
      (west, east) = (min(west, cell % grid.columns), max(east, cell % grid.columns + 1))
      (south, north) = (min(south, cell / grid.columns), max(north, cell / grid.columns + 1))
    }
    let count = (east - west) * (north - south)
    var raster = LevelRaster(
      floor: floor,
      columns: west..<east,
      rows: south..<north,
      levels: [Float](repeating: FloorCarrying.unknown.level, count: count),
      deviations: [Float](repeating: FloorCarrying.unknown.deviation, count: count)
    )
    for row in raster.rows {
      for column in raster.columns {
        guard let place = raster.place(column: column, row: row) else { continue }
        let known = mine?.place(column: column, row: row)
        if let mine, let known {
          raster.levels[place] = mine.levels[known]
          raster.deviations[place] = mine.deviations[known]
        }
        guard let guess = guesses[row * grid.columns + column] else { continue }
        guard known != nil else {
          raster.levels[place] = guess.level
          raster.deviations[place] = guess.deviation
          continue
        }
        let mine = 1 / max(0.01, raster.deviations[place] * raster.deviations[place])
        let other = 1 / (guess.deviation * guess.deviation)
        raster.levels[place] = (mine * raster.levels[place] + other * guess.level) / (mine + other)
        raster.deviations[place] = (1 / (mine + other)).squareRoot()
      }
    }
    return raster
  }
}

/// The floors right above and below each floor, and where the places of one lie on the plane of the other.
package struct FloorNeighbours {
  /// A neighbour of a floor.
  package struct Bridge {
    /// The neighbour's place in the list.
    let floor: Int
    /// The mapping of places of the floor to those of the neighbour.
    let change: PlaneChange
  }

  /// For each floor, the bridges to its neighbours.
  package private(set) var bridges: [[Bridge]]

  /// The share of a floor's loud emitters that the next one must hear for levels to be carried between them.
  ///
  /// Floors around an atrium hear nine of ten of each other's emitters, where both were surveyed; the share is lower
  /// where the next floor's survey is small. Through the slab over a basement few are heard: 4 to 10 % at one place,
  /// below a fifth in all.
  static let heardShare = 0.35
  /// The level from which on an emitter is loud.
  ///
  /// - Units: dBm.
  static let loudLevel: Float = -70
  /// The minimum number of loud emitters for a decision about a slab; with fewer, the slab counts as one that lets
  /// levels through.
  static let minimumLoud = 20

  /// Finds the neighbours: of a building's floors those next in number, unless the slab between them is too thick.
  package init(_ floors: [FloorSurvey], emitters: [EmitterReadings]) {
    var loud = [[Int]](repeating: [Int](repeating: 0, count: floors.count), count: floors.count)
    for emitter in emitters {
      var loudest = [Float](repeating: -.infinity, count: floors.count)
      for reading in emitter.readings {
        loudest[Int(reading.floor)] = max(loudest[Int(reading.floor)], reading.level)
      }
      for floor in floors.indices where loudest[floor] >= FloorNeighbours.loudLevel {
        for other in floors.indices where loudest[other] > -.infinity { loud[floor][other] += 1 }
      }
    }
    bridges = floors.enumerated().map { here, survey in
      floors.enumerated().compactMap { number, other in
        guard other.id.building == survey.id.building,
          (other.id.level - survey.id.level).magnitude == 1, other.walks > 0
        else { return nil }
        let (all, heard) = (loud[number][number], loud[number][here])
        guard
          all < FloorNeighbours.minimumLoud || survey.walks == 0
            || Double(heard) >= FloorNeighbours.heardShare * Double(all)
        else { return nil }
        return PlaneChange(from: survey.plane, to: other.plane).map { Bridge(floor: number, change: $0) }
      }
    }
  }
}
