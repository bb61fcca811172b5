import Foundation
import PharosModel
import PharosTestSupport
import Testing

@Suite("Events")
struct EventTests {
  private func event(
    kind: EventKind = .regionEnter,
    decidedAt: Int64 = 10,
    stage: UInt8 = 1,
    subject: SubjectID = .observer(.name("a")),
    application: String = "gallery",
    region: String = "entrance",
    counter: UInt64 = 1,
    ordinal: UInt64 = 0,
    detail: EventDetail? = nil
  ) -> Event {
    Event(
      stream: "pharos",
      kind: kind,
      time: Timestamp(seconds: decidedAt),
      decidedAt: Timestamp(seconds: decidedAt),
      stage: stage,
      subject: subject,
      application: application,
      region: region,
      counter: counter,
      ordinal: ordinal,
      detail: detail
        ?? .region(RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples)))
    )
  }

  @Test("an id depends on what was decided and on nothing else")
  func ids() {
    let id = event().id
    #expect(event(decidedAt: 99, stage: 2, ordinal: 7).id == id)
    let others = [
      event(kind: .regionExit).id, event(subject: .observer(.name("b"))).id, event(application: "x").id,
      event(region: "x").id, event(counter: 2).id, event(application: "galleryentrance", region: "").id,
    ]
    for other in others { #expect(other != id) }
    #expect(Set(others).count == others.count)
    #expect(id.description.count == 32)
  }

  @Test("an id is the same in every build of every machine")
  func stableID() {
    // Computed by another implementation of FNV-1a from the same parts.
    #expect(event().id.description == "918da77854dca8c8a29012d913ec0519")
  }

  @Test("the order looks at each part in turn")
  func order() {
    let ordered = [
      event(decidedAt: 1, stage: 2),
      event(decidedAt: 2, stage: 0),
      event(decidedAt: 2, subject: .observer(.eui48(5))),
      event(decidedAt: 2, subject: .observer(.name("a")), application: "a"),
      event(decidedAt: 2, subject: .observer(.name("a")), application: "b", region: "a"),
      event(kind: .regionState, decidedAt: 2, application: "b", region: "b"),
      event(kind: .regionEnter, decidedAt: 2, application: "b", region: "b"),
      event(kind: .regionEnter, decidedAt: 2, application: "b", region: "b", ordinal: 1),
      event(decidedAt: 2, stage: 2),
    ]
    for (index, left) in ordered.enumerated() {
      for (other, right) in ordered.enumerated() {
        #expect(Event.isOrderedBefore(left, right) == (index < other))
      }
    }
  }

  @Test("an exit and the enter behind it at one instant come as they happened")
  func sameInstant() {
    let committed = [
      event(kind: .regionState, region: "m", ordinal: 7), event(kind: .regionExit, region: "m", ordinal: 8),
      event(kind: .regionState, region: "m", ordinal: 9), event(kind: .regionEnter, region: "m", ordinal: 10),
    ]
    #expect(committed.reversed().sorted(by: Event.isOrderedBefore) == committed)
  }

  @Test("a beacon leaves a zone before it enters the next, whatever they are called", arguments: ["a", "z"])
  func zones(next: String) {
    let leave = event(kind: .zoneExit, application: "", region: "m")
    let enter = event(kind: .zoneEnter, application: "", region: next)
    #expect(Event.isOrderedBefore(leave, enter))
    #expect(!Event.isOrderedBefore(enter, leave))
  }

  @Test("a zone event has its probability, the next likely zone and its observers")
  func zoneEvent() throws {
    let transition = ZoneTransition(
      from: "a",
      to: "b",
      margin: 6.25,
      dwell: .milliseconds(500),
      reason: .margin,
      probability: 0.96875,
      runnerUp: ZoneTransition.Candidate(zone: "a", probability: 0.03),
      hearings: [ZoneTransition.Hearing(observer: .name("gw"), level: -61.5, offset: -2)]
    )
    let committed = event(kind: .zoneEnter, application: "", region: "b", detail: .zone(transition))
    let text = committed.cloudEvent(stream: "test")
    let expected =
      #""from":"a","to":"b","margin":6.25,"dwell":0.5,"reason":"margin","probability":0.9688,"#
      + #""runnerUp":{"zone":"a","probability":0.03},"#
      + #""hearings":[{"observer":"gw","level":-61.5,"offset":-2}]"#
    #expect(text.contains(expected), "\(text)")
  }

  @Test("a CloudEvent has what CloudEvents 1.0 asks for, and the evidence")
  func cloudEvent() throws {
    var evidence = Evidence(rule: .adaptiveSilence)
    evidence.gap = .seconds(4.5)
    evidence.receptionShare = 0.9
    evidence.fixedRuleAt = Timestamp(seconds: 40)
    let exit = event(
      kind: .regionExit,
      decidedAt: 20,
      detail: .region(
        RegionTransition(
          from: .inside,
          to: .outside,
          enteredAt: Timestamp(seconds: 8),
          evidence: evidence
        )
      )
    )
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(exit.cloudEvent(stream: "museum").utf8)) as? [String: Any]
    )
    #expect(object["specversion"] as? String == "1.0")
    #expect(object["id"] as? String == exit.id.description)
    #expect(object["source"] as? String == "/pharos/museum")
    #expect(object["type"] as? String == "pharos.region.exit")
    #expect(object["subject"] as? String == "a")
    #expect(object["time"] as? String == "1970-01-01T00:00:20.000000000Z")
    let data = try #require(object["data"] as? [String: Any])
    #expect(data["application"] as? String == "gallery")
    #expect(data["region"] as? String == "entrance")
    #expect(data["duration"] as? Double == 12)
    let why = try #require(data["evidence"] as? [String: Any])
    #expect(why["rule"] as? String == "adaptiveSilence")
    #expect(why["gap"] as? Double == 4.5)
    #expect(why["fixedRuleAt"] as? String == "1970-01-01T00:00:40.000000000Z")
  }

  @Test("types of events are unique and start with the project's name")
  func types() {
    let types = EventKind.allCases.map(\.type)
    #expect(Set(types).count == types.count)
    #expect(types.allSatisfy { $0.hasPrefix("pharos.") })
  }

  @Test("Core Location's words are a view of the same decision")
  func delegateWords() {
    #expect(RegionEvent(event()) == .didEnterRegion(region: "entrance", subject: .observer(.name("a"))))
    #expect(
      RegionEvent(event(kind: .regionState))
        == .didDetermineState(.inside, region: "entrance", subject: .observer(.name("a")))
    )
    let refused = event(kind: .regionLimitExceeded, detail: .regionLimit(limit: 20, refused: "shop"))
    #expect(RegionEvent(refused) == .monitoringDidFail(region: "shop", limit: 20))
    #expect(RegionEvent(event(kind: .clockStepped, detail: .clockStep(.seconds(1)))) == nil)
  }

  @Test(
    "an event without hidden identities names none, and is the same where it names none",
    arguments: Seeds.drawn(1..<5)
  )
  func withoutIdentities(seed: UInt64) {
    var random = RandomEvents(seed: seed)
    var (stripped, withheld) = (0, 0)
    for _ in 0..<4_000 {
      let event = random.event()
      let subject: EventName? =
        switch event.subject {
        case .none: nil
        case .observer(let observer): .observer(observer)
        case .beacon(let beacon): .beacon(beacon)
        }
      // Every second identity is hidden; the subject is for others to judge.
      func hides(_ identity: SubjectID) -> Bool { identity.description.utf8.reduce(0) { $0 ^ $1 } % 2 == 0 }
      func isHidden(_ name: EventName) -> Bool {
        switch name {
        case .text: false
        case .observer(let observer): name != subject && hides(.observer(observer))
        case .beacon(let beacon): name != subject && hides(.beacon(beacon))
        }
      }
      let names = EventRecord(event).names
      guard let (other, isStripped) = event.without({ hides($0) }) else {
        withheld += 1
        continue
      }
      #expect(isStripped == (other.cloudEvent(stream: "s") != event.cloudEvent(stream: "s")))
      #expect(isStripped || !names.contains(where: isHidden))
      #expect(!EventRecord(other).names.contains(where: isHidden))
      #expect(other.id == event.id)
      stripped += isStripped ? 1 : 0
    }
    #expect(stripped > 200 && withheld > 20)
  }
}
