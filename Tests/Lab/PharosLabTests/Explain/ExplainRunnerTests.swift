import Foundation
import PharosConsoleSupport
import PharosLab
import PharosModel
import PharosNarration
import PharosTerminal
import PharosTestSupport
import Testing

/// What a run of `explain` gave.
struct Explained {
  let status: CommandStatus
  let text: String
  let errors: String

  /// The paragraphs of one decision, by the beginning of its first line behind the time, as one text.
  func paragraph(_ head: String, at clock: String) -> String? {
    let blocks = text.split(separator: "\n\n").map(String.init)
    guard let block = blocks.first(where: { $0.hasPrefix("\(clock)  \(head)") }) else { return nil }
    return block.split { " \n".contains($0) }.joined(separator: " ")
  }
}

@Suite("Explain")
struct ExplainRunnerTests {
  private let folder: TemporaryFolder
  private let capture: String
  private let site: String

  init() throws {
    folder = try TemporaryFolder()
    site = try folder.write(DrawnCapture.site, to: "site.yaml")
    capture = folder.path("story.pcapng")
    try Data(try DrawnCapture.story.bytes()).write(to: URL(filePath: capture))
  }

  private func explain(_ change: (inout ExplainRunner.Options) -> Void = { _ in }) -> Explained {
    var options = ExplainRunner.Options(captures: [capture], site: site)
    change(&options)
    let kept = KeptConsole()
    let status = ExplainRunner(options).run(on: kept.console)
    return Explained(status: status, text: kept.output.text, errors: kept.errors.text)
  }

