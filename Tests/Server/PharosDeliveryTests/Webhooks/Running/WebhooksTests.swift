import Foundation
import NIOHTTP1
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosPublishing
import PharosTestSupport
import Synchronization
import Testing

/// Webhooks over a real journal and real sockets; time leaps over every wait.
@Suite("Webhooks", .serialized, .timeLimit(.minutes(20)))
struct WebhooksTests {
  /// Events of twenty subjects.
  private static func events(_ range: Range<Int>) -> [Event] {
    range.map { number in
      Samples.event(
        number % 3 == 2 ? .regionExit : .regionEnter,
        subject: number * 7 % 20,
        counter: UInt64(number)
      )
    }
  }

  private static func folder() -> String {
    FileManager.default.temporaryDirectory.appending(path: "pharos-webhooks-\(UUID().uuidString)").path
  }

  @Test("a receiver that fails half of the time gets every event, in order, signed, through three restarts")
  func half() async throws {
    let generator = Mutex(SeededGenerator(seed: 11))
    let receiver = try await Receiver { _ in
      let isAccepted = generator.withLock { Bool.random(using: &$0) }
      return .init(
        status: isAccepted ? .ok : [.internalServerError, .badGateway, .notFound].randomElement() ?? .ok
      )
    }
    let folder = WebhooksTests.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let all = WebhooksTests.events(0..<400)
    var secret: WebhookSecret?
    for part in 0..<4 {
      let journal = try Journal.open(.folder(folder), stream: Samples.stream)
      let house = try WebhookHouse(journal)
      if part == 0 { secret = try house.webhooks.create(json: json("{\"url\":\"\(receiver.url)\"}")).secret }
      await withDiscardingTaskGroup { group in
        group.addTask { await house.webhooks.run() }
        for batch in stride(from: part * 100, to: part * 100 + 100, by: 20) {
          do { try house.publish(Array(all[batch..<batch + 20])) } catch { Issue.record(error) }
        }
        // The server stops in the middle of things, except for the last time.
        await receiver.wait(forEvents: part < 3 ? part * 100 + 50 : 400)
        house.webhooks.stop()
      }
      // The contexts of the tasks, which hold the journal, may be released after their group has returned.
      journal.leave()
    }
    await receiver.close()

    let key = try #require(secret)
    let ids = all.map(\.id.description)
    #expect(
      Set(receiver.accepted.compactMap { $0.headers["webhook-id"] }) == Set(ids),
      "each event, by its id"
    )
    #expect(receiver.refused.count > 100, "half of the attempts failed")
    for request in receiver.accepted + receiver.refused {
      let id = try #require(request.headers["webhook-id"])
      let timestamp = try #require(request.headers["webhook-timestamp"].flatMap { Int64($0) })
      #expect(
        request.headers["webhook-signature"]
          == key.signature(id: id, timestamp: timestamp, body: request.body)
      )
      #expect(request.headers["content-type"] == "application/cloudevents+json; charset=utf-8")
      let event = try #require(all.first { $0.id.description == id })
      #expect(String(decoding: request.body, as: UTF8.self) == event.cloudEvent(stream: Samples.stream))
    }
    // In order for each subject: where an event comes for the first time, all before it have come.
    var firsts: [String] = []
    for request in receiver.accepted {
      guard let id = request.headers["webhook-id"], !firsts.contains(id) else { continue }
      firsts.append(id)
    }
    for subject in Set(all.map(\.subject)) {
      let theirs = all.filter { $0.subject == subject }.map(\.id.description)
      #expect(firsts.filter(Set(theirs).contains) == theirs, "\(subject)")
    }
  }

  @Test("after an orderly stop only events come again that the receiver has not accepted")
  func orderlyStop() async throws {
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let clock = StandingClock()
    var settings = DeliverySettings()
    // No save happens but the last one.
    settings.saveInterval = .minutes(60)
    let all = (1...12).map { Samples.event(subject: $0 % 6, counter: UInt64($0)) }
    let first = HoldingSender(holding: "\(all[0].id)")
    let house = try WebhookHouse(journal, clock: clock, settings: settings, sender: first)
    let document = #"{"url": "http://192.0.2.1/hooks", "concurrency": 4}"#
    let id = try house.webhooks.create(json: json(document)).standing.definition.id
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish(all)
      await first.wait(for: 10)
      house.webhooks.stop()
      // The request that is in flight is cancelled once its time is over.
      let end = clock.now + .seconds(1)
      await clock.waitForAlarm(at: end)
      clock.advance(to: end)
    }
    let ledger = try #require(try journal.deliveries(to: id))
    #expect(ledger.cursor == 12)
    #expect(ledger.lanes.map(\.topic) == [DeliveryTopic(Samples.subject(1))])
    // All of the journal is read, and the first event of it waits.
    let standing = try house.webhooks.standing(id, application: nil)
    #expect(standing.lag == 12 && standing.waitingSince == all[0].decidedAt)

    let second = HoldingSender()
    let restarted = try WebhookHouse(journal, clock: clock, settings: settings, sender: second)
    await withDiscardingTaskGroup { group in
      group.addTask { await restarted.webhooks.run() }
      await second.wait(for: 2)
      restarted.webhooks.stop()
    }
    #expect(second.accepted == [all[0], all[6]].map { "\($0.id)" })
    #expect(try journal.deliveries(to: id)?.delivered == 12)
    // Whether the stop came before it was read that nothing else waits is a matter of a moment.
    let done = try restarted.webhooks.standing(id, application: nil)
    #expect(done.lag <= 12 - 7, "nothing up to the last accepted event waits")
  }

  @Test("a receiver that sleeps gets all at its time, once and in order, also over a restart")
  func deferred() async throws {
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let clock = StandingClock()
    let all = (1...5).map { Samples.event(subject: $0 % 2, counter: UInt64($0)) }
    let due = Samples.start + .seconds(60)
    let first = HoldingSender()
    let house = try WebhookHouse(journal, clock: clock, sender: first)
    let document = #"{"url": "http://192.0.2.1/hooks", "concurrency": 1, "deferral": {"time": 60}}"#
    let id = try house.webhooks.create(json: json(document)).standing.definition.id
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish(Array(all[..<3]))
      await clock.waitForAlarm(at: due)
      house.webhooks.stop()
    }
    #expect(first.accepted.isEmpty)

    let second = HoldingSender()
    let restarted = try WebhookHouse(journal, clock: clock, sender: second)
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await restarted.webhooks.run() }
      await clock.waitForAlarm(at: due)
      #expect(try restarted.webhooks.standing(id).nextAttempt == due)
      try restarted.publish(Array(all[3...]))
      #expect(second.accepted.isEmpty)
      clock.advance(to: due)
      await second.wait(for: 5)
      restarted.webhooks.stop()
    }
    for subject in [0, 1] {
      let theirs = all.filter { $0.subject == Samples.subject(subject) }.map { "\($0.id)" }
      #expect(second.accepted.filter(Set(theirs).contains) == theirs)
    }
    #expect(second.accepted.count == 5)
    #expect(try journal.deliveries(to: id)?.delivered == 5)
  }

  @Test("a deferral by distance ends for the subject that has moved, by its fixes")
  func moved() async throws {
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let clock = StandingClock()
    let sender = HoldingSender()
    let house = try WebhookHouse(journal, clock: clock, sender: sender)
    let document = #"{"url": "http://192.0.2.1/hooks", "deferral": {"distance": 20}}"#
    _ = try house.webhooks.create(json: json(document))
    func fix(of subject: Int, x: Double) -> PublishedEvent {
      let detail = FixDetail(
        venue: "museum",
        building: "main",
        x: x,
        horizontalAccuracy: 1,
        sources: .observers,
        age: .zero
      )
      let event = Event(
        stream: Samples.stream,
        kind: .fix,
        time: clock.now,
        decidedAt: clock.now,
        stage: 2,
        subject: Samples.subject(subject),
        counter: 1,
        detail: .fix(detail)
      )
      return PublishedEvent(sequence: nil, event: event, stream: Samples.stream)
    }
    let all = (1...4).map { Samples.event(subject: $0 % 2, counter: UInt64($0)) }
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish(all)
      await clock.waitForAlarm(at: Samples.start + .minutes(60))
      house.hub.publish([fix(of: 0, x: 0), fix(of: 1, x: 0)])
      house.hub.publish([fix(of: 0, x: 19), fix(of: 1, x: 21)])
      await sender.wait(for: 2)
      house.webhooks.stop()
    }
    #expect(sender.accepted == [all[0], all[2]].map { "\($0.id)" })
  }

  @Test("a new webhook gets later events, of the kinds, regions and application it asks for")
  func filter() async throws {
    let receiver = try await Receiver { _ in .init(status: .noContent) }
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let house = try WebhookHouse(journal, clock: StandingClock())
    try house.publish([Samples.event(counter: 1)])
    let made = try house.webhooks.create(
      json: json(
        """
        {"url": "\(receiver.url)", "application": "gallery",
         "filter": {"kinds": ["region.exit", "pharos.region.enter"], "regions": ["entrance"]}}
        """
      )
    )
    let wanted = [
      Samples.event(counter: 2), Samples.event(.regionExit, counter: 3),
      Samples.event(subject: 2, counter: 4),
    ]
    let unwanted = [
      Samples.event(.regionState, counter: 5), Samples.event(counter: 6, region: "exit"),
      Samples.event(counter: 7, application: "museum"),
    ]
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish([unwanted[0], wanted[0], unwanted[1], wanted[1], unwanted[2], wanted[2]])
      await receiver.wait(forEvents: 3)
      house.webhooks.stop()
    }
    let got = receiver.accepted.compactMap { $0.headers["webhook-id"] }
    #expect(Set(got) == Set(wanted.map(\.id.description)))
    #expect(got.count == 3, "nothing twice while nothing fails")
    let ledger = try #require(try house.journal.deliveries(to: made.standing.definition.id))
    #expect(ledger.delivered == 3)
    #expect(ledger.cursor == 7, "what is not wanted is settled too")
    await receiver.close()
  }

  @Test("410 switches a webhook off, and it goes on where it stopped once it is switched on again")
  func gone() async throws {
    let isGone = Mutex(true)
    let refused = AsyncStream<Void>.makeStream()
    let receiver = try await Receiver { _ in
      guard isGone.withLock({ $0 }) else { return .init(status: .ok) }
      refused.continuation.yield()
      return .init(status: .gone)
    }
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream))
    let document = "{\"url\":\"\(receiver.url)\"}"
    let id = try house.webhooks.create(json: json(document)).standing.definition.id
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish(WebhooksTests.events(0..<1))
      for await _ in refused.stream { break }
      // The outcome is known to the runner once it has written down that nothing is kept for the webhook.
      while try house.journal.deliveries(to: id)?.isPaused != true { await Task.yield() }
      let standing = try house.webhooks.standing(id)
      #expect(standing.state == .disabled)
      #expect(standing.definition.disabledBecause?.contains("410") == true)
      try house.publish(WebhooksTests.events(1..<10))
      isGone.withLock { $0 = false }
      #expect(receiver.accepted.isEmpty)
      #expect(try house.webhooks.replace(id, json: json(document)).secret == nil, "the secret stays")
      await receiver.wait(forEvents: 10)
      house.webhooks.stop()
    }
    #expect(try house.webhooks.standing(id).state == .active)
    await receiver.close()
  }

  @Test("given-up deliveries are listed, and delivered once more on request")
  func deadLetters() async throws {
    let isBroken = Mutex(true)
    let receiver = try await Receiver { _ in .init(status: isBroken.withLock { $0 } ? .badRequest : .ok) }
    let journal = try Journal.open(.memory, stream: Samples.stream)
    var settings = DeliverySettings()
    settings.giveUpAfter = .seconds(30)
    let house = try WebhookHouse(journal, settings: settings)
    let id = try house.webhooks.create(json: json("{\"url\":\"\(receiver.url)\"}")).standing.definition.id
    let events = WebhooksTests.events(0..<30)
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish(events)
      while try journal.deadLetterCount(of: id) < 30 { await Task.yield() }
      let page = try house.webhooks.dead(id, limit: 10)
      #expect(page.map(\.sequence) == (21...30).reversed())
      #expect(page.first?.event == events[29])
      #expect(page.first?.reason.isEmpty == false)
      isBroken.withLock { $0 = false }
      #expect(try house.webhooks.replay(id) == 30)
      await receiver.wait(forEvents: 30)
      // The receiver has the last one before the runner knows that it has.
      while try journal.deadLetterCount(of: id) > 0 { await Task.yield() }
      house.webhooks.stop()
    }
    let got = receiver.accepted.compactMap { $0.headers["webhook-id"] }
    for subject in Set(events.map(\.subject)) {
      let theirs = events.filter { $0.subject == subject }.map(\.id.description)
      #expect(got.filter(Set(theirs).contains) == theirs, "in order, once each")
    }
    await receiver.close()
  }

  @Test("a rotated secret signs beside its successor for a day; listings show neither")
  func rotation() async throws {
    let receiver = try await Receiver { _ in .init(status: .ok) }
    let clock = StandingClock()
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream), clock: clock)
    let made = try house.webhooks.create(json: json("{\"url\":\"\(receiver.url)\"}"))
    let id = made.standing.definition.id
    let old = try #require(made.secret)
    let changed = try house.webhooks.replace(
      id,
      json: json("{\"url\":\"\(receiver.url)\",\"rotateSecret\":true}")
    )
    let new = try #require(changed.secret)
    #expect(new != old)
    _ = try await house.webhooks.test(id)
    clock.advance(to: clock.now + WebhookDefinition.rotation)
    let trial = try await house.webhooks.test(id)
    #expect(trial.outcome == .delivered)
    let signatures = receiver.accepted.map { request in
      let timestamp = request.headers["webhook-timestamp"].flatMap { Int64($0) } ?? 0
      let eventID = request.headers["webhook-id"] ?? ""
      #expect(request.member("type") == "pharos.webhook.test")
      return [new, old].map { secret in
        request.headers["webhook-signature"]?.split(separator: " ")
          .contains { $0 == secret.signature(id: eventID, timestamp: timestamp, body: request.body) } ?? false
      }
    }
    #expect(signatures == [[true, true], [true, false]])
    var text = JSONText()
    text.openObject()
    try house.webhooks.standing(id).write(to: &text)
    text.closeObject()
    #expect(!text.text.contains("whsec_"))
    #expect(!"\(try house.webhooks.standing(id))".contains(String(new.revealed.dropFirst(6))))
    house.webhooks.stop()
    await receiver.close()
  }

  @Test("redirects are not followed, and an unreachable receiver is reported as such")
  func unreachable() async throws {
    let receiver = try await Receiver { _ in
      .init(status: .found, headers: ["location": "http://127.0.0.1:1/"])
    }
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream), clock: LeapingClock())
    let id = try house.webhooks.create(json: json("{\"url\":\"\(receiver.url)\"}")).standing.definition.id
    guard case .failed(let reason, _) = try await house.webhooks.test(id).outcome else {
      Issue.record("a redirect is no delivery")
      return
    }
    #expect(reason.contains("302") && reason.contains("redirects are not followed"))
    await receiver.close()
    // A port that was in use a moment ago and no longer is.
    let passing = try await Receiver { _ in .init(status: .ok) }
    await passing.close()
    _ = try house.webhooks.replace(id, json: json("{\"url\":\"\(passing.url)\"}"))
    // Neither the words nor the time tell a closed port from one behind a filter.
    let trial = try await house.webhooks.test(id)
    #expect(trial.outcome == .failed(reason: SendFailure.noConnection, retryAfter: nil))
    #expect(trial.duration == WebhookTrial.timeWithoutConnection)
  }

  @Test(
    "a name that leads to the server itself is refused when it is resolved",
    arguments: ["localhost", "127.0.0.1", "0x7f.1"]
  )
  func resolvedAddresses(host: String) async throws {
    let receiver = try await Receiver { _ in .init(status: .ok) }
    let port = try #require(URL(string: receiver.url)?.port)
    let sender = HTTPWebhookSender(ownPorts: [port])
    let request = WebhookRequest(
      url: "http://\(host):\(port)/",
      id: "1",
      body: [],
      secrets: [],
      at: Samples.start,
      timeout: .seconds(10)
    )
    guard case .failed(let reason, _) = await sender.send(request) else {
      Issue.record("the server was sent its own event")
      return
    }
    #expect(reason.contains("this server itself"))
    #expect(receiver.accepted.isEmpty)
    let other = HTTPWebhookSender()
    #expect(await other.send(request) == .delivered)
    await sender.shutdown()
    await other.shutdown()
    #expect(await other.send(request) != .delivered)
    await receiver.close()
  }

  @Test("webhooks are counted for each application, and go with it")
  func limits() throws {
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream))
    func create(_ application: String?) throws {
      _ = try house.webhooks.create(json: json("{\"url\":\"https://a.example/\"}"), application: application)
    }
    for _ in 0..<WebhookDefinition.limitOfOneApplication { try create("gallery") }
    #expect(throws: WebhookError.tooMany(limit: WebhookDefinition.limitOfOneApplication)) {
      try create("gallery")
    }
    try create("museum")
    try create(nil)
    let own = try #require(house.webhooks.list(application: "museum").first?.definition.id)
    #expect(throws: WebhookError.self) {
      try house.webhooks.replace(own, json: json(#"{"url":"https://a.example/","application":"gallery"}"#))
    }
    let deletion = house.webhooks.deletingAll(of: "gallery")
    try house.journal.change(deletion.documents)
    deletion.adopt()
    #expect(house.webhooks.list(application: "gallery").isEmpty && house.webhooks.list().count == 2)
    try create("gallery")
  }

  @Test("an application sees and changes its own webhooks only")
  func bound() async throws {
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream))
    let mine = try house.webhooks.create(
      json: json("{\"url\":\"https://a.example/\"}"),
      application: "gallery"
    )
    let theirs = try house.webhooks.create(
      json: json("{\"url\":\"https://b.example/\"}"),
      application: "museum"
    )
    #expect(mine.standing.definition.application == "gallery")
    #expect(house.webhooks.list(application: "gallery").map(\.definition.id) == [mine.standing.definition.id])
    #expect(house.webhooks.list().count == 2)
    let id = theirs.standing.definition.id
    #expect(throws: WebhookError.unknownWebhook(id)) {
      try house.webhooks.standing(id, application: "gallery")
    }
    #expect(throws: WebhookError.unknownWebhook(id)) { try house.webhooks.delete(id, application: "gallery") }
    #expect(throws: WebhookError.self) {
      try house.webhooks.create(
        json: json("{\"url\":\"https://c.example/\",\"application\":\"museum\"}"),
        application: "gallery"
      )
    }
    try house.webhooks.delete(id, application: "museum")
    #expect(house.webhooks.list().count == 1)
    let again = try WebhookHouse(house.journal)
    #expect(again.webhooks.list().map(\.definition) == [mine.standing.definition], "kept in the journal")
  }

  @Test("events about a person that has withdrawn are not sent, however long they have waited")
  func withdrawn() async throws {
    let receiver = try await Receiver { _ in .init(status: .ok) }
    let withdrawn = Samples.subject(1)
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let authorisations = try Authorisations(store: journal)
    try authorisations.mark(withdrawn, isPerson: true)
    let house = try WebhookHouse(
      journal,
      clock: StandingClock(),
      gate: { authorisations.view.gate(to: $0, isLive: false) }
    )
    let id = try house.webhooks.create(json: json("{\"url\":\"\(receiver.url)\"}")).standing.definition.id
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish((0..<10).map { Samples.event(subject: $0 % 2, counter: UInt64($0)) })
      await receiver.wait(forEvents: 5)
      house.webhooks.stop()
    }
    #expect(receiver.accepted.count == 5)
    #expect(receiver.accepted.allSatisfy { $0.member("subject") == Samples.subject(0).description })
    let ledger = try #require(try journal.deliveries(to: id))
    #expect(ledger.cursor == 10 && ledger.lanes.isEmpty, "they are done with")
    await receiver.close()
  }

  @Test("events removed by retention before their delivery are counted, and the others are delivered")
  func missed() async throws {
    let receiver = try await Receiver { _ in .init(status: .ok) }
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let house = try WebhookHouse(journal, clock: StandingClock())
    let document = "{\"url\":\"\(receiver.url)\",\"enabled\":false}"
    let id = try house.webhooks.create(json: json(document)).standing.definition.id
    try house.publish((0..<20).map { Samples.event(subject: $0, counter: UInt64($0)) })
    // Switched off, it holds nothing in the journal; a webhook that is on would.
    var update = DeliveryUpdate(receiver: id, cursor: 0, delivered: 0)
    try journal.save([update], deadLimit: 10)
    _ = try journal.prune(now: Samples.start + .minutes(60 * 24 * 60))
    #expect(journal.oldest == 1, "what a webhook needs is kept")
    update.isPaused = true
    try journal.save([update], deadLimit: 10)
    _ = try journal.prune(now: Samples.start + .minutes(60 * 24 * 60))
    #expect(journal.oldest == 21)
    try house.publish([Samples.event(subject: 30, counter: 30)])
    _ = try house.webhooks.replace(id, json: json("{\"url\":\"\(receiver.url)\"}"))
    await withDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      await receiver.wait(forEvents: 1)
      house.webhooks.stop()
    }
    #expect(receiver.accepted.count == 1)
    #expect(try house.webhooks.standing(id).missed == 20)
    await receiver.close()
  }
}
