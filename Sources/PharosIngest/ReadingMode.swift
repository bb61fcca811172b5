/// How a listener learns that there is something to read.
///
/// While it is quiet, NIO waits for the socket and calls at once. When datagrams come thick, each of those calls costs
/// more than the datagram; then NIO stops waiting and the loop looks at every tick, until it is quiet again.
package enum ReadingMode: Equatable {
  /// NIO waits for the socket.
  case readiness
  /// The loop looks at every tick; so many ticks in a row brought little.
  case ticking(quiet: Int)

  /// What the listener has to do about it.
  package enum Change: Equatable {
    /// Let NIO stop waiting.
    case stopWaiting
    /// Let NIO wait again.
    case startWaiting
  }

  /// How many datagrams must come between two looks for ticking to pay: 4 thousand a second where a loop looks each
  /// millisecond.
  static let busy = 4
  /// How many datagrams a tick may bring and still count as quiet.
  static let quiet = 1
  /// How many quiet ticks in a row end the ticking, so that a gap of 20 ms between two trains of datagrams does not.
  package static let patience = 80
  /// The receive buffer below which a tick is too long to wait: it would overflow in between.
  ///
  /// - Units: bytes; 1 MiB holds some 450 datagrams of 1,200 bytes with what the kernel books for each.
  package static let smallestBuffer = 1 << 20

  /// Whether the loop looks at every tick.
  package var isTicking: Bool { self != .readiness }

  /// A tick has passed that brought so many datagrams.
  package mutating func ticked(datagrams: Int, receiveBuffer: Int) -> Change? {
    switch self {
    case .readiness:
      guard datagrams >= ReadingMode.busy, receiveBuffer >= ReadingMode.smallestBuffer else { return nil }
      self = .ticking(quiet: 0)
      return .stopWaiting
    case .ticking(let quiet):
      guard datagrams <= ReadingMode.quiet else {
        self = .ticking(quiet: 0)
        return nil
      }
      guard quiet + 1 >= ReadingMode.patience else {
        self = .ticking(quiet: quiet + 1)
        return nil
      }
      self = .readiness
      return .startWaiting
    }
  }

  /// What is read finds no room: the socket waits until a tick finds some.
  package mutating func blocked() -> Change? {
    switch self {
    case .readiness:
      self = .ticking(quiet: 0)
      return .stopWaiting
    case .ticking:
      self = .ticking(quiet: 0)
      return nil
    }
  }
}
