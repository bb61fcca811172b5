import PharosDocuments
import PharosModel
import PharosNarration
import PharosTerminal
import Testing

@Suite("Parts of explain")
struct ExplainPartsTests {
  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 0) + .seconds(seconds) }

  @Test("a fixed rule leaves its time-out after the last advert, and not a nanosecond before")
  func fixedRule() {
    var rule = FixedRule(timeout: .seconds(10))
    for time in [0, 5, 15, 25.5, 30] { rule.receive(at: Self.at(time)) }
    rule.finish(at: Self.at(40))
    #expect(
      rule.visits == [
        .init(entered: Self.at(0), lastHeard: Self.at(15), left: Self.at(25)),
        .init(entered: Self.at(25.5), lastHeard: Self.at(30), left: nil),
      ]
    )
    rule.finish(at: Self.at(40.5))
    #expect(rule.visits.last?.left == Self.at(40))
  }

  @discardableResult
  private static func turn(
    _ story: inout RowStory,
    _ from: RegionState,
    _ to: RegionState,
    at seconds: Double
  )
    -> EventKind?
  {
    let transition = RegionTransition(from: from, to: to, evidence: Evidence(rule: .requested))
    return story.follow(transition, at: at(seconds)).announcement
  }

  @Test("an exit is false only if Pharos had the subject inside before and after, without an exit in between")
  func falseExits() {
    var story = RowStory()
    for time in [1.0, 2, 20, 21, 60, 61] { story.receive(at: Self.at(time)) }
    Self.turn(&story, .unknown, .inside, at: 2)
    Self.turn(&story, .inside, .outside, at: 50)
    Self.turn(&story, .outside, .inside, at: 61)
    story.finish(at: Self.at(62))
    #expect(story.fixed.map(\.timeout) == [.seconds(10), .seconds(30)])
    #expect(story.fixed.map { $0.falseExits(story.isStay) } == [[Self.at(12)], []])
    #expect(story.fixed.map { $0.visits.count { $0.left != nil } } == [2, 1])
    #expect(story.visits.map(\.entered) == [Self.at(2), Self.at(61)])
    #expect(story.visits.map(\.left) == [Self.at(50), nil])
    #expect(story.returns == 1)
  }

  @Test("an unmonitored time is part of a stay")
  func unmonitoredStay() {
    var story = RowStory()
    #expect(Self.turn(&story, .unknown, .inside, at: 1) == .regionEnter)
    #expect(Self.turn(&story, .inside, .unmonitored, at: 10) == .regionUnmonitored)
    #expect(Self.turn(&story, .unmonitored, .inside, at: 20) == nil)
    #expect(story.isStay(Self.at(5)...Self.at(25)))
    #expect(!story.isStay(Self.at(0)...Self.at(5)))
    #expect(!story.isStay(Self.at(5)...Self.at(15)))
    #expect(story.visits.count == 1)
  }

  @Test(
    "times are written as people say them",
    arguments: [
      (0.0004, "0 ms"), (0.35, "350 ms"), (1.0, "1 s"), (1.018, "1.02 s"), (9.999, "10 s"), (12.44, "12.4 s"),
      (119.9, "119.9 s"), (119.99, "2 min"), (127.2, "2 min 7 s"), (7_200, "2 h"), (11_580, "3 h 13 min"),
      (-2.5, "2.5 s"),
    ]
  )
  func spans(seconds: Double, text: String) {
    #expect(Narration.plain(Wording.span(.seconds(seconds))) == text)
  }

  @Test(
    "numbers have a true minus sign, and none before zero",
    arguments: [(-84.24, 1, "−84.2"), (-0.04, 1, "0.0"), (0.995, 2, "1.00"), (7, 0, "7"), (1e300, 1, "?")]
  )
  func decimals(value: Double, places: Int, text: String) {
    #expect(Wording.decimal(value, places: places) == text)
  }

  @Test("lists and counts read as sentences do")
  func words() {
    #expect(Wording.list([]) == "")
    #expect(Wording.list(["a"]) == "a")
    #expect(Wording.list(["a", "b", "c"]) == "a, b and c")
    #expect([1, 2, 3].map(Wording.times) == ["once", "twice", "3 times"])
    #expect(Wording.count(1, "exit") == "1 exit")
    #expect(Wording.count(0, "exit") == "0 exits")
    let times = (0..<5).map { Self.at(Double($0)) }
    #expect(Wording.clocks(times) == "00:00:00.000, 00:00:01.000, 00:00:02.000 and 2 more")
    #expect(Wording.clocks(Array(times.prefix(2))) == "00:00:00.000 and 00:00:01.000")
  }

  @Test("a paragraph is broken at spaces, hangs behind its head, and keeps a number with its unit")
  func paragraph() {
    let lines = Paragraph.lines("one two three 12\u{A0}s four", behind: "> ", width: 15)
    #expect(lines == ["> one two three", "  12 s four"])
    #expect(Paragraph.lines("extraordinarily long", behind: "", width: 5) == ["extraordinarily", "long"])
    #expect(Paragraph.lines("", behind: "> ", width: 10) == ["> "])
  }

  @Test("an escape sequence in a name does not reach the terminal")
  func escapes() {
    #expect(Paragraph.lines("a\u{1B}[31mb", width: 80) == ["a·[31mb"])
  }
}
