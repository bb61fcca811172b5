import PharosModel
import PharosNarration
import PharosTestSupport
import Testing

@Suite("An event in words")
struct EventNarratorTests {
  private static let desk = ObserverID.name("desk")
  private static let tag = BeaconID.proximity(UUID128(high: 1, low: 2), major: 3, minor: 4)

  private static let site = Site(
    observers: [ObserverEntry(id: desk, name: "front desk")],
    beacons: [
      BeaconEntry(constraint: .proximity(UUID128(high: 1, low: 2), major: 3, minor: 4), name: "pump")
    ]
  )

  private func words(
    _ kind: EventKind,
    about subject: SubjectID = .beacon(tag),
    region: String = "hall",
    _ detail: EventDetail
  ) -> String {
    let time = Timestamp(seconds: 3_600)
    let event = Event(
      stream: "s",
      kind: kind,
      time: time,
      decidedAt: time,
      stage: 1,
      subject: subject,
      application: "shop",
      region: region,
      counter: 1,
      detail: detail
    )
    return Narrator(EventNarratorTests.site).narrate(event)
  }

  @Test("an enter tells what was heard, an exit what was not, with the names of the site")
  func regions() {
    var heard = Evidence(rule: .samples)
    heard.samples = 2
    heard.window = .seconds(3)
    heard.level = -61.5
    let enter = RegionTransition(
      from: .outside,
      to: .inside,
      refinement: EventNarratorTests.tag,
      observer: EventNarratorTests.desk,
      evidence: heard
    )
    #expect(
      words(.regionEnter, .region(enter))
        == "Heard twice within 3 s, which is what it takes, at −61.5 dBm."
    )
    var silent = Evidence(rule: .adaptiveSilence)
    silent.gap = .seconds(42)
    silent.lastHeard = Timestamp(seconds: 3_558)
    silent.interval = .seconds(1)
    silent.receptionShare = 0.5
    let exit = RegionTransition(
      from: .inside,
      to: .outside,
      refinement: EventNarratorTests.tag,
      observer: EventNarratorTests.desk,
      evidence: silent
    )
    let text = words(.regionExit, .region(exit))
    #expect(
      text.hasPrefix("Silent for 42 s (last heard 00:59:18.000). It advertises every 1 s and front desk")
    )
    #expect(!text.contains("\u{A0}"))
  }

  /// What a fix was made of, and the words for it.
  struct FixCase: Sendable {
    var isIndoors = true
    var sources: FixSources = []
    var speed = 0.1
    var course = 0.0
    let expected: String
  }

  static let fixCases: [FixCase] = [
    FixCase(
      sources: [.wifi, .motion],
      speed: 1.3,
      course: Double.pi / 2 + 0.1,
      expected: """
        12.3 m accurate on Ground floor of main, by Wi-Fi and its motion; the newest of it was 400 ms old. \
        It goes to the east at 1.3 m/s. Its satellite receiver may rest: what it hears indoors says more.
        """
    ),
    FixCase(
      expected: """
        12.3 m accurate on Ground floor of main, without new evidence; the newest of it was 400 ms old. \
        Its satellite receiver may rest: what it hears indoors says more.
        """
    ),
    FixCase(
      isIndoors: false,
      sources: .outside,
      speed: 2,
      course: -0.1,
      expected: """
        12.3 m accurate outdoors, by satellites; the newest of it was 400 ms old. \
        It goes to the north at 2.0 m/s.
        """
    ),
  ]

  @Test(
    "a fix tells how accurate it is and where, by what, and what to do about satellites",
    arguments: fixCases
  )
  func fixes(_ example: FixCase) {
    let fix = FixDetail(
      venue: "museum",
      building: example.isIndoors ? "main" : "",
      floorName: example.isIndoors ? "Ground floor" : "",
      horizontalAccuracy: 12.34,
      speed: example.speed,
      course: example.course,
      sources: example.sources,
      age: .milliseconds(400),
      satellites: example.isIndoors ? .notNeeded : .needed
    )
    #expect(
      words(.fix, about: .observer(EventNarratorTests.desk), .fix(fix)) == example.expected
    )
  }

  @Test("observers, ranging, batteries, zones and limits have their words too")
  func others() {
    #expect(
      words(
        .observerQuarantined,
        about: .observer(EventNarratorTests.desk),
        .observer(ObserverTransition())
      )
      .contains("`pharos observer accept desk` lets it in")
    )
    #expect(
      words(
        .observerOnline,
        about: .observer(EventNarratorTests.desk),
        .observer(ObserverTransition())
      )
        == "Heard for the first time."
    )
    let reading = RangedReading(
      beacon: EventNarratorTests.tag,
      rssi: -60,
      accuracy: 1.25,
      deviation: 0.2,
      proximity: .near,
      samples: 3
    )
    let constraint = BeaconConstraint.proximity(UUID128(high: 1, low: 2))
    #expect(
      words(
        .ranging,
        about: .observer(EventNarratorTests.desk),
        .ranging(constraint: constraint, beacons: [reading])
      )
        == "pump is near, about 1.3 m away at −60.0 dBm."
    )
    #expect(
      words(.ranging, .ranging(constraint: constraint, beacons: [])) == "No beacon is in range."
    )
    #expect(
      words(.beaconBattery, .battery(millivolts: 2_950, observer: EventNarratorTests.desk))
        == "Its battery has 2.95 V, as front desk heard."
    )
    #expect(
      words(.regionLimitExceeded, about: SubjectID.none, .regionLimit(limit: 20, refused: "door"))
        == "shop holds 20 regions, the maximum, so door was refused."
    )
    #expect(
      words(.clockStepped, about: SubjectID.none, .clockStep(.seconds(5))).hasPrefix(
        "The server's clock was set by 5 s."
      )
    )
  }

  @Test(
    "a time too short to be stated is left out of the reason of every change of zone",
    arguments: Seeds.drawn(0..<1_000)
  )
  func shortDwells(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for reason in ZoneTransition.Reason.allCases {
      for dwell in [0, Int64.random(in: 0..<500_000, using: &random)] {
        let change = ZoneTransition(
          from: "hall",
          to: "store",
          margin: 6,
          dwell: TimeSpan(nanoseconds: dwell),
          reason: reason
        )
        #expect(!words(.zoneEnter, .zone(change)).contains("0\u{A0}ms"), "\(reason), \(dwell) ns")
      }
    }
    let stated = ZoneTransition(
      from: "hall",
      to: "store",
      margin: 6,
      dwell: .milliseconds(Int64.random(in: 1..<1_000_000, using: &random)),
      reason: .margin
    )
    #expect(words(.zoneEnter, .zone(stated)).contains("it has been ahead for"))
  }
}
