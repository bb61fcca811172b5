import PharosEvents
import PharosPipeline
import PharosReports
import Testing

@Suite("Who is inside")
struct StandingStateCacheTests {
  private static func event(
    _ seconds: Double,
    _ from: RegionState,
    _ to: RegionState,
    isAnswer: Bool = false
  ) -> Event {
    let instant = Traffic.start + .seconds(seconds)
    return Event(
      stream: "test",
      kind: .regionState,
      time: instant,
      decidedAt: instant,
      stage: 1,
      subject: .observer(.name("a")),
      application: "gallery",
      region: "any",
      counter: 1,
      detail: .region(
        RegionTransition(from: from, to: to, isAnswer: isAnswer, evidence: Evidence(rule: .samples))
      )
    )
  }

  @Test(
    "states decide, answers do not",
    arguments: [
      ([(0.0, RegionState.inside, false)], 0.0 as Double?, "inside since the enter"),
      ([(0, .inside, false), (5, .outside, false)], nil, "gone"),
      ([(0, .inside, false), (5, .unmonitored, false)], nil, "nobody can tell"),
      ([(0, .inside, false), (5, .unmonitored, false), (9, .inside, false)], 0, "the visit goes on"),
      (
        [(0, .inside, false), (5, .unmonitored, false), (7, .outside, false), (9, .inside, false)], 9,
        "a new visit"
      ),
      ([(3, .inside, true)], nil, "an answer changes nothing"),
    ] as [([(Double, RegionState, Bool)], Double?, String)]
  )
  func board(states: [(Double, RegionState, Bool)], since: Double?, why: String) {
    var board = StandingStateCache()
    var last = RegionState.unknown
    for (seconds, state, isAnswer) in states {
      board.note(Self.event(seconds, last, state, isAnswer: isAnswer))
      last = state
    }
    #expect(board.inside.map(\.since) == (since.map { [Traffic.start + .seconds($0)] } ?? []), "\(why)")
    board.forget(application: "gallery", region: "any")
    #expect(board.inside.isEmpty)
  }
}
