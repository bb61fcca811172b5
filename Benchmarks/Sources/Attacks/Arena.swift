import Foundation
import NIOCore
import NIOPosix
import PharosModel
import ServedProcess

/// The server that is attacked, what the attackers know of it, and how its users fare.
final class Arena {
  /// The gateway that is impersonated, and another one whose key an attacker has.
  static let good = ObserverID.eui48(0xAC23_3FA0_0001)
  static let other = ObserverID.eui48(0xAC23_3FA0_0002)
  /// The region that a flood of identities aims at: any beacon with this UUID.
  static let bait = "A0A0A0A0-0000-4000-8000-00000000DDDD"

  let server: ServedPharos
  /// The port that takes signed datagrams only, and the one that takes all.
  let signed: UInt16
  let open: UInt16
  let http: UInt16
  let gateway: Gateway
  let foreign: Gateway
  /// The operator's token, and that of an application whose owner is up to no good.
  let token: String
  let poorToken: String
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let isQuick: Bool
  /// A small file that unpacks to a large one.
  let bomb: [UInt8]
  private let folder: URL

  /// Starts a server.
  init(pharos: URL, isQuick: Bool, isSigned: Bool) throws {
    self.isQuick = isQuick
    folder = FileManager.default.temporaryDirectory.appending(path: "pharos-attacks-\(UUID())")
    open = try Machine.freePort(udp: true)
    signed = isSigned ? try Machine.freePort(udp: true) : open
    http = try Machine.freePort(udp: false)
    let listeners =
      isSigned
      ? "[\"127.0.0.1:\(open)\", { address: \"127.0.0.1:\(signed)\", policy: signed }]"
      : "[\"127.0.0.1:\(open)\"]"
    let site = """
      listen: { udp: \(listeners) }
      venues: [hall]
      applications:
        - id: good
          regions:
      \(Bystanders.regions)
        - id: bait
          regions: [{ id: bait, uuid: \(Arena.bait) }]
      """
    var setup = ServedPharos.Setup(pharos: pharos, site: site, folder: folder, http: http)
    setup.requiresToken = true
    let data = folder.appending(path: "data").path
    func token(_ arguments: [String]) throws -> String {
      let text = try ServedPharos.run(pharos, ["token", "create", "--data", data] + arguments)
      guard let found = text.firstMatch(of: /pht_[A-Za-z0-9_-]+/) else {
        throw ServedProcessError("`pharos token create` prints no token; it says:\n\(text)")
      }
      return String(found.0)
    }
    func key(_ observer: ObserverID) throws -> Key? {
      guard isSigned else { return nil }
      return try Key(in: ServedPharos.run(pharos, ["observer", "add", "\(observer)", "--data", data]))
    }
    try Hall.write(to: folder.appending(path: "hall"))
    bomb = try Hall.bomb(in: folder)
    self.token = try token(["--operator"])
    poorToken = try token(["--application", "bait"])
    gateway = Gateway(Arena.good, key: try key(Arena.good))
    foreign = Gateway(Arena.other, key: try key(Arena.other))
    server = try ServedPharos(setup)
  }

  /// Ends the server and removes what it has written.
  func end() async throws {
    if server.isRunning { server.stop() }
    try await group.shutdownGracefully()
    try? FileManager.default.removeItem(at: folder)
  }

  /// What the server has counted.
  func metrics() async throws -> Metrics {
    try await Metrics(of: HTTPCall(port: http, token: token, group: group))
  }

  /// A number of attempts: few in a quick run.
  func tries(_ count: Int, quick: Int) -> Int { isQuick ? quick : count }

  /// Sends datagrams no faster than a server takes them that has other things to do as well, and waits until it has counted
  /// all of them.
  ///
  /// - Returns: what it has counted before and after.
  func send(_ datagrams: [[UInt8]], to port: UInt16) async throws -> (before: Metrics, after: Metrics) {
    let socket = try DatagramSocket(to: port)
    let before = try await metrics()
    for (place, datagram) in datagrams.enumerated() {
      socket.send(datagram)
      if place % 64 == 63 { try await Task.sleep(for: .milliseconds(3)) }
    }
    return (before, try await waitForDatagrams(before, sent: datagrams.count))
  }

  /// Returns the counts once so many datagrams more have come, or been dropped by the kernel, or no further one comes.
  func waitForDatagrams(_ before: Metrics, sent: Int) async throws -> Metrics {
    var last = 0.0
    var still = 0
    while true {
      let now = try await metrics()
      let come = now.sum("pharos_ingest_datagrams_total") + now.sum("pharos_ingest_kernel_drops_total")
      let wanted =
        before.sum("pharos_ingest_datagrams_total") + before.sum("pharos_ingest_kernel_drops_total")
      // The gateway that behaves itself sends meanwhile, so that more come than were sent here.
      still = come - last < 40 ? still + 1 : 0
      if come - wanted >= Double(sent), still >= 2 { return now }
      if still >= 10 { return now }
      last = come
      try await Task.sleep(for: .milliseconds(400))
    }
  }
}
