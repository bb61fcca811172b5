import PharosFixes
import PharosModel
import PharosSpace

/// What the particle filter should come to, worked out the slow and obvious way: a probability for every half metre of a
/// small hall, and for every heading bias in steps of 4°.
///
/// It takes each reading's likelihood straight from the map and Student's distribution, without tables, windows, bunches or
/// chance, and tries one loudness of a look after the other. It knows no offsets that last, walls, floors or recovery: the tests
/// switch these off in the filter that it is held against. Nor does it know what scans leave out: theirs list all that there is.
struct GridFilter {
  /// - Units: radians.
  private static let biasStep: Float = 0.07
  /// - Units: metres.
  private static let cell = 0.5
  /// How far beyond the hall the grid reaches.
  ///
  /// - Units: metres.
  private static let margin = 8.0

  private let size: Point
  private let rules: FusionRules
  /// How much louder a look may be as a whole, in dB; the first one, from which the filter draws its belief, is as loud as
  /// expected.
  private var louder: [Double] = [0]
  /// The biases, in steps; one where there is none.
  private let biases: ClosedRange<Int>
  private let columns: Int
  private let rows: Int
  /// For each bias the probabilities, row by row.
  private var layers: [[Double]]

  /// Starts with the same probability everywhere in the hall, far less outside, and biases as a walk draws them.
  init(size: Point, biasDeviation: Float, rules: FusionRules) {
    self.size = size
    self.rules = rules
    columns = Int((size.x + 2 * GridFilter.margin) / GridFilter.cell)
    rows = Int((size.y + 2 * GridFilter.margin) / GridFilter.cell)
    biases = biasDeviation > 0 ? -6...6 : 0...0
    layers = []
    for bias in biases {
      let score = biasDeviation > 0 ? Float(bias) * GridFilter.biasStep / biasDeviation : 0
      let share = RadioMath.exponential(-Double(score * score) / 2)
      layers.append(
        (0..<columns * rows).map { index in
          let point = point(index)
          let isInside = point.x >= 0 && point.y >= 0 && point.x <= size.x && point.y <= size.y
          return share * (isInside ? 1 : RadioMath.exponential(-Double(rules.closedPrior)))
        }
      )
    }
  }

  private func point(_ index: Int) -> Point {
    Point(
      x: (Double(index % columns) + 0.5) * GridFilter.cell - GridFilter.margin,
      y: (Double(index / columns) + 0.5) * GridFilter.cell - GridFilter.margin
    )
  }

  /// Weighs a scan that was heard now.
  mutating func receive(_ readings: [(emitter: Int32, level: Float)], on map: RadioMap) {
    let worth = Double(min(1, rules.maximumWorth / (rules.halfWorth + Float(readings.count))))
    let freedom = Double(rules.tailFreedom)
    for index in 0..<columns * rows {
      var likelihood = 0.0
      for louder in louder {
        let offset = louder / Double(rules.lookDeviation)
        var sum = -offset * offset / 2
        for (emitter, level) in readings {
          let expected =
            map.prediction(of: emitter, floor: 0, at: point(index))
            ?? (rules.unexpectedLevel, rules.unexpectedDeviation)
          let noise = map.noises[Int(emitter)]
          let deviation = Double(expected.deviation * expected.deviation + noise * noise).squareRoot()
          let score = (Double(level - expected.level) - louder) / deviation
          sum -= worth * RadioMath.naturalLog(deviation)
          sum -= worth * (freedom + 1) / 2 * RadioMath.naturalLog(1 + score * score / freedom)
        }
        likelihood += RadioMath.exponential(sum)
      }
      for layer in layers.indices { layers[layer][index] *= likelihood }
    }
    louder = stride(from: -9.0, through: 9, by: 1.5).map { $0 }
    let total = layers.reduce(0) { $0 + $1.reduce(0, +) }
    for layer in layers.indices { for index in layers[layer].indices { layers[layer][index] /= total } }
  }

  /// Spreads by a random walk, along one axis after the other.
  mutating func spread(_ deviation: Double) {
    let reach = Int(3 * deviation / GridFilter.cell) + 1
    let kernel = (-reach...reach).map { step in
      let score = Double(step) * GridFilter.cell / deviation
      return RadioMath.exponential(-score * score / 2)
    }
    let total = kernel.reduce(0, +)
    for layer in layers.indices {
      for (step, count) in [(1, columns), (columns, rows)] {
        var spread = [Double](repeating: 0, count: columns * rows)
        for index in layers[layer].indices {
          let place = step == 1 ? index % columns : index / columns
          for shift in -reach...reach where (0..<count).contains(place + shift) {
            spread[index + shift * step] += layers[layer][index] * kernel[shift + reach] / total
          }
        }
        layers[layer] = spread
      }
    }
  }

  /// Moves by a step, in each layer turned by its bias; what lands between cells is shared among them.
  mutating func step(length: Float, heading: Float) {
    for (layer, bias) in biases.enumerated() {
      let direction = Bearing.eastAndNorth(heading + Float(bias) * GridFilter.biasStep)
      let (east, north) = (
        Double(length * direction.east) / GridFilter.cell, Double(length * direction.north) / GridFilter.cell
      )
      let (column, row) = (Int(east.rounded(.down)), Int(north.rounded(.down)))
      let (shareEast, shareNorth) = (east - Double(column), north - Double(row))
      var moved = [Double](repeating: 0, count: columns * rows)
      for index in layers[layer].indices {
        for (dx, shareX) in [(0, 1 - shareEast), (1, shareEast)] {
          for (dy, shareY) in [(0, 1 - shareNorth), (1, shareNorth)] {
            let x = index % columns + column + dx
            let y = index / columns + row + dy
            guard (0..<columns).contains(x), (0..<rows).contains(y) else { continue }
            moved[y * columns + x] += layers[layer][index] * shareX * shareY
          }
        }
      }
      layers[layer] = moved
    }
  }

  /// The mean place, and the root of the mean square distance from it.
  var middle: (point: Point, spread: Double) {
    var (total, mean) = (0.0, Point.origin)
    for layer in layers {
      for index in layer.indices {
        total += layer[index]
        mean = mean + Point(x: point(index).x * layer[index], y: point(index).y * layer[index])
      }
    }
    mean = Point(x: mean.x / total, y: mean.y / total)
    var square = 0.0
    for layer in layers {
      for index in layer.indices {
        let distance = point(index).distance(to: mean)
        square += layer[index] / total * distance * distance
      }
    }
    return (mean, square.squareRoot())
  }
}
