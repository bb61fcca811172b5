import ArgumentParser
import PharosLab
import PharosModel
import PharosTerminal
import PharosTools

/// `pharos simulate`.
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulate a scene of people, beacons, walls and radio noise, and write a capture.",
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

  @Option(help: ArgumentHelp("The seed of all random numbers.", valueName: "n"))
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

/// `pharos replay`.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Send a capture to a server under test.",
    usage: "pharos replay <capture> --to <host:port> [options]",
    discussion: """
      pharos replay hall.pcapng --to 127.0.0.1:50001
          sends each datagram at its time in the capture.
      pharos replay hall.pcapng --to 127.0.0.1:50001 --speed 10 --loop 6
          ten times as fast, six times over.
      pharos replay hall.pcapng --to 127.0.0.1:50001 --speed max --clone 1000
          as fast as the system takes them, each observer as a thousand observers.

      Bluetooth captures are sent as Pharos datagrams. Copies and loops get new \
      observers, times, boot ids and checksums, so that they look like traffic of their \
      own. Ends with a summary; Ctrl-C ends early, with the summary so far.
      """
  )

  @Argument(help: "The capture: pcap, pcapng, btsnoop or a recording, gzip too.")
  var capture: String

  @Option(help: ArgumentHelp("Where to send.", valueName: "host:port"))
  var to: HostPort

  @Option(
    help: ArgumentHelp("A factor on the capture's speed, or max for no pause at all.", valueName: "n|max")
  )
  var speed: Speed?

  @Option(
    help: ArgumentHelp("How many datagrams a second to send, whatever the capture's times.", valueName: "n")
  )
  var rate: Double?

  @Option(name: .customLong("loop"), help: ArgumentHelp("How often to play the capture.", valueName: "n"))
  var loops = 1

  @Option(
    name: .customLong("clone"),
    help: ArgumentHelp("How many observers each observer of the capture becomes.", valueName: "n")
  )
  var clones = 1

  @Option(help: .captureObserver)
  var observer: ObserverID?

  @Option(help: "How the summary is written.")
  var format: ReplayRunner.Format = .table

  func validate() throws {
    guard speed == nil || rate == nil else {
      throw ValidationError("--speed and --rate both say when to send; give one of them.")
    }
    guard rate.map({ $0 > 0 && $0 <= 1e9 }) ?? true else {
      throw ValidationError("--rate is \(rate ?? 0); expected a number above 0.")
    }
    guard loops >= 1 else { throw ValidationError("--loop is \(loops); expected 1 or more.") }
    guard (1...ObserverID.maximumClones).contains(clones) else {
      throw ValidationError("--clone is \(clones); expected 1 to \(ObserverID.maximumClones).")
    }
    guard to.isDestination else {
      throw ValidationError("--to is \(to); expected the server's host and port, as in 127.0.0.1:50001.")
    }
  }

  private var pace: ReplayPace {
    if let rate { return .rate(rate) }
    return speed?.pace ?? .captured(speed: 1)
  }

  func run() throws {
    let console = Console.standard()
    var options = ReplayRunner.Options(capture: capture, pace: pace)
    options.loops = loops
    options.clones = clones
    options.observer = observer
    options.format = format
    try ReplayRunner(options).run(to: to, console: console).leave()
  }
}

/// The value of `--speed`.
struct Speed: ExpressibleByArgument {
  let pace: ReplayPace

  init?(argument: String) {
    if argument == "max" {
      pace = .unlimited
    } else {
      guard let factor = Double(argument), factor > 0, factor <= 1e6 else { return nil }
      pace = .captured(speed: factor)
    }
  }
}
