import PharosModel
import PharosPublishing
import PharosTestSupport
import Testing

/// Visits as a subscriber gets them: with the arrival, then complete.
@Suite("Streams of visits", .timeLimit(.minutes(20)))
struct VisitStreamTests {
  private func visit(_ subject: String, _ second: Int64, until end: Int64? = nil) -> Event {
    Event(
      stream: "test",
      kind: end == nil ? .visitArrive : .visitDepart,
      time: Timestamp(seconds: end ?? second),
      decidedAt: Timestamp(seconds: end ?? second),
      stage: 2,
      subject: .observer(.name(subject)),
      counter: UInt64(second),
      detail: .visit(
        VisitDetail(
          visit: EventID(high: 0, low: UInt64(second)),
          arrival: Timestamp(seconds: second),
          departure: end.map { Timestamp(seconds: $0) }
        )
      )
    )
  }

  @Test("one subject's stream carries its visits and nothing else, and that of all carries all")
  func selection() async {
    let hub = EventHub()
    let (all, own) = (hub.visits.sequence, hub.visits(of: .observer(.name("b"))).sequence)
    hub.publish([visit("a", 1), visit("b", 2)] + batch(0..<3))
    hub.publish([visit("b", 2, until: 60)])
    hub.finish()
    var words: [String] = []
    for await visit in all { words.append("\(visit.subject) \(visit.detail.duration?.seconds ?? -1)") }
    #expect(words == ["a -1.0", "b -1.0", "b 58.0"])
    var departures: [Timestamp?] = []
    for await visit in own { departures.append(visit.detail.departure) }
    #expect(departures == [nil, Timestamp(seconds: 60)])
  }
}
