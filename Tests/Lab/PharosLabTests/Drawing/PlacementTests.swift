import PharosLab
import PharosTestSupport
import Testing

@Suite("Placement in a picture")
struct PlacementTests {
  @Test("labels never cover one another, and those left out are counted", arguments: Seeds.drawn(0..<20))
  func rows(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var rows = LabelRows(rows: 3, left: 50, right: 650)
    var placed: [(left: Double, right: Double, row: Int)] = []
    for _ in 0..<40 {
      let width = Double.random(in: 10...180, using: &random)
      let x = Double.random(in: 50...650, using: &random)
      guard let place = rows.place(at: x, width: width) else { continue }
      placed.append((place.left, place.left + width, place.row))
    }
    #expect(placed.count + rows.omitted == 40)
    #expect(!placed.isEmpty)
    for (index, label) in placed.enumerated() {
      #expect(label.left >= 50)
      #expect(label.right <= 650)
      for other in placed[..<index] where other.row == label.row {
        #expect(label.left > other.right || other.left > label.right)
      }
    }
  }

  @Test("a label wider than all there is stands at the left end")
  func wide() {
    var rows = LabelRows(rows: 1, left: 10, right: 20)
    #expect(rows.place(at: 15, width: 100)?.left == 10)
  }

  @Test("a line keeps its ends and its peaks, however many points it has")
  func line() {
    let points = (0..<100_000).map { SVGPoint(Double($0) / 1_000, $0 == 55_555 ? -9 : Double($0 % 7)) }
    let thinned = Decimation.line(points)
    #expect(thinned.count <= 4 * 201)
    #expect(thinned.first == points.first)
    #expect(thinned.last == points.last)
    #expect(thinned.contains { $0.y == -9 })
    #expect(zip(thinned, thinned.dropFirst()).allSatisfy { $0.x <= $1.x })
  }

  @Test("a line that is already thin stays as it is")
  func thin() {
    let points = (0..<50).map { SVGPoint(Double($0), Double($0 * $0 % 11)) }
    #expect(Decimation.line(points) == points)
    #expect(Decimation.line([]).isEmpty)
  }

  @Test("dots that lie on one another are drawn once")
  func dots() {
    let points = [SVGPoint(1, 1), SVGPoint(1.1, 1.2), SVGPoint(1.6, 1), SVGPoint(1, 1)]
    #expect(Decimation.dots(points) == [SVGPoint(1, 1), SVGPoint(1.6, 1)])
  }

  @Test("text is cut to a width with an ellipsis")
  func cut() {
    let style = TextStyle(10)
    #expect(style.fitted("door", to: 100) == "door")
    let cut = style.fitted(String(repeating: "door ", count: 40), to: 100)
    #expect(cut.hasSuffix("…"))
    #expect(style.width(of: cut) <= 100)
    #expect(style.fitted("door", to: 0) == "…")
  }
}
