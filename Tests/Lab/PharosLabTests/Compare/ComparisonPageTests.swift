import Foundation
import FoundationXML
import PharosLab
import PharosModel
import PharosTerminal
import PharosTestSupport

#if canImport(FoundationXML)
import Testing
#endif

@Suite("The page of a comparison")
struct ComparisonPageTests {
  private func made(_ bytes: [UInt8], name: String) throws -> (headline: String, page: String) {
    let folder = try TemporaryFolder()
    let path = folder.path("upload")
    try Data(bytes).write(to: URL(filePath: path))
    return try ComparisonPage.make(path: path, name: name, timeout: .seconds(20))
  }

  @Test("it holds the sentences, the picture and the tables, and its markup is well-formed")
  func page() throws {
    var capture = HandMadeCapture()
    capture.receive(minor: 1, in: [0..<60, 100..<200])
    capture.receive(minor: 2, in: [0..<300])
    let (headline, page) = try made(capture.bytes(), name: "lobby <1> & \"2\".pcapng")
    #expect(headline.hasPrefix("Your 20 s rule: "))
    #expect(page.contains("<h1>\(headline)</h1>"))
    #expect(page.contains("lobby &lt;1&gt; &amp; &quot;2&quot;.pcapng") && !page.contains("<1>"))
    #expect(page.contains("<svg ") && page.contains("Enters and exits by each rule"))
    #expect(page.contains("your 20 s") && page.contains("AltBeacon 30 s"))
    #expect(!page.contains("upload") && !page.contains("http-equiv") && !page.contains("src="))
    let body = try #require(page.split(separator: "<body>").last?.split(separator: "</body>").first)
    let document = XMLParser(data: Data("<body>\(body)</body>".utf8))
    #expect(document.parse(), "\(String(describing: document.parserError))")
  }

  @Test("a name of a file makes no element where an accent joins to a mark")
  func accents() throws {
    var capture = HandMadeCapture()
    capture.receive(minor: 1, in: [0..<60])
    let name = "\"\u{301}<\u{301}meta http-equiv=\u{D4E}\"refresh\">"
    // A browser reads scalars, for which the mark stands before the accent.
    let page = Data(try made(capture.bytes(), name: name).page.utf8)
    func holds(_ text: String) -> Bool { page.range(of: Data(text.utf8)) != nil }
    #expect(holds("&quot;\u{301}&lt;\u{301}meta http-equiv=\u{D4E}&quot;refresh&quot;&gt;"))
    #expect(!holds("<\u{301}") && !holds("\"\u{301}") && !holds("\u{D4E}\""))
  }

  @Test("a comparison ends when its check says so, which is asked with the bytes read so far")
  func checked() throws {
    struct Ended: Error, Equatable { let bytes: Int }
    var capture = HandMadeCapture()
    capture.receive(minor: 1, in: [0..<60])
    let bytes = try capture.bytes()
    let folder = try TemporaryFolder()
    let path = folder.path("upload")
    try Data(bytes).write(to: URL(filePath: path))
    #expect(throws: Ended(bytes: bytes.count)) {
      _ = try ComparisonPage.make(path: path, name: "a", timeout: .seconds(20)) { throw Ended(bytes: $0) }
    }
  }

  @Test("a file that is no capture, or holds no beacon, is refused under the name it was sent with")
  func refused() throws {
    let text = #expect(throws: CommandFailure.self) {
      try made(Array("notes".utf8), name: "notes.txt")
    }
    #expect(text?.message.hasPrefix("notes.txt: not a capture") == true, "\(String(describing: text))")
    let none = #expect(throws: CommandFailure.self) {
      try made(HandMadeCapture().bytes(), name: "quiet.pcapng")
    }
    #expect(none?.message.contains("quiet.pcapng") == true, "\(String(describing: none))")
  }
}
