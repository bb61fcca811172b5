import Foundation
import PharosConsoleSupport
import PharosLab
import PharosModel
import PharosPipeline
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Compare")
struct CompareRunnerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Twenty minutes in which tag 1 has gaps of 12 s and 40 s and leaves at 900 s, while tag 2 stays.
  private static var gaps: HandMadeCapture {
    var capture = HandMadeCapture()
    capture.receive(minor: 1, in: [0..<300, 312..<600, 640..<900])
    capture.receive(minor: 2, in: [0..<1_200])
    return capture
  }

  private func write(
    _ capture: HandMadeCapture,
    dropping: Int = 0,
    as name: String = "hall.pcapng"
  ) throws -> String {
    let path = folder.path(name)
    try Data(capture.bytes().dropLast(dropping)).write(to: URL(filePath: path))
    return path
  }

  private func site(_ regions: String, _ rest: String = "") throws -> String {
    try folder.write("regions:\n\(regions)\n\(rest)", to: "site.yaml")
  }

  private func compare(
    _ capture: String,
    _ change: (inout CompareRunner.Options) -> Void = { _ in }
  ) -> (CommandStatus, KeptConsole) {
    var options = CompareRunner.Options(captures: [capture])
    change(&options)
    let kept = KeptConsole()
    return (CompareRunner(options).run(on: kept.console), kept)
  }

  /// The figures of a comparison, from its JSON.
  private func figures(
    _ capture: String,
    _ change: (inout CompareRunner.Options) -> Void = { _ in }
  ) throws -> Figures {
    let (status, kept) = compare(capture) {
      $0.format = .json
      change(&$0)
    }
    #expect(status == .success, "\(kept.errors.text)")
    return try JSONDecoder().decode(Figures.self, from: Data(kept.output.bytes))
  }

  /// The exits that `process` writes for the same capture and site.
  private func processed(_ capture: String, _ site: String) -> Int {
    let kept = KeptConsole()
    let selection = KindSelection([.regionExit])
    var options = ProcessRunner.Options(captures: [capture], site: site)
    options.selection = selection
    #expect(ProcessRunner(options).run(on: kept.console) == .success)
    return kept.output.text.split(separator: "\n").count
  }

  /// A site with one region about the tags, left after a fixed silence.
  private func tags(silence: TimeSpan, region: String = "tags") throws -> Site {
    let region = Region(
      identifier: region,
      constraint: .proximity(try #require(UUID128(HandMadeCapture.uuid)), major: 7),
      subject: .beacon(observers: nil),
      presence: PresencePolicy(enterSamples: 1, silence: .fixed(silence))
    )
    return Site(applications: [Application(identifier: "hall", regions: [region])])
  }

  @Test("an edited site is compared with the site of a recording, which begins with nothing heard")
  func edited() throws {
    let site = try tags(silence: .seconds(5))
    var before = try Pipeline(site: site)
    _ = before.advance(to: HandMadeCapture.start - .seconds(1))
    let path = folder.path("hour.pharos")
    try Data(Self.gaps.recording(of: site, from: before.checkpoint())).write(to: URL(filePath: path))
    let edited = try tags(silence: .seconds(20))
    let figures = try figures(path) { $0.edited = edited }
    #expect(
      figures.presence.prefix(3).map(\.rule) == ["Pharos", "Pharos as configured", "Pharos, site edited"]
    )
    #expect(figures.presence[1].exits == 3 && figures.presence[2].exits == 2)
    #expect(figures.headline.contains("Pharos, site edited: 2 exits"))
    #expect(!figures.notes.contains { $0.contains("are not compared") })
    let renamed = try tags(silence: .seconds(20), region: "guests")
    let other = try self.figures(path) { $0.edited = renamed }
    #expect(other.presence[2].exits == 0)
    #expect(other.notes.contains { $0.hasSuffix("are not compared: hall/guests, hall/tags.") })
  }

  @Test("each rule's exits and returns are those that its time-out gives")
  func timeouts() throws {
    let expected = [
      ("your 30 s", 30.0, 2, 1), ("AltBeacon 30 s", 30, 2, 1), ("AltBeacon 10 s", 10, 3, 2),
      ("Core Location-like 30 s", 30, 2, 1), ("reelyActive 15 s", 15, 2, 1),
      ("room-assistant 60 s", 60, 1, 0),
      ("Bermuda 30 s", 30, 2, 1), ("ESPresense 120 s", 120, 1, 0),
    ]
    let figures = try figures(write(Self.gaps))
    #expect(figures.presence.dropFirst().map(\.rule) == expected.map(\.0))
    for (rule, timeout, exits, returns) in expected {
      let found = try #require(figures.presence.first { $0.rule == rule })
      #expect(found.exits == exits, "\(rule)")
      #expect(found.backWithinMinute == returns, "\(rule)")
      #expect(found.backWithinTenMinutes == returns, "\(rule)")
      #expect(found.enters == 2 + returns, "\(rule)")
      let delay = try #require(found.delayP50)
      #expect(delay >= timeout - 0.05 && delay <= timeout + 1.2, "\(rule): \(delay)")
    }
  }

  @Test("Pharos decides as process does, with the regions of the site")
  func sameAsProcess() throws {
    let capture = try write(Self.gaps)
    let site = try site("  - { id: hall, subject: beacon, uuid: \(HandMadeCapture.uuid) }")
    let figures = try figures(capture) { $0.site = site }
    #expect(figures.presence.map(\.rule).prefix(2) == ["Pharos", "your 30 s"])
    #expect(figures.presence[0].exits == processed(capture, site))
    #expect(figures.presence[0].exits >= 1)
    #expect(figures.subjects == 2)
    #expect(figures.worst.first?.region == "hall")
    #expect(figures.worst.first?.subject == "\(HandMadeCapture.uuid)/7/1")
  }

  @Test("a silence that the site fixes is kept in a rule of its own, and learned in Pharos's")
  func fixedSilence() throws {
    let capture = try write(Self.gaps)
    let site = try site(
      "  - { id: hall, subject: beacon, uuid: \(HandMadeCapture.uuid), exit: { silence: 11s } }"
    )
    let figures = try figures(capture) { $0.site = site }
    #expect(figures.presence.map(\.rule).prefix(3) == ["Pharos", "Pharos as configured", "your 30 s"])
    #expect(figures.presence[1].exits == 3)
    #expect(figures.presence[1].exits == processed(capture, site))
    #expect(figures.presence[0].exits < 3)
    #expect(figures.notes.contains { $0.contains("fixes the silence of hall") })
  }

  @Test("the user's own time-out is the one that was given")
  func timeout() throws {
    let figures = try figures(write(Self.gaps)) { $0.timeout = .seconds(45) }
    let yours = try #require(figures.presence.first { $0.rule == "your 45 s" })
    #expect(yours.exits == 1)
    #expect(figures.headline.hasPrefix("Your 45 s rule: 1 exit, none taken back. Pharos: "))
  }

  @Test("the text begins with what it comes to, stays within 80 columns and says what to do next")
  func text() throws {
    let capture = try write(Self.gaps)
    let (status, kept) = compare(capture)
    #expect(status == .success)
    let lines = kept.output.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0].hasPrefix("Your 30 s rule: 2 exits, 1 taken back within ten minutes."))
    for line in lines where !line.contains(capture) { #expect(line.count <= 80, "\(line)") }
    let expected = [
      "(20 min, 2048 adverts of 2 beacons heard by 1 observer; 2 beacons compared)",
      "RULE                     ENTERS   EXITS BACK 1 MIN BACK 10 MIN DELAY p50    p95",
      "your 30 s                     3       2          1           1      30 s   30 s",
      "AltBeacon 10 s                4       3          2           2      10 s   11 s",
      "BACK: exits that the rule took back. DELAY: from the last advert to the exit.",
      "WHO FLAPS MOST     REGION        PHAROS   YOURS     WORST UNDER",
      "    pharos compare \(capture) --svg picture.svg",
    ]
    for line in expected { #expect(lines.contains { $0 == line }, "\(line)\n\(kept.output.text)") }
    let name = "E2C5…/7/1"
    #expect(lines.contains { $0.hasPrefix(name) && $0.hasSuffix("1/2       2/3 AltBeacon 10 s") })
    #expect(!lines.contains { $0.hasPrefix("E2C5…/7/2") }, "what does not flap is not listed")
  }

  @Test("rooms are compared where two gateways hear a tag, every gateway being a room without zones")
  func rooms() throws {
    var capture = HandMadeCapture()
    for second in 0..<600 {
      let isFirstLouder = (second / 2).isMultiple(of: 2)
      capture.receive(minor: 1, gateway: 1, at: Double(second), level: isFirstLouder ? -60 : -64)
      capture.receive(minor: 1, gateway: 2, at: Double(second) + 0.1, level: isFirstLouder ? -64 : -60)
    }
    let figures = try figures(write(capture))
    #expect(
      figures.rooms.map(\.rule) == [
        "Pharos", "reelyActive strongest", "room-assistant nearest", "Bermuda areas",
        "ESPresense nearest node",
      ]
    )
    let changes = Dictionary(uniqueKeysWithValues: figures.rooms.map { ($0.rule, $0.changes) })
    #expect(changes["reelyActive strongest", default: 0] > 200)
    #expect(changes["Pharos", default: 99] < changes["reelyActive strongest", default: 0] / 10)
    #expect(figures.notes.contains { $0.contains("every observer is a room") })
    #expect(try self.figures(write(Self.gaps)).rooms.isEmpty)
  }

  @Test("a capture too short for the time-out says so, and shows no empty table")
  func tooShort() throws {
    var capture = HandMadeCapture()
    capture.receive(minor: 1, in: [0..<43])
    let (status, kept) = compare(try write(capture))
    #expect(status == .success)
    #expect(
      kept.output.text.hasPrefix("The capture lasts 42 s: no rule that waits 30 s can be judged by it.")
    )
    #expect(kept.output.text.contains("No rule had time to report an exit."))
    #expect(!kept.output.text.contains("BACK"))
  }

  @Test("beacons heard once are no visits of Pharos's, and the report notes that")
  func spikes() throws {
    var capture = Self.gaps
    for minor in 3..<8 { capture.receive(minor: minor, at: Double(minor) * 50) }
    let figures = try figures(write(capture))
    #expect(figures.presence[0].enters < figures.presence[1].enters)
    #expect(figures.notes.contains { $0.hasPrefix("5 of 7 were heard too little for Pharos to enter") })
  }

  @Test("a capture without beacons, or a site that asks about none of them, says so")
  func nothing() throws {
    let empty = try write(HandMadeCapture(), as: "empty.pcapng")
    let (_, none) = compare(empty)
    #expect(none.output.text.hasPrefix("Nothing to compare: the captures hold no iBeacon"))
    let site = try site("  - { id: other, uuid: 00000000-0000-0000-0000-000000000001 }")
    let (_, other) = compare(try write(Self.gaps)) { $0.site = site }
    #expect(other.output.text.hasPrefix("Nothing to compare: no region of the site asks"))
  }

  @Test("standard input is refused, a missing site file and a damaged capture are reported once")
  func mistakes() throws {
    let (usage, refused) = compare("-")
    #expect(usage == .usage)
    #expect(refused.errors.text.contains("reads its captures twice"))
    let capture = try write(Self.gaps)
    let (configuration, _) = compare(capture) { $0.site = folder.path("none.yaml") }
    #expect(configuration == .configuration)
    let (status, kept) = compare(try write(Self.gaps, dropping: 7, as: "cut.pcapng"))
    #expect(status == .failure)
    #expect(kept.output.text.hasPrefix("Your 30 s rule: 2 exits"))
    #expect(kept.errors.text.split(separator: "\n").count == 1, "\(kept.errors.text)")
  }

  @Test("the same captures give the same bytes, in one part or two")
  func determinism() throws {
    let whole = try write(Self.gaps)
    let (_, first) = compare(whole)
    let (_, second) = compare(whole)
    #expect(first.output.bytes == second.output.bytes)
    var (early, late) = (HandMadeCapture(), HandMadeCapture())
    early.receive(minor: 1, in: [0..<300, 312..<500])
    early.receive(minor: 2, in: [0..<500])
    late.receive(minor: 1, in: [500..<600, 640..<900])
    late.receive(minor: 2, in: [500..<1_200])
    let parts = [try write(early, as: "1.pcapng"), try write(late, as: "2.pcapng")]
    let joined = try figures(whole) { $0.captures = parts }
    let one = try figures(whole)
    #expect(joined.presence == one.presence)
  }
}

/// The JSON of a comparison, as far as tests read it; what is missing fails to decode.
struct Figures: Decodable {
  struct Presence: Decodable, Equatable {
    var rule: String
    var enters: Int
    var exits: Int
    var backWithinMinute: Int
    var backWithinTenMinutes: Int
    var unmonitored: Int
    var delayP50: Double?
    var delayP95: Double?
  }

  struct Rooms: Decodable {
    var rule: String
    var changes: Int
    var backWithinMinute: Int
  }

  struct Row: Decodable {
    struct Rule: Decodable {
      var rule: String
      var exits: Int
      var backWithinTenMinutes: Int
    }

    var application: String
    var region: String
    var subject: String
    var adverts: Int
    var rules: [Rule]
  }

  var headline: String
  var captures: [String]
  var seconds: Double
  var isLongEnough: Bool
  var adverts: Int
  var beacons: Int
  var beaconsLeftOut: Int
  var observers: Int
  var subjects: Int
  var presence: [Presence]
  var rooms: [Rooms]
  var worst: [Row]
  var notes: [String]
}
