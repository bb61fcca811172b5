import Foundation
import Logging
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosLab
import PharosModel
import PharosPublishing
import PharosService
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosWire
import Testing

/// Names of scalars from all planes, among them what formats give a meaning to and what joins to it in one character.
enum DrawnNames {
  private static let meaningful = Array(
    "\"'<>&\\,;:=+-@{}[]#|%!*? /.~`$^\u{301}\u{D4E}\u{200D}\u{200C}\u{FE0F}".unicodeScalars
  )
  /// The beginnings of an attack in each format.
  private static let attacks = [
    "\"\u{301},=HYPERLINK(1)", "\u{D4E}\",1", "\"\u{301}><meta http-equiv=refresh>",
    "<\u{338}script>", "&\u{301}amp;", "\\\u{301}\"", "=1+1", "\u{FF1D}1", "'=1", "''", "- a: b", "%41",
    "{name}",
  ]

  static func make(_ count: Int, seed: UInt64) -> [String] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { number in
      if number < attacks.count { return attacks[number] }
      var name = String.UnicodeScalarView()
      let length = Int.random(in: 1...16, using: &random)
      while name.count < length {
        let scalar =
          Bool.random(using: &random)
          ? meaningful.randomElement(using: &random)
          : Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
        if let scalar, !PlainText.isControl(scalar) { name.append(scalar) }
      }
      return String(name)
    }
  }
}

@Suite("Names in every format")
struct EscapingTests {
  private static let python = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  private static func svg(_ names: [String]) -> String {
    var picture = SVGDocument(width: 10, height: 10, title: names[0], summary: names[1])
    for name in names { picture.text(name, at: SVGPoint(0, 0), TextStyle(12)) }
    return picture.text
  }

  private static func prometheus(_ names: [String]) -> String {
    var text = ""
    for start in stride(from: 0, to: names.count, by: ListedObserver.maximumCount) {
      let observers = names.enumerated().dropFirst(start).prefix(ListedObserver.maximumCount)
        .map { ObserverEntry(id: .name("gateway-\($0.offset)"), name: $0.element) }
      var sources = MetricSources()
      sources.observers = ListedObserver.all(of: Site(observers: observers), [])
      text += PrometheusText.text(of: sources)
    }
    return text
  }

  private static func serverSentEvents(_ names: [String]) -> [UInt8] {
    ServerSentEvents.text(
      for: names.enumerated().map { number, name in
        let event = Event(
          stream: "test",
          kind: .regionEnter,
          time: .distantPast,
          decidedAt: .distantPast,
          stage: 1,
          subject: .observer(.name("phone")),
          application: "default",
          region: name,
          counter: UInt64(number),
          detail: .region(
            RegionTransition(from: .outside, to: .inside, observer: nil, evidence: Evidence(rule: .samples))
          )
        )
        return .event(PublishedEvent(sequence: Int64(number), event: event, stream: "test"))
      }
    )
  }

  private static func json(_ names: [String]) -> [UInt8] {
    var json = JSONText()
    json.openArray()
    for name in names { json.element(name) }
    json.closeArray()
    return json.utf8
  }

  private static func site(_ names: [String]) throws -> String {
    var configuration = SiteConfiguration()
    configuration.site.zones = names.enumerated().map {
      Zone(identifier: "zone-\($0.offset)", name: $0.element, observers: [.name("gateway")])
    }
    return try SiteFile.text(of: configuration)
  }

  private static func log(_ names: [String], _ format: LogFormat) -> [UInt8] {
    let sink = MemorySink()
    let logger = Logger(label: "test") { LineLogHandler(label: $0, format: format, sink: sink) }
    for name in names { logger.notice("heard", metadata: ["name": "\(name)"]) }
    return Array(sink.text.utf8)
  }

  @Test(
    "ten thousand names from all planes are read back by other programs' readers",
    .enabled(if: python != nil, "python3 is not installed"),
    arguments: Seeds.drawn(0..<20 as Range<UInt64>, first: 1)
  )
  func readBack(seed: UInt64) throws {
    let names = DrawnNames.make(10_000, seed: seed)
    let folder = try TemporaryFolder()
    let scalars = names.map { $0.unicodeScalars.map { "\($0.value)" }.joined(separator: ",") }
    let files: [(String, [UInt8])] = [
      ("names.json", Array("[\(scalars.map { "[\($0)]" }.joined(separator: ","))]".utf8)),
      ("names.csv", Array(names.map { EscapedText.csv($0) + ",1\r\n" }.joined().utf8)),
      (
        "names.html",
        Array(
          names.map { "<p title=\"\(EscapedText.markup($0))\">\(EscapedText.markup($0))</p>" }.joined().utf8
        )
      ),
      ("names.svg", Array(Self.svg(names).utf8)),
      ("names.prom", Array(Self.prometheus(names).utf8)),
      ("names.array.json", Self.json(names)),
      ("names.log.jsonl", Self.log(names, .json)),
      ("names.log", Self.log(names, .text)),
      ("names.sse", Self.serverSentEvents(names)),
      ("names.yaml", Array(names.map { "- \(EscapedText.yaml($0))\n" }.joined().utf8)),
      ("site.yaml", Array(try Self.site(Array(names.prefix(1_000))).utf8)),
    ]
    for (name, bytes) in files { try Data(bytes).write(to: URL(filePath: folder.path(name))) }
    let process = Process()
    process.executableURL = URL(filePath: Self.python ?? "")
    process.arguments = [
      SharedData.repository.appending(path: "Tests/SystemTests/readers.py").path, folder.path(""),
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "seed \(seed):\n\(text)")
  }

