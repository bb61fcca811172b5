import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import Testing

@Suite("Counts and lists of subjects without the hidden ones")
struct EventJudgeTests {
  private static let uuid = UUID128(high: 1, low: 2)
  private static let hidden = BeaconID.proximity(uuid, major: 1, minor: 9)
  private static let shown = (1...3).map { BeaconID.proximity(uuid, major: 1, minor: $0) }

  private func authorisations() throws -> Authorisations {
    let authorisations = try Authorisations(store: try Journal.open(.memory, stream: "test"))
    try authorisations.mark(.beacon(Self.hidden), isPerson: true)
    return authorisations
  }

  private func event(
    _ kind: EventKind,
    _ subject: SubjectID,
    _ second: Int64,
    region: String = "",
    application: String = "",
    _ detail: EventDetail
  ) -> Event {
    Event(
      stream: "test",
      kind: kind,
      time: Timestamp(seconds: second),
      decidedAt: Timestamp(seconds: second),
      stage: 2,
      subject: subject,
      application: application,
      region: region,
      counter: UInt64(second),
      detail: detail
    )
  }

  private func zone(_ kind: EventKind, _ beacon: BeaconID, _ second: Int64) -> Event {
    let transition = ZoneTransition(from: nil, to: nil, margin: nil, dwell: nil, reason: .margin)
    return event(kind, .beacon(beacon), second, region: "lobby", .zone(transition))
  }

  private func occupancy(_ direction: OccupancyTransition.Direction, _ count: Int, _ second: Int64) -> Event {
    let threshold = OccupancyThreshold(above: 2, below: 2)
    return event(
      .zoneOccupancy,
      .none,
      second,
      region: "lobby",
      .occupancy(OccupancyTransition(direction: direction, count: count, threshold: threshold))
    )
  }

  private func ranging(_ beacons: [BeaconID], _ second: Int64) -> Event {
    let readings = beacons.map {
      RangedReading(beacon: $0, rssi: -60, accuracy: 1, deviation: 1, proximity: .near, samples: 1)
    }
    return event(
      .ranging,
      .observer(.name("desk")),
      second,
      application: "gallery",
      .ranging(constraint: .proximity(Self.uuid), beacons: readings)
    )
  }

  /// The counts of the occupancy events and the lists of the rangings that are published; nil for a withheld one.
  private func published(_ batches: [[Event]], _ judge: inout EventJudge, _ view: AuthorisationView) -> [Int?]
  {
    batches.flatMap { judge.judge($0, by: view, liveApplications: []) }.compactMap { judgement -> Int?? in
      guard judgement.kept.kind == .zoneOccupancy || judgement.kept.kind == .ranging else { return nil }
      guard judgement.verdict != .withhold else { return .some(nil) }
      switch judgement.published.detail {
      case .occupancy(let transition): return transition.count
      case .ranging(_, let beacons): return beacons.count
      default: return nil
      }
    }
  }

  @Test("a number that only a hidden beacon brings above a threshold is withheld, with the crossing back")
  func occupancies() throws {
    let view = try authorisations().view
    var judge = EventJudge()
    let batches = [
      [zone(.zoneEnter, Self.shown[0], 1), zone(.zoneEnter, Self.shown[1], 2)],
      // Of one instant the number comes first.
      [occupancy(.above, 3, 3), zone(.zoneEnter, Self.hidden, 3)],
      [occupancy(.below, 1, 4), zone(.zoneExit, Self.hidden, 4), zone(.zoneExit, Self.shown[0], 4)],
      [zone(.zoneEnter, Self.shown[0], 5), zone(.zoneEnter, Self.hidden, 5)],
      [zone(.zoneEnter, Self.shown[2], 6), occupancy(.above, 4, 6)],
      [occupancy(.below, 1, 7)],
    ]
    #expect(published(batches, &judge, view) == [nil, nil, 3, 0])
    var open = EventJudge()
    let everything = try Authorisations(store: try Journal.open(.memory, stream: "test")).view
    #expect(published(batches, &open, everything) == [3, 1, 4, 1])
    var resumed = EventJudge(
      zones: [
        PublishedState.ZoneRecord(
          beacon: Self.hidden,
          zone: "lobby",
          time: .distantPast,
          decidedAt: .distantPast
        )
      ]
    )
    #expect(published([[occupancy(.above, 3, 1)]], &resumed, view) == [nil], "known from before the restart")
  }

