import Foundation
import PharosConsoleSupport
import PharosLab
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("The picture of explain")
struct ExplainPictureTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func draw(
    _ capture: String,
    _ site: String,
    to name: String = "a.svg",
    _ change: (inout ExplainRunner.Options) -> Void = { _ in }
  ) throws -> (picture: String, errors: String) {
    var options = ExplainRunner.Options(captures: [capture], site: site)
    options.picture = folder.path(name)
    change(&options)
    let kept = KeptConsole()
    #expect(ExplainRunner(options).run(on: kept.console) == .success)
    return (String(decoding: try folder.bytes(name), as: UTF8.self), kept.errors.text)
  }

  private func story() throws -> (capture: String, site: String) {
    let capture = folder.path("story.pcapng")
    try Data(try DrawnCapture.story.bytes()).write(to: URL(filePath: capture))
    return (capture, try folder.write(DrawnCapture.site, to: "site.yaml"))
  }

  @Test("shows level, thresholds, states, waits, fixed rules and a legend")
  func parts() throws {
    let (capture, site) = try story()
    let picture = try draw(capture, site) { $0.beacon = "3/1" }.picture
    let reader = try #require(PictureReader(picture))
    for text in [
      "E2C5…/3/1 at door · region close", "enter −70\u{A0}dBm", "exit −80\u{A0}dBm", "Pharos",
      "fixed 30\u{A0}s",
      "fixed 10\u{A0}s", "inside", "outside", "1 exit", "advert as heard", "weak for 4\u{A0}s", "12:01",
    ] {
      #expect(reader.texts.contains(text), "\(text)")
    }
    #expect(reader.texts.contains { $0.hasPrefix("enter 12:00:0") })
    #expect(reader.texts.contains { $0.hasPrefix("exit 12:01:0") })
    #expect(reader.elements["polyline"] ?? 0 >= 1)
  }

  @Test("marks the false exits of fixed rules")
  func falseExits() throws {
    let (capture, site) = try story()
    let picture = try draw(capture, site) { ($0.beacon, $0.region) = ("pump", "fixed") }.picture
    let reader = try #require(PictureReader(picture))
    #expect(reader.texts.contains("2 exits, 1 false"))
    #expect(reader.texts.contains("silent for the 12\u{A0}s allowed"))
    #expect(reader.texts.contains { $0.hasPrefix("11\u{A0}s of 12\u{A0}s") })
  }

  @Test("shades the time without a sign of life")
  func outage() throws {
    let (capture, site) = try story()
    let reader = try #require(PictureReader(try draw(capture, site) { $0.beacon = "2/3" }.picture))
    #expect(reader.texts.contains("no sign of life from door"))
    #expect(reader.texts.contains("unmonitored"))
    #expect(reader.texts.contains { $0.hasPrefix("inside again 12:05:31") })
  }

  @Test("draws the track with most decisions where none is named, and says how many it left")
  func usual() throws {
    let (capture, site) = try story()
    let (_, errors) = try draw(capture, site)
    #expect(
      errors.contains(
        "a.svg: 1 track drawn. 4 other tracks not drawn: name one with --observer and --beacon."
      )
    )
    #expect(errors.split(separator: "\n").count == 1)
  }

  @Test("is the same to the byte each time")
  func deterministic() throws {
    let (capture, site) = try story()
    let first = try draw(capture, site, to: "a.svg") { $0.observerFilter = "door" }
    let second = try draw(capture, site, to: "b.svg") { $0.observerFilter = "door" }
    #expect(first.picture == second.picture)
    #expect(first.errors.contains("4 tracks drawn"))
  }

  @Test("a name from the radio or the site file cannot break out of the picture")
  func hostile() throws {
    let (capture, _) = try story()
    let name = #"\"><script>alert(1)</script>"#
    let text = DrawnCapture.site.replacing("name: pump", with: "name: \"\(name)\"")
    let site = try folder.write(text, to: "hostile.yaml")
    let reader = try #require(PictureReader(try draw(capture, site) { $0.beacon = "1/1" }.picture))
    #expect(reader.elements["script"] == nil)
    #expect(reader.texts.contains { $0.contains("<script>") })
  }

  @Test(
    "every scene of the repository gives a picture that is well-formed, and labels stand within it",
    arguments: ["noisy-doorway", "gateway-outage", "museum-visit"]
  )
  func scenes(name: String) throws {
    let scene = SharedData.repository.appending(path: "Captures/\(name)")
    let picture = try draw(
      scene.appending(path: "capture.pcapng").path,
      scene.appending(path: "site.yaml").path
    ).picture
    let reader = try #require(PictureReader(picture))
    for attributes in reader.attributes {
      guard attributes["font-size"] != nil, let x = attributes["x"].flatMap(Double.init) else { continue }
      #expect((0...1_280).contains(x))
    }
  }
}
