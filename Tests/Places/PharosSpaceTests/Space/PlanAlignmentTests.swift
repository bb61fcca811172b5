import Foundation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Plan alignment")
struct PlanAlignmentTests {
  static func anchor(_ x: Double, _ y: Double, _ latitude: Double, _ longitude: Double) throws -> PlanAnchor {
    let coordinate = try #require(Coordinate(latitude: latitude, longitude: longitude))
    return PlanAnchor(pixel: Pixel(x: x, y: y), coordinate: coordinate)
  }

  /// Apple's sample Footprint by hand: the direction of the anchors on the map and on the image gives the rotation, their
  /// distances in metres give the scale, and the middle between them is where both meet.
  static func footprint(_ from: PlanAnchor, _ to: PlanAnchor, _ pixel: Pixel) -> (x: Double, y: Double) {
    let (a, b) = (Reference.mapPoint(from.coordinate), Reference.mapPoint(to.coordinate))
    let middle = (x: (a.x + b.x) / 2, y: (a.y + b.y) / 2)
    let latitude = atan(sinh(.pi * (1 - 2 * middle.y / 268_435_456)))
    let metersPerPoint = 2 * .pi * 6_378_137 / 268_435_456 * cos(latitude)
    let phi = (from.coordinate.latitude * .pi / 180, to.coordinate.latitude * .pi / 180)
    let lambda = (to.coordinate.longitude - from.coordinate.longitude) * .pi / 180
    let half = pow(sin((phi.1 - phi.0) / 2), 2) + cos(phi.0) * cos(phi.1) * pow(sin(lambda / 2), 2)
    let meters = 2 * 6_378_137 * asin(half.squareRoot())
    let way = (x: to.pixel.x - from.pixel.x, y: to.pixel.y - from.pixel.y)
    let metersPerPixel = meters / hypot(way.x, way.y)
    let angle = atan2(b.y - a.y, b.x - a.x) - atan2(way.y, way.x)
    let dx = (pixel.x - (from.pixel.x + to.pixel.x) / 2) * metersPerPixel / metersPerPoint
    let dy = (pixel.y - (from.pixel.y + to.pixel.y) / 2) * metersPerPixel / metersPerPoint
    return (middle.x + dx * cos(angle) - dy * sin(angle), middle.y + dx * sin(angle) + dy * cos(angle))
  }

  @Test(
    "two anchors give what Mercator alignment gives by hand, within a millimetre over a kilometre",
    arguments: [
      (30.2930, 120.0741, 30.2965, 120.0790, "Hangzhou"),
      (-33.8568, 151.2153, -33.8601, 151.2211, "Sydney"),
      (69.6496, 18.9560, 69.6531, 18.9709, "Tromsø"),
      (78.2232, 15.6267, 78.2261, 15.6501, "Longyearbyen"),
    ]
  )
  func byHand(latitude: Double, longitude: Double, other: Double, otherLongitude: Double, name: String) throws
  {
    let from = try Self.anchor(112, 840, latitude, longitude)
    let to = try Self.anchor(1_310, 95, other, otherLongitude)
    let alignment = try PlanAlignment(anchors: [from, to])
    for pixel in [Pixel(x: 0, y: 0), Pixel(x: 700, y: 500), Pixel(x: 1_600, y: 1_000), from.pixel, to.pixel] {
      let expected = Self.footprint(from, to, pixel)
      let found = alignment.mapPoint(of: pixel)
      let meters = hypot(found.x - expected.x, found.y - expected.y) * 0.15
      #expect(meters < 1e-3, "\(name): \(meters) m")
      let back = alignment.pixel(of: found)
      #expect(hypot(back.x - pixel.x, back.y - pixel.y) * alignment.metersPerPixel < 1e-6)
    }
    #expect(alignment.coordinate(of: from.pixel).distance(to: from.coordinate) < 1e-6)
    #expect(alignment.coordinate(of: to.pixel).distance(to: to.coordinate) < 1e-6)
    #expect(alignment.residuals == [0, 0])
  }

  @Test("pixels and metres lead to each other within a micrometre")
  func pixelsAndMeters() throws {
    let from = try Self.anchor(0, 800, 64.14, -21.94)
    let to = try Self.anchor(1_000, 0, 64.145, -21.93)
    let plan = FloorPlan(
      image: "plan.png",
      width: 1_000,
      height: 800,
      alignment: try PlanAlignment(anchors: [from, to])
    )
    let floor = Floor(level: 0, plane: .ground(GroundPlane(origin: from.coordinate)), plan: plan)
    for step in 0...10 {
      let pixel = Pixel(x: Double(step) * 100, y: 800 - Double(step * step) * 8)
      let point = try #require(floor.point(of: pixel))
      let back = try #require(floor.pixel(of: point))
      #expect(hypot(back.x - pixel.x, back.y - pixel.y) < 1e-6)
    }
    #expect(try #require(floor.point(of: from.pixel)).length < 1e-6)
    #expect(Floor(level: 0, plane: floor.plane).point(of: from.pixel) == nil)
  }

  @Test(
    "an image that was turned says so",
    arguments: [(0.0, 0.0), (1, 90), (2, 180), (3, 270)] as [(Double, Double)]
  )
  func bearing(quarters: Double, degrees: Double) throws {
    // Two anchors on the equator, the second one east of the first: on the image the way turns the other way.
    let turned = (cos(-quarters * .pi / 2), sin(-quarters * .pi / 2))
    let alignment = try PlanAlignment(anchors: [
      try Self.anchor(500, 500, 0, 0),
      try Self.anchor(500 + 400 * turned.0, 500 + 400 * turned.1, 0, 0.001),
    ])
    let difference = abs(alignment.bearing - degrees)
    #expect(min(difference, 360 - difference) < 1e-6)
    #expect(abs(alignment.metersPerPixel - 111.319490793 / 400) < 1e-9)
  }

