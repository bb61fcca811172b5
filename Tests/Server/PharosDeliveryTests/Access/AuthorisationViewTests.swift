import PharosDelivery
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

@Suite("Which application receives which events")
struct AuthorisationViewTests {
  private let noon = Timestamp(seconds: 1_800_000_000)
  private let applications = ["a", "b", "c"]
  private let subjects: [SubjectID] = [
    .none, .observer(.name("person")), .observer(.name("thing")),
    .beacon(.proximity(UUID128(high: 7, low: 7), major: 1, minor: 1)),
    .beacon(.proximity(UUID128(high: 8, low: 8), major: 1, minor: 1)),
  ]

  private func event(_ application: String, _ subject: SubjectID, kind: EventKind = .regionEnter) -> Event {
    Event(
      stream: "test",
      kind: kind,
      time: noon,
      decidedAt: noon,
      stage: 1,
      subject: subject,
      application: application,
      counter: 1,
      detail: .clockStep(.zero)
    )
  }

  /// The rules once more, as slowly and plainly as they can be said.
  private struct Model {
    var decided: [String: [SubjectID: AuthorisationState]] = [:]
    var persons: Set<SubjectID> = []

    func state(_ application: String, _ subject: SubjectID) -> AuthorisationState {
      decided[application]?[subject] ?? (persons.contains(subject) ? .notDetermined : .always)
    }

    func gate(_ event: Event, live: Set<String>) -> Judgement.Verdict {
      if event.subject == .none || event.kind == .authorisationChanged { return .always }
      if !event.application.isEmpty {
        switch state(event.application, event.subject) {
        case .always: return .always
        case .whenInUse: return live.contains(event.application) ? .live : .withhold
        case .denied, .restricted, .notDetermined: return .withhold
        }
      }
      guard persons.contains(event.subject) else { return .always }
      let states = decided.compactMap { name, states in states[event.subject].map { (name, $0) } }
      if states.contains(where: { $0.1 == .always }) { return .always }
      return states.contains { $0.1 == .whenInUse && live.contains($0.0) } ? .live : .withhold
    }

    func allows(_ event: Event, to reader: String?, isLive: Bool) -> Bool {
      if event.subject == .none || event.kind == .authorisationChanged { return true }
      guard let reader, event.application.isEmpty || event.application == reader else {
        return gate(event, live: []) == .always
      }
      switch state(reader, event.subject) {
      case .always: return true
      case .whenInUse: return isLive
      case .denied, .restricted, .notDetermined: return false
      }
    }
  }

  @Test("any decisions give what the plain rules say", arguments: Seeds.drawn(0..<20 as Range<UInt64>))
  func rules(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let authorisations = try Authorisations(store: try Journal.open(.memory, stream: "test"))
    var model = Model()
    authorisations.declare(
      persons: Persons(observers: [.name("person")], beacons: [.proximity(UUID128(high: 7, low: 7))]),
      purposes: Dictionary(uniqueKeysWithValues: applications.map { ($0, "A purpose.") })
    )
    model.persons = [subjects[1], subjects[3]]
    for _ in 0..<30 {
      let application = applications.randomElement(using: &generator) ?? "a"
      let subject = subjects.dropFirst().randomElement(using: &generator) ?? .none
      let state = AuthorisationState.allCases.randomElement(using: &generator) ?? .denied
      _ = try authorisations.set(
        state,
        application: application,
        subject: subject,
        by: .local,
        stream: "test",
        at: noon
      )
      model.decided[application, default: [:]][subject] = state
      let live = Set(applications.filter { _ in Bool.random(using: &generator) })
      check(authorisations.view, model, live)
    }
  }

  private func verdict(_ view: AuthorisationView, _ event: Event, live: Set<String>) -> Judgement.Verdict? {
    var judge = EventJudge()
    return judge.judge([event], by: view, liveApplications: live).first?.verdict
  }

  private func check(_ view: AuthorisationView, _ model: Model, _ live: Set<String>) {
    for application in applications + [""] {
      for subject in subjects {
        for kind in [EventKind.regionEnter, .zoneEnter, .authorisationChanged] {
          let event = event(application, subject, kind: kind)
          #expect(verdict(view, event, live: live) == model.gate(event, live: live))
          for reader in [nil, "a", "b", "unknown"] as [String?] {
            for isLive in [true, false] {
              #expect(
                (view.gate(to: reader, isLive: isLive).passed(event) != nil)
                  == model.allows(event, to: reader, isLive: isLive)
              )
            }
          }
        }
      }
    }
  }

  @Test(
    "a person's mark reaches every way of writing the identity",
    arguments: [
      (BeaconConstraint.proximity(UUID128(high: 1, low: 2)), true),
      (.proximity(UUID128(high: 1, low: 2), major: 3), true),
      (.proximity(UUID128(high: 1, low: 2), minor: 4), true),
      (.proximity(UUID128(high: 1, low: 2), major: 3, minor: 4), true),
      (.proximity(UUID128(high: 1, low: 2), major: 3, minor: 5), false),
      (.proximity(UUID128(high: 1, low: 3)), false),
      (.address(DeviceAddress(bits: 0xAABB_CCDD_EEFF, kind: .random)), true),
      (.address(DeviceAddress(bits: 0xAABB_CCDD_EE00, kind: .public)), false),
    ]
  )
  func marks(constraint: BeaconConstraint, isPerson: Bool) {
    let beacon = BeaconID.proximity(UUID128(high: 1, low: 2), major: 3, minor: 4)
      .keyed(by: DeviceAddress(bits: 0xAABB_CCDD_EEFF, kind: .public))
    #expect(Persons(beacons: [constraint]).contains(.beacon(beacon)) == isPerson)
    let tag = BeaconID.address(DeviceAddress(bits: 0xAABB_CCDD_EEFF, kind: .public))
    if case .address = constraint {
      #expect(Persons(beacons: [constraint]).contains(.beacon(tag)) == isPerson)
    }
  }

  @Test("without a person or a decision everything is open")
  func open() throws {
    let view = try Authorisations(store: try Journal.open(.memory, stream: "test")).view
    #expect(view.isOpen)
    for subject in subjects {
      #expect(verdict(view, event("a", subject), live: []) == .always)
      #expect(view.gate(to: "b", isLive: false).passed(event("a", subject)) != nil)
    }
  }
}
