import Foundation
import NIOCore
import NIOPosix
import ServedProcess

/// Finds how many adverts a second a server takes with its sender on the same machine.
struct Calibration {
  /// What is tried, in adverts a second: each half as much again as the one before.
  private static let rates = [20_000, 30_000, 45_000, 70_000, 100_000, 150_000, 225_000, 340_000, 500_000]
  /// How long each is tried.
  private static let trial = Duration.seconds(4)
  /// By how much the sender may be behind its plan.
  ///
  /// - Units: seconds.
  private static let behind = 0.1

  let pharos: URL

  /// Half of the highest rate at which the sender kept its plan and the kernel dropped nothing.
  func half() async throws -> Int {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    var sustained = Calibration.rates[0]
    for rate in Calibration.rates {
      guard try await isSustained(rate, group) else { break }
      sustained = rate
    }
    try await group.shutdownGracefully()
    return sustained / 2
  }

  private func isSustained(_ rate: Int, _ group: MultiThreadedEventLoopGroup) async throws -> Bool {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pharos-soak-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let udp = try Machine.freePort(udp: true)
    let http = try Machine.freePort(udp: false)
    let setup = ServedPharos.Setup(pharos: pharos, site: SoakRun.site(udp: udp), folder: folder, http: http)
    let server = try ServedPharos(setup)
    let load = try LoadSender(to: udp, adverts: rate, markers: Markers())
    try await Task.sleep(for: Calibration.trial)
    let progress = load.progress
    load.stop()
    let metrics = try await Metrics(of: HTTPCall(port: http, group: group))
    server.stop()
    return progress.behind < Calibration.behind && metrics.sum("pharos_ingest_kernel_drops_total") == 0
  }
}
