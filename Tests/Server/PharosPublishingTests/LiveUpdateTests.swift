import PharosModel
import PharosPublishing
import PharosStays
import PharosTestSupport
import Synchronization
import Testing

/// Live updates as a subscriber gets them.
@Suite("Live updates", .timeLimit(.minutes(20)))
struct LiveUpdateTests {
  private static let phone = SubjectID.observer(.name("phone"))

  private func event(_ second: Int, _ detail: EventDetail, of subject: SubjectID = phone) -> Event {
    let isFix = if case .fix = detail { true } else { false }
    return Event(
      stream: "test",
      kind: isFix ? .fix : .regionState,
      time: Timestamp(seconds: Int64(second)),
      decidedAt: Timestamp(seconds: Int64(second)),
      stage: 2,
      subject: subject,
      counter: UInt64(second),
      detail: detail
    )
  }

  private func fix(
    _ second: Int,
    at x: Double = 0,
    accuracy: Double = 2,
    of subject: SubjectID = phone
  ) -> Event {
    let detail = FixDetail(
      venue: "museum",
      building: "main",
      x: x,
      horizontalAccuracy: accuracy,
      sources: .wifi,
      age: .zero
    )
    return event(second, .fix(detail), of: subject)
  }

  /// A timer that a test steps.
  private final class SteppedTimer: Sendable {
    private struct State {
      var work: [@Sendable () -> Void] = []
      var spans: [TimeSpan] = []
    }

    private let state = Mutex(State())

    var spans: [TimeSpan] { state.withLock { $0.spans } }
    var timer: UpdateTimer {
      { [self] span, work in
        state.withLock { state in
          state.work.append(work)
          state.spans.append(span)
        }
      }
    }

    func step() {
      let work = state.withLock { state in
        defer { state.work = [] }
        return state.work
      }
      for run in work { run() }
    }
  }

  /// A word for each update: the second of the fix, `s` and the second since which it is stationary, or what is missing.
  private func words(_ updates: some AsyncSequence<LocationUpdate, Never>) async -> [String] {
    var words: [String] = []
    for await update in updates {
      var word = update.location.map { "\($0.time.nanoseconds / 1_000_000_000)" } ?? "-"
      if let since = update.stationarySince { word += "s\(since.nanoseconds / 1_000_000_000)" }
      #expect(update.stationary == word.contains("s"))
      if update.accuracyLimited { word += " vague" }
      if update.locationUnavailable { word += " unavailable" }
      if update.authorizationDenied { word += " denied" }
      if update.authorizationDeniedGlobally { word += " off" }
      if update.authorizationRestricted { word += " restricted" }
      if update.authorizationRequestInProgress { word += " asked" }
      #expect(!update.insufficientlyInUse && !update.serviceSessionRequired)
      #expect(update.subject == Self.phone)
      words.append(word)
    }
    return words
  }

  @Test("a reduced location makes an update for each new place, and tells nothing of rest")
  func reducedAccuracy() throws {
    var state = LiveUpdateState(of: Self.phone, .pedestrian)
    var updates: [LocationUpdate] = []
    for second in 0..<120 {
      let event = try #require(fix(second, at: Double(second / 40)).reduced(to: .floor))
      if let update = state.receive(event) { updates.append(update) }
    }
    #expect(updates.count == 1)
    #expect(updates[0].accuracyLimited && !updates[0].stationary && !updates[0].locationUnavailable)
    #expect(updates[0].location?.detail.building == "main")
    #expect(state.expire()?.locationUnavailable == true)
    #expect(state.expire() == nil)
    let wider = try #require(fix(121).reduced(to: .venue))
    #expect(state.receive(wider)?.location?.detail.building == "")
    #expect(
      state.receive(try #require(fix(122).reduced(to: .floor))) != nil,
      "another accuracy is another place"
    )
    #expect(state.receive(fix(123)) != nil, "full accuracy begins a track")
  }

