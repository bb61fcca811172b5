package import PharosReports

/// A datagram as it reaches the server, ready to be encoded.
package struct SimulatedDatagram: Equatable, Sendable {
  /// When it is received.
  package var received: Timestamp
  /// The host that it comes from, as text.
  package var sourceAddress: String
  /// The UDP port that it comes from.
  package var sourcePort: UInt16
  /// Who sends it.
  package var observer: ObserverID
  /// Its head: boot id, sequence number and up-time of the sender.
  package var head: Transmission
  /// Its reports in order, all of ``observer``, each with its receive time and an age of whole milliseconds.
  ///
  /// The head is not among them: an encoder writes it from ``head``.
  package var reports: ReportBatch
}

/// One thing that comes out of a simulation.
package enum SimulationItem: Equatable, Sendable {
  /// What the server receives.
  case datagram(SimulatedDatagram)
  /// What truly happens.
  case truth(TruthEvent)

  /// When it is received or happens.
  package var time: Timestamp {
    switch self {
    case .datagram(let datagram): datagram.received
    case .truth(let event): event.time
    }
  }
}
