import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import Synchronization
import Testing

@Suite("Full and reduced accuracy")
struct AccuracyTests {
  private let noon = Timestamp(seconds: 1_800_000_000)
  private let tag = SubjectID.beacon(.proximity(UUID128(high: 1, low: 2), major: 1, minor: 9))

  /// A clock that a test sets.
  private final class Clock: Sendable {
    private let seconds = Mutex<Double>(0)

    var uptime: @Sendable () -> TimeSpan { { [self] in .seconds(seconds.withLock { $0 }) } }

    func pass(_ span: Double) { seconds.withLock { $0 += span } }
  }

  private func make(
    _ accuracy: AccuracyAuthorisation = .floor,
    _ clock: Clock = Clock(),
    store: (any DocumentStore<JournalError>)? = nil
  ) throws -> Authorisations {
    let authorisations = try Authorisations(
      store: try store ?? Journal.open(.memory, stream: "test"),
      uptime: clock.uptime
    )
    authorisations.declare(
      persons: Persons(),
      purposes: [:],
      accuracies: ["gallery": AccuracyPolicy(accuracy, purposes: ["way": "To show the way."])]
    )
    return authorisations
  }

  private func access(_ authorisations: Authorisations, isLive: Bool = false) -> AccuracyAuthorisation? {
    authorisations.view.gate(to: "gallery", isLive: isLive).access(to: tag)
  }

  private func request(
    _ authorisations: Authorisations,
    _ key: String = "way",
    for duration: TimeSpan?,
    isLive: Bool = false
  ) throws(AccessError) {
    try authorisations.requestFullAccuracy(
      application: "gallery",
      purpose: key,
      for: duration,
      isLive: isLive,
      at: noon
    )
  }

  @Test(
    "an application learns of a subject as finely as is declared, others and the operator fully",
    arguments: AccuracyAuthorisation.allCases
  )
  func declared(accuracy: AccuracyAuthorisation) throws {
    let authorisations = try make(accuracy)
    #expect(access(authorisations) == accuracy)
    #expect(authorisations.view.gate(to: "shop", isLive: true).access(to: tag) == .full)
    let boss = authorisations.view.gate(to: nil, isLive: false)
    #expect(boss.access(to: tag) == .full)
    #expect(boss.access(to: tag, of: "gallery") == accuracy, "its data are no finer to others")
    #expect(authorisations.view.isOpen == (accuracy == .full))
  }

  @Test("a subject that is denied is denied at any accuracy")
  func denied() throws {
    for accuracy in AccuracyAuthorisation.allCases {
      let authorisations = try make(accuracy)
      _ = try authorisations.set(
        .denied,
        application: "gallery",
        subject: tag,
        by: .local,
        stream: "test",
        at: noon
      )
      #expect(access(authorisations, isLive: true) == nil)
    }
  }

  @Test("a purpose that is not declared is refused with the words that declare it")
  func undeclared() throws {
    let authorisations = try make()
    let error = #expect(throws: AccessError.self) {
      try request(authorisations, "sales", for: .seconds(60))
    }
    let text = try #require(error).description
    #expect(
      text.contains("\"sales\"") && text.contains("temporaryPurposes") && text.contains("way"),
      "\(text)"
    )
    #expect(access(authorisations) == .floor)
  }

  @Test("full accuracy of a stated duration ends after it, for every reader")
  func duration() throws {
    let clock = Clock()
    let authorisations = try make(.floor, clock)
    try request(authorisations, for: .seconds(60))
    #expect(access(authorisations) == .full && access(authorisations, isLive: true) == .full)
    guard case .at(_, let until)? = authorisations.temporaryAccuracy(of: "gallery")?.end else {
      Issue.record("no end")
      return
    }
    #expect(until == noon + .seconds(60))
    clock.pass(59.9)
    #expect(access(authorisations) == .full)
    let before = authorisations.view.revision
    clock.pass(0.1)
    #expect(access(authorisations) == .floor && access(authorisations, isLive: true) == .floor)
    #expect(authorisations.view.revision > before)
    #expect(authorisations.temporaryAccuracy(of: "gallery") == nil)
  }

  @Test("full accuracy of a session is for live streams, and needs one")
  func session() throws {
    let authorisations = try make()
    #expect(throws: AccessError.noSession(application: "gallery")) { try request(authorisations, for: nil) }
    try request(authorisations, for: nil, isLive: true)
    #expect(access(authorisations) == .floor && access(authorisations, isLive: true) == .full)
    authorisations.endTemporaryAccuracy(of: "gallery")
    #expect(access(authorisations, isLive: true) == .floor)
  }

  @Test("full accuracy ends when its purpose is no longer declared, and with the application")
  func withdrawn() throws {
    let authorisations = try make()
    try request(authorisations, for: .seconds(60))
    authorisations.declare(
      persons: Persons(),
      purposes: [:],
      accuracies: ["gallery": AccuracyPolicy(.floor, purposes: ["other": "Another one."])]
    )
    #expect(access(authorisations) == .floor)
    let policy = AccuracyPolicy(.venue, purposes: ["way": "To show the way."])
    authorisations.settingAccuracy(policy, application: "gallery").adopt()
    try request(authorisations, for: .seconds(60))
    authorisations.forgetting(application: "gallery").adopt()
    #expect(access(authorisations) == .floor, "as the site declares it")
  }

  @Test("an accuracy that was set over HTTP survives a restart, a temporary one does not")
  func restart() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let first = try make(.floor, store: journal)
    let policy = AccuracyPolicy(.venue, purposes: ["way": "To show the way."])
    let change = first.settingAccuracy(policy, application: "gallery")
    try journal.change(change.documents)
    change.adopt()
    try request(first, for: .seconds(60))
    #expect(access(first) == .full)
    #expect(access(try make(.floor, store: journal)) == .venue)
  }

  @Test("stored events are searched without the kinds and the places that are kept back")
  func search() throws {
    let gate = try make(.floor).view.gate(to: "gallery", isLive: false)
    let filter = EventFilter(kinds: [.regionEnter, .visitArrive, .zoneEnter], regions: ["cafe"])
    #expect(gate.searched(filter) == EventFilter(kinds: [.visitArrive]))
    let zone = try make(.zone).view.gate(to: "gallery", isLive: false)
    #expect(zone.searched(filter) == EventFilter(kinds: [.visitArrive, .zoneEnter]))
    let full = try make(.full).view.gate(to: "gallery", isLive: false)
    #expect(full.searched(filter) == filter)
  }
}
