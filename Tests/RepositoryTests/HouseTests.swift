import Foundation
import PharosTestSupport
import Testing

/// The rules of the house that no compiler checks: who may import whom, what is pure, what is left lying about.
@Suite("The house")
struct HouseTests {
  /// What each module may import of ours: what the manifest lists for it.
  static let arrows = Manifest.own.dependencies.filter { Manifest.own.libraries.contains($0.key) }

  /// The modules of C.
  static let shims = Set(Manifest.own.modules(of: "Shims"))

  /// The modules that take values and give values: no I/O, no clock, no task.
  static let pure = [
    "PharosDocuments", "PharosModel", "PharosWire", "PharosSpace", "PharosWays", "PharosPresence",
    "PharosRooms", "PharosFixes", "PharosStays", "PharosSurvey", "PharosCaptures", "PharosSecurity",
    "PharosPipeline", "PharosNarration", "PharosSimulation", "PharosComparators", "PharosMQTT",
  ]

  /// What pure modules may import that is not ours: sums over bytes, without a clock or a file, collections, and the lock of
  /// a value that several loops share.
  static let arithmetic: [String: Set<String>] = [
    "PharosSecurity": ["CCrypto", "Synchronization"],
    "PharosPresence": ["CTrackTable"], "PharosFixes": ["DequeModule", "HeapModule"],
    "PharosWays": ["Synchronization"],
    "PharosSimulation": ["HeapModule"],
    "PharosMQTT": ["DequeModule"],
  ]

  @Test("a module imports only what the manifest lists", arguments: arrows.keys.sorted())
  func arrow(module: String) throws {
    let allowed = try #require(Self.arrows[module])
    let files = try Self.swiftFiles(in: Self.folder(of: module))
    #expect(!files.isEmpty, "the module has no source")
    for file in files {
      for name in file.imports
      where name.hasPrefix("Pharos") || Self.shims.contains(name) {
        #expect(allowed.contains(name), "\(file.path) imports \(name)")
      }
    }
  }

  /// The groups of `Sources`.
  static let groups = Manifest.own.groups.map(\.name)

  /// The folder of a module.
  static func folder(of module: String) -> String {
    let root = SharedData.repository
    let paths = groups.map { "Sources/\($0)/\(module)" }
    return paths.first { FileManager.default.fileExists(atPath: root.appending(path: $0).path) }
      ?? "Sources/\(module)"
  }

