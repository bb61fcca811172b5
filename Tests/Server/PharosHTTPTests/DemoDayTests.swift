import Pharos
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosSimulation
import PharosSite
import PharosTestSupport
import Testing

/// The day in the mall that the demo plays, with the requests of its applications, on a server whose clock the test moves.
@Suite("The day of the demo", .timeLimit(.minutes(20)))
struct DemoDayTests {
  /// What a day on a server has shown.
  private struct Day {
    /// The events about notifications and guidance, in their order.
    var events: [Event] = []
    /// The answers to the requests, in their order.
    var answers: [(request: MallDay.Request, answer: WireAnswer)] = []
    /// The looks at the friend, after all.
    var looks = ""

    /// The notifications of a rule.
    func notifications(by rule: String) -> [(event: Event, detail: NotificationDetail)] {
      events.compactMap { event in
        guard case .notification(let detail) = event.detail, detail.rule == rule else { return nil }
        return (event, detail)
      }
    }

    /// The steps of the guidance of a subject.
    func guidance(of subject: ObserverID) -> [(time: Timestamp, status: GuidanceDetail.Status)] {
      events.compactMap { event in
        guard case .guidance(let detail) = event.detail, event.subject == .observer(subject) else {
          return nil
        }
        return (event.time, detail.status)
      }
    }
  }

  /// Plays the day with a boot id, by which all that is random differs.
  private func play(bootID: UInt32) async throws -> Day {
    var site = try SiteFile.parse(MallDay.siteYAML, path: "demo").site
    site.positioning.isSimulated = true
    let scene = MallDay.scene(bootID: bootID)
    let venues = LoadedVenues(built: [scene.venue])
    var day = Day()
    try await TestService.run(site: site, venues: venues.served, locating: venues) { service in
      let begin = service.backend.clock()
      let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 52_044)
      var requests = MallDay.requests(startingAt: begin)[...]
      for case .datagram(let datagram) in try IndoorSimulation(scene, seed: UInt64(bootID)) {
        let elapsed = datagram.received - scene.start
        while let request = requests.first, request.time <= elapsed {
          requests.removeFirst()
          service.time.pass(until: request.time.nanoseconds)
          await service.backend.commitPublisher.drain()
          let answer = try await service.request(request.method, request.path, body: request.body)
          #expect(200..<300 ~= answer.status, "\(request.path): \(answer.text)")
          day.answers.append((request, answer))
        }
        service.time.pass(until: elapsed.nanoseconds)
        _ = try await service.backend.server.receive([datagram.bytes], from: source, under: .open)
      }
      #expect(requests.isEmpty)
      await service.backend.commitPublisher.drain()
      // Both rules have a reason on the day: without them the test waits until its time limit.
      try await service.committed(EventFilter(kinds: [.notification]), times: 2)
      day.looks = try await service.request("GET", "/v1/subjects/friend/looks").text
      let wanted = EventFilter(kinds: [.notification, .guidance])
      day.events = try service.backend.journal.events(after: 0, matching: wanted, limit: 4_096).map(\.event)
    }
    return day
  }

  @Test(
    "four stories happen: a commentary, a reminder, friends, and a drink",
    arguments: [1, 6, 14] as [UInt32]
  )
  func stories(bootID: UInt32) async throws {
    let day = try await play(bootID: bootID)

    let commentary = try #require(day.notifications(by: "commentary").first)
    #expect(day.notifications(by: "commentary").count == 1)
    #expect(commentary.detail.occasion == .proximity)
    #expect(commentary.event.subject == .observer(MallDay.visitor))
    #expect(commentary.detail.beacon == MallDay.exhibit)
    #expect(commentary.detail.title == "A sea chart of 1655")
    #expect(commentary.detail.text.hasPrefix("Drawn by hand on vellum."))

    let reminder = try #require(day.notifications(by: "story-hour").first)
    #expect(reminder.detail.occasion == .deadline)
    #expect(reminder.event.subject == .observer(MallDay.visitor))
    #expect(reminder.detail.title == "Leave now for Toy Chest")

    let visitor = day.guidance(of: MallDay.visitor)
    #expect(visitor.first?.status == .started && visitor.last?.status == .arrived)
    let waiter = day.guidance(of: MallDay.waiter)
    #expect(waiter.first?.status == .started && waiter.last?.status == .arrived)
    #expect(waiter.contains { $0.status == .rerouted }, "the visitor walks on while the waiter follows")

    let times = [
      commentary.event.time, reminder.event.time, visitor.first?.time, waiter.first?.time, waiter.last?.time,
    ].compactMap(\.self)
    #expect(times == times.sorted() && times.count == 5)
    let arrived = try #require(visitor.last?.time)
    #expect(arrived < (try #require(reminder.detail.deadline)), "the reminder came in time")

    let friends = day.answers.filter { $0.request.path.contains("/friends") }.map(\.answer.text)
    #expect(friends.count == 2)
    #expect(friends.first?.contains(#""subject":"friend""#) == true, "\(friends)")
    #expect(friends.last?.contains(#""subject":"friend""#) == false, "revoked: \(friends)")
    #expect(day.looks.contains(#""viewer":"visitor""#) && day.looks.contains(#""count":1"#), "\(day.looks)")
  }
}
