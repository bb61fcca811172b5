package import PharosReports

/// Why ingest could not start, or could not do what it was asked.
///
/// The data; what an operator reads is in a file of its own.
package enum IngestError: Error, Hashable, Sendable {
  /// No socket could be bound.
  case cannotListen(ListenAddress, reason: Reason)
  /// The host of a listener has no address.
  case unknownHost(ListenAddress, detail: String)
  /// A descriptor is no UDP socket.
  case notADatagramSocket(descriptor: Int32)
  /// A multicast group could not be joined.
  case cannotJoin(group: String, ListenAddress, detail: String)
  /// There is nothing to listen at.
  case nothingToListenAt
  /// A number of the configuration is out of its range.
  case outOfRange(setting: String, value: Int, range: ClosedRange<Int>)
  /// The machine has no memory for the receive slots.
  case outOfMemory
  /// What a checkpoint holds cannot be read, though its bytes are whole.
  case unreadableCheckpoint(FieldError)
  /// More was asked at once than waits for its turn: the loops are far behind.
  case overloaded(waiting: Int)
  /// The server is stopping or has stopped.
  case stopped

  /// Why a socket could not be bound.
  package enum Reason: Hashable, Sendable {
    /// Somebody else holds the port.
    case addressInUse
    /// The port is for the privileged.
    case notPermitted
    /// No interface has the address.
    case addressNotAvailable
    /// The machine does not speak this version of the protocol.
    case versionNotSupported
    /// Something else, with the system's number for it.
    case system(errno: Int32)
  }
}
