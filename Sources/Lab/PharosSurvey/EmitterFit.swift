import PharosFixes
import PharosModel
import PharosSpace

/// Fits one emitter's levels on every floor where it was heard.
struct EmitterFit {
  /// The entry for the map; nil if the emitter was heard too rarely on every floor.
  private(set) var entry: RadioMapDraft.Entry?

  /// The fewest readings on a floor for a patch of its own.
  static let minimumOnFloor = 3
  /// The side of the squares in which silence is noted.
  ///
  /// - Units: metres.
  static let silentSquare: Float = 6
  /// The most squares of silence for one emitter on one floor.
  static let maximumSilent = 64
  /// The maximum uncertainty of an emitter's place for an anchor.
  ///
  /// - Units: metres.
  static let anchorDeviation: Float = 8
  /// The number of readings at which the measured noise weighs as much as the usual noise.
  static let noiseTrust: Float = 40

  private let rules: SurveyRules

  /// Fits.
  init(_ emitter: Emitter, _ readings: EmitterReadings, carrying: FloorCarrying, rules: SurveyRules) {
    self.rules = rules
    let floors = carrying.floors
    var rasters: [LevelRaster] = []
    var anchor: (floor: Int, point: Point, deviation: Float)?
    var strongest: Float = -.infinity
    var (scatter, freedom) = (0.0 as Float, 0.0 as Float)
    for floor in Set(readings.readings.map(\.floor)).sorted() {
      let pools = readings.pools(on: Int(floor), rules: rules)
      let count = pools.reduce(0) { $0 + $1.count }
      guard count >= EmitterFit.minimumOnFloor, let loudest = pools.map(\.level).max() else { continue }
      for pool in pools {
        scatter += pool.scatter
        freedom += Float(pool.count - 1)
      }
      let survey = floors[Int(floor)]
      let isBeacon = if case .beacon = emitter { true } else { false }
      guard let fit = fit(pools, on: survey, floor: Int(floor), isBeacon: isBeacon) else { continue }
      rasters.append(fit.raster)
      if loudest > strongest {
        strongest = loudest
        anchor = fit.anchor
      }
    }
    guard !rasters.isEmpty else { return }
    let usual = rules.readingNoise * rules.readingNoise
    let variance = (usual * EmitterFit.noiseTrust + scatter) / (EmitterFit.noiseTrust + freedom)
    entry = RadioMapDraft.Entry(
      emitter: emitter,
      group: emitter.group(frequency: readings.frequency),
      noise: variance.squareRoot(),
      pieces: carrying.carried(rasters).map(\.piece),
      anchor: anchor
    )
  }

  private func fit(
    _ pools: [LevelPool],
    on survey: FloorSurvey,
    floor: Int,
    isBeacon: Bool
  ) -> (raster: LevelRaster, anchor: (floor: Int, point: Point, deviation: Float)?)? {
    let shadow = rules.shadow * rules.shadow
    let heard = pools.map {
      PathLossFit.Level(x: $0.x, y: $0.y, level: $0.level, weight: 1 / ($0.variance(rules)))
    }
    let silent = silence(about: pools, in: isBeacon ? survey.listenings : survey.scans)
    func forPlace(_ level: PathLossFit.Level) -> PathLossFit.Level {
      var level = level
      level.weight = 1 / (1 / level.weight + shadow)
      return level
    }
    guard
      let fit = PathLossFit(heard: heard.map(forPlace), silent: silent.map(forPlace), rules: rules)
    else { return nil }
    let quiet = silent.map { level in
      var level = level
      level.level = min(level.level, fit.best.level(level.x, level.y))
      return level
    }
    let kernel = ShadowKernel(variance: shadow, length: rules.shadowLength)
    guard let field = LevelField(heard + quiet, about: fit.best, kernel: kernel) else { return nil }
    guard let window = window(around: pools, in: survey.grid) else { return nil }
    let raster = raster(field, window, survey.grid, floor)
    let isKnown = fit.deviation <= EmitterFit.anchorDeviation
    let place = Point(x: Double(fit.middle.x), y: Double(fit.middle.y))
    return (raster, isKnown ? (floor, place, fit.deviation) : nil)
  }

