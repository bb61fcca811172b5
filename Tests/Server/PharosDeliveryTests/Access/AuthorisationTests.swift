import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import Testing

@Suite("Authorisations")
struct AuthorisationTests {
  private let noon = Timestamp(seconds: 1_800_000_000)
  private let visitor = SubjectID.observer(.name("visitor"))
  private let gateway = SubjectID.observer(.name("gateway"))

  private func make(_ store: (any DocumentStore<JournalError>)? = nil) throws -> Authorisations {
    let authorisations = try Authorisations(store: try store ?? Journal.open(.memory, stream: "test"))
    authorisations.declare(
      persons: Persons(observers: [.name("visitor")]),
      purposes: ["gallery": "To show what hangs beside you.", "silent": ""]
    )
    return authorisations
  }

  @discardableResult
  private func set(
    _ authorisations: Authorisations,
    _ state: AuthorisationState,
    _ subject: SubjectID? = nil,
    application: String = "gallery",
    by principal: Principal = .local
  ) throws(AccessError) -> Event? {
    try authorisations.set(
      state,
      application: application,
      subject: subject ?? visitor,
      by: principal,
      stream: "test",
      at: noon
    )
  }

  @Test("events about things are delivered, those about persons only once an operator grants it")
  func defaults() throws {
    let authorisations = try make()
    #expect(authorisations.state(application: "gallery", subject: gateway) == .always)
    #expect(authorisations.state(application: "gallery", subject: visitor) == .notDetermined)
    #expect(authorisations.list(application: "gallery").isEmpty)
  }

  @Test("a change gives an event with both states and the purpose, and no change gives none")
  func change() throws {
    let authorisations = try make()
    let event = try #require(try set(authorisations, .whenInUse))
    #expect(event.kind == .authorisationChanged)
    #expect(event.application == "gallery" && event.subject == visitor && event.time == noon)
    let purpose = "To show what hangs beside you."
    #expect(
      event.detail
        == .authorisation(AuthorisationTransition(from: .notDetermined, to: .whenInUse, purpose: purpose))
    )
    #expect(
      event.cloudEvent(stream: "test").contains(#""from":"notDetermined","to":"whenInUse","purpose":"To"#)
    )
    #expect(try set(authorisations, .whenInUse) == nil)
    let next = try #require(try set(authorisations, .denied))
    #expect(next.id != event.id)
    #expect(authorisations.list(application: "gallery").map(\.state) == [.denied])
    #expect(try set(authorisations, .always, gateway) == nil)
  }

  @Test("ids of changes go on after a restart")
  func ids() throws {
    let journal = try Journal.open(.memory, stream: "test")
    var ids: Set<EventID> = []
    for round in 0..<10 {
      let authorisations = try make(journal)
      let event = try set(authorisations, round.isMultiple(of: 2) ? .always : .denied)
      ids.insert(try #require(event).id)
    }
    #expect(ids.count == 10)
  }

  @Test("an application without a purpose receives no events about persons")
  func purpose() throws {
    let authorisations = try make()
    for state in [AuthorisationState.whenInUse, .always] {
      #expect(throws: AccessError.purposeMissing(application: "silent")) {
        try set(authorisations, state, application: "silent")
      }
    }
    #expect(try set(authorisations, .denied, application: "silent") != nil)
    #expect(try set(authorisations, .denied, gateway, application: "silent") != nil)
    #expect(try set(authorisations, .always, gateway, application: "silent") != nil)
    for blank in ["", " ", "\n\t ", String(repeating: "x", count: 1_001)] {
      #expect(throws: AccessError.badPurpose(application: "silent", limit: 1_000)) {
        try authorisations.setPurpose(blank, application: "silent")
      }
    }
    try authorisations.setPurpose(String(repeating: "é", count: 1_000), application: "silent")
    try authorisations.setPurpose("To find lost visitors.", application: "silent")
    #expect(authorisations.purpose(of: "silent") == "To find lost visitors.")
    #expect(try set(authorisations, .always, application: "silent") != nil)
    #expect(AccessError.purposeMissing(application: "silent").description.contains("set `purpose` first"))
  }

  @Test("restricted is given and taken away by the operator alone")
  func restricted() throws {
    let authorisations = try make()
    let application = Principal.application(id: "1", name: "gallery")
    let boss = Principal.operator(id: "boss")
    #expect(throws: AccessError.self) { try set(authorisations, .restricted, by: application) }
    #expect(try set(authorisations, .restricted, by: boss) != nil)
    for state in [AuthorisationState.always, .denied, .notDetermined] {
      #expect(throws: AccessError.self) { try set(authorisations, state, by: application) }
    }
    #expect(authorisations.state(application: "gallery", subject: visitor) == .restricted)
    #expect(try set(authorisations, .always, by: boss) != nil)
    #expect(try set(authorisations, .denied, by: application) != nil)
  }

  @Test("all of it survives a restart; the site declares its own part again")
  func restart() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let tag = SubjectID.beacon(.proximity(UUID128(high: 1, low: 2), major: 3, minor: 4))
    let first = try make(journal)
    try first.setPurpose("Said over HTTP.", application: "silent")
    try first.mark(tag, isPerson: true)
    try set(first, .whenInUse)
    try set(first, .denied, gateway)
    let second = try Authorisations(store: journal)
    #expect(second.list(application: "gallery") == first.list(application: "gallery"))
    #expect(second.purpose(of: "silent") == "Said over HTTP.")
    #expect(second.purpose(of: "gallery") == nil)
    #expect(second.isPerson(tag) && !second.isPerson(visitor))
    #expect(second.markedPersons == [tag])
    try second.mark(tag, isPerson: false)
    #expect(try !Authorisations(store: journal).isPerson(tag))
  }

  @Test("a removed application is forgotten, others are not")
  func forgetting() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let authorisations = try make(journal)
    try authorisations.setPurpose("Other.", application: "other")
    try set(authorisations, .always)
    try set(authorisations, .always, application: "other")
    let change = authorisations.forgetting(application: "other")
    try journal.change(change.documents)
    change.adopt()
    for each in [authorisations, try make(journal)] {
      #expect(each.list(application: "other").isEmpty && each.purpose(of: "other") == nil)
      #expect(each.state(application: "gallery", subject: visitor) == .always)
      #expect(each.state(application: "other", subject: visitor) == .notDetermined)
    }
  }

  @Test("an authorisation that cannot be stored is not in effect")
  func failingStore() throws {
    let store = StubbornStore(try Journal.open(.memory, stream: "test"))
    let authorisations = try make(store)
    try set(authorisations, .always)
    store.refuses = true
    #expect(throws: AccessError.store(JournalError(.full, at: "here"))) { try set(authorisations, .denied) }
    #expect(throws: AccessError.self) { try authorisations.mark(gateway, isPerson: true) }
    #expect(throws: AccessError.self) { try authorisations.setPurpose("New.", application: "gallery") }
    #expect(authorisations.state(application: "gallery", subject: visitor) == .always)
    #expect(!authorisations.isPerson(gateway))
    #expect(authorisations.purpose(of: "gallery") == "To show what hangs beside you.")
  }

  @Test("no subject is not a subject")
  func noone() throws {
    let authorisations = try make()
    #expect(throws: AccessError.noSubject) { try set(authorisations, .denied, SubjectID.none) }
    #expect(throws: AccessError.noSubject) { try authorisations.mark(.none, isPerson: true) }
  }
}

extension Authorisations {
  /// Sets the purpose of an application, as a change of the application does.
  func setPurpose(_ purpose: String, application: String) throws(AccessError) {
    try store.carryOut(settingPurpose(purpose, application: application))
  }
}
