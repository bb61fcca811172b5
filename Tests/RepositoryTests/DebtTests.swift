import Foundation
import PharosTestSupport
import Testing

/// What the house owes: counts that may fall and must not grow.
///
/// Each count that falls is lowered here with the change.
@Suite("Debts of the house")
struct DebtTests {
  /// The words that plain technical English does without; a pattern without capitals ignores case.
  static let phrases = [
    #"\bnobody\b"#,
    #"\bsomebody\b"#,
    #"\banybody\b"#,
    #"\beverybody\b"#,
    #"\bwhoever\b"#,
    #"\banew\b"#,
    #"\btold\b"#,
    #"\b(is|are) said\b"#,
    #"\bas it was seen\b"#,
    #"\blets? go of\b"#,
    #"\bno clock (can )?means?\b"#,
    #"\bwhat somebody\b"#,
    #"\bgoes on without\b"#,
    #"\bput aside\b"#,
    #"\bstands for itself\b"#,
    #"\bstrangers?\b"#,
    #"\blessons?\b"#,
    #"\baskers?\b"#,
    #"\bunsay\b"#,
    #"\bgo(es)? dark\b"#,
    #"\bgoDark\b"#,
    #"\bhurry\b"#,
    #"\bbury\b"#,
    #"\bdear(er|ly)?\b"#,
    #"\bany more\b"#,
    #"\bno more\b"#,
    #"\bgive[sn]? way\b"#,
    #"\bfarewell\b"#,
    #"\bsenseless\b"#,
    #"\bof no concern\b"#,
    #"\bteller\b"#,
    #"\bfor ever\b"#,
    #"\btakes? note\b"#,
    #"\bstalest\b"#,
    #"\berrand\b"#,
    #"\bwithout a word\b"#,
    #"\bmost[A-Z]\w*"#,
    #"\bleast[A-Z]\w*"#,
    #"\bsigning desk\b"#,
    #"@(Test|Suite)\(\s*"(who|what)\b"#,
  ]
  /// How often a phrase stands in a public name (a member of JSON, a label of a metric) or in one of the standard library.
  static let publicNames = [#"\btold\b"#: 2, #"\bteller\b"#: 2, #"\bsenseless\b"#: 4, #"\bleast[A-Z]\w*"#: 6]

  @Test("texts and names are plain technical English")
  func words() throws {
    let kinds = ["swift", "md", "json", "js", "html", "css", "c", "h", "py"]
    let root = SharedData.repository
    var texts = [("README.md", try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8))]
    for folder in ["Sources", "Tests"] {
      let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.allObjects ?? []
      for case let name as String in names where kinds.contains(URL(filePath: name).pathExtension) {
        // The list itself is here.
        guard !name.hasSuffix("DebtTests.swift") else { continue }
        let path = "\(folder)/\(name)"
        texts.append((path, try String(contentsOf: root.appending(path: path), encoding: .utf8)))
      }
    }
    for pattern in Self.phrases {
      let isOfCode = pattern.contains("[A-Z]")
      let expression = try NSRegularExpression(pattern: pattern, options: isOfCode ? [] : .caseInsensitive)
      var (count, places) = (0, [String]())
      for (path, text) in texts {
        let found = expression.numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text))
        count += found
        if found > 0 { places.append(path) }
      }
      #expect(count <= Self.publicNames[pattern] ?? 0, "\(pattern): \(places.joined(separator: ", "))")
    }
  }

  @Test("a log line begins as a sentence")
  func logLines() throws {
    let line = try Regex(#"\blogger\.(?:trace|debug|info|notice|warning|error|critical)\(\s*"[a-z]"#)
    for file in try HouseTests.swiftFiles(in: "Sources") where file.code.contains(line) {
      Issue.record("\(file.path) has a log line that is no sentence")
    }
  }

  /// The parts of names for which the field has other words: received, published, recorded, updated; maximum, minimum.
  static let bannedParts: Set<String> = [
    "take", "takes", "taken", "taking", "tell", "tells", "tel" + "ling", "to" + "ld", "settle", "settles",
    "settled",
    "settling", "most", "least", "longest", "greatest", "fewest",
  ]

  @Test("declared names and labels have the words of the field")
  func nameParts() throws {
    let names = try NSRegularExpression(
      pattern:
        #"\b(?:func|var|let|case|struct|class|enum|actor|protocol|typealias) (\w+)|[(,] *(?:(\w+) )?(\w+): "#
    )
    let parts = try NSRegularExpression(pattern: "[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
    var found: Set<String> = []
    for file in try ["Sources", "Tests", "Benchmarks"].flatMap(HouseTests.swiftFiles) {
      // What stands in quotation marks is no name.
      let code = file.code.replacing(/"[^"\n]*"/, with: "")
      for match in names.matches(in: code, range: NSRange(code.startIndex..., in: code)) {
        for range in (1...3).compactMap({ Range(match.range(at: $0), in: code) }) {
          let name = String(code[range].replacing(/[aA]t(Most|Least)/, with: ""))
          let words = parts.matches(in: name, range: NSRange(name.startIndex..., in: name))
            .compactMap { Range($0.range, in: name) }.map { name[$0].lowercased() }
          if !Self.bannedParts.isDisjoint(with: words) { found.insert("\(file.path): \(code[range])") }
        }
      }
    }
    #expect(found.isEmpty, "\(found.sorted().joined(separator: "\n"))")
  }

  /// The names of types that mean different things in different modules.
  static let doubledNames: Set<String> = []

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
    ("machines that decide an exit from a region", #"\bregion\.notifyOnExit\b(?! =)"#, 1),
    ("reducers from events to states", #"\bevent\.kind == \.observerOnline\b"#, 1),
    ("tables that reuse places", #"\bfree\w*\.popLast\(\)"#, 4),
    ("cursors of followers of the journal", #"\b(?:var|let) cursor: Int64\b"#, 7),
    (
      "readers of JSON",
      #"\bstruct JSON(?:Scanner|Reader|Object|Repair)\b|\bJSONSerialization\.jsonObject\b"#, 1
    ),
  ]

  @Test("no idea gets another implementation", arguments: ideas.indices)
  func implementations(place: Int) throws {
    let (idea, expression, known) = Self.ideas[place]
    let pattern = try Regex(expression)
    let count = try HouseTests.swiftFiles(in: "Sources").reduce(0) { $0 + $1.text.matches(of: pattern).count }
    #expect(count <= known, "\(idea): \(count) of \(known) known")
    print("debts: \(count) \(idea)")
  }

  /// Whatever of the engine and the server keeps a site in a variable or behind a lock, by file and name, and why it does not
  /// own the site of a server: only ``SiteOwner`` may be asked to change that.
  static let keptSites = [
    "SiteOwner.site": "the owner",
    "SiteOwner.sources": "what the owner's site follows from",
    "SiteSources.declared": "a part of the owner's sources",
    "Pipeline.site": "the site where captures are processed, without a server",
    "Pipeline.declared": "what the pipeline's site follows from",
    "EngineContext.site": "a shard's view, without regions: it follows the changes that the owner accepted",
    "MonitoringEngine.awaitedSite": "the site of a checkpoint, until the engine resumes from it",
    "HistorySampler.site": "read from the owner for one minute's summary",
    "ServerParts.configuration": "settings of the server; the site in it is empty, or filled in by the owner",
    "SiteReloader.next": "a file that is being read",
  ]

  @Test("the site of a server has one owner")
  func siteOwners() throws {
    let types = "(?:Site|SiteSources|SiteConfiguration)"
    let properties = try [
      #"(?m)^ +(?:[\w()]+ )*var (\w+): \#(types)\??(?: = .*)?$"#,
      #"(?m)^ +(?:[\w()]+ )*(?:var|let) (\w+)(?:: Mutex<\#(types)\??>| = Mutex\(\#(types)\()"#,
    ].map { try Regex<(Substring, Substring)>($0) }
    var found: Set<String> = []
    for file in try ["Sources/Engine", "Sources/Server"].flatMap(HouseTests.swiftFiles) {
      let name = file.path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
      for match in properties.flatMap({ file.text.matches(of: $0) }) {
        found.insert("\(name).\(match.output.1)")
      }
    }
    #expect(found == Set(Self.keptSites.keys))
    print("debts: \(Self.keptSites.values.count { $0 == "the owner" }) owners of the site")
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
