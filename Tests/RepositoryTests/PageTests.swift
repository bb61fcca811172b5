import Foundation
import PharosTestSupport
import Testing

/// Pages for contributors that name files.
@Suite("Pages that name files")
struct PageTests {
  private static func page(_ name: String) throws -> String {
    let path = "Sources/Server/Pharos/Pharos.docc/\(name).md"
    return try String(contentsOf: SharedData.repository.appending(path: path), encoding: .utf8)
  }

  private static func files(in text: some StringProtocol) -> Set<String> {
    Set(String(text).matches(of: /`(Pharos\w+\/[\w\/+]+\.swift)`/).map { String($0.output.1) })
  }

  @Test(
    "the files that pages name exist",
    arguments: ["HowAnExitIsDecided", "WhoKeepsWhat", "LifeOfARegionChange"]
  )
  func names(page: String) throws {
    let files = try Self.files(in: Self.page(page))
    #expect(files.count > 5)
    for file in files {
      let parts = file.split(separator: "/")
      let folder = HouseTests.folder(of: String(parts[0]))
      let path = SharedData.repository.appending(
        path: "\(folder)/\(parts.dropFirst().joined(separator: "/"))"
      ).path
      #expect(FileManager.default.fileExists(atPath: path), "\(page) names \(file)")
    }
  }

  @Test("the page of stores lists each function that forgets a subject, and nothing else")
  func stores() throws {
    let table = try Self.page("WhoKeepsWhat").split(separator: "\n").filter { $0.hasPrefix("|") }
    let listed = Self.files(in: table.joined(separator: "\n"))
    let forgets = /func (?:forget|erase)\(\s*_ traces: SubjectTraces/
    var stores: Set<String> = []
    for file in try HouseTests.swiftFiles(in: "Sources") where file.text.contains(forgets) {
      stores.insert(file.path.split(separator: "/").dropFirst(2).joined(separator: "/"))
    }
    // The list of the stores itself.
    stores.remove("PharosHTTP/Resources/ErasureResource.swift")
    #expect(stores.count > 10)
    #expect(listed == stores, "\(listed.symmetricDifference(stores).sorted())")
  }

  @Test("each row about Core Location names a test that exists, or says why it has no meaning")
  func coreLocation() throws {
    let path = "Sources/Server/PharosPublishing/PharosPublishing.docc/CoreLocation.md"
    let page = try String(contentsOf: SharedData.repository.appending(path: path), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
      .filter { !$0.hasPrefix("| Core Location |") }
    var tests = ""
    for file in try HouseTests.swiftFiles(in: "Tests") { tests += file.text }
    #expect(rows.count > 30)
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let title = cells.last ?? ""
      #expect(title.hasPrefix("\"") ? tests.contains(title) : cells[1].hasPrefix("*none*: "), "\(row)")
    }
  }

  @Test("each use case names a suite and a test of one file, or says why there is none")
  func useCases() throws {
    let path = "Sources/Server/PharosPublishing/PharosPublishing.docc/UseCases.md"
    let page = try String(contentsOf: SharedData.repository.appending(path: path), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
      .filter { !$0.hasPrefix("| use case |") }
    let files = try HouseTests.swiftFiles(in: "Tests").map(\.text)
    #expect(rows.count > 50)
    for row in rows {
      let cells = row.dropFirst().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5 else {
        Issue.record("four cells: \(row)")
        continue
      }
      let (suite, title) = (cells[2], cells[3])
      if suite.hasPrefix("`") {
        let script = "Tests/BrowserTests/\(suite.dropFirst().dropLast())"
        let text = try String(contentsOf: SharedData.repository.appending(path: script), encoding: .utf8)
        #expect(text.contains("def \(title.dropFirst().dropLast())("), "\(row)")
      } else if suite.isEmpty {
        #expect(cells[1].hasPrefix("*none*: ") && title.isEmpty, "\(row)")
      } else {
        let isThere = suite.hasPrefix("\"") && files.contains { $0.contains(suite) && $0.contains(title) }
        #expect(isThere, "\(row)")
      }
    }
  }
}