  /// Returns the squares near the readings through which walks passed without hearing the emitter.
  private func silence(
    about pools: [LevelPool],
    in listenings: [FloorSurvey.Listening]
  ) -> [PathLossFit.Level] {
    let side = EmitterFit.silentSquare
    guard let west = pools.map(\.x).min(), let east = pools.map(\.x).max(),
      let south = pools.map(\.y).min(), let north = pools.map(\.y).max()
    else { return [] }
    let loud = Set(pools.map { SquareKey($0.x, $0.y, side: side) })
    var found: [SquareKey: (x: Float, y: Float, count: Float)] = [:]
    let margin = rules.margin
    for place in listenings
    where place.x > west - margin && place.x < east + margin && place.y > south - margin
      && place.y < north + margin
    {
      let key = SquareKey(place.x, place.y, side: side)
      guard !loud.contains(key) else { continue }
      var square = found[key] ?? (0, 0, 0)
      square.x += place.x
      square.y += place.y
      square.count += 1
      found[key] = square
    }
    let squares = found.filter { $0.value.count >= 2 }.sorted { $0.key < $1.key }
    let skip = max(1, (squares.count + EmitterFit.maximumSilent - 1) / EmitterFit.maximumSilent)
    return stride(from: 0, to: squares.count, by: skip).map { index in
      let square = squares[index].value
      let noise = rules.silentNoise * rules.silentNoise * (1 + 4 / square.count)
      return PathLossFit.Level(
        x: square.x / square.count,
        y: square.y / square.count,
        level: rules.silentLevel,
        weight: 1 / noise
      )
    }
  }

  /// The cells within the margin of the readings.
  private func window(
    around pools: [LevelPool],
    in grid: RadioGrid
  ) -> (columns: Range<Int>, rows: Range<Int>)? {
    let places = pools.map { grid.position(of: Point(x: Double($0.x), y: Double($0.y))) }
    guard let west = places.map(\.column).min(), let east = places.map(\.column).max(),
      let south = places.map(\.row).min(), let north = places.map(\.row).max()
    else { return nil }
    let margin = rules.margin / grid.cell
    func range(_ low: Float, _ high: Float, _ count: Int) -> Range<Int> {
      // What was heard beyond the grid alone has no cell of it.
      let first = min(count, Int(max(0, low - margin)))
      return first..<min(count, max(first + 1, Int(max(0, high + margin)) + 1))
    }
    let columns = range(west, east, grid.columns)
    let rows = range(south, north, grid.rows)
    return columns.isEmpty || rows.isEmpty ? nil : (columns, rows)
  }

  /// The field on the cells of a window.
  private func raster(
    _ field: LevelField,
    _ window: (columns: Range<Int>, rows: Range<Int>),
    _ grid: RadioGrid,
    _ floor: Int
  ) -> LevelRaster {
    let (columns, rows) = (window.columns.count, window.rows.count)
    var levels = [Float](repeating: 0, count: columns * rows)
    var deviations = levels
    for row in 0..<rows {
      for column in 0..<columns {
        let middle = grid.middle(
          column: window.columns.lowerBound + column,
          row: window.rows.lowerBound + row
        )
        levels[row * columns + column] = field.level(Float(middle.x), Float(middle.y))
        deviations[row * columns + column] = field.deviation(Float(middle.x), Float(middle.y))
      }
    }
    return LevelRaster(
      floor: floor,
      columns: window.columns,
      rows: window.rows,
      levels: levels,
      deviations: deviations
    )
  }
}

/// One emitter's levels on a rectangle of a floor's cells, in the making.
struct LevelRaster {
  /// The floor's place.
  let floor: Int
  /// The columns of the grid.
  let columns: Range<Int>
  /// The rows of the grid.
  let rows: Range<Int>
  /// The levels in dBm, row by row.
  var levels: [Float]
  /// The uncertainties in dB, row by row.
  var deviations: [Float]

  /// Returns the index of a cell of the grid in the lists; nil outside.
  func place(column: Int, row: Int) -> Int? {
    guard columns.contains(column), rows.contains(row) else { return nil }
    return (row - rows.lowerBound) * columns.count + column - columns.lowerBound
  }

  /// The piece for the map.
  var piece: RadioMapDraft.Piece {
    RadioMapDraft.Piece(
      floor: floor,
      column: columns.lowerBound,
      row: rows.lowerBound,
      columns: columns.count,
      rows: rows.count,
      levels: levels.map { RadioMap.byte(level: $0) },
      deviations: deviations.map { RadioMap.byte(deviation: $0) }
    )
  }
}
