import PharosModel
import PharosWire

/// Encodes what a simulated gateway sends as the Pharos datagrams that a real one would send.
package struct SceneEncoder: Sendable {
  /// Makes an encoder.
  package init() {}

  /// The datagram's bytes.
  ///
  /// The simulator fills its batches so that each fits one datagram; the numbers are its own, so that losses and
  /// restarts show.
  package func bytes(of datagram: SimulatedDatagram) -> [UInt8] {
    var encoder = PharosDatagramEncoder(
      observer: datagram.observer,
      bootID: datagram.head.bootID,
      sequence: datagram.head.sequence
    )
    for report in datagram.reports.reports {
      guard encoder.append(report, from: datagram.reports) else { break }
    }
    return encoder.finish(uptime: datagram.head.uptime)
  }
}
