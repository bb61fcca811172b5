import PharosJournal
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

/// What rules say about timelines that are drawn: a column is ten seconds, `E` an enter, `X` an exit, `U` the moment from
/// which it is unmonitored, `I` that in which the subject is known to be inside again.
@Suite("Notification rules")
struct NotificationMachineTests {
  static func rule(
    on occasion: NotificationDetail.Occasion = .enter,
    oncePer: TimeSpan? = nil,
    stay: TimeSpan? = nil,
    quiet: QuietHours? = nil
  ) -> NotificationRule {
    NotificationRule(
      application: "gallery",
      id: "rule",
      region: "entrance",
      occasion: occasion,
      text: "{name} at {region}",
      atMostOncePer: oncePer,
      quietHours: quiet,
      stayAtLeast: stay
    )
  }

  /// The events of a drawn timeline, ten seconds a column.
  static func events(_ picture: String, subject: Int = 1) -> [Event] {
    var counter: UInt64 = 0
    return picture.enumerated().compactMap { column, letter in
      counter += 1
      let time = Samples.start + .seconds(Double(column) * 10)
      switch letter {
      case "E": return Samples.event(.regionEnter, subject: subject, counter: counter, at: time)
      case "X": return Samples.event(.regionExit, subject: subject, counter: counter, at: time)
      case "U", "I":
        return Event(
          stream: Samples.stream,
          kind: .regionState,
          time: time,
          decidedAt: time,
          stage: 1,
          subject: Samples.subject(subject),
          application: "gallery",
          region: "entrance",
          counter: counter,
          detail: .region(
            RegionTransition(
              from: .inside,
              to: letter == "U" ? .unmonitored : .inside,
              evidence: Evidence(rule: .observerOutage)
            )
          )
        )
      default: return nil
      }
    }
  }

  /// What a rule tells while a timeline passes second by second: `n` where a notification is timed.
  static func committed(_ picture: String, _ rule: NotificationRule) -> String {
    var machine = NotificationMachine(stream: Samples.stream)
    machine.adopt([rule])
    var rest = events(picture)[...]
    var sequence: Int64 = 0
    var columns = Array(repeating: Character("-"), count: picture.count)
    for second in 0...(picture.count * 10 + 5) {
      let now = Samples.start + .seconds(Double(second))
      while let event = rest.first, event.time <= now {
        rest.removeFirst()
        sequence += 1
        machine.record(event, sequence: sequence, site: NotificationSite())
      }
      machine.advance(to: now, site: NotificationSite())
      for event in machine.drainDecided(at: now) {
        sequence += 1
        machine.record(event, sequence: sequence, site: NotificationSite())
        let column = Int((event.time - Samples.start).seconds / 10)
        if columns.indices.contains(column) { columns[column] = "n" }
      }
    }
    return String(columns)
  }

  @Test(
    "timelines",
    arguments: [
      ("E---X--E--", "n------n--", Self.rule(), "a hello with every enter"),
      ("E---X--E-X", "----n----n", Self.rule(on: .exit), "a goodbye with every exit"),
      ("E-X-E-X-E-X---E", "n-------------n", Self.rule(oncePer: .seconds(100)), "once per subject and span"),
      ("E--X-E----", "--------n-", Self.rule(stay: .seconds(30)), "who only passes by is not greeted"),
      ("E----X----", "---n------", Self.rule(stay: .seconds(30)), "who stays is greeted once"),
      ("E-U--I----", "---n------", Self.rule(stay: .seconds(30)), "who was inside all the while is greeted"),
      ("E-U--X----", "----------", Self.rule(stay: .seconds(30)), "unmonitored, and gone afterwards"),
      ("E-U-------", "----------", Self.rule(stay: .seconds(30)), "unmonitored from then on"),
    ]
  )
  func timelines(events: String, expected: String, rule: NotificationRule, why: String) {
    #expect(Self.committed(events, rule) == expected, "\(why)")
  }

  /// Returns the notifications expected from the list of all events: slow and obvious.
  private func model(_ events: [Event], _ rules: [NotificationRule], until end: Timestamp) -> [String] {
    var committed: [(time: Timestamp, text: String)] = []
    for rule in rules {
      for subject in Set(events.map(\.subject)) {
        let theirs = events.filter { $0.subject == subject }
        var spoken: Timestamp?
        for (index, event) in theirs.enumerated() {
          guard event.kind == (rule.occasion == .enter ? .regionEnter : .regionExit) else { continue }
          var time = event.time
          if let stay = rule.stayAtLeast {
            time = time + stay
            guard time + NotificationMachine.patience <= end else { continue }
            if theirs[(index + 1)...].contains(where: {
              $0.kind == .regionExit && $0.time < time + NotificationMachine.patience
            }) {
              continue
            }
          }
          if rule.quietHours?.contains(time) == true { continue }
          if let span = rule.atMostOncePer, let spoken, time - spoken < span { continue }
          spoken = time
          committed.append((time, "\(time.rfc3339) \(rule.id) \(subject)"))
        }
      }
    }
    return committed.map(\.text).sorted()
  }

