import Pharos
import PharosCaptures
import PharosIngest
import PharosReports
import PharosSimulation
import ServiceLifecycle

/// Plays a scene to a server's own socket, as gateways on the same machine would.
package struct DemoService: Service {
  private let server: PharosServer
  private let scene: Scene

  /// The seed of the demo: any would do; this one always looks the same.
  package static let seed: UInt64 = 1

  /// Plays a scene without end.
  init(server: PharosServer, scene: Scene) {
    self.server = server
    var scene = scene
    scene.duration = .forever
    self.scene = scene
  }

  package func run() async throws {
    guard var destination = try await server.addresses().first else { return }
    destination = destination.reachable
    let simulation = try Simulation(scene, seed: DemoService.seed)
    let endpoint = destination
    try await cancelWhenGracefulShutdown {
      await DemoService.play(simulation, scene: scene, with: try SocketSender(to: endpoint))
    }
  }

  private static func play(_ simulation: Simulation, scene: Scene, with sender: SocketSender) async {
    let clock = ContinuousClock()
    let start = clock.now
    let encoder = SceneEncoder()
    for item in simulation {
      guard case .datagram(let datagram) = item else { continue }
      let due = start + .nanoseconds((datagram.received - scene.start).nanoseconds)
      guard (try? await clock.sleep(until: due)) != nil else { return }
      let bytes = encoder.bytes(of: datagram)
      // A datagram that the system does not take is lost, as on any network.
      _ = try? sender.send(bytes, ranges: [0..<bytes.count][...])
    }
  }
}

extension Endpoint {
  /// The address of a socket that listens everywhere, as a sender on the same machine reaches it.
  fileprivate var reachable: Endpoint {
    switch address.description {
    case "0.0.0.0": Endpoint(IPAddress(v4: 0x7F00_0001), port: port)
    case "::": Endpoint(IPAddress(v6: 0, 1), port: port)
    default: self
    }
  }
}