  @Test("fixes end when the subject is stationary and resume when it has left")
  func resumes() async {
    let hub = EventHub()
    let updates = hub.liveUpdates(for: Self.phone).values
    hub.publish((1...30).flatMap { [fix($0, of: .observer(.name("other"))), fix($0, at: 1.2 * Double($0))] })
    hub.publish((31...90).map { fix($0, at: 36) })
    hub.publish((91...100).map { fix($0, at: 36 + 1.2 * Double($0 - 90)) })
    hub.finish()
    let words = await words(updates)
    #expect(words.prefix(30) == (1...30).map { "\($0)" }[...])
    let rests = words.filter { $0.contains("s") }.map { $0.split(separator: "s").compactMap { Int($0) } }
    #expect(rests.count == 1, "\(words)")
    // The last fixes of the way lie within the scatter of the rest.
    #expect(rests.first.map { (46...51).contains($0[0]) && (27...30).contains($0[1]) } == true)
    #expect(
      words.drop { !$0.contains("s") }.dropFirst().prefix(2).allSatisfy { (91...93).contains(Int($0) ?? 0) }
    )
    #expect(words.last == "100")
  }

  @Test("vague fixes say so, and take longer")
  func vague() async {
    let hub = EventHub()
    let updates = hub.liveUpdates(for: Self.phone, configuration: .pedestrian).values
    hub.publish((1...60).map { fix($0, accuracy: 8) })
    hub.finish()
    let words = await words(updates)
    #expect(words.last == "41s1 vague")
    #expect(words.dropLast() == (1...40).map { "\($0) vague" }[...])
  }

  @Test("a distance filter keeps back what is near, and neither the rest nor the end of it")
  func distanceFilter() async {
    let hub = EventHub()
    let configuration = LocationUpdate.LiveConfiguration(distanceFilter: 10)
    let updates = hub.liveUpdates(for: Self.phone, configuration: configuration).values
    hub.publish((0...30).map { fix($0, at: 1.25 * Double($0)) })
    hub.publish((31...90).map { fix($0, at: 37.5) })
    hub.publish((91...110).map { fix($0, at: 37.5 + 1.25 * Double($0 - 90)) })
    hub.finish()
    let words = await words(updates)
    #expect(words.prefix(4) == ["0", "8", "16", "24"])
    #expect(words.count { $0.contains("s") } == 1, "\(words)")
    // The fix that ends the rest, and those that are 10 m further each.
    let resumed = words.drop { !$0.contains("s") }.dropFirst().compactMap { Int($0) }
    #expect((91...93).contains(resumed.first ?? 0))
    #expect(zip(resumed, resumed.dropFirst()).allSatisfy { $1 - $0 == 8 }, "\(words)")
  }

  @Test("vague fixes make few updates where accurate ones are desired, and these say so")
  func desiredAccuracy() async {
    let hub = EventHub()
    let configuration = LocationUpdate.LiveConfiguration(desiredAccuracy: 3)
    let updates = hub.liveUpdates(for: Self.phone, configuration: configuration).values
    hub.publish((0...24).map { fix($0, at: 2 * Double($0), accuracy: $0 == 4 ? 2 : 3.5) })
    hub.finish()
    #expect(await words(updates) == ["0 vague", "4", "14 vague", "24 vague"])
  }

  @Test("significant changes are other floors after five minutes, without rests and silences")
  func significantChanges() async {
    let (hub, timer) = (EventHub(), SteppedTimer())
    let updates = hub.liveUpdates(for: Self.phone, configuration: .significantChanges, timer: timer.timer)
      .values
    hub.publish((0...200).map { fix($0) })
    for _ in 0..<9 { timer.step() }
    hub.publish(
      (201...700).map { second in
        guard case .fix(var detail) = fix(second).detail else { return fix(second) }
        detail.level = 2
        return event(second, .fix(detail))
      }
    )
    hub.finish()
    #expect(await words(updates) == ["0", "300"])
  }

  @Test("without a fix for as long as the configuration says, the location is unavailable")
  func silence() async {
    let (hub, timer) = (EventHub(), SteppedTimer())
    let configuration = LocationUpdate.LiveConfiguration(silence: .seconds(40))
    let updates = hub.liveUpdates(for: Self.phone, configuration: configuration, timer: timer.timer).values
    for _ in 0..<3 { timer.step() }
    hub.publish([fix(1)])
    for _ in 0..<9 { timer.step() }
    hub.publish([fix(2), fix(3)])
    hub.finish()
    #expect(await words(updates) == ["1", "- unavailable", "2", "3"])
    #expect(timer.spans.count == 13 && timer.spans.allSatisfy { $0 == .seconds(10) })
  }

  @Test("a handset that stops scanning is denied globally, once")
  func scanOff() async {
    let hub = EventHub()
    let updates = hub.liveUpdates(for: Self.phone).values
    let off = EventDetail.region(
      RegionTransition(from: .inside, to: .unmonitored, evidence: Evidence(rule: .scanOff))
    )
    hub.publish([fix(1), event(2, off), event(2, off), fix(9)])
    hub.finish()
    #expect(await words(updates) == ["1", "- unavailable off", "9"])
  }

  @Test("an update leaves out all that the application may not learn, and gives the reason once")
  func authorisation() async {
    let hub = EventHub()
    let states: [AuthorisationState] = [
      .always, .denied, .denied, .restricted, .notDetermined, .whenInUse, .denied,
    ]
    let calls = Mutex(0)
    let configuration = LocationUpdate.LiveConfiguration { _ in
      calls.withLock { count in
        defer { count += 1 }
        return states[count]
      }
    }
    let updates = hub.liveUpdates(for: Self.phone, configuration: configuration).values
    hub.publish(states.indices.map { fix($0) })
    hub.finish()
    #expect(await words(updates) == ["0", "- denied", "- restricted", "- asked", "5", "- denied"])
  }

  @Test("a subscription that ends leaves nothing behind")
  func ends() async {
    let (hub, timer) = (EventHub(), SteppedTimer())
    do {
      let updates = hub.liveUpdates(for: Self.phone, configuration: .asset, timer: timer.timer).values
      #expect(hub.subscriptionCount == 1)
      withExtendedLifetime(updates) {}
    }
    #expect(hub.subscriptionCount == 0)
    timer.step()
    timer.step()
    #expect(timer.spans.count == 1)
  }
}
