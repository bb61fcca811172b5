import CPharos
import NIOCore
public import PharosModel
public import PharosSecurity

/// The settings of ingest: its listeners and its loops.
public struct IngestConfiguration: Sendable {
  /// The addresses to listen on.
  public var listeners: [ListenAddress]
  /// The number of loops that read and decide, each on a thread of its own: 1 to 16.
  public var loops: Int
  /// The receive buffer to request for each socket.
  ///
  /// 4 MiB lost nothing at the rates where Linux's default of 208 KiB lost up to 5 %.
  ///
  /// - Units: bytes.
  public var receiveBuffer = 4 << 20
  /// The longest datagram that is taken; a longer one is counted as truncated and refused.
  ///
  /// - Units: bytes, 64 to 65,536.
  public var largestDatagram = 65_536
  /// The interval at which a loop checks its sockets while there is much traffic.
  ///
  /// 250 µs keeps a decision's delay well below a millisecond; a tick takes some 3 µs, and waiting for each of 50
  /// thousand datagrams a second would cost several times as much as the ticks.
  public var busyTick = TimeSpan.microseconds(250)
  /// The interval at which a loop and the merger check their deadlines while there is no traffic.
  ///
  /// An exit waits for both at most, which is less than an event's permitted delay of 50 ms. The first input after a
  /// silence wakes all loops. Each wake-up of an idle machine costs some 80 µs: at 5 ms a server that hears nothing took
  /// 6 % of a core.
  public var idleTick = TimeSpan.milliseconds(20)
  /// Takes the bytes of a recording of all inputs, in order, on a thread of its own; nil to record nothing.
  ///
  /// If it throws, the recording ends there, which is logged once, and ingest goes on.
  public var record: (@Sendable ([UInt8]) throws -> Void)?
  /// The interval between checkpoints; if nil, checkpoints are taken only on request and at the end.
  ///
  /// A restart loses at most 30 s of what was learned; it never loses states, since events carry them.
  public var checkpointInterval: TimeSpan?
  /// The sequence of the newest event in the journal: R begins a nanosecond later for each event up to it.
  ///
  /// If the wall clock was set back, two starts from one instant would otherwise begin at the same R. Event ids count from
  /// there by one for each event, so the second start would assign the ids of the first one again. The sequence never
  /// falls, whichever of several checkpoints can be read.
  public var journalHead: Int64 = 0
  /// Takes checkpoints, on the thread that delivers events and in one order with them; nil to take none.
  ///
  /// It should release each checkpoint soon, as the loops copy what they change while it is held. The last checkpoint
  /// comes after the last event of an orderly shutdown.
  public var checkpoint: (@Sendable (PendingCheckpoint) -> Void)?
  /// Indicates whether a start from an exact checkpoint continues at its instant as if the server had never stopped, and
  /// whether the checkpoints that it hands over are exact.
  ///
  /// This is for a server that reads all inputs since the checkpoint again, as a replica does: it decides the events behind the
  /// checkpoint again, with the same ids, and takes no published states. Any other server resumes: what happened meanwhile is
  /// unknown, and the time is downtime. A checkpoint that is not exact is resumed from in any case.
  package var continuesExactly = false
  /// The log that all inputs go through; nil if they go to the engines at once.
  package var log: LoggedIngest?
  /// Indicates whether the tables of heard devices show the addresses and names of unregistered devices.
  ///
  /// This is for an installer at a screen, in a process that stores nothing. A long-running server hides them.
  package var showsUnregistered = false
  /// The keys that datagrams are signed with, and the store of replay windows; without keys, listeners that require
  /// signatures take nothing.
  public var signing = SignedIngest()
  /// Returns whether the receiver of events has no room; meanwhile no socket is read, and time stands still for the engines.
  package var isReceiverFull: @Sendable () -> Bool = { false }
  /// The clocks.
  package var clock = IngestClock.system

