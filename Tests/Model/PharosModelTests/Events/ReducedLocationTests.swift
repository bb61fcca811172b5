import PharosModel
import Testing

@Suite("Events of reduced accuracy")
struct ReducedLocationTests {
  private static let phone = SubjectID.observer(.name("phone"))
  /// The words of the events below, each with the coarsest accuracy that shows it.
  private static let words: [(accuracy: AccuracyAuthorisation, word: String)] = [
    (.venue, "museum"), (.building, "annex"), (.floor, "mezzanine"), (.floor, "\"level\":3"),
    (.zone, "rembrandt"),
    (.full, "59.32931234"), (.full, "18.06861234"), (.full, "7.125"),
  ]

  private static func event(
    _ kind: EventKind,
    region: String = "",
    counter: UInt64 = 1,
    _ detail: EventDetail
  ) -> Event {
    Event(
      stream: "test",
      kind: kind,
      time: Timestamp(seconds: 10),
      decidedAt: Timestamp(seconds: 10),
      stage: 2,
      subject: phone,
      region: region,
      counter: counter,
      detail: detail
    )
  }

  private static let fix = event(
    .fix,
    .fix(
      FixDetail(
        venue: "museum",
        building: "annex",
        level: 3,
        floorName: "mezzanine",
        room: "rembrandt",
        place: "night-watch",
        latitude: 59.329_312_34,
        longitude: 18.068_612_34,
        x: 7.125,
        y: 7.125,
        horizontalAccuracy: 2,
        speed: 1.5,
        course: 1,
        sources: .wifi,
        age: .zero
      )
    )
  )

  private static func visit(
    _ kind: EventKind,
    at place: String = "rembrandt",
    _ placeKind: VisitDetail.Place.Kind = .area,
    end: VisitDetail.Evidence.End = .lasting
  ) -> Event {
    event(
      kind,
      region: place,
      .visit(
        VisitDetail(
          visit: EventID(high: 1, low: 1),
          arrival: Timestamp(seconds: 5),
          departure: kind == .visitDepart ? Timestamp(seconds: 10) : nil,
          venue: "museum",
          floor: VisitDetail.Floor(building: "annex", level: 3, name: "mezzanine", x: 7.125, y: 7.125),
          latitude: 59.329_312_34,
          longitude: 18.068_612_34,
          horizontalAccuracy: 2,
          place: VisitDetail.Place(kind: placeKind, identifier: place),
          evidence: VisitDetail.Evidence(fixes: 9, spread: 1, end: end)
        )
      )
    )
  }

  @Test(
    "a fix and a visit keep the places that the accuracy allows, and nothing finer",
    arguments: AccuracyAuthorisation.allCases
  )
  func places(accuracy: AccuracyAuthorisation) throws {
    for event in [Self.fix, Self.visit(.visitArrive), Self.visit(.visitDepart, end: .moved)] {
      let text = try #require(event.reduced(to: accuracy)).cloudEvent(stream: "test")
      for (coarsest, word) in Self.words {
        #expect(text.contains(word) == (coarsest <= accuracy), "\(word) in \(text)")
      }
      #expect(text.contains("\"reducedTo\":\"\(accuracy.rawValue)\"") == accuracy.isReduced)
      #expect(text.contains("\"horizontalAccuracy\":-1") == accuracy.isReduced)
    }
    #expect(Self.fix.reduced(to: .full) == Self.fix)
  }

  @Test("a reduced fix keeps whether software or an accessory made it, without accuracies or heading")
  func sourceInformation() throws {
    guard case .fix(var fix) = Self.fix.detail else { return }
    fix.sourceInformation = .all
    (fix.floorCertainty, fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy) = (1, 4, 40, 2)
    (fix.speedAccuracy, fix.courseAccuracy, fix.heading, fix.headingAccuracy) = (0.1, 0.2, 3, 0.4)
    for accuracy in AccuracyAuthorisation.allCases where accuracy.isReduced {
      var reduced = fix.reduced(to: accuracy)
      #expect(reduced.sourceInformation.isSimulatedBySoftware)
      #expect(reduced.sourceInformation.isProducedByAccessory)
      #expect(!reduced.sourceInformation.contains(.visualPositioning))
      reduced.sourceInformation = []
      #expect(reduced == Self.fix.fix(reducedTo: accuracy))
    }
    #expect(fix.reduced(to: .full) == fix)
  }

  @Test("a point of interest is finer than a zone, in fixes and visits")
  func pointsOfInterest() throws {
    let visit = Self.visit(.visitArrive, at: "night-watch", .pointOfInterest)
    for event in [Self.fix, visit] {
      let text = try #require(event.reduced(to: .zone)).cloudEvent(stream: "test")
      #expect(!text.contains("night-watch"), "\(text)")
    }
  }

  @Test("events finer than any place are withheld, and those that locate nothing pass")
  func kinds() {
    let finer: Set<EventKind> = [
      .regionState, .regionEnter, .regionExit, .regionUnmonitored, .regionHoldExceeded, .ranging,
      .beaconBattery, .notification, .positioningState, .scanRequested, .guidance, .regionsOutside,
    ]
    for kind in EventKind.allCases {
      let event = Self.event(kind, .clockStep(.zero))
      #expect((event.reduced(to: .zone) == nil) == finer.contains(kind), "\(kind)")
      let isHidden = finer.contains(kind) || kind.group == .zone
      #expect((event.reduced(to: .floor) == nil) == isHidden, "\(kind)")
      #expect(event.reduced(to: .full) == event)
    }
  }

  @Test("a change of zone is published at the accuracy of zones, without levels and observers")
  func zones() throws {
    var transition = ZoneTransition(from: nil, to: "lobby", margin: 6, dwell: .seconds(3), reason: .margin)
    transition.hearings = [ZoneTransition.Hearing(observer: .name("desk"), level: -60)]
    let event = Self.event(.zoneEnter, region: "lobby", .zone(transition))
    let text = try #require(event.reduced(to: .zone)).cloudEvent(stream: "test")
    #expect(text.contains("lobby") && !text.contains("desk") && !text.contains("margin\":6"), "\(text)")
    #expect(event.reduced(to: .floor) == nil)
  }

  @Test("the ids of a reduced visit are the same at every place, and pair its ends")
  func ids() throws {
    let arrivals = try ["rembrandt", "vermeer"].map {
      try #require(Self.visit(.visitArrive, at: $0).reduced(to: .floor))
    }
    #expect(arrivals[0] == arrivals[1])
    let departure = try #require(Self.visit(.visitDepart, end: .moved).reduced(to: .floor))
    guard case .visit(let arrived) = arrivals[0].detail, case .visit(let departed) = departure.detail else {
      Issue.record("no visits")
      return
    }
    #expect(arrived.visit == departed.visit && arrived.visit != EventID(high: 1, low: 1))
    #expect(departure.id != arrivals[0].id)
  }

  @Test("the end of a reduced visit tells of no change of floor or zone")
  func ends() throws {
    for end in VisitDetail.Evidence.End.allCases {
      let event = try #require(Self.visit(.visitDepart, end: end).reduced(to: .building))
      guard case .visit(let visit) = event.detail else { continue }
      #expect([.lasting, .moved, .silence, .dropped].contains(visit.evidence.end), "\(end)")
    }
  }
}

extension Event {
  /// The fix of the event at an accuracy, or nil of another event.
  fileprivate func fix(reducedTo accuracy: AccuracyAuthorisation) -> FixDetail? {
    guard case .fix(let fix) = detail else { return nil }
    return fix.reduced(to: accuracy)
  }
}
