import PharosModel
import PharosPublishing
import PharosTestSupport
import Testing

/// The reasons for which an application gets nothing, from the facts of one instant.
@Suite("Diagnostics of an application")
struct ServiceDiagnosticTests {
  typealias Reason = ServiceDiagnostic.Reason

  private static let uuid = UUID128(high: 1, low: 2)
  private static let now = Timestamp(seconds: 1_750_000_000)
  private static let gate = ObserverID.name("gate")
  private static let phone = ObserverID.name("phone")
  private static let tag = SubjectID.beacon(.proximity(uuid, major: 1, minor: 7))
  private static let unheard = SubjectID.beacon(.proximity(uuid, major: 9, minor: 7))

  /// A region about tags that all observers hear, unless some are listed.
  private static func tags(_ identifier: String = "tags", observers: [ObserverID]? = nil) -> Region {
    Region(
      identifier: identifier,
      constraint: .proximity(uuid, major: 1),
      subject: .beacon(observers: observers)
    )
  }

  private static func circle(_ subject: Region.Subject = .observer, radius: Double = 25) -> Region {
    let center = Geofence.Position(latitude: 52.52, longitude: 13.4)
    return Region(
      identifier: "court",
      geofence: Geofence(shape: .circle(center: center, radius: Meters(radius))),
      subject: subject
    )
  }

  private static func observer(
    isUp: Bool = true,
    isListed: Bool = true,
    scanState: ScanState = .foreground
  ) -> ServiceFacts.Observer {
    ServiceFacts.Observer(isUp: isUp, isListed: isListed, scanState: scanState, lastHeard: now)
  }

  /// An application that gets everything: a region about tags, and a gateway that is up.
  private static func facts(_ change: (inout ServiceFacts) -> Void = { _ in }) -> ServiceFacts {
    var facts = ServiceFacts(application: "gallery")
    facts.regions = [tags()]
    facts.heldRegions = 1
    facts.observers = [gate: observer()]
    change(&facts)
    return facts
  }

  /// The same, about a subject that is heard.
  private static func facts(
    about subject: SubjectID,
    _ change: (inout ServiceFacts) -> Void = { _ in }
  ) -> ServiceFacts {
    facts { facts in
      facts.subject = ServiceFacts.Subject(subject)
      facts.subject?.hearers = [gate]
      change(&facts)
    }
  }

  private func reasons(_ facts: ServiceFacts) -> [Reason] { facts.diagnostics().map(\.reason) }

  @Test("an application that gets everything has no diagnostic")
  func well() {
    #expect(reasons(Self.facts()).isEmpty)
    #expect(reasons(Self.facts(about: Self.tag)).isEmpty)
    let handset = Self.facts(about: .observer(Self.phone)) { facts in
      facts.regions.append(Region(identifier: "anywhere", constraint: .proximity(Self.uuid)))
      facts.observers[Self.phone] = Self.observer(isListed: false)
    }
    #expect(reasons(handset).isEmpty)
  }

  @Test("without a condition no gateway is named, and the limit is that of the server")
  func conditions() {
    let none = Self.facts { facts in
      facts.regions = []
      facts.heldRegions = 0
      facts.observers = [:]
    }
    #expect(reasons(none) == [.conditionMissing])
    let ranging = Self.facts { facts in
      facts.regions = []
      facts.ranging = [.proximity(Self.uuid)]
    }
    #expect(reasons(ranging).isEmpty)
    #expect(reasons(Self.facts { $0.heldRegions = 19 }).isEmpty)
    let full = Self.facts { $0.heldRegions = 20 }.diagnostics()
    #expect(full.map(\.reason) == [.conditionLimitExceeded])
    #expect(full.first?.message.contains("20 regions") == true)
    #expect(full.first?.expected == "fewer than 20 regions")
    let area = Self.facts { facts in
      facts.regions.append(Self.circle(.beacon(observers: nil)))
      facts.unsupported = ["court"]
    }
    #expect(area.diagnostics().map(\.region) == ["court"])
    #expect(reasons(area) == [.conditionUnsupported])
  }

