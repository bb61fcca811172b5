import Foundation
import FoundationXML
import PharosConsoleSupport
import PharosLab
import PharosTerminal
import PharosTestSupport
import Testing

#if canImport(FoundationXML)
#endif

@Suite("The picture of a comparison")
struct ComparisonPictureTests {
  private func picture(_ capture: HandMadeCapture, site: String? = nil) throws -> String {
    let folder = try TemporaryFolder()
    let path = folder.path("hall.pcapng")
    try Data(capture.bytes()).write(to: URL(filePath: path))
    let site = try site.map { try folder.write($0, to: "site.yaml") }
    var options = CompareRunner.Options(captures: [path], site: site)
    options.picture = folder.path("hall.svg")
    let kept = KeptConsole()
    #expect(CompareRunner(options).run(on: kept.console) == .success, "\(kept.errors.text)")
    #expect(kept.errors.text.contains("hall.svg: the picture"))
    return String(decoding: try folder.bytes("hall.svg"), as: UTF8.self)
  }

  private static var flapping: HandMadeCapture {
    var capture = HandMadeCapture()
    // A gap of 50 s every three minutes; another tag proves the gateway alive.
    capture.receive(minor: 1, in: (0..<6).map { $0 * 180..<$0 * 180 + 130 })
    capture.receive(minor: 2, in: [0..<1_080])
    return capture
  }

  @Test("it is well-formed, and says in text what it shows")
  func wellFormed() throws {
    let text = try picture(Self.flapping)
    let parser = XMLParser(data: Data(text.utf8))
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    for words in [
      "Who was inside, by whose rule", "Your 30 s rule: 6 exits, 5 taken back", "E2C5…/7/1", "AltBeacon 10 s",
      "6 exits, 5 back", "an exit taken back within a minute", "UTC",
    ] {
      let isThere = text.contains(words)
      #expect(isThere, "\(words)")
    }
  }

  @Test("each exit that is taken back is a mark of its own in the bar of the rule that reported it")
  func marks() throws {
    let text = try picture(Self.flapping)
    let mistakes = text.components(separatedBy: "fill=\"#a3004c\"").count - 1
    // Five each under your 30 s, AltBeacon twice, Core Location-like, reelyActive and Bermuda, the legend, and the texts
    // beside the six bars; Pharos learns what gaps there are, and may have some of its own at first.
    #expect(mistakes >= 5 * 6 + 1 + 6)
    #expect(mistakes <= 5 * 7 + 1 + 7)
  }

  @Test("names of the directory stand beside the lanes, escaped")
  func names() throws {
    let site = """
      regions:
        - { id: hall, subject: beacon, uuid: \(HandMadeCapture.uuid) }
      beacons:
        - { uuid: \(HandMadeCapture.uuid), major: 7, minor: 1, name: "<pump> & cart" }
      """
    let text = try picture(Self.flapping, site: site)
    #expect(XMLParser(data: Data(text.utf8)).parse())
    #expect(text.contains("&lt;pump&gt; &amp; cart in hall"))
  }

  @Test("the picture states that there is nothing to draw")
  func nothing() throws {
    let text = try picture(HandMadeCapture())
    #expect(XMLParser(data: Data(text.utf8)).parse())
    #expect(text.contains("No rule reported an entry or an exit."))
  }
}
