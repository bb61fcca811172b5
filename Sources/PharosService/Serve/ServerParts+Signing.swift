import Logging
import PharosAccess
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosReports
import PharosSigning
import PharosSite

extension ServerParts {
  /// The keys that datagrams are signed with, what the run before has left of their replay windows, and where these are kept.
  ///
  /// Called once the journal is open: its lock says that the run before is over, so that what the steady clock tells now lies behind
  /// all that was taken.
  static func signing(
    _ registrar: Registrar,
    _ journal: Journal,
    clock: IngestClock
  ) throws(AccessError) -> SignedIngest {
    let store = SenderRecords(store: journal)
    let observers = registrar.keyedObservers
    let machineStart = ServerParts.machineStart
    return SignedIngest(
      observers: observers,
      records: try store.records(of: observers),
      endedBy: try store.lease()?.end(steady: clock.steady(), machineStart: machineStart) ?? .distantPast,
      machineStart: machineStart,
      keep: { try store.keep($0.records, lease: $0.lease) }
    )
  }

  /// Says what an operator should know before gateways are refused.
  static func warn(of listeners: [ListenAddress], keys: Int, _ logger: Logger) {
    let signed = listeners.filter { $0.policy == .signed }
    if let first = signed.first, keys == 0 {
      logger.warning(
        """
        a listener asks for signatures, and no observer has a key: everything that is sent there is refused until \
        pharos observer add makes one
        """,
        metadata: ["listener": "\(first)"]
      )
    }
    for listener in listeners where listener.policy == .open && keys > 0 && !listener.isLoopback {
      logger.warning(
        "a listener takes anybody's datagrams, also such as name observers that have keys",
        metadata: ["listener": "\(listener)"]
      )
    }
  }

  /// What tells this start of the machine from others; empty where the system does not say, which no start then equals.
  private static var machineStart: String {
    let path = "/proc/sys/kernel/random/boot_id"
    guard let bytes = try? WholeFile.read(path, limit: 128) else { return "" }
    return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
  }
}

extension ListenPolicy {
  /// What the site file calls by the same name.
  init(_ policy: IngestPolicy) {
    switch policy {
    case .open: self = .open
    case .allowlist: self = .allowlist
    case .signed: self = .signed
    }
  }
}

extension ListenAddress {
  /// Whether only this machine can send there.
  fileprivate var isLoopback: Bool {
    guard case .bind(let host, _) = socket else { return false }
    return host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }
}
