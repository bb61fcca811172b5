import Foundation
import Logging
import PharosConsoleSupport
import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosTerminal
import PharosTools
import Testing

@Suite("pharos erase")
struct EraseRunnerTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private static let subject = SubjectID.observer(.eui48(0xC0FF_EE00_0001))

  private static func event(_ subject: SubjectID, _ number: UInt64) -> Event {
    Event(
      stream: "pharos",
      kind: .regionState,
      time: Timestamp(seconds: 1_760_000_000),
      decidedAt: Timestamp(seconds: 1_760_000_000),
      stage: 1,
      subject: subject,
      application: "gallery",
      region: "hall",
      counter: number,
      detail: .region(RegionTransition(from: .unknown, to: .inside, evidence: Evidence(rule: .samples)))
    )
  }

  private static let visit = Event(
    stream: "pharos",
    kind: .visitArrive,
    time: Timestamp(seconds: 1_760_000_000),
    decidedAt: Timestamp(seconds: 1_760_000_000),
    stage: 2,
    subject: subject,
    region: "cafe",
    counter: 1,
    detail: .visit(
      VisitDetail(
        visit: EventID(high: 1, low: 2),
        arrival: Timestamp(seconds: 1_760_000_000),
        venue: "museum",
        evidence: VisitDetail.Evidence(fixes: 1, end: .lasting)
      )
    )
  )

  @Test("a stopped server's folder no longer holds anything of the subject, and the removed data are listed")
  func folder() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "erase-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    do {
      let journal = try Journal.open(.folder(folder), stream: "pharos")
      _ = try journal.append(
        (0..<50).map { number in
          .init(event: Self.event(number % 2 == 0 ? Self.subject : .observer(.name("other")), number))
        }
      )
      _ = try journal.append([
        .init(event: Self.visit), .init(event: Self.event(.observer(.name("last")), 99)),
      ])
      _ = try Authorisations(store: journal).mark(Self.subject, isPerson: true)
      var sample = HistorySample(minute: HistoryMinute(containing: Timestamp(seconds: 1_760_000_000)))
      sample.subjects[Self.subject] = SubjectMinute(zone: "hall")
      sample.observers[.eui48(0xC0FF_EE00_0001)] = ObserverMinute(adverts: 1, isUp: true)
      try journal.record(sample)
      for kind in ["itinerary", "guidance"] {
        try journal.put(Array("x".utf8), kind: kind, key: Self.subject.description)
      }
      let page = CaptureComparison(name: "a", madeAt: .distantPast, headline: "", page: "C0:FF:EE:00:00:01")
      try journal.put(page.encoded, kind: "comparison", key: "c")
      try journal.save(
        checkpoint: Array("of c0:ff:ee:00:00:01".utf8),
        instant: Timestamp(seconds: 1_760_000_000),
        through: 50
      )
      journal.leave()
    }
    let kept = KeptConsole()
    let console = kept.console
    let access = ServerAccess.folder(folder, stream: "pharos")
    #expect(await EraseRunner(access).run("c0:ff:ee:00:00:01", on: console, logger: Self.logger) == .success)
    let text = kept.output.text
    #expect(text.contains("Removed of c0:ff:ee:00:00:01:"))
    #expect(text.contains("    26 events about it"))
    #expect(text.contains("     1 mark that it is a person"))
    #expect(text.contains("     1 checkpoint, as a whole"))
    #expect(kept.errors.text.contains("Not touched: recordings"))
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let data = try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))
      for word in [
        Data([0xC0, 0xFF, 0xEE, 0, 0, 1]), Data([1, 0, 0, 0xEE, 0xFF, 0xC0]), Data("c0:ff:ee".utf8),
        Data("C0:FF:EE".utf8),
      ] {
        #expect(data.range(of: word) == nil, "\(file)")
      }
    }
    let journal = try Journal.open(.folder(folder), stream: "pharos")
    #expect(journal.head == 52)
    #expect(try journal.events(after: 0, limit: 100).count == 26)
    #expect(try !Authorisations(store: journal).isPerson(Self.subject))
    journal.leave()
    #expect(await EraseRunner(access).run("c0:ff:ee:00:00:01", on: console, logger: Self.logger) == .success)
    #expect(kept.output.text.contains("Nothing was stored about c0:ff:ee:00:00:01."))
  }

  @Test("a text that names no subject is a mistake of the command line")
  func noone() async {
    let kept = KeptConsole()
    let console = kept.console
    let status = await EraseRunner(.folder("/nowhere", stream: "pharos")).run(
      "",
      on: console,
      logger: Self.logger
    )
    #expect(status == .usage)
    #expect(kept.errors.text.contains("--subject is \"\""))
  }
}
