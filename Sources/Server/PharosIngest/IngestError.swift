import Glibc
package import NIOCore
package import PharosDocuments
import PharosModel

/// An error that prevents ingest from starting or from carrying out a request.
///
/// ``description`` explains each case to the operator.
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
  /// The content of a checkpoint cannot be read, though its bytes are whole.
  case unreadableCheckpoint(FieldError)
  /// More was asked at once than waits for its turn: the loops are far behind.
  case overloaded(waiting: Int)
  /// A change is longer than a message of the log of inputs may be.
  case tooLongForLog(limit: Int)
  /// A change was published to the log of inputs and not read from it in time.
  case unanswered(TimeAmount)
  /// A change was asked for of a server that only reads the log of inputs.
  case readOnly
  /// A recording could not begin.
  case cannotRecord(reason: String)
  /// Inputs are recorded already.
  case alreadyRecording
  /// The server is stopping or has stopped.
  case stopped

  /// The reason why a socket could not be bound.
  package enum Reason: Hashable, Sendable {
    /// Another process holds the port.
    case addressInUse
    /// The port requires a privilege.
    case notPermitted
    /// No interface has the address.
    case addressNotAvailable
    /// The machine does not speak this version of the protocol.
    case versionNotSupported
    /// Something else, with the system's number for it.
    case system(errno: Int32)
  }
}

extension IngestError: CustomStringConvertible {
  /// The explanation for the operator: the failure, its place, its reason, and the remedy.
  package var description: String {
    switch self {
    case .cannotListen(let address, let reason):
      "cannot listen on \(address): \(reason)"
    case .unknownHost(let address, let detail):
      "cannot listen on \(address): the host has no address (\(detail)). "
        + "Give an address of this machine, 0.0.0.0 for all of IPv4, or [::] for all."
    case .notADatagramSocket(let descriptor):
      "cannot listen on descriptor \(descriptor): it is no UDP socket. "
        + "Write ListenDatagram= in the socket unit, not ListenStream=."
    case .cannotJoin(let group, let address, let detail):
      "cannot join multicast group \(group) on \(address): \(Wording.clause(detail)). "
        + "A group is an address from 224.0.0.0 to 239.255.255.255 or in ff00::/8, of the listener's version."
    case .nothingToListenAt:
      "nothing to listen at: give at least one address, such as listen: { udp: [\"127.0.0.1:50001\"] }."
    case .outOfRange(let setting, let value, let range):
      "\(setting) is \(value), expected \(range.lowerBound) to \(range.upperBound)."
    case .outOfMemory:
      "not enough memory for the receive slots. Use fewer loops or a smaller largestDatagram."
    case .unreadableCheckpoint(let error):
      "the checkpoint cannot be used, \(Wording.clause(error)). Start from the published events alone, and report this as a bug."
    case .overloaded(let waiting):
      "\(waiting) requests wait for the loops to catch up, and no further ones are accepted. Ask again in a moment, or send less."
    case .tooLongForLog(let limit):
      "the change takes more than \(limit >> 10) KiB, the longest message of the log of inputs. Make it in several parts."
    case .unanswered(let time):
      "the broker of the cluster has not answered for \(time.nanoseconds / 1_000_000_000) s. The change waits, and is made once it "
        + "answers: look before you make it again."
    case .readOnly:
      "this node is a shadow of the cluster, at which nothing is changed. Ask a node that decides."
    case .cannotRecord(let reason):
      "the recording cannot begin: \(Wording.clause(reason)). Nothing was recorded; ingest continues."
    case .alreadyRecording:
      "a recording is under way. End it first, or take the file that `serve --record` writes."
    case .stopped:
      "the server has stopped and accepts no changes. Start it again."
    }
  }
}

extension IngestError.Reason: CustomStringConvertible {
  /// The second half of the sentence: the reason and what to do about it.
  package var description: String {
    switch self {
    case .addressInUse:
      "address in use. Another process holds the port; change listen.udp or stop it."
    case .notPermitted:
      "permission denied. Ports below 1024 need the capability CAP_NET_BIND_SERVICE; choose a higher one or let "
        + "systemd open the socket."
    case .addressNotAvailable:
      "address not available. No interface of this machine has it; see `ip address`, or use 0.0.0.0 for all."
    case .versionNotSupported:
      "address family not supported. The kernel runs without IPv6; use an IPv4 address such as 0.0.0.0."
    case .system(let number):
      "\(String(cString: strerror(number))) (errno \(number))."
    }
  }

  /// The reason that a number of the system stands for.
  init(errno number: Int32) {
    switch number {
    case EADDRINUSE: self = .addressInUse
    case EACCES, EPERM: self = .notPermitted
    case EADDRNOTAVAIL: self = .addressNotAvailable
    case EAFNOSUPPORT: self = .versionNotSupported
    default: self = .system(errno: number)
    }
  }
}