  @Test(
    "random comings and goings, with restarts at random moments, tell each thing once",
    arguments: Seeds.drawn(1..<41)
  )
  func random(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let rules = (0..<4).map { number in
      var rule = Self.rule(
        on: number == 3 ? .exit : .enter,
        oncePer: number % 2 == 1 ? .minutes(Int64.random(in: 1...60, using: &generator)) : nil,
        stay: number == 1 || number == 2 ? .seconds(Double(Int.random(in: 5...300, using: &generator))) : nil,
        quiet: number == 2 ? QuietHours(from: 23 * 60, to: 6 * 60, timeZone: "Asia/Kolkata") : nil
      )
      rule.id = "rule \(number)"
      return rule
    }
    // Three subjects that come and go over two days.
    var events: [Event] = []
    for subject in 0..<3 {
      var time = Samples.start
      for counter in 0..<40 {
        time = time + .seconds(Double(Int.random(in: 3...4_000, using: &generator)))
        events.append(
          Samples.event(
            counter % 2 == 0 ? .regionEnter : .regionExit,
            subject: subject,
            counter: UInt64(counter),
            at: time
          )
        )
      }
    }
    events.sort { ($0.time, $0.subject) < ($1.time, $1.subject) }
    let end = (events.last?.time ?? Samples.start) + .minutes(10)

    var journal: [Event] = []
    var saved = (bytes: [UInt8](), cursor: 0)
    func fresh() throws -> NotificationMachine {
      var machine = NotificationMachine(stream: Samples.stream)
      if !saved.bytes.isEmpty {
        var reader = FieldReader(saved.bytes[...])
        try machine.visitState(&reader)
        try reader.finish()
      }
      machine.adopt(rules)
      return machine
    }
    var machine = try fresh()
    var cursor = 0
    func follow(to now: Timestamp) -> [Event] {
      while cursor < journal.count {
        machine.record(journal[cursor], sequence: Int64(cursor + 1), site: NotificationSite())
        cursor += 1
      }
      machine.advance(to: now, site: NotificationSite())
      return machine.drainDecided(at: now)
    }
    var rest = events[...]
    var now = Samples.start
    while now < end {
      let next = [rest.first?.time, machine.wakeTime].compactMap { $0 }.min() ?? end
      now = max(now, min(next, end))
      if let event = rest.first, event.time <= now { journal.append(rest.removeFirst()) }
      let decided = follow(to: now)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        // It ends before what it decided has come into the journal, and starts again.
        machine = try fresh()
        cursor = saved.cursor
        journal += follow(to: now)
      case 1:
        journal += decided
        _ = follow(to: now)
        var writer = FieldWriter()
        machine.visitState(&writer)
        saved = (writer.bytes, cursor)
      default: journal += decided
      }
    }
    journal += follow(to: end)
    let committed = journal.compactMap { event -> String? in
      guard case .notification(let detail) = event.detail else { return nil }
      return "\(event.time.rfc3339) \(detail.rule) \(event.subject)"
    }
    #expect(committed.sorted() == model(events, rules, until: end))
    #expect(Set(journal.map(\.id)).count == journal.count, "every id once")
    #expect(committed.count > 20)
  }

  @Test("a notification that is far too late is counted and not published")
  func late() {
    var machine = NotificationMachine(stream: Samples.stream)
    machine.adopt([Self.rule()])
    machine.record(Samples.event(counter: 1), sequence: 1, site: NotificationSite())
    #expect(machine.drainDecided(at: Samples.start + NotificationMachine.maximumAge).isEmpty)
    #expect(machine.late == 1)
  }

  @Test("rules apply to events that are published after they were made, in their own application and region")
  func scope() {
    var rule = Self.rule()
    rule.startsAfter = 5
    var machine = NotificationMachine(stream: Samples.stream)
    machine.adopt([rule])
    machine.record(Samples.event(counter: 1), sequence: 5, site: NotificationSite())
    machine.record(Samples.event(counter: 2, application: "museum"), sequence: 6, site: NotificationSite())
    machine.record(Samples.event(counter: 3, region: "exit"), sequence: 7, site: NotificationSite())
    #expect(machine.drainDecided(at: Samples.start).isEmpty)
    machine.record(Samples.event(counter: 4), sequence: 8, site: NotificationSite(names: Samples.names))
    let committed = machine.drainDecided(at: Samples.start)
    #expect(committed.count == 1)
    guard case .notification(let detail)? = committed.first?.detail else { return }
    #expect(detail.text == "Ada at entrance")
    #expect(detail.cause == Samples.event(counter: 4).id)
  }

  @Test("a rule about a zone and one tag speaks when that tag leaves, by the names of both")
  func zones() throws {
    let tag = SubjectID.beacon(.proximity(UUID128(high: 1, low: 2), major: 3, minor: 4))
    var machine = NotificationMachine(stream: Samples.stream)
    let json = #"{"zone":"ward","on":"exit","text":"{name} left {room}","subject":"\#(tag)"}"#
    let rule = try NotificationDocument.rule(json: Array(json.utf8), application: "gallery", id: "gone")
    #expect(try NotificationRule(encoded: rule.encoded) == rule)
    machine.adopt([rule])
    func event(_ kind: EventKind, _ subject: SubjectID, _ zone: String, _ counter: UInt64) -> Event {
      Event(
        stream: Samples.stream,
        kind: kind,
        time: Samples.start,
        decidedAt: Samples.start,
        stage: 2,
        subject: subject,
        region: zone,
        counter: counter,
        detail: .zone(ZoneTransition(from: zone, to: nil, margin: nil, dwell: nil, reason: .silence))
      )
    }
    let other = SubjectID.beacon(.proximity(UUID128(high: 1, low: 2), major: 3, minor: 5))
    for (number, (kind, subject, zone)) in [
      (EventKind.zoneEnter, tag, "ward"), (.zoneExit, other, "ward"), (.zoneExit, tag, "hall"),
      (.zoneExit, tag, "ward"),
    ].enumerated() {
      let next = event(kind, subject, zone, UInt64(number + 1))
      machine.record(next, sequence: Int64(number + 1), site: NotificationSite(names: Samples.names))
    }
    let decided = machine.drainDecided(at: Samples.start)
    #expect(decided.map(\.region) == ["ward"])
    guard case .notification(let detail)? = decided.first?.detail else {
      Issue.record("no notification was decided")
      return
    }
    #expect(detail.text == "\(tag) left Ward 3")
    var text = JSONText()
    text.names = Samples.names
    decided[0].write(to: &text, stream: Samples.stream)
    #expect(text.text.contains(#""zone":"ward""#) && text.text.contains(#""room":"Ward 3""#))
  }

  @Test("a rule about a region knows no room")
  func roomOfARegion() {
    let json = #"{"region":"entrance","on":"enter","text":"{name} is in {room}"}"#
    #expect(throws: WebhookError.self) {
      try NotificationDocument.rule(json: Array(json.utf8), application: "gallery", id: "room")
    }
  }

  @Test("a region that is reset ends the stays that a rule waits for")
  func reset() {
    var machine = NotificationMachine(stream: Samples.stream)
    machine.adopt([Self.rule(stay: .seconds(30))])
    machine.record(Samples.event(counter: 1), sequence: 1, site: NotificationSite())
    let reset = Event(
      stream: Samples.stream,
      kind: .regionReset,
      time: Samples.start + .seconds(10),
      decidedAt: Samples.start + .seconds(10),
      stage: 0,
      subject: .none,
      application: "gallery",
      region: "entrance",
      counter: 1,
      detail: .regionReset(.replaced)
    )
    machine.record(reset, sequence: 2, site: NotificationSite())
    machine.advance(to: Samples.start + .seconds(60), site: NotificationSite())
    #expect(machine.drainDecided(at: Samples.start + .seconds(60)).isEmpty)
  }

  @Test("quiet hours are those of the place, over midnight and in summer time")
  func quiet() {
    let berlin = QuietHours(from: 22 * 60, to: 7 * 60, timeZone: "Europe/Berlin")
    // 2025-06-15 and 2025-12-15, at 20:30, 21:30, 04:59 and 05:30 UTC.
    let summer = Timestamp(seconds: 1_749_945_600)
    let winter = Timestamp(seconds: 1_765_756_800)
    let hours = [20.5, 21.5, 4.98, 5.5]
    #expect(hours.map { berlin.contains(summer + .seconds($0 * 3_600)) } == [true, true, true, false])
    #expect(hours.map { berlin.contains(winter + .seconds($0 * 3_600)) } == [false, true, true, true])
    let noon = QuietHours(from: 12 * 60, to: 13 * 60, timeZone: "UTC")
    #expect(
      [11.99, 12, 12.99, 13].map { noon.contains(summer + .seconds($0 * 3_600)) } == [
        false, true, true, false,
      ]
    )
    #expect(noon.contains(Timestamp(seconds: -43_200)), "before 1970 too")
  }
}
