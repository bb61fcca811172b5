import PharosDocuments
import PharosModel
import Testing

@Suite("Did you mean")
struct SpellingTests {
  @Test(
    "slips are counted",
    arguments: [
      ("major", "major", 0), ("majr", "major", 1), ("mjaor", "major", 1), ("", "ab", 2), ("abc", "xyz", 3),
    ]
  )
  func distances(left: String, right: String, distance: Int) {
    #expect(Spelling.distance(left, right) == distance)
    #expect(Spelling.distance(right, left) == distance)
  }

  @Test("only what is near is meant")
  func nearest() {
    let keys = ["major", "minor", "uuid"]
    #expect(Spelling.nearest(to: "Majr", among: keys) == "major")
    #expect(Spelling.nearest(to: "frobnicate", among: keys) == nil)
    #expect(Spelling.nearest(to: "x", among: []) == nil)
  }
}
