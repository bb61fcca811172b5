import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

/// Occasions besides enters and exits: what comes near, what fails, what has to leave.
@Suite("Occasions of notification rules")
struct NotificationOccasionTests {
  private static let uuid = UUID128(high: 1, low: 2)
  private static let phone = SubjectID.observer(.name("phone 1"))

  private static func rule(_ json: String) throws -> NotificationRule {
    let rule = try NotificationDocument.rule(json: Array(json.utf8), application: "gallery", id: "rule")
    #expect(try NotificationRule(encoded: rule.encoded) == rule)
    var text = JSONText()
    text.openObject()
    rule.write(to: &text)
    text.closeObject()
    #expect(try NotificationDocument.rule(json: text.utf8, application: "gallery", id: "rule") == rule)
    return rule
  }

  private static func event(
    _ kind: EventKind,
    _ detail: EventDetail,
    _ subject: SubjectID = phone,
    application: String = "",
    second: Double,
    counter: UInt64
  ) -> Event {
    Event(
      stream: Samples.stream,
      kind: kind,
      time: Samples.start + .seconds(second),
      decidedAt: Samples.start + .seconds(second),
      stage: 1,
      subject: subject,
      application: application,
      counter: counter,
      detail: detail
    )
  }

  private static func ranging(_ proximity: RangedReading.Proximity, minor: UInt16 = 7, second: Int) -> Event {
    let reading = RangedReading(
      beacon: .proximity(uuid, major: 1, minor: minor),
      rssi: -60,
      accuracy: 1,
      deviation: 1,
      proximity: proximity,
      samples: 1
    )
    return event(
      .ranging,
      .ranging(constraint: .proximity(uuid), beacons: [reading]),
      application: "gallery",
      second: Double(second),
      counter: UInt64(second)
    )
  }

  /// The machine and its journal, which may lose the process at any moment.
  private struct World {
    let rules: [NotificationRule]
    var machine: NotificationMachine
    var journal: [Event] = []
    var saved: (bytes: [UInt8], cursor: Int) = ([], 0)
    var cursor = 0
    var walk: TimeSpan?

    init(_ rules: [NotificationRule]) {
      self.rules = rules
      machine = NotificationMachine(stream: Samples.stream)
      machine.adopt(rules)
    }

    /// Publishes what the journal keeps, and hands the machine what it does not.
    mutating func receive(_ event: Event) {
      if event.kind.isJournalled { journal.append(event) }
      read()
      if !event.kind.isJournalled {
        machine.receive(live: event, site: NotificationSite()) { [walk] _, _ in walk }
      }
      publish(at: event.time)
    }

    mutating func publish(at now: Timestamp) {
      machine.advance(to: now, site: NotificationSite())
      journal += machine.drainDecided(at: now)
      read()
    }

    private mutating func read() {
      while cursor < journal.count {
        machine.record(journal[cursor], sequence: Int64(cursor + 1), site: NotificationSite())
        cursor += 1
      }
    }

    mutating func save() {
      var writer = FieldWriter()
      machine.visitState(&writer)
      saved = (writer.bytes, cursor)
    }

    /// Kills the process and starts it again from what was saved.
    mutating func restart() throws {
      machine = NotificationMachine(stream: Samples.stream)
      if !saved.bytes.isEmpty {
        var reader = FieldReader(saved.bytes[...])
        try machine.visitState(&reader)
        try reader.finish()
      }
      machine.adopt(rules)
      cursor = saved.cursor
      read()
    }

    var texts: [String] {
      journal.compactMap { if case .notification(let detail) = $0.detail { detail.text } else { nil } }
    }
  }