  @Test(
    "a field of CSV is read back, and no field begins a formula",
    arguments: Seeds.drawn(0..<20 as Range<UInt64>)
  )
  func csv(seed: UInt64) {
    for name in DrawnNames.make(2_000, seed: seed) {
      let line = EscapedText.csv(name) + ",1"
      let fields = EscapedText.csvFields(line.utf8)
      #expect(
        fields.map { Array($0.unicodeScalars) } == [Array(name.unicodeScalars), ["1"]],
        "seed \(seed): \(name)"
      )
      // Programs that begin a field at each semicolon, whatever quotes there are, find none either.
      for part in line.dropLast(2).split(separator: ";") {
        let first = part.unicodeScalars.first {
          $0 != "\"" && !$0.properties.isWhitespace && !PlainText.isControl($0)
        }
        #expect(!["=", "+", "-", "@"].contains(first), "seed \(seed): \(line)")
      }
    }
    #expect(EscapedText.csv("a;=1+1;'-b;c") == "a;'=1+1;''-b;c")
    #expect(EscapedText.csv("a;\"=1") == "\"a;'\"\"=1\"")
  }

  @Test(
    "every door refuses a name with a control character or one that changes the direction of writing",
    arguments: [
      0x0, 0x9, 0xA, 0xD, 0x1B, 0x7F, 0x85, 0x9B, 0xAD, 0x61C, 0x200B, 0x200E, 0x2028, 0x2029, 0x202E, 0x2060,
      0x2066, 0xFEFF,
      0xFFF9, 0xFFFE, 0xFFFF, 0xFDD0, 0xE0001, 0xE0041, 0x10FFFF,
    ] as [UInt32]
  )
  func doors(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    for name in ["a\(scalar)b", "\(scalar)ab", "ab\(scalar)"] {
      // A path of HTTP, a key of the site file, and a command line.
      #expect(ObserverID(name) == nil)
      // JSON over UDP and HTTP, a topic of MQTT, and a datagram.
      var batch = ReportBatch()
      let escaped = name.utf16.map { "\\u" + Hex.text(UInt64($0), bytes: 2) }.joined()
      let json = Array(#"{"observer":"\#(escaped)","heartbeat":true}"#.utf8)
      #expect(throws: DatagramRefusal.self) {
        try JSONFormat.decode(json.span.bytes, received: .distantPast, into: &batch)
      }
      let payload = Array(#"{"id":"11:22:33:44:55:66","rssi":-70}"#.utf8)
      let message = try #require(
        MQTTFormat.datagram(topic: "home/\(name)/BTtoMQTT/112233445566".utf8, payload: payload)
      )
      #expect(throws: DatagramRefusal.self) {
        try MQTTFormat.decode(message.span.bytes, received: .distantPast, into: &batch)
      }
      // Names and identifiers of the site file and of documents over HTTP.
      for entry in [#""id": "\#(escaped)""#, #""id": "kitchen", "name": "\#(escaped)""#] {
        let site = #"{ "zones": [ { \#(entry), "observers": ["gateway"] } ] }"#
        // The YAML reader takes a byte order mark at the beginning of a text away.
        let zone = try? SiteFile.parse(site, path: "site.yaml").site.zones.first
        #expect(zone.map { PlainText.hasControls($0.identifier + ($0.name ?? "")) } != true)
        #expect(zone == nil || value == 0xFEFF)
      }
      #expect(throws: DocumentError.self) {
        try ZoneDocument.zone(json: Array(#"{"observers":["gateway"]}"#.utf8), identifier: name)
      }
      #expect(throws: DocumentError.self) {
        try ZoneDocument.zone(
          json: Array(#"{"name":"\#(escaped)","observers":["gateway"]}"#.utf8),
          identifier: "z"
        )
      }
    }
  }

  @Test(
    "words that need joiners and letters with accents are names",
    arguments: ["می‌خواهم", "👩‍🚀 office", "Küche", "\u{301}a"]
  )
  func names(name: String) throws {
    #expect(ObserverID(name) == .name(name))
    #expect(!PlainText.hasControls(name))
  }

  @Test("marks with an accent behind them are still marks to what reads paths, topics and hosts")
  func marks() throws {
    for path in ["/\u{301}etc", "../\u{301}x", "a/../\u{301}b", "..", "/", ""] {
      #expect(!RelativePath.isInside(path))
    }
    for path in ["a", "a/b", "a/..b/c..", "Küche/\u{301}x"] { #expect(RelativePath.isInside(path)) }
    let sites = [
      ##"listen: { mqtt: { broker: "mqtt://h", topics: ["a+\##u{301}/b"] } }"##,
      ##"listen: { mqtt: { broker: "mqtt://h", topics: ["#/\##u{301}b"] } }"##,
      ##"publish: { mqtt: { broker: "mqtt://h", prefix: "a/+\##u{301}" } }"##,
      ##"publish: { mqtt: { broker: "mqtt://user@\##u{301}h" } }"##,
      ##"listen: { allowedOrigins: ["https://h/\##u{301}a"] }"##,
    ]
    for site in sites {
      #expect(throws: DocumentError.self, "\(site)") { try SiteFile.parse(site, path: "site.yaml") }
    }
  }

  @Test("the log for people has one line for each event, whatever a name holds")
  func log() {
    let text = String(
      decoding: Self.log(["a\nnotice forged", "b\u{1B}[2J", "c\u{202E}d"], .text),
      as: UTF8.self
    )
    let lines = text.split(separator: "\n").map { $0.drop { $0 != " " } }
    #expect(
      lines == ["a·notice forged", "b·[2J", "c·d"].map { " notice test: heard (name=\($0))" }
    )
  }
}