  /// The settings' ranges.
  enum Limits {
    static let loops = 1...16
    static let largestDatagram = 64...65_536
    static let receiveBuffer = 4_096...1 << 30
  }

  /// The default number of loops: one for each core, up to four.
  ///
  /// A core takes some four million adverts a second at 16 a datagram; set more than four loops only after measuring
  /// that they help.
  package static func defaultLoops(cores: Int) -> Int { min(max(cores, 1), 4) }

  /// Creates a configuration; everything else has a default and can be set afterwards.
  ///
  /// - Parameters:
  ///   - listeners: the addresses to listen on.
  ///   - loops: the number of loops that read and decide.
  public init(listeners: [ListenAddress], loops: Int = 1) {
    self.listeners = listeners
    self.loops = loops
  }

  /// Throws an error if a setting is invalid.
  func check() throws(IngestError) {
    guard !listeners.isEmpty else { throw .nothingToListenAt }
    try IngestConfiguration.check("loops", loops, Limits.loops)
    try IngestConfiguration.check("largestDatagram", largestDatagram, Limits.largestDatagram)
    try IngestConfiguration.check("receiveBuffer", receiveBuffer, Limits.receiveBuffer)
    for listener in listeners {
      guard case .bind(_, let port) = listener.socket else { continue }
      try IngestConfiguration.check("the port of \(listener)", port, 0...65_535)
    }
  }

  private static func check(
    _ setting: String,
    _ value: Int,
    _ range: ClosedRange<Int>
  ) throws(IngestError) {
    guard range.contains(value) else { throw .outOfRange(setting: setting, value: value, range: range) }
  }
}

/// An address to listen on for datagrams.
public struct ListenAddress: Hashable, Sendable {
  /// The socket of a listener.
  public enum Socket: Hashable, Sendable {
    /// A socket that ingest opens and binds to a host, by address or name, and a port; `*` takes all addresses, port 0 any port
    /// that is free.
    case bind(host: String, port: Int)
    /// A socket that the launching process, such as systemd, has opened and passed on as a file descriptor.
    case descriptor(Int32)
  }

  /// The socket.
  public var socket: Socket
  /// The multicast groups to join, as addresses.
  ///
  /// A listener with groups has a single socket on a single loop: the kernel gives a copy of a multicast datagram to
  /// each socket of a port, and so would bring each one several times.
  public var multicastGroups: [String]
  /// The policy that decides which datagrams are taken.
  public var policy: ListenPolicy

  /// Listens at a host and port.
  public init(host: String, port: Int, multicastGroups: [String] = [], policy: ListenPolicy = .open) {
    socket = .bind(host: host, port: port)
    self.multicastGroups = multicastGroups
    self.policy = policy
  }

  /// Listens at a socket that is open and bound already.
  public init(descriptor: Int32, policy: ListenPolicy = .open) {
    socket = .descriptor(descriptor)
    multicastGroups = []
    self.policy = policy
  }

  /// Reads `HOST:PORT`, with the host in brackets where it is an IPv6 address; `*:PORT` and `:PORT` mean all addresses.
  ///
  /// Nil if the text has no port from 0 to 65,535 or is ambiguous, as `::1:50001` would be.
  public init?(_ text: some StringProtocol) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      return nil
    }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]"), host.count > 2 {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(where: { ":[] ".contains($0) }) {
      return nil
    }
    self.init(host: host.isEmpty ? HostPort.allAddresses : host, port: Int(port))
  }
}

extension ListenAddress {
  /// Returns the host to bind to for a host as people write it: for `*`, the address that stands for all.
  ///
  /// A socket at `::` has the addresses of IPv4 as well; a kernel without IPv6 has only those.
  package static func boundHost(of host: String) -> String {
    guard host == HostPort.allAddresses else { return host }
    guard let address = try? SocketAddress(ipAddress: "::", port: 0) else { return "0.0.0.0" }
    var system = address.withSockAddr { pharos_address_of($0, $1) }
    return pharos_probe_bind(&system) >= 0 ? "::" : "0.0.0.0"
  }
}

