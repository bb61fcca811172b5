package import PharosPlaces
import PharosReports

/// The floors right above and below each floor, and where the places of one lie on the plane of the other.
package struct FloorNeighbours {
  /// A way to turn places of one floor into those of another: both planes are flat, so that three places tell all.
  package struct Bridge {
    /// The other floor's place in the list.
    let floor: Int
    private let origin: Point
    private let corner: Point
    private let alongX: Point
    private let alongY: Point

    /// Over how many metres the bridge is measured: about a floor.
    private static let span = 100.0

    /// Joins two floors; nil where one of the planes does not reach the other.
    package init?(from grid: RadioGrid, _ plane: FloorPlane, to floor: Int, _ other: FloorPlane) {
      func moved(_ point: Point) -> Point? {
        plane.coordinate(of: point).flatMap { other.point(of: $0) }
      }
      let span = Bridge.span
      guard let origin = moved(grid.corner), let east = moved(grid.corner + Point(x: span, y: 0)),
        let north = moved(grid.corner + Point(x: 0, y: span))
      else { return nil }
      self.floor = floor
      self.origin = origin
      corner = grid.corner
      alongX = (east - origin) * (1 / span)
      alongY = (north - origin) * (1 / span)
    }

    /// Where a place of the one floor lies on the other.
    package func point(_ point: Point) -> Point {
      let way = point - corner
      return origin + alongX * way.x + alongY * way.y
    }
  }

  /// For each floor, the bridges to its neighbours.
  package private(set) var bridges: [[Bridge]]

  /// The share of a floor's loud emitters that the next one must hear for levels to be carried between them.
  ///
  /// Floors about an atrium hear nine of ten of each other's, where both were surveyed; the share is lower where the next floor's
  /// survey is small. Through the slab over a basement one hears few: 4 to 10 % at one place, below a fifth in all.
  static let heardShare = 0.35
  /// From which level on an emitter is loud.
  ///
  /// - Units: dBm.
  static let loudLevel: Float = -70
  /// The fewest loud emitters that tell something about a slab; with fewer it counts as one that lets levels through.
  static let fewestLoud = 20

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
          all < FloorNeighbours.fewestLoud || survey.walks == 0
            || Double(heard) >= FloorNeighbours.heardShare * Double(all)
        else { return nil }
        return Bridge(from: survey.grid, survey.plane, to: number, other.plane)
      }
    }
  }
}
