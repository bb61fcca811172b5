package import PharosWire

/// What became of a datagram that did not come over a socket.
package enum Receipt: Hashable, Sendable {
  /// It was decoded, and its reports are under way.
  case accepted(format: WireFormat, reports: Int)
  /// It was refused, and changed nothing.
  case refused(DatagramRefusal)
}
