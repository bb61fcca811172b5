import Foundation
import PharosTestSupport
import Testing

/// How far the files of a module depend on each other in circles.
///
/// A file depends on another one if it names a type that the other declares, or extends with members that others can see.
/// A knot is a set of files of which each depends on each other one, over others or directly: none of them can be read
/// without the rest.
@Suite("Knots of files")
struct KnotTests {
  /// The largest knot that a module may have, in lines of code without blanks and comments; the others have at most `usual`.
  ///
  /// What shrinks is lowered here with the change.
  static let known: [String: Int] = [
    "PharosPresence": 3_695, "PharosModel": 2_105, "PharosFixes": 4_090,
    "PharosJournal": 2_945, "PharosSite": 1_860, "PharosSimulation": 1_720,
    "PharosSpace": 1_660, "PharosDelivery": 1_620,
  ]
  /// The largest knot of all other modules.
  static let usual = 1_500

  private struct Source {
    var path: String
    var lines: Int
    var names: Set<String>
    var declared: Set<String> = []
    var extended: Set<String> = []
    var depends: [Int] = []
  }

  @Test("no module's largest knot grows")
  func knots() throws {
    var modules: [String: [Source]] = [:]
    for file in try HouseTests.swiftFiles(in: "Sources") {
      let parts = file.path.split(separator: "/")
      guard let module = parts.first(where: { $0.hasPrefix("Pharos") }) else { continue }
      modules[String(module), default: []].append(try Self.source(file.path, file.text))
    }
    #expect(modules.count > 20)
    var report: [(String, Int)] = []
    for (module, sources) in modules {
      let largest = Self.largestKnot(sources)
      report.append((module, largest.lines))
      #expect(
        largest.lines <= Self.known[module] ?? Self.usual,
        "\(module): \(largest.lines) lines in one knot: \(largest.paths.sorted().joined(separator: ", "))"
      )
    }
    let worst = report.sorted { $0.1 > $1.1 }.prefix(4).map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    print("knots: the largest, in lines: \(worst)")
  }

  @Test("a circle of files is found, and a chain is none")
  func small() throws {
    let chain = try ["struct A { let b: B }", "struct B { let c: C }", "struct C {}"].map {
      try Self.source("\($0.prefix(8))", $0)
    }
    #expect(Self.largestKnot(chain).lines == 1)
    let circle = try [
      "struct A { let b: B }\n", "struct B {\n}\n", "extension B {\n  func c() -> C { C() }\n}\n",
      "struct C { let a: A }\n",
    ]
    .map { try Self.source("\($0.prefix(11))", $0) }
    #expect(Self.largestKnot(circle).lines == 7)
    let hidden = try [
      "struct A { let b: B }\n", "struct B {\n}\n", "extension B {\n  private func a() -> A? { nil }\n}\n",
    ]
    .map { try Self.source("\($0.prefix(11))", $0) }
    #expect(Self.largestKnot(hidden).lines <= 3)
  }

  private static func source(_ path: String, _ text: String) throws -> Source {
    let code = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in line.drop { $0 == " " }.hasPrefix("//") ? "" : line }
      .filter { !$0.allSatisfy { $0 == " " } }
    var source = Source(path: path, lines: code.count, names: [])
    var open: String?
    for line in code {
      // Every other part between quotation marks is code.
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      let bare = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }.joined(separator: " ")
      for word in bare.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" })
      where word.first?.isUppercase == true {
        source.names.insert(String(word))
      }
      if line.first == "}" { open = nil }
      if line.first?.isLetter == true, let name = try declaredName(line) { source.declared.insert(name) }
      if line.hasPrefix("extension ") {
        open = line.dropFirst(10).prefix { $0.isLetter || $0.isNumber }.description
      }
      // A member that others can see: at the first level, and neither private nor the end of one.
      if let name = open, line.hasPrefix("  "), line.dropFirst(2).first?.isLetter == true,
        !line.hasPrefix("  private"), !line.hasPrefix("  fileprivate"), !line.hasPrefix("  case ")
      {
        source.extended.insert(name)
      }
    }
    return source
  }

  private static func declaredName(_ line: Substring) throws -> String? {
    let words = line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }).map(String.init)
    let kinds: Set<String> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    guard let place = words.firstIndex(where: kinds.contains), place + 1 < words.count, place < 4,
      !words[..<place].contains("func"), !words[..<place].contains("let")
    else { return nil }
    return words[place + 1]
  }

  private static func largestKnot(_ sources: [Source]) -> (lines: Int, paths: [String]) {
    var sources = sources
    var declarers: [String: [Int]] = [:]
    let declaring = Set(sources.flatMap { $0.declared })
    for (place, source) in sources.enumerated() {
      for name in source.declared.union(source.extended.intersection(declaring)) {
        declarers[name, default: []].append(place)
      }
    }
    for place in sources.indices {
      sources[place].depends = Array(
        Set(sources[place].names.flatMap { declarers[$0] ?? [] }).subtracting([place])
      )
    }
    var largest = (lines: 0, paths: [String]())
    for knot in components(sources.map(\.depends)) {
      let lines = knot.reduce(0) { $0 + sources[$1].lines }
      if lines > largest.lines { largest = (lines, knot.map { sources[$0].path }) }
    }
    return largest
  }

  /// Returns the strongly connected components of a graph.
  ///
  /// - Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1 (1972).
  private static func components(_ edges: [[Int]]) -> [[Int]] {
    var (index, low) = ([Int: Int](), [Int: Int]())
    var (stack, found): ([Int], [[Int]]) = ([], [])
    func visit(_ node: Int) {
      index[node] = index.count
      low[node] = index[node]
      stack.append(node)
      for next in edges[node] {
        if index[next] == nil {
          visit(next)
          low[node] = min(low[node] ?? 0, low[next] ?? 0)
        } else if stack.contains(next) {
          low[node] = min(low[node] ?? 0, index[next] ?? 0)
        }
      }
      guard low[node] == index[node] else { return }
      var knot: [Int] = []
      while let last = stack.popLast() {
        knot.append(last)
        if last == node { break }
      }
      found.append(knot)
    }
    for node in edges.indices where index[node] == nil { visit(node) }
    return found
  }
}