  @Test(
    "an authorisation other than always is named, and hides all else about the subject",
    arguments: [
      (AuthorisationState.denied, Reason.authorizationDenied), (.restricted, .authorizationRestricted),
      (.notDetermined, .authorizationRequestInProgress), (.whenInUse, .alwaysAuthorizationDenied),
    ]
  )
  func authorisation(state: AuthorisationState, reason: Reason) {
    let hidden = Self.facts(about: Self.unheard) { facts in
      facts.subject?.authorisation = state
      facts.subject?.isShown = false
      facts.subject?.hearers = []
      facts.observers = [:]
    }
    let found = hidden.diagnostics()
    #expect(found.map(\.reason) == [reason])
    #expect(found.first?.subject == Self.unheard)
    #expect(found.first?.observers == [])
    let many = Self.facts { $0.withheld = [state: 2, .always: 5] }.diagnostics()
    #expect(many.map(\.reason) == [reason])
    #expect(many.first?.subject == SubjectID.none)
    #expect(many.first?.message.contains("2 subjects") == true)
  }

  @Test("reduced accuracy is stated for the application as a whole")
  func reduced() {
    let found = Self.facts { $0.accuracy = .floor }.diagnostics()
    #expect(found.map(\.reason) == [.fullAccuracyDenied])
    #expect(found.first?.message.contains("floor") == true)
    let silent = Self.facts(about: Self.tag) { facts in
      facts.accuracy = .zone
      facts.subject?.hearers = []
    }
    #expect(reasons(silent) == [.fullAccuracyDenied], "what hears it is where it is")
  }

  @Test("gateways that are down are named: all of them, those of a region, or those that the site lists")
  func gateways() {
    let all = Self.facts { $0.observers = [Self.gate: Self.observer(isUp: false)] }.diagnostics()
    #expect(all.map(\.reason) == [.observerDown])
    #expect(all.first?.observers == [Self.gate])
    #expect(all.first?.message.contains(Self.now.rfc3339) == true)

    let other = ObserverID.name("other")
    let lost = Self.facts { $0.observers[other] = Self.observer(isUp: false) }.diagnostics()
    #expect(lost.map(\.reason) == [.observerDown])
    #expect(lost.first?.observers == [other])
    // A handset that has left is no gateway that is down.
    #expect(reasons(Self.facts { $0.observers[other] = Self.observer(isUp: false, isListed: false) }).isEmpty)

    let listing = Self.facts { facts in
      facts.regions = [Self.tags("a", observers: [Self.gate]), Self.tags("b", observers: [other])]
      facts.observers[other] = Self.observer(isUp: false)
    }
    #expect(listing.diagnostics().map(\.reason) == [.observerDown])
    #expect(listing.diagnostics().map(\.region) == ["b"], "no region counts the others")
    let many = Self.facts { facts in
      for number in 0..<30 { facts.observers[.name("o\(number)")] = Self.observer(isUp: false) }
    }
    #expect(many.diagnostics().first?.observers.count == ServiceDiagnostic.maximumObservers)
    #expect(many.diagnostics().first?.message.contains("30 of 31") == true)
  }

  @Test("no observer at all, none of those that a region lists, and none near an area are no coverage")
  func coverage() {
    #expect(reasons(Self.facts { $0.observers = [:] }) == [.noCoverage])
    let missing = Self.facts { $0.regions = [Self.tags(observers: [.name("never")])] }.diagnostics()
    #expect(missing.map(\.reason) == [.noCoverage])
    #expect(missing.map(\.region) == ["tags"])
    // One degree of latitude is 111 km here: 75 m are the radius and the range of hearing.
    for (metres, isCovered) in [(0.0, true), (74.0, true), (76.0, false), (5_000.0, false)] {
      let area = Self.facts { facts in
        facts.regions = [Self.circle(.beacon(observers: nil))]
        facts.placements = [Geofence.Position(latitude: 52.52 + metres / 111_000, longitude: 13.4)]
      }
      #expect(reasons(area) == (isCovered ? [] : [.noCoverage]), "\(metres) m")
    }
    let handsets = Self.facts { $0.regions = [Self.circle()] }
    #expect(reasons(handsets).isEmpty, "handsets locate themselves")
  }

