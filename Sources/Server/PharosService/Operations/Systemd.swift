import AsyncAlgorithms
import CPharos
import Glibc
import Pharos
import PharosDocuments
import PharosIngest
import PharosModel
import PharosPresence
import ServiceLifecycle

/// A notifier that reports the state of the service to systemd, in datagrams to the socket that `NOTIFY_SOCKET` names.
///
/// Without that variable systemd expects no notifications, and the initialiser returns nil.
///
/// - Source: sd_notify(3), sd_watchdog_enabled(3).
package struct SystemdNotifier: Sendable {
  /// A notification to systemd.
  package enum Word: Hashable, Sendable {
    /// It listens and serves.
    case ready
    /// It reads its configuration again.
    case reloading
    /// It drains.
    case stopping
    /// It is alive and decides.
    case watchdog
    /// The state of the service, in one line.
    case status(String)
  }

  /// The socket's path; a leading `@` means one without a file.
  let path: String
  /// The time within which systemd wants a sign of life, or nil if it does not.
  package let watchdog: Duration?

  /// Reads what systemd passed to this process.
  ///
  /// - Parameters:
  ///   - environment: the variables of the process.
  ///   - processID: the process, as `WATCHDOG_PID` may name another one.
  package init?(environment: [String: String], processID: Int32) {
    guard let path = environment["NOTIFY_SOCKET"], path.first == "/" || path.first == "@" else { return nil }
    guard path.utf8.count < SystemdNotifier.maximumPath else { return nil }
    self.path = path
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
    watchdog = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
  }

  /// The longest path that a socket's address holds on Linux.
  ///
  /// - Units: bytes.
  private static let maximumPath = 108

  /// Sends notifications to systemd; a manager that does not listen is no reason to stop.
  ///
  /// - Returns: true if the socket took the datagram.
  @discardableResult
  package func notify(_ words: Word...) -> Bool {
    let lines = words.map { word in
      switch word {
      case .ready: "READY=1"
      // systemd wants the time as well, to tell this reload from an earlier one.
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(SystemdNotifier.monotonicMicroseconds())"
      case .stopping: "STOPPING=1"
      case .watchdog: "WATCHDOG=1"
      case .status(let text): "STATUS=\(PlainText.clean(text.replacing("\n", with: " ")))"
      }
    }
    return send(Array(lines.joined(separator: "\n").utf8))
  }

  private func send(_ bytes: [UInt8]) -> Bool {
    let descriptor = SystemdNotifier.datagramSocket()
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isAbstract = path.first == "@"
    let name = isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // The name of an abstract socket is as long as the address says; that of a file ends with a zero.
    let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    let length = socklen_t(offset + name.count + (isAbstract ? 0 : 1))
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        sendto(descriptor, bytes, bytes.count, 0, address, length) == bytes.count
      }
    }
  }

  private static func datagramSocket() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  }

  private static func monotonicMicroseconds() -> Int64 { pharos_clock_monotonic() / 1_000 }
}

/// A service that notifies systemd that the server is ready, alive or stopping.
///
/// It sends a sign of life only after every loop has answered, so that systemd restarts a server that hangs.
struct NotifyService: Service {
  let notifier: SystemdNotifier
  let server: PharosServer
  /// Waits until every listener listens, and returns the addresses.
  let ready: @Sendable () async throws -> String

  func run() async throws {
    let places = try await ready()
    notifier.notify(.ready, .status("listening on \(places)"))
    await withGracefulShutdownHandler {
      await cancelWhenGracefulShutdown { await watch() }
    } onGracefulShutdown: {
      notifier.notify(.stopping, .status("draining"))
    }
  }

  private func watch() async {
    // Half the time that systemd waits, as its manual asks for; an hour where it does not watch.
    let period = notifier.watchdog.map { $0 / 2 } ?? .seconds(3_600)
    for await _ in AsyncTimerSequence(interval: period, clock: .continuous) {
      guard notifier.watchdog != nil, let now = try? await server.snapshot() else { continue }
      let up = now.observers.count { $0.isUp }
      notifier.notify(
        .watchdog,
        .status(
          "\(up) of \(Wording.count(now.observers.count, "observer")) up, \(now.datagrams) datagrams"
        )
      )
    }
  }
}

