import Foundation
import Logging
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosPublishing
import Synchronization
import Testing

/// The service around the rules: over a real journal, with a publisher that journals the events it is given.
@Suite("Notifications", .timeLimit(.minutes(20)))
struct NotificationsTests {
  /// Journals and publishes events, as the real one does, and lets tests wait for them.
  final class CommitPublisher: Sendable {
    let journal: Journal
    let hub = CommittedEventHub()
    private let order = Mutex(())
    let committed = AsyncStream<Event>.makeStream()

    init(_ journal: Journal) { self.journal = journal }

    func publish(_ events: [Event]) {
      order.withLock { _ in
        do {
          let sequences = try journal.append(events.map { Journal.Entry(event: $0) })
          hub.publish(
            zip(sequences, events).map { PublishedEvent(sequence: $0, event: $1, stream: Samples.stream) }
          )
        } catch {
          Issue.record(error)
        }
      }
      for event in events where event.kind == .notification { committed.continuation.yield(event) }
    }
  }

  private func service(_ commitPublisher: CommitPublisher, clock: any DeliveryClock) throws -> Notifications {
    try Notifications(
      journal: commitPublisher.journal,
      committed: commitPublisher.hub,
      stream: Samples.stream,
      publish: commitPublisher.publish,
      site: { NotificationSite(names: Samples.names) },
      clock: clock,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
  }

  private static let hello = """
    {"region": "entrance", "on": "enter", "text": "Hello, {name}!", "onlyIfStillInsideAfter": "30s"}
    """

  @Test("a stay that outlasts a restart is published once, with a sequence like any event")
  func restart() async throws {
    let clock = StandingClock()
    let commitPublisher = CommitPublisher(try Journal.open(.memory, stream: Samples.stream))
    let first = try service(commitPublisher, clock: clock)
    let made = try first.put("hello", json: json(Self.hello), application: "gallery")
    #expect(made.isNew)
    await withDiscardingTaskGroup { group in
      group.addTask { await first.run() }
      commitPublisher.publish([Samples.event(counter: 1)])
      first.stop()
    }
    #expect(commitPublisher.journal.head == 1)

    // The time down counts for the stay; when the server is back, it is long enough.
    clock.advance(to: Samples.start + .seconds(60))
    let second = try service(commitPublisher, clock: clock)
    #expect(second.list(application: "gallery") == [made.rule], "the rule is kept in the journal")
    await withDiscardingTaskGroup { group in
      group.addTask { await second.run() }
      for await event in commitPublisher.committed.stream {
        #expect(event.region == "entrance" && event.subject == Samples.subject(1))
        guard case .notification(let detail) = event.detail else { break }
        #expect(detail.text == "Hello, Ada!")
        break
      }
      second.stop()
    }
    let third = try service(commitPublisher, clock: clock)
    await withDiscardingTaskGroup { group in
      group.addTask { await third.run() }
      third.stop()
    }
    let events = try commitPublisher.journal.events(after: 0, matching: .all, limit: 10)
    #expect(events.map(\.event.kind) == [.regionEnter, .notification], "published once")
  }

  /// The state as versions of the program saved it that knew no beacons: a cursor, and one stay.
  private static func earlierState(_ version: UInt8, cursor: Int64, staying event: Event) -> [UInt8] {
    var writer = FieldWriter()
    writer.write(cursor)
    writer.write(version)
    // No notification was published yet.
    writer.write(UInt32(0))
    writer.write(UInt32(1))
    writer.write("gallery")
    writer.write("hello")
    writer.write(event.subject)
    writer.write(Samples.start + .seconds(30))
    writer.write(event.id)
    writer.write(true)
    writer.write([Event]())
    return writer.bytes
  }

  @Test(
    "an upgrade skips no event and repeats none: an earlier state is read, of an unknown one the cursor",
    arguments: [(1 as UInt8, [1, 2]), (9 as UInt8, [2])]
  )
  func upgrade(version: UInt8, subjects: [Int]) async throws {
    let clock = StandingClock()
    let commitPublisher = CommitPublisher(try Journal.open(.memory, stream: Samples.stream))
    let former = try service(commitPublisher, clock: clock)
    _ = try former.put("hello", json: json(Self.hello), application: "gallery")
    let events = [1, 2].map { Samples.event(subject: $0, counter: UInt64($0)) }
    commitPublisher.publish(events)
    let state = Self.earlierState(version, cursor: 1, staying: events[0])
    try commitPublisher.journal.put(state, kind: "notification state", key: "")
    clock.advance(to: Samples.start + .seconds(60))
    for _ in 0..<2 {
      let service = try service(commitPublisher, clock: clock)
      await withDiscardingTaskGroup { group in
        group.addTask { await service.run() }
        while commitPublisher.journal.head < 2 + Int64(subjects.count) { await Task.yield() }
        service.stop()
      }
    }
    let found = try commitPublisher.journal.events(after: 2, matching: .all, limit: 10)
    #expect(found.map(\.event.kind) == subjects.map { _ in .notification })
    #expect(Set(found.map(\.event.subject)) == Set(subjects.map { Samples.subject($0) }))
  }

  @Test("the alarm of a stay tells without any further event")
  func alarm() async throws {
    let clock = LeapingClock()
    let commitPublisher = CommitPublisher(try Journal.open(.memory, stream: Samples.stream))
    let service = try service(commitPublisher, clock: clock)
    _ = try service.put("hello", json: json(Self.hello), application: "gallery")
    await withDiscardingTaskGroup { group in
      group.addTask { await service.run() }
      commitPublisher.publish([Samples.event(subject: 2, counter: 1)])
      for await event in commitPublisher.committed.stream {
        #expect(event.time == Samples.start + .seconds(30))
        break
      }
      service.stop()
    }
    #expect(service.counters.committed == 1)
  }

  @Test("a rule about proximity is refused unless the application ranges some of its beacons")
  func proximity() throws {
    let uuid = UUID128(high: 1, low: 2)
    let region = Region(identifier: "shelf", constraint: .proximity(uuid, major: 1))
    let ranging = [
      RangingRequest(constraint: .proximity(uuid, major: 1, minor: 7)),
      RangingRequest(constraint: .proximity(uuid, major: 2)),
      RangingRequest(constraint: .eddystone(EddystoneNamespace(high: 7, low: 8))),
    ]
    let ranger = Application(identifier: "gallery", regions: [region], ranging: ranging)
    let other = Application(identifier: "museum", regions: [region])
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let notifications = try Notifications(
      journal: journal,
      committed: CommittedEventHub(),
      stream: Samples.stream,
      publish: { _ in },
      site: { NotificationSite(Site(applications: [ranger, other])) },
      clock: StandingClock(),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    func mistake(_ about: String, in application: String = "gallery") -> String? {
      do throws(WebhookError) {
        let rule = #"{"on":"proximity","text":"x",\#(about)}"#
        _ = try notifications.put("near", json: json(rule), application: application)
        return nil
      } catch {
        guard case .invalid(let problems) = error else { return "\(error)" }
        #expect(problems.first?.expected?.contains("/v1/applications/\(application)") == true)
        return problems.map(\.field).joined(separator: ",")
      }
    }
    for beacon in ["1/7", "1/*", "*/*", "2/9", "*/7"] {
      #expect(mistake(#""beacon":"\#(uuid)/\#(beacon)""#) == nil, "\(beacon)")
    }
    for beacon in ["1/8", "3/*", "3/7"] {
      #expect(mistake(#""beacon":"\#(uuid)/\#(beacon)""#) == "beacon", "\(beacon)")
    }
    for (namespace, field) in [(8, nil), (9, "beacon")] as [(UInt16, String?)] {
      let constraint = BeaconConstraint.eddystone(EddystoneNamespace(high: 7, low: namespace))
      let beacon = BeaconID.eddystone(EddystoneNamespace(high: 7, low: namespace), instance: 42)
      for text in ["\(constraint)", "\(beacon)"] {
        #expect(mistake(#""beacon":"\#(text)""#) == field, "\(text)")
      }
    }
    #expect(mistake(#""region":"shelf""#) == nil)
    #expect(mistake(#""region":"cellar""#) == "region")
    #expect(mistake(#""region":"shelf""#, in: "museum") == "region")
    #expect(mistake(#""beacon":"\#(uuid)/1/7""#, in: "museum") == "beacon")
  }

  @Test("rules are listed, replaced and deleted, each application its own")
  func changes() throws {
    let commitPublisher = CommitPublisher(try Journal.open(.memory, stream: Samples.stream))
    let service = try service(commitPublisher, clock: StandingClock())
    let rule = try service.put("hello", json: json(Self.hello), application: "gallery").rule
    #expect(service.list(application: "museum").isEmpty)
    #expect(throws: WebhookError.unknownRule("hello", application: "museum")) {
      try service.rule("hello", application: "museum")
    }
    var text = JSONText()
    text.openObject()
    rule.write(to: &text)
    text.closeObject()
    let again = try service.put("hello", json: text.utf8, application: "gallery")
    #expect(!again.isNew && again.rule == rule, "what is listed can be sent back")
    try service.delete("hello", application: "gallery")
    #expect(service.list(application: "gallery").isEmpty)
    #expect(throws: WebhookError.unknownRule("hello", application: "gallery")) {
      try service.delete("hello", application: "gallery")
    }
  }

