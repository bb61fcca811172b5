import PharosFaults
import PharosModel
import Testing

@Suite("Reading published events")
struct StreamBookTests {
  private static let subject = SubjectID.observer(.name("handset"))

  /// An event about the subject in the region `hall`.
  private func event(_ kind: EventKind, _ detail: EventDetail, _ counter: UInt64) -> Event {
    let time = Timestamp(seconds: Int64(counter))
    return Event(
      stream: "test",
      kind: kind,
      time: time,
      decidedAt: time,
      stage: 1,
      subject: Self.subject,
      application: "gallery",
      region: "hall",
      counter: counter,
      detail: detail
    )
  }

  /// Returns the complaints about a picture: `?`, `i`, `o` and `u` are states, each published as a change from the
  /// one before; `E` and `X` are enters and exits.
  private func complaints(_ picture: String, repeating id: UInt64? = nil) -> [Violation.Rule] {
    var book = StreamBook()
    var state = RegionState.unknown
    for (index, character) in picture.enumerated() {
      let counter = id ?? UInt64(index)
      switch character {
      case "E", "X":
        let transition = RegionTransition(from: .unknown, to: .inside, evidence: Evidence(rule: .samples))
        book.receive(event(character == "E" ? .regionEnter : .regionExit, .region(transition), counter))
      default:
        let next: RegionState = character == "i" ? .inside : character == "o" ? .outside : .unmonitored
        let transition = RegionTransition(from: state, to: next, evidence: Evidence(rule: .samples))
        book.receive(event(.regionState, .region(transition), counter))
        state = next
      }
    }
    book.finish()
    return book.complaints.map(\.rule)
  }

  @Test(
    "consistent streams give no complaint",
    arguments: ["iEoXiE", "oiEuioX", "iEuoX", "uo", "iEuiuoXiE"]
  )
  func sound(_ picture: String) { #expect(complaints(picture) == []) }

  @Test(
    "inconsistent streams give one",
    arguments: [
      ("i", "an enter is missing"), ("iEo", "an exit is missing"), ("iEE", "an enter too many"),
      ("oX", "an exit of who was never in"), ("iEuiE", "an enter of who never left"),
      ("iEii", "a change of nothing"), ("iEuo", "an exit behind an outage is missing"),
    ]
  )
  func unsound(_ picture: String, _ what: String) { #expect(complaints(picture).contains(.order), "\(what)") }

  @Test("a change has to begin where the one before ended")
  func chain() {
    var book = StreamBook()
    for from in [RegionState.unknown, .unknown] {
      let transition = RegionTransition(
        from: from,
        to: .unmonitored,
        evidence: Evidence(rule: .observerOutage)
      )
      book.receive(event(.regionState, .region(transition), UInt64(book.complaints.count) + 7))
    }
    #expect(book.complaints.map(\.rule).contains(.order))
  }

  @Test("an id that occurs twice is a violation") func ids() {
    #expect(complaints("oi", repeating: 3).contains(.ids))
  }

  @Test("a beacon is in one zone at a time")
  func zones() {
    var book = StreamBook()
    let transition = ZoneTransition(from: nil, to: "hall", margin: nil, dwell: nil, reason: .margin)
    book.receive(event(.zoneEnter, .zone(transition), 1))
    #expect(book.complaints.isEmpty)
    book.receive(event(.zoneEnter, .zone(transition), 2))
    #expect(book.complaints.map(\.rule) == [.order])
  }
}
