import PharosCaptures
import PharosDocuments
import PharosModel
package import PharosSimulation
package import PharosTerminal

/// `pharos simulate`: plays a scene into a capture, and into a file of what truly happened.
package struct SimulateRunner: Sendable {
  private let scene: Scene
  private let seed: UInt64

  /// The destination of the captured datagrams: the port of this machine at which `serve` listens by default.
  private static let destination = Endpoint(IPAddress(v4: 0x7F00_0001), port: 50_001)
  /// The amount of data that is gathered before it is written to the file.
  ///
  /// - Units: bytes.
  private static let chunk = 65_536

  /// Plays a scene that need not be a built-in one.
  package init(playing scene: Scene, seed: UInt64) {
    self.scene = scene
    self.seed = seed
  }

  /// Chooses a scene by its name.
  ///
  /// - Throws: `CommandFailure` that lists the names there are.
  package init(scene name: String, seed: UInt64) throws(CommandFailure) {
    guard let scene = Scene.builtIn(named: name) else {
      let names = Scene.builtIn.map(\.name)
      let hint = Spelling.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
      throw CommandFailure(
        "no scene is called \"\(name)\".\(hint) There are: \(names.joined(separator: ", ")).",
        status: .usage
      )
    }
    self.init(playing: scene, seed: seed)
  }

  /// The lines of a list of all scenes.
  package static var sceneList: [String] {
    Scene.builtIn.flatMap { scene in
      Paragraph.lines(scene.summary, behind: scene.name.padded(to: 16), width: TextTable.widest - 2)
    }
  }

  /// Plays the scene.
  ///
  /// - Parameters:
  ///   - capture: the sink for the bytes of a pcapng file.
  ///   - truth: the sink for the ground truth as JSON lines, or nil.
  ///   - console: the console that receives a summary of what was written.
  /// - Returns: 0; 1 if something cannot be written.
  package func run(
    capture: any OutputSink,
    truth: (any OutputSink)?,
    console: Console
  ) -> CommandStatus {
    console.run {
      let tally = try write(Simulation(scene, seed: seed), capture: capture, truth: truth, console: console)
      try capture.flush()
      try truth?.flush()
      console.say(
        "\(scene.name), seed \(seed): \(tally.datagrams) datagrams with \(tally.reports) reports in "
          + "\(scene.duration.written), \(tally.facts) facts of the truth."
      )
      return .success
    }
  }

  /// Plays a scene into files.
  ///
  /// - Returns: 0; 1 if a file cannot be written; 64 if there is no such scene.
  package static func run(
    scene: String,
    seed: UInt64,
    output: String,
    truth: String?,
    site: String? = nil,
    console: Console
  ) -> CommandStatus {
    console.run {
      let runner = try SimulateRunner(scene: scene, seed: seed)
      let capture = try FileOutput(path: output)
      let facts = try truth.map { path throws(CommandFailure) in try FileOutput(path: path) }
      let status = runner.run(capture: capture, truth: facts, console: console)
      try capture.close()
      try facts?.close()
      if let site { try FileOutput.write(runner.scene.siteYAML.utf8, to: site) }
      return status
    }
  }

  private struct Tally {
    var datagrams = 0
    var reports = 0
    var facts = 0
  }

  private func write(
    _ simulation: Simulation,
    capture: any OutputSink,
    truth: (any OutputSink)?,
    console: Console
  ) throws -> Tally {
    var writer = CaptureWriter(
      comment: "scene \(scene.name), seed \(seed): \(scene.summary)",
      application: "pharos simulate"
    )
    var tally = Tally()
    var json = JSONText()
    var bar = ProgressBar(scene.name, on: console)
    for item in simulation {
      bar.show(Int((item.time - scene.start).milliseconds), of: Int(scene.duration.milliseconds))
      switch item {
      case .datagram(let datagram):
        tally.datagrams += 1
        tally.reports += datagram.reports.reports.count
        let source = Endpoint(
          IPAddress(datagram.sourceAddress) ?? IPAddress(v4: 0x7F00_0001),
          port: datagram.sourcePort
        )
        try writer.write(
          payload: datagram.bytes.span.bytes,
          from: source,
          to: SimulateRunner.destination,
          at: datagram.received
        )
        if writer.pendingCount >= SimulateRunner.chunk { try capture.write(writer.drainBytes()) }
      case .truth(let event):
        tally.facts += 1
        event.write(to: &json)
        if json.utf8.last != UInt8(ascii: "\n") { json.newLine() }
        try truth?.write(json.utf8)
        json.removeAll()
      }
    }
    try capture.write(writer.drainBytes())
    bar.clear()
    return tally
  }
}
