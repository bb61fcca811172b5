/// The units that `pharos systemd-unit` prints: the service with all that it does not need taken away, and its socket.
package enum SystemdUnit {
  /// What the units are made for.
  package struct Options: Hashable, Sendable {
    /// The program.
    package var program: String
    /// The site file.
    package var site: String
    /// The addresses that the socket unit listens at.
    package var udp: [String]

    /// Makes options; the defaults are where a distribution would put things.
    package init(
      program: String = "/usr/local/bin/pharos",
      site: String = "/etc/pharos/site.yaml",
      udp: [String] = ["0.0.0.0:50001"]
    ) {
      self.program = program
      self.site = site
      self.udp = udp
    }
  }

  /// The service's unit.
  ///
  /// It runs as a user of its own that exists only while it runs, sees the system read-only and its data folder alone
  /// for writing, opens no sockets but those of networks and systemd's own, and is restarted when it fails or shows no
  /// sign of life for half a minute.
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
    Type=notify-reload
    NotifyAccess=main
    ExecStart=\(options.program) serve --site \(options.site) --data %S/pharos --log-format json
    Restart=on-failure
    RestartSec=2
    WatchdogSec=30
    TimeoutStartSec=120
    TimeoutStopSec=60
    LimitNOFILE=65536

    # A user of its own, for as long as it runs; /var/lib/pharos is its data folder.
    DynamicUser=yes
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
