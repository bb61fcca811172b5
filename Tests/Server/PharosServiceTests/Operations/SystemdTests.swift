import Foundation
import Glibc
import PharosService
import PharosTestSupport
import Testing

#if canImport(Glibc)
#endif

@Suite("Notifications to systemd, and the sockets that it passes")
struct SystemdTests {
  /// A socket that receives as systemd's would.
  final class Manager {
    let path: String
    private let descriptor: Int32

    init(isAbstract: Bool) throws {
      let name = "pharos-\(UUID().uuidString.prefix(8))"
      path = isAbstract ? "@\(name)" : FileManager.default.temporaryDirectory.appending(path: name).path
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      let length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
      let bound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
      }
      try #require(bound == 0)
    }

    deinit {
      close(descriptor)
      if path.hasPrefix("/") { unlink(path) }
    }

    /// The next datagram; waits for it.
    func receive() -> String {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
  }

  @Test("words arrive in one datagram, by a file or by a name", arguments: [true, false])
  func notifies(isAbstract: Bool) throws {
    let manager = try Manager(isAbstract: isAbstract)
    let notifier = try #require(
      SystemdNotifier(environment: ["NOTIFY_SOCKET": manager.path], processID: 7)
    )
    #expect(notifier.notify(.ready, .status("listening\non udp")))
    #expect(manager.receive() == "READY=1\nSTATUS=listening on udp")
    #expect(notifier.notify(.stopping))
    #expect(manager.receive() == "STOPPING=1")
    #expect(notifier.notify(.reloading))
    #expect(manager.receive().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    #expect(notifier.notify(.watchdog))
    #expect(manager.receive() == "WATCHDOG=1")
  }

  @Test("without a manager nothing is sent, and one that is gone does no harm")
  func noone() throws {
    #expect(SystemdNotifier(environment: [:], processID: 1) == nil)
    #expect(SystemdNotifier(environment: ["NOTIFY_SOCKET": "relative"], processID: 1) == nil)
    let long = "/" + String(repeating: "x", count: 200)
    #expect(SystemdNotifier(environment: ["NOTIFY_SOCKET": long], processID: 1) == nil)
    let gone = try #require(
      SystemdNotifier(environment: ["NOTIFY_SOCKET": "/nowhere/at/all"], processID: 1)
    )
    #expect(!gone.notify(.ready))
  }

  @Test("the watchdog is meant for the process that it names, or for any")
  func watchdog() {
    func period(_ variables: [String: String]) -> Duration? {
      let all = variables.merging(["NOTIFY_SOCKET": "@x"]) { first, _ in first }
      return SystemdNotifier(environment: all, processID: 7)?.watchdog
    }
    #expect(period(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
    #expect(period(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(30))
    #expect(period(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
    #expect(period(["WATCHDOG_USEC": "soon"]) == nil)
    #expect(period([:]) == nil)
  }

  @Test("the units name program, site and addresses, and every line is a section, a setting or a remark")
  func units() {
    let options = SystemdUnit.Options(
      program: "/opt/p",
      site: "/srv/s.yaml",
      udp: ["[::]:50001", "0.0.0.0:1"]
    )
    let service = SystemdUnit.service(options)
    #expect(
      service.contains("ExecStart=/opt/p serve --site /srv/s.yaml --data %S/pharos --log-format json\n")
    )
    #expect(service.contains("DynamicUser=yes\n"))
    let owned = SystemdUnit.service(.init(user: "beacons"))
    #expect(owned.contains("User=beacons\nGroup=beacons\n") && !owned.contains("DynamicUser"))
    let socket = SystemdUnit.socket(options)
    #expect(socket.contains("ListenDatagram=[::]:50001\nListenDatagram=0.0.0.0:1\n"))
    for line in (service + socket).split(separator: "\n") {
      let isSetting = line.first?.isUppercase == true && line.contains("=")
      #expect(line.hasPrefix("#") || line.hasPrefix("[") || isSetting, "\(line)")
    }
  }

  @Test("systemd-analyze finds no fault in the units", .enabled(if: SystemdTests.analyze != nil))
  func verified() throws {
    let folder = try TemporaryFolder()
    let service = try folder.write(
      SystemdUnit.service(.init(program: "/bin/true")),
      to: "pharos.service"
    )
    let socket = try folder.write(SystemdUnit.socket(), to: "pharos.socket")
    let process = Process()
    process.executableURL = URL(filePath: try #require(SystemdTests.analyze))
    process.arguments = ["verify", "--man=no", service, socket]
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(said)")
    // A setting that this version of systemd does not have is no error to it, and has no effect.
    #expect(said.isEmpty, "\(said)")
  }

  /// systemd's own checker, where it is installed.
  static let analyze = ["/usr/bin/systemd-analyze"].first { FileManager.default.isExecutableFile(atPath: $0) }
}
