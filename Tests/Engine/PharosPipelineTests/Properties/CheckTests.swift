import PharosModel
import PharosTestSupport
import Testing

/// The checks themselves: each must find what it is there for, or the properties prove nothing.
@Suite("The checks of the properties can fail")
struct CheckTests {
  /// A stream without changes of regions, so that every event counts.
  private static func stream() throws -> (site: Site, events: [Event]) {
    for seed in UInt64(1_000)..<1_100 {
      let world = World(seed: seed)
      let hasChanges = world.inputs.contains { if case .change = $0 { true } else { false } }
      if !hasChanges { return (world.site, try world.events()) }
    }
    throw NoSuchWorld()
  }

  private struct NoSuchWorld: Error {}

  private static func complaints(_ site: Site, _ events: [Event]) -> [String] {
    var check = StreamCheck(RegionBook(site))
    for event in events { check.receive(event) }
    check.finish()
    return check.complaints
  }

  @Test("a stream that misses an enter, an exit or a state, or tells one twice, is found out")
  func damaged() throws {
    let (site, events) = try CheckTests.stream()
    #expect(CheckTests.complaints(site, events).isEmpty)
    var found = 0
    for (index, event) in events.enumerated() {
      switch event.kind {
      case .regionEnter, .regionExit: break
      case .regionState
      where event.isChange && events[..<index].contains { $0.isChange(like: event) }
        && events[(index + 1)...].contains { $0.isChange(like: event) }:
        break
      default: continue
      }
      var without = events
      without.remove(at: index)
      #expect(!CheckTests.complaints(site, without).isEmpty, "without \(event.kind) \(index)")
      var twice = events
      twice.insert(event, at: index)
      #expect(!CheckTests.complaints(site, twice).isEmpty, "\(event.kind) \(index) twice")
      found += 1
    }
    #expect(found > 10)
  }

  @Test("neighbours that change places are found out")
  func swapped() throws {
    let (site, events) = try CheckTests.stream()
    for index in stride(from: 0, to: events.count - 1, by: 3) {
      var swapped = events
      swapped.swapAt(index, index + 1)
      #expect(!CheckTests.complaints(site, swapped).isEmpty, "\(index)")
    }
  }

  @Test("a parent whose entry is not published is detected by the child inside")
  func nesting() throws {
    let (site, events) = try CheckTests.stream()
    let book = RegionBook(site)
    var found = 0
    for (index, event) in events.enumerated() where event.comesInside {
      let children = book.nested.filter { $0.parent == RegionBook.Name(event.application, event.region) }
      let hasChild = events.contains { other in
        other.comesInside && other.decidedAt == event.decidedAt && other.subject == event.subject
          && children.contains { $0.child == RegionBook.Name(other.application, other.region) }
      }
      guard hasChild else { continue }
      var without = events
      without.remove(at: index)
      var check = NestingCheck(book)
      for event in without { check.receive(event) }
      check.finish()
      #expect(!check.complaints.isEmpty, "\(event.region)")
      found += 1
    }
    #expect(found > 0)
  }
}

extension Event {
  /// Whether it says that a state changed, and does not merely answer.
  fileprivate var isChange: Bool {
    guard kind == .regionState, case .region(let transition) = detail else { return false }
    return !transition.isAnswer
  }

  /// Whether it reports that a subject came inside.
  fileprivate var comesInside: Bool {
    guard isChange, case .region(let transition) = detail else { return false }
    return transition.to == .inside
  }

  /// Whether it changes the same state as another event.
  fileprivate func isChange(like other: Event) -> Bool {
    isChange && application == other.application && region == other.region && subject == other.subject
  }
}