  @Test("Sources holds the groups, and every folder of a group is a module with arrows of its own")
  func noForeignFolders() throws {
    let manager = FileManager.default
    let sources = SharedData.repository.appending(path: "Sources")
    #expect(Set(try manager.contentsOfDirectory(atPath: sources.path)) == Set(Self.groups))
    let folders = try Self.groups.flatMap {
      try manager.contentsOfDirectory(atPath: sources.appending(path: $0).path)
    }
    #expect(
      Set(folders)
        == Set(Self.arrows.keys).union(Self.shims).union(["BillOfMaterials", "Packaging"])
    )
    #expect(Set(folders).count == folders.count)
  }

  @Test("a pure module imports nothing with I/O, a clock or tasks in it", arguments: pure)
  func purity(module: String) throws {
    let banned = ["Task {", "Task.detached", "ContinuousClock", "SuspendingClock", "Task.sleep", " print("]
    for file in try Self.swiftFiles(in: Self.folder(of: module)) {
      for name in file.imports
      where !name.hasPrefix("Pharos") && Self.arithmetic[module]?.contains(name) != true {
        Issue.record("\(file.path) imports \(name)")
      }
      for word in banned {
        #expect(!file.code.contains(word), "\(file.path) uses \(word)")
      }
    }
  }

  @Test("libmosquitto is imported by one file alone")
  func mosquitto() throws {
    let files = try Self.swiftFiles(in: "Sources").filter { $0.imports.contains("CMosquitto") }
    #expect(files.map(\.path) == ["Sources/Server/PharosMosquitto/MosquittoLink.swift"])
  }

  @Test("the library product PharosVenues contains no networking")
  func offline() throws {
    var modules: Set<String> = []
    var open = ["PharosModel", "PharosSpace", "PharosWays", "PharosMaps"]
    while let module = open.popLast() {
      guard modules.insert(module).inserted else { continue }
      open += Self.arrows[module, default: []]
    }
    let allowed: Set<String> = ["Foundation", "GRDB", "GRDBSQLite", "Synchronization"]
    for module in modules.subtracting(Self.shims) {
      for file in try Self.swiftFiles(in: Self.folder(of: module)) {
        #expect(Set(file.imports).subtracting(modules).isSubset(of: allowed), "\(file.path)")
      }
    }
  }

  @Test("OpenCombine is imported by PharosPublishing alone")
  func openCombine() throws {
    for file in try Self.swiftFiles(in: "Sources") where file.imports.contains("OpenCombine") {
      #expect(file.path.hasPrefix("Sources/Server/PharosPublishing/"), "\(file.path) imports OpenCombine")
    }
  }

  @Test("nothing is left lying about")
  func leftovers() throws {
    let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK", "fatalError(\"un"]
    for file in try ["Sources", "Tests", "Benchmarks/Sources"].flatMap(Self.swiftFiles) {
      for word in words where file.text.contains(word) {
        Issue.record("\(file.path) contains \(word)")
      }
    }
  }

  @Test("the latest commit subjects are plain imperatives of at most 72 characters")
  func subjects() throws {
    let patterns = try DebtTests.phrases.filter { !$0.contains("[A-Z]") }.map { try Regex($0).ignoresCase() }
    for subject in try Self.latestSubjects(5) {
      #expect(subject.count <= 72, "\(subject)")
      #expect(!patterns.contains { subject.contains($0) }, "\(subject)")
    }
  }

  /// The subjects of the latest commits; none outside a git repository.
  private static func latestSubjects(_ count: Int) throws -> [Substring] {
    let git = Process()
    git.executableURL = URL(filePath: "/usr/bin/env")
    git.arguments = ["git", "-C", SharedData.repository.path, "log", "-\(count)", "--format=%s"]
    let output = Pipe()
    git.standardOutput = output
    git.standardError = FileHandle.nullDevice
    try git.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    git.waitUntilExit()
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }

  @Test("no test sleeps")
  func sleepless() throws {
    let calls = ["sle" + "ep(", "usle" + "ep("]
    for file in try Self.swiftFiles(in: "Tests") {
      for call in calls where file.code.contains(call) {
        Issue.record("\(file.path) calls \(call)")
      }
    }
  }

  @Test("every module has a page of documentation", arguments: arrows.keys.sorted())
  func documented(module: String) {
    let page = SharedData.repository.appending(path: "\(Self.folder(of: module))/\(module).docc/\(module).md")
    #expect(FileManager.default.fileExists(atPath: page.path), "\(page.path) is missing")
  }

  @Test("the top level holds what it should and nothing else")
  func topLevel() throws {
    let known: Set<String> = [
      "Package.swift", "Sources", "Tests", "Captures", "Benchmarks", "README.md", ".ci", ".gitignore",
      ".swift-format", "LICENSE", ".git", ".build", "Package.resolved", ".swiftpm",
    ]
    let names = try FileManager.default.contentsOfDirectory(atPath: SharedData.repository.path)
    for name in names where !known.contains(name) {
      #expect(name.hasPrefix(".build"), "\(name) does not belong at the top level")
    }
  }

  static func swiftFiles(in folder: String) throws -> [SourceFile] {
    let root = SharedData.repository
    let found = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    return try (found?.allObjects ?? []).compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
      .sorted()
      .map { name in
        let path = "\(folder)/\(name)"
        return SourceFile(
          path: path,
          text: try String(contentsOf: root.appending(path: path), encoding: .utf8)
        )
      }
  }
}

/// A source file as the rules look at it.
struct SourceFile {
  let path: String
  let text: String

  /// The text without whole-line comments.
  var code: String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.drop(while: { $0 == " " }).hasPrefix("//") }
      .joined(separator: "\n")
  }

  /// The modules that it imports.
  var imports: [String] {
    code.split(separator: "\n").compactMap { line in
      var words = line.split(separator: " ")
      while let first = words.first, first != "import" {
        guard first.hasPrefix("@") || ["public", "package", "internal", "private"].contains(first) else {
          return nil
        }
        words.removeFirst()
      }
      guard words.count >= 2 else { return nil }
      let kinds = ["struct", "class", "enum", "func", "protocol", "var", "typealias"]
      let name = kinds.contains(String(words[1])) && words.count >= 3 ? words[2] : words[1]
      return name.split(separator: ".").first.map(String.init)
    }
  }
}