  @Test("a tag that no observer hears, that is heard elsewhere, or that no condition is about")
  func tag() {
    let silent = Self.facts(about: Self.tag) { facts in
      facts.subject?.hearers = []
      facts.subject?.lastHeard = Self.now
    }
    .diagnostics()
    #expect(silent.map(\.reason) == [.noCoverage])
    #expect(silent.first?.message.contains(Self.now.rfc3339) == true)
    #expect(silent.first?.subject == Self.tag)

    let down = Self.facts(about: Self.tag) { facts in
      facts.subject?.hearers = []
      facts.observers = [Self.gate: Self.observer(isUp: false)]
    }
    #expect(reasons(down) == [.observerDown, .noCoverage])

    let elsewhere = Self.facts(about: Self.tag) { facts in
      facts.regions = [Self.tags(observers: [.name("attic")])]
    }
    .diagnostics()
    #expect(elsewhere.map(\.reason) == [.noCoverage])
    #expect(elsewhere.first?.observers == [Self.gate])
    #expect(elsewhere.first?.region == "tags")

    #expect(reasons(Self.facts(about: Self.unheard)) == [.conditionMissing])
    // A region about observers that hear the tag is not about the tag.
    let handsets = Self.facts(about: Self.tag) { facts in
      facts.regions = [Region(identifier: "anywhere", constraint: .proximity(Self.uuid))]
    }
    #expect(reasons(handsets) == [.conditionMissing])
  }

  @Test("a handset that never reported, is down, or has stopped scanning")
  func handset() {
    func reasons(_ observer: ServiceFacts.Observer?) -> [Reason] {
      self.reasons(
        Self.facts(about: .observer(Self.phone)) { facts in
          facts.regions = [Region(identifier: "anywhere", constraint: .proximity(Self.uuid))]
          facts.observers[Self.phone] = observer
        }
      )
    }
    #expect(reasons(nil) == [.noCoverage])
    #expect(reasons(Self.observer(isUp: false, isListed: false)) == [.observerDown])
    #expect(reasons(Self.observer(scanState: .off)) == [.authorizationDeniedGlobally])
    #expect(reasons(Self.observer(scanState: .windowed)).isEmpty)
  }

  @Test("an area needs a fix, as accurate as the area is large", arguments: [25.0, 400])
  func fixes(radius: Double) {
    func reasons(_ location: ServiceFacts.Location) -> [Reason] {
      self.reasons(
        Self.facts(about: .observer(Self.phone)) { facts in
          facts.regions = [Self.circle(radius: radius)]
          facts.observers[Self.phone] = Self.observer(isListed: false)
          facts.subject?.location = location
        }
      )
    }
    #expect(reasons(.unknown).isEmpty)
    #expect(reasons(.unavailable) == [.locationUnavailable])
    // What events count as its location counts here: inside an area it is located.
    let inside = Self.facts(about: .observer(Self.phone)) { facts in
      facts.regions = [Self.circle(radius: radius)]
      facts.observers[Self.phone] = Self.observer(isListed: false)
      facts.subject?.location = .unavailable
      facts.subject?.inside = ["court"]
    }
    #expect(inside.diagnostics().isEmpty)
    #expect(reasons(.within(radius)).isEmpty)
    #expect(reasons(.within(radius + 1)) == [.accuracyLimited])
  }

