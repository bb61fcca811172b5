import Foundation
import PharosDocuments
import PharosJournal
import PharosModel
import PharosPipeline
import PharosSite
import PharosTestSupport
import Testing

@Suite("The repository's captures in the journal")
struct JournalCapturesTests {
  /// The folders that hold a capture as it is.
  static let scenes: [String] = {
    let root = SharedData.repository.appending(path: "Captures").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return names.filter { FileManager.default.fileExists(atPath: "\(root)/\($0)/capture.pcapng") }.sorted()
  }()

  /// All that the pipeline decides about a capture.
  private func events(in folder: URL, _ site: Site) throws -> [Event] {
    var pipeline = try Pipeline(site: site)
    var feed = CaptureFeed(observer: .name("capture"))
    feed.append(Array(try Data(contentsOf: folder.appending(path: "capture.pcapng"))))
    var events: [Event] = []
    while let input = try feed.next() { events += pipeline.process(input) }
    try feed.finish()
    while let input = try feed.next() { events += pipeline.process(input) }
    return events + pipeline.finish()
  }

  @Test(
    "each event has the same JSON when it is read back, which is the line beside the capture",
    arguments: scenes
  )
  func sameLines(scene: String) throws {
    let folder = SharedData.repository.appending(path: "Captures/\(scene)")
    let site = try SiteFile.parse(
      bytes: Array(try Data(contentsOf: folder.appending(path: "site.yaml"))),
      path: "site.yaml"
    ).site
    let events = try events(in: folder, site)
    #expect(!events.isEmpty)
    let journal = try Journal.open(.memory, stream: site.stream)
    var start = 0
    while start < events.count {
      let group = events[start..<min(start + 100, events.count)]
      _ = try journal.append(group.map { .init(event: $0) })
      start += group.count
    }
    let kept = try journal.events(after: 0, limit: .max).map(\.event)
    #expect(
      kept.map { $0.cloudEvent(stream: site.stream) } == events.map { $0.cloudEvent(stream: site.stream) }
    )
    #expect(try journal.publishedState() == StateTable(after: events).state)
    let lines = try String(contentsOf: folder.appending(path: "expected.jsonl"), encoding: .utf8)
      .split(separator: "\n").map(String.init)
    #expect(!lines.isEmpty)
    let names = SiteNames(site)
    let committed = kept.filter { $0.kind != .regionState && $0.kind != .regionReset }.map { event in
      var json = JSONText()
      json.names = names
      event.write(to: &json, stream: site.stream)
      return json.text
    }
    #expect(committed == lines)
  }

  @Test("there are scenes")
  func complete() { #expect(JournalCapturesTests.scenes.count >= 4) }
}