  @Test("a list of hidden beacons is withheld; after one with others an empty list follows once")
  func lists() throws {
    let view = try authorisations().view
    var judge = EventJudge()
    let (hidden, shown) = (Self.hidden, Self.shown[0])
    let batches = [[hidden], [], [hidden, shown], [hidden], [hidden], [], [shown], []].enumerated().map {
      [ranging($0.element, Int64($0.offset))]
    }
    #expect(published(batches, &judge, view) == [nil, nil, 1, 0, nil, nil, 1, 0])
  }

  @Test("journalled events have no identities that only live streams may contain")
  func whileInUse() throws {
    let authorisations = try authorisations()
    try authorisations.setPurpose("To greet you.", application: "gallery")
    _ = try authorisations.set(
      .whenInUse,
      application: "gallery",
      subject: .beacon(Self.hidden),
      by: .local,
      stream: "test",
      at: Timestamp(seconds: 0)
    )
    var judge = EventJudge()
    let events = [ranging([Self.hidden, Self.shown[0]], 1)]
    let judged = judge.judge(events, by: authorisations.view, liveApplications: ["gallery"])
    #expect(judged.map(\.verdict) == [.always])
    #expect(judged[0].published == events[0])
    guard case .ranging(_, let kept) = judged[0].kept.detail else { return }
    #expect(kept.map(\.beacon) == [Self.shown[0]])
    let gate = authorisations.view.gate(to: nil, isLive: true)
    #expect(gate.passed(judged[0].published) == judged[0].kept)
  }

  @Test("a decision about a device holds for each of its identities, the strictest of several")
  func forms() throws {
    let authorisations = try Authorisations(store: try Journal.open(.memory, stream: "test"))
    let address = DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .random)
    let (plain, keyed) = (Self.shown[0], Self.shown[0].keyed(by: address))
    func decide(_ state: AuthorisationState, _ subject: SubjectID) throws {
      _ = try authorisations.set(
        state,
        application: "gallery",
        subject: subject,
        by: .local,
        stream: "test",
        at: Timestamp(seconds: 0)
      )
    }
    func shows(_ subjects: [SubjectID]) -> [Bool] {
      subjects.map { authorisations.view.gate(to: "gallery", isLive: false).shows($0) }
    }
    let forms: [SubjectID] = [
      .beacon(plain), .beacon(keyed), .beacon(.address(address)), .observer(.eui48(address.bits)),
    ]
    try decide(.denied, .beacon(plain))
    #expect(shows(forms) == [false, false, true, true])
    try decide(.denied, .beacon(keyed))
    try decide(.always, .beacon(plain))
    #expect(shows(forms) == [true, false, false, false])
    try decide(.always, .observer(.eui48(address.bits)))
    #expect(shows(forms) == [true, false, false, false])
    authorisations.forgetting(application: "gallery").adopt()
    #expect(shows(forms) == [true, true, true, true])
    try authorisations.mark(.observer(.eui48(address.bits)), isPerson: true)
    #expect(shows(forms) == [true, false, false, false])
  }

  @Test("a page that names a hidden identity in any spelling is recognised")
  func pages() throws {
    let authorisations = try authorisations()
    try authorisations.mark(.observer(.name("Bob & Eve")), isPerson: true)
    try authorisations.mark(
      .beacon(.address(DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .random))),
      isPerson: true
    )
    let gate = authorisations.view.gate(to: nil, isLive: false)
    for text in [
      "<td>\(Self.hidden)</td>", "of \("\(Self.hidden)".lowercased()),", "c0:ff:ee:00:00:01", "by Bob & Eve",
    ] {
      #expect(gate.hidesWord(of: text), "\(text)")
    }
    for text in ["<td>\(Self.shown[0])</td>", "c0:ff:ee:00:00:02", "", "Bob"] {
      #expect(!gate.hidesWord(of: text), "\(text)")
    }
  }
}