  @Test("an exit names its rule, its numbers, and what fixed rules would have said, in these words")
  func fixedExit() throws {
    let paragraph = try #require(explain().paragraph("EXIT", at: "12:00:52.000"))
    #expect(
      paragraph.hasPrefix(
        "12:00:52.000 EXIT fixed · pump at door Silent for 12 s (last heard 12:00:40.000 at −60.0 ±"
      )
    )
    #expect(paragraph.contains("The region's rule is a fixed time-out of 12 s; nothing learned counts."))
    #expect(paragraph.contains("It advertises every 1 s and door receives"))
    #expect(
      paragraph.hasSuffix(
        "≠ A fixed 30 s rule would have said so 18 s later; a fixed 10 s rule would have said so 2 s earlier, but would "
          + "have left falsely once in this visit (at 12:00:30.000)."
      )
    )
  }

  @Test("a learned silence names gap, interval, reception share, budget and margin, as the evidence has them")
  func learnedExit() throws {
    let json = try decode(explain { $0.format = .json }.text)
    let exits = json.decisions.filter { $0.decision == "exit" && $0.regions == ["learned"] }
    let exit = try #require(exits.first { $0.beacon?.hasSuffix("/2/1") ?? false })
    let evidence = try #require(exit.evidence)
    let gap = try #require(evidence.gap)
    let why = exit.why.joined(separator: " ")
    #expect(evidence.rule == "adaptiveSilence")
    #expect(why.hasPrefix("Silent for \(Self.span(gap)) (last heard 12:01:30.250 at −60.0 ±"))
    #expect(why.contains("It advertises every \(Self.span(try #require(evidence.interval)))"))
    let share = Int((try #require(evidence.receptionShare) * 100).rounded())
    #expect(why.contains("door receives \(share) % of its adverts"))
    #expect(why.contains(Self.span(try #require(evidence.allowedGap))))
    #expect(why.contains("margin"))
    let fixed = try #require(exit.fixedRules)
    #expect(fixed.map(\.timeout) == [10, 30])
    #expect(fixed.map(\.falseExits) == [[], []])
    for rule in fixed { #expect(abs(try #require(rule.later) - (rule.timeout - gap)) < 0.002) }
    #expect(exit.compared.count == 1)
  }

  @Test("an exit by level says so, and that fixed rules look at silence only")
  func levelExit() throws {
    let json = try decode(explain { $0.format = .json }.text)
    let exit = try #require(json.decisions.first { $0.decision == "exit" && $0.regions == ["close"] })
    let why = exit.why.joined(separator: " ")
    #expect(why.contains("the filtered level stayed below −80 dBm for 4 s, the dwell."))
    #expect(why.contains("margin"))
    #expect(exit.compared.joined().contains("A fixed 30 s rule would have said so"))
    #expect(exit.compared.joined().contains("later"))
  }

  @Test("an exit without notifyOnExit is explained and called unannounced")
  func unannounced() throws {
    let paragraph = try #require(explain { $0.region = "quiet" }.paragraph("EXIT", at: "12:00:52.000"))
    #expect(
      paragraph.contains("The region asks for no exit event, so the change of state alone is published.")
    )
  }

  @Test("an outage is no departure: the report names the observer, and what fixed rules would have sent")
  func outage() throws {
    let explained = explain { $0.beacon = "2/3" }
    let json = try decode(explain { ($0.beacon, $0.format) = ("2/3", .json) }.text)
    let kinds = json.decisions.map(\.decision)
    #expect(kinds == ["online", "enter", "offline", "unmonitored", "online", "state"])
    #expect(explained.text.contains("its learned gaps allow"))
    let unmonitored = try #require(json.decisions.first { $0.decision == "unmonitored" })
    #expect(unmonitored.why.joined().contains("door fell silent altogether"))
    #expect(
      unmonitored.compared == [
        "A fixed 30 s rule would have sent an exit at 12:04:29.375 and taken it back at 12:05:31.375.",
        "A fixed 10 s rule would have sent an exit at 12:04:09.375 and taken it back at 12:05:31.375.",
      ]
    )
    let back = try #require(json.decisions.last)
    #expect(back.why.joined().contains("nothing has changed, so there is no enter"))
    let considered = json.tracks.flatMap(\.considered).flatMap(\.why).joined()
    #expect(considered.contains("door was down from"))
    #expect(considered.contains("no departure"))
  }

  @Test("near decisions are reported: the silence that ended in time, the lone advert")
  func considered() throws {
    let text = explain().text.replacing(/\n +/, with: " ")
    #expect(text.contains("CONSIDERED, AND NOT DONE"))
    #expect(text.contains("fixed, quiet · pump at door"))
    #expect(
      text.contains(
        "Silent for 11 s from 12:00:20.000: 92 % of the 12 s allowed, 1 s to spare. A fixed rule of 10 s would have left."
      )
    )
    #expect(
      text.contains("1 lone advert did not enter, since it takes 2 within the window: 12:02:30.750.")
    )
  }

  @Test("exits stand beside those of fixed rules, the false ones in brackets")
  func comparison() throws {
    let lines = explain().text.split(separator: "\n").map(String.init)
    let row = try #require(lines.first { $0.hasPrefix("  fixed ") })
    #expect(row.split(separator: " ") == ["fixed", "pump", "1", "1", "2", "(1)"])
  }

  @Test("no line is wider than a hundred columns, and none ends in a space")
  func width() {
    let lines = explain().text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count > 1)
    for line in lines {
      #expect(line.count <= 100, "\(line)")
      #expect(line.last != " ")
      #expect(!line.contains("\u{A0}"))
    }
  }

  // MARK: Limits, filters, mistakes

  @Test("beyond a limit it says how much is left out, and how to narrow it")
  func limit() throws {
    let all = try decode(explain { $0.format = .json }.text)
    let some = explain { $0.limit = 3 }
    let committed = some.text.split(separator: "\n").count {
      $0.prefixMatch(of: /\d\d:\d\d:\d\d\.\d{3}  [A-Z]/) != nil
    }
    #expect(committed == 3)
    let text = some.text.replacing("\n", with: " ")
    #expect(text.contains("\(all.decisions.count - 3) more decisions are not listed."))
    #expect(text.contains("--observer door --beacon"))
    #expect(
      try decode(explain { ($0.format, $0.limit) = (.json, 3) }.text).decisionsLeftOut == all.decisions.count
        - 3
    )
  }

  @Test(
    "filters take identities, names and ends of identities",
    arguments: [
      ("pump", nil, nil), ("1/1", nil, nil), ("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/1", nil, nil),
      ("PUMP", "Door", nil), ("1/1", "ac:23:3f:a0:00:01", "fixed"),
    ] as [(String, String?, String?)]
  )
  func filters(beacon: String, observer: String?, region: String?) throws {
    let json = try decode(
      explain {
        ($0.beacon, $0.observerFilter, $0.region, $0.format) = (beacon, observer, region, .json)
      }.text
    )
    let about = json.decisions.filter { $0.beacon != nil }
    #expect(Set(about.compactMap(\.beacon)) == ["E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/1"])
    #expect(about.contains { $0.decision == "exit" })
    if region != nil { #expect(about.allSatisfy { $0.regions?.contains("fixed") ?? false }) }
  }

  @Test(
    "a word that means nothing here lists the nearest that do",
    arguments: [
      ("pumb", nil, nil, "No beacon called pumb has a track. Did you mean pump? There are: pump ("),
      ("1", nil, nil, "--beacon 1 means 3 beacons: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/1, "),
      (
        nil, "dor", nil,
        "No observer called dor was heard. Did you mean door? There is: door (ac:23:3f:a0:00:01)."
      ),
      (
        nil, nil, "learnt",
        "No region or zone called learnt is known. Did you mean learned? There are: learned, "
      ),
    ] as [(String?, String?, String?, String)]
  )
  func mistakes(beacon: String?, observer: String?, region: String?, message: String) {
    let explained = explain { ($0.beacon, $0.observerFilter, $0.region) = (beacon, observer, region) }
    #expect(explained.status == .usage)
    #expect(explained.text.isEmpty)
    #expect(explained.errors.hasPrefix(message), "\(explained.errors)")
  }

  @Test("without a site it says what is missing, and what needs none")
  func noSite() {
    let explained = explain { $0.site = nil }
    #expect(explained.status == .usage)
    #expect(explained.errors.contains("No --site was given"))
    #expect(explained.errors.contains("pharos compare"))
  }

  @Test("of a cut capture everything before the cut is explained")
  func cut() throws {
    let bytes = try folder.bytes("story.pcapng")
    try Data(bytes.prefix(bytes.count / 2 + 7)).write(to: URL(filePath: capture))
    let explained = explain()
    #expect(explained.status == .failure)
    #expect(explained.text.contains("ENTER"))
    #expect(explained.errors.contains("at byte "))
  }

  @Test("a capture without reports has nothing to explain")
  func empty() throws {
    try Data(try DrawnCapture().bytes()).write(to: URL(filePath: capture))
    let explained = explain()
    #expect(explained.status == .failure)
    #expect(explained.errors.contains("Nothing to explain"))
  }

  @Test("standard input cannot be drawn, since it can be read once only")
  func standardInput() {
    let explained = explain { ($0.captures, $0.picture) = (["-"], folder.path("a.svg")) }
    #expect(explained.status == .usage)
    #expect(explained.errors.contains("standard input can be read only once"))
  }

  // MARK: Reading back

  struct Report: Decodable {
    struct Evidence: Decodable {
      var rule: String
      var gap, allowedGap, interval, receptionShare: Double?
    }
    struct FixedRule: Decodable {
      var timeout: Double
      var later: Double?
      var falseExits: [String]
    }
    struct Decision: Decodable {
      var time, decision: String
      var regions: [String]?
      var beacon, observer: String?
      var evidence: Evidence?
      var fixedRules: [FixedRule]?
      var why, compared: [String]
    }
    struct Group: Decodable { var regions, why: [String] }
    struct Track: Decodable { var considered: [Group] }
    var decisions: [Decision]
    var decisionsLeftOut: Int
    var tracks: [Track]
  }

  private func decode(_ text: String) throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(text.utf8))
  }

  /// Seconds as sentences have them between ten seconds and two minutes, and below.
  private static func span(_ seconds: Double) -> String {
    let places = seconds < 9.995 ? 2 : 1
    var text = String(format: "%.\(places)f", seconds)
    while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
    return "\(text) s"
  }
}
