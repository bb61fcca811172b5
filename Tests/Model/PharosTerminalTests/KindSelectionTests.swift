import PharosModel
import PharosTerminal
import Testing

@Suite("--kinds")
struct KindSelectionTests {
  @Test("states are left out unless they are asked for")
  func usual() {
    #expect(!KindSelection.usual.kinds.contains(.regionState))
    #expect(KindSelection.usual.kinds.count == EventKind.allCases.count - 2)
  }

  @Test(
    "words add up",
    arguments: [
      (
        "zone",
        [
          EventKind.zoneEnter, .zoneExit, .zoneUnmonitored, .zoneMonitored, .zoneHoldExceeded, .zoneOccupancy,
        ]
      ),
      ("state,ranging", [.regionState, .regionsOutside, .ranging]),
      ("all", EventKind.allCases),
    ]
  )
  func words(text: String, kinds: [EventKind]) {
    #expect(KindSelection(text)?.kinds == Set(kinds))
  }

  @Test("every kind has a word of its own besides all")
  func complete() {
    let named = KindSelection.words.filter { $0.word != "all" }
    #expect(named.reduce(0) { $0 + $1.kinds.count } == EventKind.allCases.count)
    #expect(named.reduce(into: Set<EventKind>()) { $0.formUnion($1.kinds) } == Set(EventKind.allCases))
  }

  @Test("an unknown word is refused", arguments: ["", "regions", "region,", "region zone"])
  func unknown(text: String) {
    #expect(KindSelection(text) == nil)
  }
}
