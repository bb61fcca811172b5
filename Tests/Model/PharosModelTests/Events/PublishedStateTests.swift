import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

@Suite("Where things stood")
struct PublishedStateTests {
  private func state(
    _ from: RegionState,
    _ to: RegionState,
    at second: Int64,
    subject: SubjectID = .observer(.name("a")),
    region: String = "hall",
    enteredAt: Timestamp? = nil,
    isAnswer: Bool = false
  ) -> Event {
    let transition = RegionTransition(
      from: from,
      to: to,
      enteredAt: enteredAt,
      isAnswer: isAnswer,
      evidence: Evidence(rule: .samples)
    )
    return event(.regionState, subject, region, at: second, .region(transition))
  }

  private func event(
    _ kind: EventKind,
    _ subject: SubjectID,
    _ region: String,
    at second: Int64,
    _ detail: EventDetail
  ) -> Event {
    Event(
      stream: "s",
      kind: kind,
      time: Timestamp(seconds: second),
      decidedAt: Timestamp(seconds: second),
      stage: 1,
      subject: subject,
      application: "gallery",
      region: region,
      counter: UInt64(second),
      detail: detail
    )
  }

  @Test("a visit keeps its beginning through an outage and ends with it")
  func visit() {
    var committed = StateTable()
    committed.record(state(.unknown, .inside, at: 10))
    #expect(committed.state.regions.first?.enteredAt == Timestamp(seconds: 10))
    committed.record(state(.inside, .unmonitored, at: 20))
    #expect(committed.state.regions.first?.state == .unmonitored)
    #expect(committed.state.regions.first?.lastKnown == .inside)
    #expect(committed.state.regions.first?.enteredAt == Timestamp(seconds: 10))
    committed.record(state(.unmonitored, .unmonitored, at: 25))
    #expect(committed.state.regions.first?.lastKnown == .inside)
    committed.record(state(.unmonitored, .inside, at: 30))
    #expect(committed.state.regions.first?.enteredAt == Timestamp(seconds: 10))
    committed.record(state(.inside, .outside, at: 40, enteredAt: Timestamp(seconds: 10)))
    #expect(committed.state.regions.first?.enteredAt == nil)
    #expect(committed.state.regions.first?.lastKnown == .outside)
    #expect(committed.state.regions.first?.time == Timestamp(seconds: 40))
    #expect(committed.state.regions.count == 1)
  }

  @Test("an answer, an enter and an exit change nothing")
  func nothing() {
    var committed = StateTable()
    committed.record(state(.inside, .inside, at: 10, isAnswer: true))
    let transition = RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples))
    committed.record(event(.regionEnter, .observer(.name("a")), "hall", at: 11, .region(transition)))
    committed.record(event(.regionExit, .observer(.name("a")), "hall", at: 12, .region(transition)))
    #expect(committed.state.isEmpty)
  }

  @Test("a beacon that leaves one zone for another is in the other, whichever is published first")
  func zones() {
    let tag = BeaconID.address(DeviceAddress(bits: 9, kind: .random))
    let move = ZoneTransition(from: "a", to: "b", margin: nil, dwell: nil, reason: .margin)
    let leave = event(.zoneExit, .beacon(tag), "a", at: 5, .zone(move))
    let enter = event(.zoneEnter, .beacon(tag), "b", at: 5, .zone(move))
    for order in [[leave, enter], [enter, leave]] {
      let last = event(.zoneExit, .beacon(tag), "b", at: 9, .zone(move))
      #expect(StateTable(after: order).state.zones.map(\.zone) == ["b"])
      #expect(StateTable(after: order + [last]).state.zones.map(\.zone) == [nil])
    }
  }

  @Test("the words come in one order, whatever the order of the events, and survive as bytes")
  func order() throws {
    var generator = SeededGenerator(seed: 3)
    var events: [Event] = []
    for subject in 0..<20 {
      for region in ["b", "a"] {
        events.append(
          state(.unknown, .inside, at: 5, subject: .observer(.name("o\(subject)")), region: region)
        )
      }
      let observer = SubjectID.observer(.eui48(UInt64(subject)))
      events.append(
        event(
          subject % 2 == 0 ? .observerOnline : .observerOffline,
          observer,
          "",
          at: 3,
          .observer(ObserverTransition())
        )
      )
      let tag = BeaconID.address(DeviceAddress(bits: UInt64(subject), kind: .random))
      let zone = ZoneTransition(from: nil, to: "z", margin: nil, dwell: nil, reason: .margin)
      events.append(event(.zoneEnter, .beacon(tag), "z", at: 4, .zone(zone)))
    }
    let committed = StateTable(after: events).state
    #expect(committed.regions.count == 40)
    #expect(committed.zones.count == 20)
    #expect(committed.observers.filter(\.isUp).count == 10)
    for _ in 0..<10 {
      #expect(StateTable(after: events.shuffled(using: &generator)).state == committed)
      var sorted = committed
      sorted.regions.shuffle(using: &generator)
      sorted.zones.shuffle(using: &generator)
      sorted.observers.shuffle(using: &generator)
      sorted.sort()
      #expect(sorted == committed)
    }
    var writer = FieldWriter()
    committed.write(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    #expect(try PublishedState(from: &reader) == committed)
    try reader.finish()
    #expect(StateTable(committed).state == committed)
  }
}
