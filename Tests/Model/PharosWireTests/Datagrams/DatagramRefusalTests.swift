import PharosWire
import Testing

@Suite("Reasons for refusing a datagram")
struct DatagramRefusalTests {
  @Test(
    "every reason has a name for metrics and a sentence that says what to do",
    arguments: DatagramRefusal.allCases
  )
  func prose(reason: DatagramRefusal) {
    let prose = reason.description
    #expect(["The ", "A ", "An "].contains { prose.hasPrefix($0) })
    #expect(prose.hasSuffix("."))
    #expect(prose.count > 80 && prose.count < 400)
    #expect(!prose.contains("  "))
    #expect(prose.allSatisfy { $0.isASCII })
    let advice = ["check", "choose", "let", "update", "compare", "put", "correct", "look", "computes"]
    #expect(advice.contains { prose.lowercased().contains($0) })
    #expect(reason.name.allSatisfy { $0.isLowercase || $0 == "_" })
  }

  @Test("no two reasons share a name or a text")
  func unique() {
    #expect(Set(DatagramRefusal.allCases.map(\.name)).count == DatagramRefusal.allCases.count)
    #expect(Set(DatagramRefusal.allCases.map(\.description)).count == DatagramRefusal.allCases.count)
  }
}