  /// Anchors of a known similarity, each moved by an error of up to so many metres.
  private func drawn(_ count: Int, error: Double, seed: UInt64) throws -> [PlanAnchor] {
    var random = SeededGenerator(seed: seed)
    let truth = try PlanAlignment(anchors: [
      try Self.anchor(0, 0, 47.38, 8.54), try Self.anchor(2_000, 300, 47.381, 8.544),
    ])
    return try (0..<count).map { _ in
      let pixel = Pixel(x: .random(in: 0...2_000, using: &random), y: .random(in: 0...1_500, using: &random))
      var point = truth.mapPoint(of: pixel)
      point.x += .random(in: -1...1, using: &random) * error / 0.101
      point.y += .random(in: -1...1, using: &random) * error / 0.101
      let coordinate = point.coordinate
      return try Self.anchor(pixel.x, pixel.y, coordinate.latitude, coordinate.longitude)
    }
  }

  @Test("many right anchors leave nothing")
  func exact() throws {
    for seed in 1...20 {
      let alignment = try PlanAlignment(anchors: try drawn(8, error: 0, seed: UInt64(seed)))
      #expect(alignment.rootMeanSquare < 1e-5)
      #expect(alignment.doubtfulAnchors.isEmpty)
    }
  }

  @Test("no small turn, scaling or shift is better than what the anchors gave")
  func regression() throws {
    for seed in 1...20 {
      let anchors = try drawn(6, error: 2, seed: UInt64(seed))
      let alignment = try PlanAlignment(anchors: anchors)
      func sum(_ change: (Double, Double, Double, Double)) -> Double {
        anchors.reduce(0) { sum, anchor in
          let moved = Pixel(
            x: anchor.pixel.x * (1 + change.0) - anchor.pixel.y * change.1 + change.2,
            y: anchor.pixel.y * (1 + change.0) + anchor.pixel.x * change.1 + change.3
          )
          let found = alignment.mapPoint(of: moved)
          let wanted = Reference.mapPoint(anchor.coordinate)
          return sum + pow(found.x - wanted.x, 2) + pow(found.y - wanted.y, 2)
        }
      }
      let minimum = sum((0, 0, 0, 0))
      for step in [-1.0, 1] {
        #expect(sum((1e-4 * step, 0, 0, 0)) > minimum)
        #expect(sum((0, 1e-4 * step, 0, 0)) > minimum)
        #expect(sum((0, 0, 0.3 * step, 0)) > minimum)
        #expect(sum((0, 0, 0, 0.3 * step)) > minimum)
      }
      #expect(alignment.rootMeanSquare > 0.2)
    }
  }

  @Test("an anchor that was set wrong stands out")
  func doubtful() throws {
    var anchors = try drawn(8, error: 0.2, seed: 5)
    anchors[3].pixel.x += 150
    let alignment = try PlanAlignment(anchors: anchors)
    #expect(alignment.doubtfulAnchors.contains(3))
    #expect(alignment.residuals.max() == alignment.residuals[3])
  }

  @Test("nonsense is refused in words")
  func refused() throws {
    func message(_ anchors: [PlanAnchor]) -> String? {
      do {
        _ = try PlanAlignment(anchors: anchors)
        return nil
      } catch {
        return error.description
      }
    }
    let first = try Self.anchor(10, 10, 50, 8)
    let second = try Self.anchor(500, 10, 50, 8.001)
    #expect(message([first]) == "1 anchors: an image is aligned by 2 to 1000 of them")
    #expect(
      message([first, try Self.anchor(10.2, 10, 50, 8.001)])
        == "anchors 1 and 2 are one spot of the image: take places far apart"
    )
    #expect(
      message([first, second, try Self.anchor(70, 80, 50, 8)])
        == "anchors 1 and 3 are one spot on the Earth: take places far apart"
    )
    #expect(message([first, try Self.anchor(500, 10, 8, 50)])?.contains("look for swapped numbers") == true)
    #expect(
      message([first, try Self.anchor(500, 10, 89, 8)])?.contains("beyond the edge of the map") == true
    )
    #expect(message([try Self.anchor(.nan, 1, 50, 8), second])?.contains("no place on an image") == true)
    #expect(message([first, try Self.anchor(11, 10, 50, 8.1)])?.contains("a pixel would be 7") == true)
  }

  @Test("a mirrored image, and anchors that do not belong together, are refused")
  func mirrored() throws {
    let right = try drawn(5, error: 0.1, seed: 9)
    let mirrored = right.map {
      PlanAnchor(pixel: Pixel(x: $0.pixel.x, y: 1_500 - $0.pixel.y), coordinate: $0.coordinate)
    }
    #expect {
      try PlanAlignment(anchors: mirrored)
    } throws: { error in
      guard case PlanAlignmentError.mirrored(_, let rest) = error else { return false }
      return rest < 0.2 && "\(error)".contains("count pixels downwards")
    }
    var swapped = right
    (swapped[0].pixel, swapped[1].pixel) = (swapped[1].pixel, swapped[0].pixel)
    #expect(throws: PlanAlignmentError.self) { try PlanAlignment(anchors: swapped) }
  }
}
