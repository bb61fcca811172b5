import PharosCaptures
import PharosLab
import PharosModel
import PharosSimulation
import PharosSite
import PharosTerminal
import PharosWire
import Testing

@Suite("Simulate")
struct SimulateRunnerTests {
  @Test(
    "every observer of a scene is in its site file, and every region can see something",
    arguments: Scene.builtIn
  )
  func siteFiles(scene: Scene) throws {
    #expect(scene.siteYAML.hasPrefix("# "))
    let site = try SiteFile.parse(scene.siteYAML, path: "site.yaml").site
    #expect(Set(site.observers.map(\.id)) == Set(scene.observers.map(\.id)))
    #expect(!site.applications.isEmpty)
    for application in site.applications {
      #expect(application.regions.count <= application.regionLimit)
      #expect(Set(application.regions.map(\.identifier)).count == application.regions.count)
      for region in application.regions {
        #expect(scene.transmitters.contains { region.constraint?.matches($0.beacon) == true })
      }
    }
    let zoned = site.zones.flatMap(\.observers)
    #expect(Set(zoned).count == zoned.count)
    let zones = Set(site.zones.map(\.identifier))
    #expect(site.zones.allSatisfy { zones.isSuperset(of: $0.adjacent) })
  }

  @Test("a scene becomes a capture whose datagrams all decode", arguments: ["demo", "noisy-doorway"])
  func capture(name: String) throws {
    let name = try #require(Scene.builtIn.first { $0.name.contains(name.prefix(4)) }).name
    let capture = MemorySink()
    let truth = MemorySink()
    let errors = MemorySink()
    let runner = try SimulateRunner(scene: name, seed: 1)
    let status = runner.run(
      capture: capture,
      truth: truth,
      console: Console(output: MemorySink(), errors: errors)
    )
    #expect(status == .success)
    var reader = CaptureReader()
    var assembler = DatagramAssembler()
    reader.append(capture.bytes)
    var (datagrams, decoder) = (0, DatagramDecoder())
    while let packet = try reader.nextPacket() {
      let found = assembler.add(packet)
      let datagram = try #require(found)
      var batch = ReportBatch()
      let payload = Array(datagram.payload)
      _ = try decoder.decode(payload.span.bytes, received: Timestamp(seconds: 0), into: &batch).get()
      #expect(!batch.isEmpty)
      datagrams += 1
    }
    try reader.finish()
    #expect(datagrams > 10)
    #expect(errors.text.contains("\(datagrams) datagrams"))
    #expect(truth.text.split(separator: "\n").allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    #expect(!truth.bytes.isEmpty)
  }

  @Test("the same seed gives the same bytes, another seed others")
  func seeds() throws {
    let captures = try [1, 1, 2].map { (seed: UInt64) in
      let sink = MemorySink()
      _ = try SimulateRunner(scene: "demo", seed: seed).run(
        capture: sink,
        truth: nil,
        console: Console(output: MemorySink(), errors: MemorySink())
      )
      return sink.bytes
    }
    #expect(captures[0] == captures[1])
    #expect(captures[0] != captures[2])
  }

  @Test("the list of scenes says all of each summary, in lines that fit a terminal")
  func list() {
    let lines = SimulateRunner.sceneList
    #expect(lines.allSatisfy { $0.count < 80 })
    let words = lines.joined(separator: " ").split(separator: " ")
    for scene in Scene.builtIn {
      let summary = scene.summary.replacing("\u{A0}", with: " ").split(separator: " ")
      #expect(words.contains(summary.suffix(3)), "\(scene.name)")
    }
  }

  @Test("an unknown scene is answered with the names there are")
  func unknown() {
    #expect {
      _ = try SimulateRunner(scene: "demi", seed: 1)
    } throws: { error in
      guard let failure = error as? CommandFailure else { return false }
      return failure.status == .usage && failure.message.contains("Did you mean demo?")
    }
  }
}
