import PharosDecisionCheck
import PharosModel
import Testing

@Suite("Every decision follows from its evidence")
struct EvidenceTests {
  /// The transitions of a world's events, with the events.
  private static func transitions(_ seed: UInt64) throws -> [(event: Event, transition: RegionTransition)] {
    try World(seed: seed).events().compactMap { event in
      guard case .region(let transition) = event.detail else { return nil }
      return (event, transition)
    }
  }

  /// The rules that compute something, and may not say that there is nothing to compute.
  private static let deciding: Set<Evidence.Rule> = [
    .samples, .level, .adaptiveSilence, .fixedSilence, .neverHeard,
  ]

  @Test(
    "computed again from the event, and from nothing but its JSON",
    arguments: PropertyTests.seeds.prefix(8)
  )
  func recomputes(seed: UInt64) throws {
    let transitions = try EvidenceTests.transitions(seed)
    #expect(!transitions.isEmpty)
    for (event, transition) in transitions {
      let rule = transition.evidence.rule
      let expected: DecisionCheck = EvidenceTests.deciding.contains(rule) ? .follows : .noDecision
      #expect(transition.evidence.recomputed() == expected, "seed \(seed): \(event.region) at \(event.time)")
      let committed = try EvidenceReader.read(event.cloudEvent(stream: "world"))
      #expect(committed.recomputed() == expected, "seed \(seed): \(event.region) at \(event.time), from JSON")
    }
  }

  @Test(
    "each exit was decided by a rule that computes something, and is as late as its rule says",
    arguments: [3, 7]
  )
  func exits(seed: UInt64) throws {
    var count = 0
    for (event, transition) in try EvidenceTests.transitions(seed) where event.kind == .regionExit {
      let evidence = transition.evidence
      #expect(EvidenceTests.deciding.contains(evidence.rule), "\(evidence.rule)")
      if let lastHeard = evidence.lastHeard { #expect(event.time >= lastHeard) }
      #expect(event.decidedAt >= event.time)
      count += 1
    }
    #expect(count > 0)
  }

  @Test("evidence that was tampered with contradicts the decision, whichever field it was")
  func tampered() throws {
    var met: Set<String> = []
    for seed in PropertyTests.seeds.prefix(8) {
      for (event, transition) in try EvidenceTests.transitions(seed) {
        guard EvidenceTests.deciding.contains(transition.evidence.rule) else { continue }
        for forgery in Forgery.all {
          guard let forged = forgery.forge(transition.evidence) else { continue }
          let check = forged.recomputed()
          met.insert(forgery.name)
          guard case .contradicts = check else {
            Issue.record("seed \(seed): \(forgery.name) of \(event.region) at \(event.time) gives \(check)")
            continue
          }
        }
      }
    }
    #expect(Set(Forgery.all.map(\.name)).subtracting(met).isEmpty, "some forgeries were never tried")
  }
}
