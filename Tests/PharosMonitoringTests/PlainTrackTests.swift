import PharosMonitoring
import PharosReports
import PharosTestSupport
import Testing

@Suite("The straight line of a track")
struct PlainTrackTests {
  /// What happens to the beacon next.
  struct Step {
    var gap: TimeSpan
    var level: Float?
    var key: UInt64
    var power: Float
    var isNewlyTelling: Bool
  }

  /// A step of a beacon of one second: mostly the next advert, and now and then anything else.
  static func step(key: UInt64, _ generator: inout SeededGenerator) -> Step {
    let dice = Int.random(in: 0..<100, using: &generator)
    let milliseconds: Double =
      switch dice {
      case 0..<75: 1_000 + .random(in: 0...10, using: &generator)
      case 75..<85:
        Double(Int.random(in: 2...12, using: &generator)) * .random(in: 1_000...1_010, using: &generator)
      case 85..<93: .random(in: 0...16, using: &generator)
      case 93..<96: .random(in: -30...0, using: &generator)
      default: .random(in: 16...3_000, using: &generator)
      }
    let base: Float = Int.random(in: 0..<60, using: &generator) == 0 ? -84 : -60
    let level = base + Float(Int.random(in: -4...4, using: &generator))
    return Step(
      gap: TimeSpan(nanoseconds: Int64(milliseconds * 1e6)),
      level: Int.random(in: 0..<40, using: &generator) == 0 ? nil : level,
      key: Int.random(in: 0..<150, using: &generator) == 0 ? key ^ 1 : key,
      power: Int.random(in: 0..<80, using: &generator) == 0 ? -61 : -59,
      isNewlyTelling: Int.random(in: 0..<50, using: &generator) == 0
    )
  }

  static func bytes(_ track: Track) -> [UInt8] {
    var writer = FieldWriter()
    track.write(to: &writer, isStale: false)
    return writer.bytes
  }

  /// The straight line of a track: that of those whose seconds are kept, or that of all others.
  static func plainly(
    _ track: inout Track,
    _ step: Step,
    at time: Timestamp,
    _ silenceFrom: Timestamp,
    _ second: Int64
  ) -> Track.Plain {
    guard track.needsSeconds else {
      return track.heardPlainly(
        at: time,
        level: step.level ?? .nan,
        key: step.key,
        power: step.power,
        silenceFrom: silenceFrom
      )
    }
    return track.heardAndKept(
      at: time,
      level: step.level.map { Double($0) } ?? .nan,
      key: step.key,
      power: step.power,
      silenceFrom: silenceFrom,
      second: second
    )
  }

  @Test(
    "comes to the same as the long way, or changes nothing",
    arguments: Seeds.drawn(0..<24),
    [false, true]
  )
  func same(seed: Int, keepsSeconds: Bool) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    var timeline = Timeline(
      Timeline.site([Region(identifier: "hall", constraint: .proximity(Timeline.uuid))])
    )
    for second in 0..<40 { timeline.hear(at: Double(second)) }
    let catalog = timeline.engine.catalog
    var track = timeline.engine.states[0].tracks[0]
    try #require(track.isCalm)
    track.needsSeconds = keepsSeconds
    track.isListed = keepsSeconds
    track.noteCalm()
    let key = track.sampleKey
    var time = track.lastHeard
    var plain = 0
    for number in 0..<2_000 {
      let step = PlainTrackTests.step(key: key, &generator)
      time = time + step.gap
      let silenceFrom = step.isNewlyTelling ? time : .distantPast
      let second = (time - Timeline.at(0)).nanoseconds / 1_000_000_000
      _ = track.closeSecond(through: second - 3)
      var short = track
      let outcome = track.heard(
        Track.Sample(
          time: time,
          level: step.level.map { Double($0) },
          key: step.key,
          second: second,
          silenceFrom: silenceFrom
        ),
        power: Double(step.power),
        catalog: catalog,
        filter: .kalman,
        canTell: true
      )
      let before = PlainTrackTests.bytes(short)
      let found = PlainTrackTests.plainly(&short, step, at: time, silenceFrom, second)
      let after = PlainTrackTests.bytes(short)
      if found == .rest {
        try #require(after == before, "step \(number): something was changed although there is more to do")
      } else {
        plain += 1
        try #require(after == PlainTrackTests.bytes(track), "step \(number): \(step)")
        try #require(track.isSettled(outcome), "step \(number): \(outcome)")
        try #require(outcome.hasJoined == (found == .joined), "step \(number)")
      }
      // As an engine would, though with another figure.
      if outcome.needsAllowance {
        if !outcome.hasJoined, track.isAtTurn { _ = track.turnWindow() }
        let allowed = TimeSpan.milliseconds(.random(in: 4_000...40_000, using: &generator))
        track.allow(allowed, enter: .nan, exit: .nan, at: 0)
      }
    }
    #expect(plain > 600, "the straight line was hardly ever taken")
  }

  @Test("seconds are kept on the straight line only where they are asked for, and no level matters")
  func keptRefusals() throws {
    var timeline = Timeline(
      Timeline.site([Region(identifier: "hall", constraint: .proximity(Timeline.uuid))])
    )
    for second in 0..<40 { timeline.hear(at: Double(second)) }
    var kept = timeline.engine.states[0].tracks[0]
    kept.needsSeconds = true
    kept.isListed = true
    kept.noteCalm()
    func hears(_ change: (inout Track) -> Void) -> Bool {
      var track = kept
      change(&track)
      return track.heardAndKept(
        at: Timeline.at(40),
        level: -60,
        key: track.sampleKey,
        power: -59,
        silenceFrom: .distantPast,
        second: 40
      ) == .settled
    }
    try #require(hears { _ in })
    let changes: [(String, (inout Track) -> Void)] = [
      ("nobody asks for seconds", { $0.needsSeconds = false }),
      ("the second's end does not look at it", { $0.isListed = false }),
      ("a policy looks at levels", { $0.hasLevels = true }),
      ("its timer is not set", { $0.isArmed = false }),
      ("it was forgotten", { $0.isLive = false }),
      ("its level is low", { $0.surroundings = 1 }),
    ]
    for (name, change) in changes {
      #expect(
        !hears {
          change(&$0)
          $0.noteCalm()
        },
        "\(name)"
      )
    }
  }

  @Test("what needs a decision, a second, a level or a timer never goes the straight line")
  func refusals() throws {
    var timeline = Timeline(
      Timeline.site([Region(identifier: "hall", constraint: .proximity(Timeline.uuid))])
    )
    for second in 0..<40 { timeline.hear(at: Double(second)) }
    let calm = timeline.engine.states[0].tracks[0]
    func hears(_ track: Track) -> Bool {
      var track = track
      return track.heardPlainly(
        at: Timeline.at(40),
        level: -60,
        key: track.sampleKey,
        power: -59,
        silenceFrom: .distantPast
      ) == .settled
    }
    try #require(hears(calm))
    let changes: [(String, (inout Track) -> Void)] = [
      ("it waits for proof", { $0[presence: 0].isWaiting = true }),
      ("it is outside", { _ = $0[presence: 0].deadlinePassed() }),
      ("it is held", { _ = $0[presence: 0].suspended() }),
      ("its timer is not set", { $0.isArmed = false }),
      ("it was forgotten", { $0.isLive = false }),
      ("several addresses share it", { $0.isCrowd = true }),
      ("its level is low", { $0.surroundings = 1 }),
      ("its level is far below", { $0.surroundings = 2 }),
    ]
    for (name, change) in changes {
      var track = calm
      change(&track)
      #expect(!hears(track), "\(name)")
    }
  }
}
