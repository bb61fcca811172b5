import PharosModel
import PharosRooms
import Testing

@Suite("Silence of an observer")
struct GapModelTests {
  private static func model(_ gaps: [Double]) -> GapModel {
    var model = GapModel()
    for gap in gaps { model.learn(gap) }
    return model
  }

  /// Single seconds, and now and then a run of losses.
  private static let bursty = (0..<96).map { $0 % 6 == 5 ? Double(3 + $0 % 7) : 1 }

  @Test("an observer that misses nothing is surprised by a silence that one with runs of losses is not")
  func silence() {
    let steady = Self.model(Array(repeating: 1, count: 96))
    let bursty = Self.model(Self.bursty)
    #expect(steady.surprise(after: 6) > 7)
    #expect(bursty.surprise(after: 6) < 4)
    #expect(bursty.surprise(after: 60) > 10)
  }

  @Test("silence within the beat is no surprise, and longer silence more", arguments: [1.0, 5, 10])
  func order(beat: Double) {
    let model = Self.model(Array(repeating: beat, count: 20))
    #expect(model.surprise(after: beat) == 0)
    let surprises = stride(from: 2.0, to: 12, by: 1).map { model.surprise(after: $0 * beat) }
    #expect(zip(surprises, surprises.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("a beacon that becomes slower is not taken for silent for long")
  func slower() {
    let model = Self.model(Array(repeating: 1, count: 50) + Array(repeating: 10, count: 96))
    #expect(model.surprise(after: 10) < 3)
  }

  @Test("a learned gap of one observer counts at another, whose own gaps take precedence")
  func borrowedPrior() {
    var other = Self.model(Self.bursty).borrowedPrior
    #expect(other.surprise(after: 6) < 4)
    for _ in 0..<96 { other.learn(1) }
    #expect(other.surprise(after: 6) > 5)
  }
}
