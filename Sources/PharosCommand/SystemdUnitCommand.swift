import ArgumentParser
import PharosService

/// `pharos systemd-unit`.
struct SystemdUnitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "systemd-unit",
    abstract: "Print a hardened unit for systemd, or that of its socket.",
    discussion: """
      pharos systemd-unit > /etc/systemd/system/pharos.service
          a user of its own, the system read-only, /var/lib/pharos for data, a restart when \
      it shows no sign of life; `systemctl reload pharos` reads the site file again.
      pharos systemd-unit --socket > /etc/systemd/system/pharos.socket
          systemd opens the port, so that no datagram is lost while the service restarts.
      """
  )

  @Flag(help: "Print the unit of the socket.")
  var socket = false

  @Option(help: ArgumentHelp("Where the program is.", valueName: "path"))
  var program = SystemdUnit.Options().program

  @Option(help: ArgumentHelp("Where the site file is.", valueName: "file"))
  var site = SystemdUnit.Options().site

  @Option(help: ArgumentHelp("Where the socket listens; may be repeated.", valueName: "host:port"))
  var udp: [HostPort] = []

  func run() throws {
    var options = SystemdUnit.Options(program: program, site: site)
    if !udp.isEmpty { options.udp = udp.map(\.description) }
    let console = Console.standard()
    try console.run {
      try console.print(socket ? SystemdUnit.socket(options) : SystemdUnit.service(options))
      return .success
    }
    .leave()
  }
}