  /// A column is a second: `I` immediate, `N` near, `F` far, `?` unknown, `-` no report, `K` the process is killed, `S` its state is saved.
  @Test(
    "approaches",
    arguments: [
      ("FNIIIIIF", "immediate", "3s", 1, "near for long enough"),
      ("FNIIINIIF", "immediate", "3s", 0, "never for long enough"),
      ("FNIIINNF", "near", "3s", 1, "immediate is near as well"),
      ("NNNNIIINNNNNNNNNNNNNNIII", "immediate", nil, 2, "gone for long enough"),
      ("IIINIINIIFII", "immediate", nil, 1, "a reading that errs is no departure"),
      ("I?????I", "immediate", nil, 1, "unknown is no departure"),
      ("FFFF", "far", "2s", 1, "any proximity is far"),
      ("IIKIIKIII", "immediate", nil, 1, "killed, with nothing saved but the journal"),
      ("IIS--K--------------------III", "immediate", nil, 1, "time down is no absence"),
      ("IISKNNNNNNNNNNNNNNII", "immediate", nil, 2, "it left after the restart"),
    ] as [(String, String, String?, Int, String)]
  )
  func approaches(picture: String, near: String, dwell: String?, count: Int, why: String) throws {
    let stay = dwell.map { #","onlyIfStillInsideAfter":"\#($0)""# } ?? ""
    let beacon = "\(Self.uuid)/1/*"
    let rule = try Self.rule(
      #"{"on":"proximity","beacon":"\#(beacon)","proximity":"\#(near)","text":"{major}/{minor}"\#(stay)}"#
    )
    var world = World([rule])
    for (second, letter) in picture.enumerated() {
      switch letter {
      case "K": try world.restart()
      case "S": world.save()
      case "-": break
      default:
        let all: [Character: RangedReading.Proximity] = [
          "I": .immediate, "N": .near, "F": .far, "?": .unknown,
        ]
        world.receive(Self.ranging(try #require(all[letter]), second: second))
      }
    }
    #expect(world.texts == Array(repeating: "1/7", count: count), "\(why)")
  }

  @Test(
    "once for each major and for each beacon, with restarts at random moments",
    arguments: Seeds.drawn(1..<21)
  )
  func oncePer(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for scope in ["major", "beacon"] {
      let rule = try Self.rule(
        #"{"region":"entrance","on":"enter","oncePer":"\#(scope)","text":"{major}/{minor}"}"#
      )
      var world = World([rule])
      var expected: Set<[UInt16]> = []
      for number in 0..<60 {
        let (major, minor) = (
          UInt16.random(in: 1...4, using: &random), UInt16.random(in: 1...3, using: &random)
        )
        expected.insert(scope == "major" ? [major] : [major, minor])
        var transition = RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples))
        transition.refinement = .proximity(Self.uuid, major: major, minor: minor)
        world.receive(
          Event(
            stream: Samples.stream,
            kind: .regionEnter,
            time: Samples.start + .seconds(Double(number) * 60),
            decidedAt: Samples.start + .seconds(Double(number) * 60),
            stage: 1,
            subject: Self.phone,
            application: "gallery",
            region: "entrance",
            counter: UInt64(number),
            detail: .region(transition)
          )
        )
        switch Int.random(in: 0..<6, using: &random) {
        case 0: world.save()
        case 1: try world.restart()
        default: break
        }
      }
      #expect(world.texts.count == expected.count, "\(scope), seed \(seed)")
      #expect(Set(world.journal.map(\.id)).count == world.journal.count, "every id once")
    }
  }

  @Test("a battery is low once, until it was clearly better")
  func battery() throws {
    let rule = try Self.rule(#"{"on":"lowBattery","belowMillivolts":2400,"text":"{beacon} has {volts} V"}"#)
    let tag = BeaconID.proximity(Self.uuid, major: 1, minor: 7)
    var world = World([rule])
    let levels: [UInt16] = [2_900, 2_500, 2_399, 2_380, 2_420, 2_390, 2_501, 2_350]
    for (hour, level) in levels.enumerated() {
      let detail = EventDetail.battery(millivolts: level, observer: .name("gate"))
      world.receive(
        Self.event(.beaconBattery, detail, .beacon(tag), second: Double(hour) * 3_600, counter: UInt64(hour))
      )
      if hour == 3 { try world.restart() }
    }
    #expect(world.texts == ["\(tag) has 2.3 V", "\(tag) has 2.3 V"])
  }

  @Test("a gateway that comes back in time causes nothing")
  func offline() throws {
    let rule = try Self.rule(#"{"on":"offline","onlyIfStillInsideAfter":"5m","text":"{name} is down"}"#)
    var world = World([rule])
    func change(_ kind: EventKind, _ second: Double, _ counter: UInt64) -> Event {
      let gate = SubjectID.observer(.name("gate"))
      return Self.event(kind, .clockStep(.zero), gate, second: second, counter: counter)
    }
    world.receive(change(.observerOffline, 0, 1))
    world.receive(change(.observerOnline, 200, 2))
    world.receive(change(.observerOffline, 400, 3))
    world.publish(at: Samples.start + .seconds(690))
    #expect(world.texts.isEmpty)
    world.publish(at: Samples.start + .seconds(702))
    #expect(world.texts == ["gate is down"])
  }

  @Test("a subject is reminded once, over a restart too, and again if it walks the wrong way")
  func deadline() throws {
    let time = (Samples.start + .minutes(60)).rfc3339
    let rule = try Self.rule(
      #"""
      {"on":"deadline","subject":"phone 1","text":"{place}: {minutes} min, {walk} min to walk",
       "appointment":{"place":"Gate 7","time":"\#(time)","margin":"5m"}}
      """#
    )
    var world = World([rule])
    func locate(_ walk: Double, _ second: Double) {
      world.walk = .seconds(walk)
      let fix = FixDetail(venue: "airport", horizontalAccuracy: 3, sources: .wifi, age: .zero)
      world.receive(Self.event(.fix, .fix(fix), second: second, counter: UInt64(second)))
    }
    for second in stride(from: 0.0, to: 2_950, by: 5) { locate(400, second) }
    #expect(world.texts == ["Gate 7: 11 min, 7 min to walk"])
    try world.restart()
    for second in stride(from: 2_950.0, to: 2_980, by: 5) { locate(400, second) }
    #expect(world.texts.count == 1)
    for second in stride(from: 2_980.0, to: 3_030, by: 5) { locate(400 + second - 2_980, second) }
    #expect(world.texts.count == 2)
    #expect(Set(world.journal.map(\.id)).count == 2)
  }

  @Test(
    "members that do not go with the occasion are refused",
    arguments: [
      (#"{"on":"proximity","text":"x"}"#, ["beacon"]),
      (#"{"on":"proximity","beacon":"1/*","text":"x"}"#, ["beacon"]),
      (#"{"on":"proximity","region":"r","zone":"z","text":"x"}"#, ["zone"]),
      (#"{"on":"deadline","text":"x"}"#, ["subject", "appointment"]),
      (
        #"{"on":"deadline","subject":"a","appointment":{"place":"p","time":"noon"},"text":"x"}"#,
        ["appointment.time"]
      ),
      (#"{"on":"lowBattery","oncePer":"major","text":"x"}"#, ["oncePer"]),
      (#"{"on":"offline","title":"{minor}","text":"x"}"#, ["title"]),
    ]
  )
  func misfits(document: String, fields: [String]) {
    let error = #expect(throws: WebhookError.self) {
      try NotificationDocument.rule(json: Array(document.utf8), application: "gallery", id: "rule")
    }
    guard case .invalid(let problems)? = error else { return }
    #expect(problems.map(\.field) == fields)
  }
}