/// The units that `pharos systemd-unit` prints: the service with all that it does not need taken away, and its socket.
package enum SystemdUnit {
  /// The options of the units.
  package struct Options: Hashable, Sendable {
    /// The program.
    package var program: String
    /// The site file.
    package var site: String
    /// The addresses that the socket unit listens at.
    package var udp: [String]
    /// The user that the service runs as, which must exist; nil for one that exists only while it runs.
    package var user: String?

    /// Makes options; the defaults are where a distribution would put things.
    package init(
      program: String = "/usr/local/bin/pharos",
      site: String = "/etc/pharos/site.yaml",
      udp: [String] = ["0.0.0.0:50001"],
      user: String? = nil
    ) {
      self.program = program
      self.site = site
      self.udp = udp
      self.user = user
    }

    /// The settings of the user.
    fileprivate var identity: String { user.map { "User=\($0)\nGroup=\($0)" } ?? "DynamicUser=yes" }
  }

  /// The service's unit.
  ///
  /// It runs as a user of its own, sees the system read-only and its data folder alone for writing, opens no sockets but
  /// those of networks and systemd's own, and is restarted when it fails or gives no sign of life for half a minute.
  package static func service(_ options: Options = Options()) -> String {
    """
    # /etc/systemd/system/pharos.service
    # Install:  pharos systemd-unit > /etc/systemd/system/pharos.service
    #           systemctl daemon-reload && systemctl enable --now pharos
    # Reload:   systemctl reload pharos        (reads \(options.site) again)

    [Unit]
    Description=Pharos, beacon regions and indoor positions
    Wants=network-online.target
    After=network-online.target

    [Service]
    Type=notify
    NotifyAccess=main
    ExecStart=\(options.program) serve --site \(options.site) --data %S/pharos --log-format json
    ExecReload=/bin/kill -HUP $MAINPID
    Restart=on-failure
    RestartSec=2
    WatchdogSec=30
    TimeoutStartSec=120
    TimeoutStopSec=60
    LimitNOFILE=65536

    # A crash is reported in a tenth of a second, by addresses that the symbols of the same build explain afterwards.
    Environment=SWIFT_BACKTRACE=enable=yes,interactive=no,color=no,threads=crashed,registers=none,images=mentioned,limit=32,symbolicate=off

    # A user of its own; /var/lib/pharos is its data folder.
    \(options.identity)
    StateDirectory=pharos
    StateDirectoryMode=0700
    UMask=0077

    # What it does not need is taken away.
    NoNewPrivileges=yes
    CapabilityBoundingSet=
    AmbientCapabilities=
    ProtectSystem=strict
    ProtectHome=yes
    PrivateTmp=yes
    PrivateDevices=yes
    PrivateMounts=yes
    ProtectClock=yes
    ProtectHostname=yes
    ProtectKernelLogs=yes
    ProtectKernelModules=yes
    ProtectKernelTunables=yes
    ProtectControlGroups=yes
    ProtectProc=invisible
    ProcSubset=pid
    RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
    RestrictNamespaces=yes
    RestrictRealtime=yes
    RestrictSUIDSGID=yes
    LockPersonality=yes
    RemoveIPC=yes
    SystemCallArchitectures=native
    SystemCallFilter=@system-service
    SystemCallFilter=~@privileged @resources
    SystemCallErrorNumber=EPERM

    [Install]
    WantedBy=multi-user.target

    """
  }

  /// The unit of the socket that systemd opens and hands over, so that no datagram is lost while the service restarts.
  package static func socket(_ options: Options = Options()) -> String {
    let listeners = options.udp.map { "ListenDatagram=\($0)" }.joined(separator: "\n")
    return """
      # /etc/systemd/system/pharos.socket
      # Install:  pharos systemd-unit --socket > /etc/systemd/system/pharos.socket
      #           systemctl daemon-reload && systemctl enable --now pharos.socket
      # Datagrams that arrive while the service restarts wait in the socket's buffer.

      [Unit]
      Description=Pharos, datagrams of gateways and handsets

      [Socket]
      \(listeners)
      ReceiveBuffer=4M
      # As root systemd may pass the limit of net.core.rmem_max, which the service itself may not.
      Service=pharos.service

      [Install]
      WantedBy=sockets.target

      """
  }
}
