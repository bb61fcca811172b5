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
    (#"\bnobody\b"#, 4),
    (#"\bsomebody\b"#, 0),
    (#"\banybody\b"#, 0),
    (#"\beverybody\b"#, 0),
    (#"\bwhoever\b"#, 0),
    (#"\banew\b"#, 7),
    (#"\btold\b"#, 699),
    (#"\b(is|are) said\b"#, 0),
    (#"\bas it was seen\b"#, 0),
    (#"\blets? go of\b"#, 0),
    (#"\bno clock (can )?means?\b"#, 0),
    (#"\bwhat somebody\b"#, 0),
    (#"\bgoes on without\b"#, 0),
    (#"\bput aside\b"#, 0),
    (#"\bstands for itself\b"#, 0),
    (#"\bstrangers?\b"#, 119),
    (#"\blessons?\b"#, 35),
    (#"\baskers?\b"#, 79),
    (#"\bunsay\b"#, 2),
    (#"\bgo(es)? dark\b"#, 0),
    (#"\bgoDark\b"#, 9),
    (#"\bhurry\b"#, 7),
    (#"\bbury\b"#, 6),
    (#"\bdear(er|ly)?\b"#, 0),
    (#"\bany more\b"#, 0),
    (#"\bno more\b"#, 0),
    (#"\bgive[sn]? way\b"#, 0),
    (#"\bfarewell\b"#, 6),
    (#"\bsenseless\b"#, 27),
    (#"\bof no concern\b"#, 0),
    (#"\bteller\b"#, 3),
    (#"\bfor ever\b"#, 0),
    (#"\btakes? note\b"#, 0),
    (#"\bstalest\b"#, 32),
    (#"\berrand\b"#, 0),
    (#"\bwithout a word\b"#, 0),
    (#"\bmost[A-Z]\w*"#, 438),
    (#"\bleast[A-Z]\w*"#, 102),
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
    "PendingChange", "Ranging", "RowKey", "Segment", "Sighting", "Surroundings",
  ]

  @Test("no further name of a type means two things")
  func names() throws {
    let declaration = try Regex<(Substring, Substring)>(
      #"(?m)^(?:public |package |private |fileprivate )?(?:final |indirect )*(?:struct|class|enum|actor|protocol) (\w+)"#
    )
    var modules: [Substring: Set<Substring>] = [:]
    for file in try HouseTests.swiftFiles(in: "Sources") {
      let module = file.path.split(separator: "/")[2]
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

  /// The ideas that should exist once, an expression that each implementation contains, and their number.
  static let ideas: [(idea: String, expression: String, known: Int)] = [
    ("machines that decide an exit from a region", #"\bregion\.notifyOnExit\b"#, 1),
    ("reducers from events to states", #"\bevent\.kind == \.observerOnline\b"#, 1),
    ("tables that reuse places", #"\bfree\w*\.popLast\(\)"#, 4),
    ("cursors of followers of the journal", #"\b(?:var|let) cursor: Int64\b"#, 7),
    ("readers of JSON", #"\bstruct JSON(?:Scanner|Reader|Object)\b"#, 3),
  ]

  @Test("no idea gets another implementation", arguments: ideas.indices)
  func implementations(place: Int) throws {
    let (idea, expression, known) = Self.ideas[place]
    let pattern = try Regex(expression)
    let count = try HouseTests.swiftFiles(in: "Sources").reduce(0) { $0 + $1.text.matches(of: pattern).count }
    #expect(count <= known, "\(idea): \(count) of \(known) known")
    print("debts: \(count) \(idea)")
  }

  @Test("the expressions in which Tests/mutations plants bugs still occur, once each")
  func mutations() throws {
    let root = SharedData.repository
    let text = try String(contentsOf: root.appending(path: "Tests/mutations"), encoding: .utf8)
    let entry = try Regex<(Substring, Substring, Substring)>(
      #"\("(\w+/Pharos[^"]+\.swift)", "((?:[^"\\]|\\.)+)","#
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
