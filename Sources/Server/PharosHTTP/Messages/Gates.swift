import Pharos
import PharosDelivery
import PharosModel
import PharosPipeline

extension CommitPublisher {
  /// The gate through which a client reads what holds now.
  func presentGate(for principal: Principal) -> Gate { presentGate(to: principal.application) }

  /// The gate through which a client reads what has been: pages of the journal.
  func gate(for principal: Principal) -> Gate { gate(to: principal.application) }
}

extension PharosServer {
  /// Returns the tags that the reader of a gate may learn of, without the hearings of observers that it may not learn of.
  func tags(through gate: Gate) async throws -> [TagStanding] {
    try await tags().filter { gate.shows(.beacon($0.beacon)) }.map { tag in
      var tag = tag
      tag.hearings.removeAll { !gate.shows(.observer($0.observer)) }
      return tag
    }
  }
}
