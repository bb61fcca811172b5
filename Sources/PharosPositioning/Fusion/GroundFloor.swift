package import PharosPlaces
import PharosReports

/// A floor made ready for particles.
///
/// A class, since every particle asks its own floor at every step, and a copy would cost more than the answer.
package final class GroundFloor: Sendable {
  /// A way to another floor.
  struct Exit: Sendable {
    /// Where it begins on this floor.
    let point: Point
    /// The other floor, as its place in ``Ground/floors``.
    let floor: Int
    /// Where it ends there.
    let arrival: Point
    /// How many floors up, or down where negative.
    let rise: Int
  }

  package let id: FloorID
  let plane: FloorPlane
  let raster: WalkRaster
  let space: FloorSpace
  /// The ways to other floors.
  let exits: [Exit]
  /// The doors to the outdoors.
  let entrances: [Point]
  /// The rectangle around all that is drawn; nil where nothing is.
  let extent: Extent?
  /// The floor's place in the radio map; nil where that does not know it.
  let radio: Int?

  /// Makes a floor ready from which some ways lead to others.
  init(_ floor: Floor, id: FloorID, exits: [Exit], reach: Double, radio: Int?) {
    self.id = id
    plane = floor.plane
    space = FloorSpace(floor)
    raster = WalkRaster(floor, space: space, stops: exits.map(\.point), reach: reach)
    self.exits = exits
    entrances = floor.entrances.map(\.point)
    extent = floor.extent
    self.radio = radio
  }

  /// Whether a place lies within what is drawn of the floor, or within some metres around it.
  func holds(_ point: Point, margin: Double) -> Bool {
    guard let extent else { return false }
    return point.x >= extent.southWest.x - margin && point.x <= extent.northEast.x + margin
      && point.y >= extent.southWest.y - margin && point.y <= extent.northEast.y + margin
  }
}

extension GroundFloor {
  /// How probable each cell of the floor's radio grid is before anything was heard: as much of it as can be walked on.
  func priors(_ map: RadioMap, _ rules: FusionRules) -> [Float] {
    guard let radio else { return [] }
    let grid = map.grids[radio]
    let closed = FusionMath.exponential(-rules.closedPrior)
    return (0..<grid.count).map { index in
      let middle = grid.middle(column: index % grid.columns, row: index / grid.columns)
      var open: Float = 0
      for step in 0..<9 {
        let east = Float(middle.x) + Float(step % 3 - 1) * grid.cell / 3
        let north = Float(middle.y) + Float(step / 3 - 1) * grid.cell / 3
        if raster.cell(east: east, north: north).contains(.walkable) { open += 1.0 / 9 }
      }
      return Float(RadioMath.naturalLog(Double(open + closed * (1 - open))))
    }
  }
}

/// Where a place of one floor lies on the plane of another.
///
/// - Shape: x' = xx · x + xy · y + x0, and the same for y'; planes of one building differ by shift, turn and scale.
struct PlaneChange: Sendable {
  let xx, xy, x0, yx, yy, y0: Float

  /// No change.
  static let same = PlaneChange(xx: 1, xy: 0, x0: 0, yx: 0, yy: 1, y0: 0)

  private init(xx: Float, xy: Float, x0: Float, yx: Float, yy: Float, y0: Float) {
    (self.xx, self.xy, self.x0, self.yx, self.yy, self.y0) = (xx, xy, x0, yx, yy, y0)
  }

  /// The change from one plane to another; nil where they do not reach each other.
  init?(from: FloorPlane, to: FloorPlane) {
    let reach = 100.0
    guard let origin = PlaneChange.change(.origin, from, to),
      let east = PlaneChange.change(Point(x: reach, y: 0), from, to),
      let north = PlaneChange.change(Point(x: 0, y: reach), from, to)
    else { return nil }
    self.init(
      xx: Float((east.x - origin.x) / reach),
      xy: Float((north.x - origin.x) / reach),
      x0: Float(origin.x),
      yx: Float((east.y - origin.y) / reach),
      yy: Float((north.y - origin.y) / reach),
      y0: Float(origin.y)
    )
  }

  private static func change(_ point: Point, _ from: FloorPlane, _ to: FloorPlane) -> Point? {
    from.coordinate(of: point).flatMap { to.point(of: $0) }
  }

  /// Where a place lies.
  func callAsFunction(_ east: Float, _ north: Float) -> (east: Float, north: Float) {
    (xx * east + xy * north + x0, yx * east + yy * north + y0)
  }
}
