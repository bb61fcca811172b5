import Foundation
import PharosTestSupport
import Testing

/// What the house owes: counts that may fall and must not grow.
///
/// Each count that falls is lowered here with the change.
@Suite("Debts of the house")
struct DebtTests {
  /// The words that new text does without, and how often they still stand in Sources and Tests.
  static let phrases: [(pattern: String, known: Int)] = [
    (#"\bnobody\b"#, 111),
    (#"\bsomebody\b"#, 94),
    (#"\banybody\b"#, 36),
    (#"\beverybody\b"#, 14),
    (#"\bwhoever\b"#, 16),
    (#"\banew\b"#, 39),
    (#"\btold\b"#, 972),
    (#"\b(is|are) said\b"#, 24),
    (#"\bas it was seen\b"#, 0),
    (#"\blets? go of\b"#, 3),
    (#"\bno clock (can )?means?\b"#, 2),
    (#"\bwhat somebody\b"#, 0),
    (#"\bgoes on without\b"#, 3),
    (#"\bput aside\b"#, 4),
    (#"\bstands for itself\b"#, 0),
    (#"\bstrangers?\b"#, 181),
    (#"\blessons?\b"#, 52),
    (#"\baskers?\b"#, 81),
    (#"\bunsay\b"#, 3),
    (#"\bgo(es)? dark\b"#, 0),
    (#"\bgoDark\b"#, 9),
    (#"\bhurry\b"#, 7),
    (#"\bbury\b"#, 6),
    (#"\bdear(er|ly)?\b"#, 3),
    (#"\bany more\b"#, 56),
    (#"\bno more\b"#, 76),
    (#"\bgive[sn]? way\b"#, 13),
    (#"\bfarewell\b"#, 6),
    (#"\bsenseless\b"#, 29),
    (#"\bof no concern\b"#, 1),
    (#"\bteller\b"#, 13),
    (#"\bfor ever\b"#, 21),
    (#"\btakes? note\b"#, 18),
    (#"\bstalest\b"#, 55),
    (#"\berrand\b"#, 7),
    (#"\bwithout a word\b"#, 6),
    (#"\bmost[A-Z]\w*"#, 438),
    (#"\bleast[A-Z]\w*"#, 105),
  ]

  @Test("words that are on their way out do not come back")
  func words() throws {
    let kinds = ["swift", "md", "json", "js", "html", "css", "c", "h", "py"]
    let root = SharedData.repository
    var texts: [String] = []
    for folder in ["Sources", "Tests"] {
      let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.allObjects ?? []
      for case let name as String in names where kinds.contains(URL(filePath: name).pathExtension) {
        // The list itself is here.
        guard !name.hasSuffix("DebtTests.swift"), !name.hasSuffix("HouseTests.swift") else { continue }
        texts.append(try String(contentsOf: root.appending(path: "\(folder)/\(name)"), encoding: .utf8))
      }
    }
    var total = 0
    for (pattern, known) in Self.phrases {
      let isOfCode = pattern.contains("[A-Z]")
      let expression = try NSRegularExpression(pattern: pattern, options: isOfCode ? [] : .caseInsensitive)
      let count = texts.reduce(0) {
        $0 + expression.numberOfMatches(in: $1, range: NSRange($1.startIndex..., in: $1))
      }
      total += count
      #expect(count <= known, "\(pattern) stands \(count) times, \(known) are known")
    }
    print("debts: \(total) words that are on their way out")
  }

  /// The names of types that mean different things in different modules.
  static let doubledNames: Set<String> = [
    "AdvertisingPDU", "DatagramSender", "Gait", "Gate", "HeardTable", "MonitorRecord", "Palette",
    "PendingChange", "Ranging", "RegionRow", "RowKey", "Segment", "Sighting", "Surroundings",
  ]

  @Test("no further name of a type means two things")
  func names() throws {
    let declaration = try Regex<(Substring, Substring)>(
      #"(?m)^(?:public |package |private |fileprivate )?(?:final |indirect )*(?:struct|class|enum|actor|protocol) (\w+)"#
    )
    var modules: [Substring: Set<Substring>] = [:]
    for file in try HouseTests.swiftFiles(in: "Sources") {
      let module = file.path.split(separator: "/")[1]
      for match in file.text.matches(of: declaration) {
        modules[match.output.1, default: []].insert(module)
      }
    }
    let doubled = Set(modules.filter { $0.value.count > 1 }.keys.map(String.init))
    #expect(
      doubled.subtracting(Self.doubledNames).isEmpty,
      "\(doubled.subtracting(Self.doubledNames).sorted())"
    )
    #expect(Self.doubledNames.subtracting(doubled).isEmpty, "no longer doubled: take them off the list")
    print("debts: \(doubled.count) names of types mean two things")
  }

  @Test("the expressions in which Tests/mutations plants bugs still occur, once each")
  func mutations() throws {
    let root = SharedData.repository
    let text = try String(contentsOf: root.appending(path: "Tests/mutations"), encoding: .utf8)
    let entry = try Regex<(Substring, Substring, Substring)>(
      #"\("(Pharos[^"]+\.swift)", "((?:[^"\\]|\\.)+)","#
    )
    let entries = text.matches(of: entry)
    #expect(entries.count > 10)
    for match in entries {
      let path = "Sources/\(match.output.1)"
      let source = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      let count = source.components(separatedBy: String(match.output.2)).count - 1
      #expect(count == 1, "\(path) holds `\(match.output.2)` \(count) times")
    }
  }
}
