import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("Rules for every format")
struct ConformanceTests {
  @Test("a format of the list keeps the promises of a format", arguments: WireFormat.allCases)
  func promises(format: WireFormat) { check(format.layout) }

  private func check<Format: DatagramFormat>(_ format: Format.Type) {
    var conformance = FormatConformance<Format>(samples: Samples.vectors(of: format))
    #expect(!conformance.samples.isEmpty, "Samples has no vectors of \(format.name)")
    // A format whose datagrams never name an observer gets it from the topic.
    if conformance.samples.allSatisfy({ conformance.decode($0) == nil }) { conformance.observer = .name("a") }
    conformance.acceptsItsSamples()
    conformance.recognisesOnlyItsOwn()
    conformance.survivesTruncation()
    conformance.survivesMutation(rounds: 3_000, seed: 20_250_101)
    conformance.survivesNoise(rounds: 1_000, seed: 20_250_102)
  }

  @Test("an operator whose datagrams are not recognised gets the first bytes of every format")
  func advice() {
    let advice = WireFormat.advice(on: .unrecognised)
    for format in WireFormat.allCases where format != .mqtt {
      #expect(advice.contains("\(format.name) (\(format.layout.beginning))"))
    }
    #expect(Set(WireFormat.allCases.map(\.name)).count == WireFormat.allCases.count)
  }
}