  @Test(
    "mistakes of a rule are reported member by member",
    arguments: [
      ("{}", ["region", "on", "text"]),
      ("[1]", [""]),
      ("nonsense", [""]),
      (#"{"region":"r","on":"leave","text":"x"}"#, ["on"]),
      (#"{"region":"r","on":"exit","text":"{unknown}","txt":1}"#, ["txt", "text"]),
      (#"{"region":"r","on":"exit","text":"x","onlyIfStillInsideAfter":"30s"}"#, ["onlyIfStillInsideAfter"]),
      (#"{"region":"r","on":"enter","text":"x","atMostOncePer":"soon"}"#, ["atMostOncePer"]),
      (
        #"{"region":"r","on":"enter","text":"x","quietHours":{"from":"25:00","to":"7:00","timeZone":"Mars"}}"#,
        ["quietHours.from", "quietHours.to", "quietHours.timeZone"]
      ),
    ]
  )
  func mistakes(document: String, fields: [String]) throws {
    let commitPublisher = CommitPublisher(try Journal.open(.memory, stream: Samples.stream))
    let service = try service(commitPublisher, clock: StandingClock())
    let error = #expect(throws: WebhookError.self) {
      try service.put("hello", json: json(document), application: "gallery")
    }
    guard case .invalid(let problems)? = error else { return }
    #expect(problems.map(\.field) == fields)
    #expect(problems.allSatisfy { !$0.message.isEmpty && $0.expected?.isEmpty == false })
  }
}
