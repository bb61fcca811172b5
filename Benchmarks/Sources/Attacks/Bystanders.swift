import Foundation
import NIOCore
import NIOPosix
import ServedProcess
import Synchronization

/// The users of a server that is attacked: a gateway, a client of its events, and a client of the pages.
///
/// Twenty beacons come and go before the gateway: every quarter of a second one begins its five seconds, is heard three
/// times, and then not again. Each is an enter that has to arrive at the client.
final class Bystanders: Sendable {
  /// What they have had of the server in some time.
  struct Service: Sendable {
    /// Enters that were due, and those that came.
    var due = 0
    var arrived = 0
    /// Pages that were asked for, and those that came.
    var asked = 0
    var answered = 0
    /// The longest that a page took.
    var slowest = 0.0
    /// The times from the datagrams of the enters that came to their events.
    ///
    /// - Units: ms.
    var latencies: [Double] = []

    /// The latency that 95 in 100 enters since an earlier service kept; 0 if none came.
    func latency95(since earlier: Service) -> Double {
      let new = latencies.dropFirst(earlier.latencies.count).sorted()
      return new.isEmpty ? 0 : new[new.count * 95 / 100]
    }
  }

  static let beacons = 20
  static let uuid = "A0A0A0A0-0000-4000-8000-00000000CCCC"
  /// Their regions, as lines of the site file.
  static let regions = (1...beacons).map {
    "      - { id: good-\($0), uuid: \(uuid), major: 1, minor: \($0), enter: { samples: 1 }, exit: { silence: 2s } }"
  }.joined(separator: "\n")

  private static let tick = Duration.milliseconds(250)

  private let gateway: Gateway
  private let udp: UInt16
  private let http: UInt16
  private let token: String?
  private let group: MultiThreadedEventLoopGroup
  private let service = Mutex(Service())
  /// When each beacon was heard first since it last came.
  private let heard = Mutex<[Int: ContinuousClock.Instant]>([:])

  init(gateway: Gateway, udp: UInt16, http: UInt16, token: String?, group: MultiThreadedEventLoopGroup) {
    self.gateway = gateway
    self.udp = udp
    self.http = http
    self.token = token
    self.group = group
  }

  /// What they have had so far.
  var soFar: Service { service.withLock { $0 } }

  /// Lets them use the server until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { tasks in
      tasks.addTask { await self.listen() }
      tasks.addTask { await self.ask() }
      await self.send()
    }
  }

  private func send() async {
    guard let socket = try? DatagramSocket(to: udp) else { return }
    var tick = 0
    while !Task.isCancelled {
      let heard = (0..<3).map { (tick - $0) % Bystanders.beacons }.filter { $0 >= 0 }
      let payloads = heard.map { AdvertMaker.iBeacon(Bystanders.uuid, major: 1, minor: UInt16($0 + 1)) }
      if let new = heard.first { self.heard.withLock { $0[new + 1] = .now } }
      socket.send(gateway.datagram([Gateway.plain] + payloads))
      service.withLock { $0.due += 1 }
      tick += 1
      try? await Task.sleep(for: Bystanders.tick)
    }
  }

  /// Reads events, and comes back whenever it is cut off.
  private func listen() async {
    while !Task.isCancelled {
      let stream = try? await EventStream(
        port: http,
        path: "/v1/events?kind=region.enter&application=good",
        token: token,
        group: group
      ) { event in
        guard event.type == "pharos.region.enter", event.data.contains("\"good-") else { return }
        let minor = event.data.firstMatch(of: /"good-(\d+)/).flatMap { Int($0.1) }
        let sent = minor.flatMap { minor in self.heard.withLock { $0[minor] } }
        self.service.withLock { service in
          service.arrived += 1
          guard let time = sent.map({ (ContinuousClock.now - $0).components }) else { return }
          service.latencies.append(Double(time.seconds) * 1_000 + Double(time.attoseconds) * 1e-15)
        }
      }
      while !Task.isCancelled, stream?.isOpen ?? false { try? await Task.sleep(for: .milliseconds(100)) }
      stream?.close()
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  private func ask() async {
    let call = HTTPCall(port: http, token: token, group: group)
    while !Task.isCancelled {
      let start = Date()
      let answer = try? await call.get("/v1/status")
      service.withLock { service in
        service.asked += 1
        if answer?.status == 200 { service.answered += 1 }
        service.slowest = max(service.slowest, -start.timeIntervalSinceNow)
      }
      try? await Task.sleep(for: Bystanders.tick)
    }
  }
}
