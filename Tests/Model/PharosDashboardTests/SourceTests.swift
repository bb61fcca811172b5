import Foundation
import PharosDashboard
import Testing

/// The rules that the pages keep: nothing from elsewhere, no markup from data, no file that is not there.
@Suite("The dashboard's sources")
struct SourceTests {
  static let scripts = Dashboard.paths.filter { $0.hasSuffix(".js") }

  @Test("everything that a file refers to is there", arguments: Dashboard.paths)
  func references(path: String) throws {
    let text = try Self.text(path)
    let patterns = [
      #/(?:src|href)="(\/assets\/[^"]*)"/#, #/from "\.(\/[^"]*)"/#, #/import\("\.(\/[^"]*)"\)/#,
    ]
    for pattern in patterns {
      for match in text.matches(of: pattern) {
        let name = String(match.1)
        let target = name.hasPrefix("/assets/") ? name : "/assets" + name
        #expect(Dashboard.asset(target) != nil, "\(path) refers to \(target), which is not there")
      }
    }
  }

  @Test("every script is loaded by a page or another script", arguments: scripts)
  func reached(path: String) throws {
    let name = try #require(path.split(separator: "/").last)
    let others = try Dashboard.paths.filter { $0 != path }.map(Self.text)
    #expect(others.contains { $0.contains("/\(name)\"") }, "\(name) is imported by no other file")
  }

  @Test("each import is exported by its module, and used", arguments: scripts)
  func imports(path: String) throws {
    let text = try Self.text(path)
    for match in text.matches(of: #/import \{([^}]*)\} from "\.(\/[^"]*)"/#) {
      let source = try Self.text("/assets\(match.2)")
      for name in match.1.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) })
      where !name.isEmpty {
        let exported = try Regex("export (async )?(function|class|const|let) \(name)\\b")
        #expect(source.contains(exported), "\(path) imports \(name), which \(match.2) does not export")
        let uses = text.matches(of: try Regex("\\b\(name)\\b").wordBoundaryKind(.simple)).count
        #expect(uses > 1, "\(path) imports \(name) and does not use it")
      }
    }
  }

  @Test("no script makes markup or code of text", arguments: scripts)
  func noMarkup(path: String) throws {
    let banned = [
      "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
      "srcdoc",
      "javascript:", "setAttribute(\"style\"", "createContextualFragment",
    ]
    let text = try Self.text(path)
    for word in banned { #expect(!text.contains(word), "\(path) uses \(word)") }
  }

  @Test("nothing is fetched from elsewhere", arguments: Dashboard.paths)
  func ownOrigin(path: String) throws {
    let text = try Self.text(path)
    for match in text.matches(of: #/https?:\/\/[^"'`\s)<]+/#) {
      let address = String(match.0)
      let isHarmless =
        address.hasPrefix("http://www.w3.org/2000/svg") || address.hasPrefix("https://example.org/")
      #expect(isHarmless, "\(path) names \(address)")
    }
    #expect(!text.contains("@import"), "\(path)")
    #expect(!text.contains(" src=\"//"), "\(path)")
  }

  @Test("the page has no inline script, style or handler")
  func inline() throws {
    let page = try Self.text("/")
    #expect(page.matches(of: #/<script(?![^>]*\ssrc=)/#).isEmpty)
    #expect(page.matches(of: #/<style|\sstyle=|\son[a-z]+=/#).isEmpty)
    #expect(page.contains("<html lang=\"en\">"))
    #expect(page.contains("class=\"skip\""))
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try #require(Dashboard.asset(path)).bytes, as: UTF8.self)
  }
}
