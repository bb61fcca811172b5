import ArgumentParser
import PharosService

/// `pharos simulate`.
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Play a scene of people, beacons, walls and radio noise into a capture.",
    usage: "pharos simulate <scene> -o <capture> [options]",
    discussion: """
      pharos simulate noisy-doorway -o doorway.pcapng --site doorway.yaml
          writes the traffic of the gateways, and the site file that goes with it; then \
      pharos process doorway.pcapng --site doorway.yaml

      The same seed gives the same bytes. The scenes:

      \(SimulateRunner.sceneList.joined(separator: "\n"))
      """
  )

  @Argument(help: "The scene's name.")
  var scene: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The capture to write, pcapng; packed if it ends in .gz.", valueName: "capture")
  )
  var output: String

  @Option(help: ArgumentHelp("Where to write what truly happened, as JSON lines.", valueName: "file"))
  var truth: String?

  @Option(help: ArgumentHelp("Where to write a site file that goes with the scene.", valueName: "file"))
  var site: String?

  @Option(help: ArgumentHelp("Where all chance comes from.", valueName: "n"))
  var seed: UInt64 = 1

  func run() throws {
    let console = Console.standard()
    try SimulateRunner.run(
      scene: scene,
      seed: seed,
      output: output,
      truth: truth,
      site: site,
      console: console
    ).leave()
  }
}