  @Test("an area that nothing can decide is named with what it needs of a venue, for each kind of area")
  func needs() {
    let center = Geofence.Position(latitude: 52.52, longitude: 13.4)
    var messages: Set<String> = []
    for reference in Geofence.AltitudeRange.Reference.allCases {
      for subject in [Region.Subject.observer, .beacon(observers: nil)] {
        for (level, building) in [(nil, nil), (0, nil), (2, nil), (0, "annex")] as [(Int?, String?)] {
          for hasHeights in [false, true] {
            let geofence = Geofence(
              shape: .circle(center: center, radius: Meters(9)),
              level: level,
              building: building,
              altitude: hasHeights ? Geofence.AltitudeRange(to: Meters(9), reference: reference) : nil
            )
            let region = Region(identifier: "court", geofence: geofence, subject: subject)
            let needs: [(Bool, Region.VenueNeed, String)] = [
              (subject != .observer, .tags, "tag"), (level == 2 || building != nil, .floor, "floor"),
              (hasHeights && reference == .seaLevel, .seaLevel, "sea level"),
            ]
            let need = needs.first(where: \.0)
            #expect(region.needOfVenue == need?.1)
            let found = Self.facts { facts in
              facts.regions = [region]
              facts.unsupported = ["court"]
            }.diagnostics().filter { $0.reason == .conditionUnsupported }
            #expect(found.count == (need == nil ? 0 : 1))
            #expect(found.allSatisfy { $0.message.contains(need?.2 ?? "") }, "\(found)")
            messages.formUnion(found.map { $0.message + $0.expected + $0.remedy })
          }
        }
      }
    }
    #expect(messages.count == Region.VenueNeed.allCases.count)
  }

  @Test("each diagnostic says once what is expected and what to do, in the order of the kinds")
  func drawn() {
    for seed in Seeds.drawn(UInt64(1)..<200) {
      var generator = SeededGenerator(seed: seed)
      let found = Self.drawn(&generator).diagnostics()
      let order = found.compactMap { Reason.allCases.firstIndex(of: $0.reason) }
      #expect(order == order.sorted(), "seed \(seed)")
      #expect(Set(found).count == found.count, "seed \(seed)")
      for diagnostic in found {
        #expect(diagnostic.message.hasSuffix("."), "\(diagnostic.message)")
        #expect(!diagnostic.expected.isEmpty && diagnostic.remedy.hasSuffix("."))
        #expect(diagnostic.observers == diagnostic.observers.sorted())
      }
    }
  }

  private static func drawn(_ generator: inout SeededGenerator) -> ServiceFacts {
    var facts = ServiceFacts(application: "gallery")
    let names = (0..<4).map { ObserverID.name("o\($0)") }
    let regions = [
      tags(), tags("listed", observers: [names[0], names[1]]), circle(), circle(.beacon(observers: nil)),
      Region(identifier: "anywhere", constraint: .proximity(uuid)),
    ]
    facts.regions = regions.filter { _ in Bool.random(using: &generator) }
    facts.heldRegions = Int.random(in: 0...20, using: &generator)
    facts.ranging = Bool.random(using: &generator) ? [.proximity(uuid)] : []
    for name in names where Bool.random(using: &generator) {
      facts.observers[name] = observer(
        isUp: Bool.random(using: &generator),
        isListed: Bool.random(using: &generator),
        scanState: [.off, .windowed, .foreground].randomElement(using: &generator) ?? .off
      )
    }
    guard let subject = [nil, tag, unheard, .observer(names[0])].randomElement(using: &generator) ?? nil
    else { return facts }
    facts.subject = ServiceFacts.Subject(subject)
    let state = AuthorisationState.allCases.randomElement(using: &generator) ?? .always
    facts.subject?.authorisation = state
    facts.subject?.isShown = state == .always
    facts.subject?.hearers = names.filter { _ in Bool.random(using: &generator) }
    facts.subject?.location =
      [.unknown, .unavailable, .within(30)].randomElement(using: &generator) ?? .unknown
    return facts
  }
}
