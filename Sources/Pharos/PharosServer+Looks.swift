package import PharosCaptures
package import PharosIngest
package import PharosMonitoring
package import PharosPositioning
package import PharosReports

/// Looks at what the engines know, once the server listens; none of them changes anything.
extension PharosServer {
  /// Takes a datagram that came otherwise than over UDP, as if it had.
  ///
  /// - Parameters:
  ///   - payload: its bytes, in any format that is understood.
  ///   - source: who sent it.
  /// - Returns: what was decoded, or why it was refused.
  /// - Throws: that the server has stopped, or why it never listened.
  package func receive(_ payload: [UInt8], from source: Endpoint) async throws -> Receipt {
    try await phase.ingest().receive(payload, from: source)
  }

  /// Has a checkpoint taken now; returns once it was handed over.
  package func checkpoint() async throws { try await phase.ingest().checkpoint() }

  /// What is known about tracks, in order, a page at a time.
  package func tracks(_ query: TrackQuery = TrackQuery()) async throws -> [TrackInsight] {
    try await phase.ingest().tracks(query)
  }

  /// Where every beacon is that some observer of a zone hears, or that is in a zone.
  package func tags() async throws -> [TagStanding] { try await phase.ingest().tags() }

  /// Where every observer stands towards every region about observers that it has met.
  package func standings() async throws -> [RegionStanding] { try await phase.ingest().standings() }

  /// Where every beacon stands towards every region about beacons that it has met.
  package func beaconStandings() async throws -> [BeaconStanding] {
    try await phase.ingest().beaconStandings()
  }

  /// The offsets of observers that stand in zones, as they were found from the tags that they hear in common.
  package func calibrations() async throws -> [Calibration] { try await phase.ingest().calibrations() }

  /// The observers that are heard and do not count, since the site admits only those that it lists.
  package func quarantine() async throws -> [QuarantinedObserver] { try await phase.ingest().quarantine() }

  /// The applications with their regions as they are now, those of the site and those that came at run time.
  package func applications() async throws -> [Application] { try await phase.ingest().applications() }
}