extension ListenAddress: CustomStringConvertible {
  /// `udp 127.0.0.1:50001`, or the descriptor.
  public var description: String {
    switch socket {
    case .bind(let host, let port): host.contains(":") ? "udp [\(host)]:\(port)" : "udp \(host):\(port)"
    case .descriptor(let descriptor): "descriptor \(descriptor)"
    }
  }
}

/// The policy that decides which datagrams a listener takes.
public enum ListenPolicy: String, CaseIterable, Hashable, Sendable {
  /// Datagrams of all senders, in any format, without verifying signatures. For addresses that only trusted senders can
  /// reach.
  case open
  /// Datagrams of observers that the site lists or that were accepted, in any format; an observer that has a key must
  /// sign.
  case allowlist
  /// Datagrams that are signed by a key of their observer.
  case signed
}

/// The sockets that systemd opened for this process.
///
/// They let a service start at its first datagram, keep the datagrams that arrive during a restart in the socket's
/// buffer, and listen at a low port without privilege.
///
/// - Source: sd_listen_fds(3): `LISTEN_PID` names the process that is meant, `LISTEN_FDS` how many descriptors it
///   has, the first of which is 3.
package enum SocketActivation {
  /// The first descriptor that systemd passes.
  package static let firstDescriptor: Int32 = 3

  /// Returns the listeners of the passed sockets; empty if systemd passed none.
  ///
  /// - Parameters:
  ///   - environment: the environment of the process.
  ///   - processID: the process; inherited variables of another one are ignored.
  ///   - firstDescriptor: the first descriptor.
  /// - Returns: a listener for each UDP socket that was passed.
  package static func listeners(
    environment: [String: String],
    processID: Int32,
    firstDescriptor: Int32 = SocketActivation.firstDescriptor
  ) -> [ListenAddress] {
    guard let named = environment["LISTEN_PID"].flatMap({ Int32($0) }), named == processID else { return [] }
    guard let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0, count <= 1_024 else {
      return []
    }
    return (firstDescriptor..<firstDescriptor + count)
      .filter { descriptor in
        // A unit may pass other sockets too, as for HTTP; those are not ours.
        guard pharos_datagram_socket_version(descriptor) > 0 else { return false }
        // systemd leaves the flag to the service: programs that it starts are not to inherit the socket.
        _ = pharos_set_close_on_exec(descriptor)
        return true
      }
      .map { ListenAddress(descriptor: $0) }
  }
}

/// The settings for signed datagrams: the keys, the replay windows that the previous run has left, and the store for
/// them.
public struct SignedIngest: Sendable {
  /// The data to keep, all of it or nothing, before anything more is taken on the strength of it.
  public struct Keeping: Sendable {
    /// New records, each in place of the one that its sender had.
    public var records: [SenderRecord]
    /// The lease, in place of the one before.
    public var lease: SenderLease
  }

  /// The observers with their keys.
  public var observers: [KeyedObserver]
  /// The records that were kept of their windows.
  public var records: [SenderRecord]
  /// The last R at which the previous run can have taken a datagram: `SenderLease.end`.
  public var endedBy: Timestamp
  /// The identifier of this start of the machine.
  public var machineStart: String
  /// Keeps records; called on a thread that may wait for a disk, one call after the other.
  ///
  /// If it throws, ingest logs that once and goes on: after a crash, the datagrams taken since then could be repeated.
  public var keep: @Sendable (Keeping) throws -> Void

  /// Creates the settings; by default no observer has a key and no record is kept.
  public init(
    observers: [KeyedObserver] = [],
    records: [SenderRecord] = [],
    endedBy: Timestamp = .distantPast,
    machineStart: String = "",
    keep: @escaping @Sendable (Keeping) throws -> Void = { _ in }
  ) {
    self.observers = observers
    self.records = records
    self.endedBy = endedBy
    self.machineStart = machineStart
    self.keep = keep
  }
}
