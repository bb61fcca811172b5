import Foundation
import PharosDashboard
import PharosTestSupport
import Testing

/// The files in the binary are those of the folder, and a browser gets them as what they are.
@Suite("The dashboard's files")
struct DashboardTests {
  static let folder = SharedData.repository.appending(path: "Sources/Model/PharosDashboard/Assets")

  @Test("every file of the folder is in the binary, byte for byte, and no other")
  func whole() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    var expected: Set<String> = []
    for name in names {
      let path = name == "index.html" ? "/" : "/assets/\(name)"
      expected.insert(path)
      let asset = try #require(Dashboard.asset(path), "\(name) is not named in Embedded/assets.c")
      let bytes = try Data(contentsOf: Self.folder.appending(path: name))
      #expect(asset.bytes == Array(bytes), "\(name) differs from the folder's")
    }
    #expect(Set(Dashboard.paths) == expected)
    #expect(Dashboard.paths == Dashboard.paths.sorted())
  }

  @Test("each has the media type that browsers insist on")
  func mediaTypes() {
    for path in Dashboard.paths {
      let type = Dashboard.asset(path)?.contentType
      switch path.split(separator: ".").last {
      case "css": #expect(type == "text/css; charset=utf-8", "\(path)")
      case "js": #expect(type == "text/javascript; charset=utf-8", "\(path)")
      case "svg": #expect(type == "image/svg+xml", "\(path)")
      default:
        #expect((path == "/" || path.hasSuffix(".html")) && type == "text/html; charset=utf-8", "\(path)")
      }
    }
  }

  @Test("entity tags are quoted, of one form, and tell the files apart")
  func entityTags() throws {
    var tags: Set<String> = []
    for path in Dashboard.paths {
      let asset = try #require(Dashboard.asset(path))
      #expect(asset.entityTag.wholeMatch(of: #/"[0-9a-f]{16}"/#) != nil, "\(asset.entityTag)")
      #expect(asset.entityTag == "\"\(Self.hash(asset.bytes))\"", "\(path)")
      tags.insert(asset.entityTag)
    }
    #expect(tags.count == Dashboard.paths.count)
  }

  @Test(
    "the hash is the published one",
    arguments: [("", "cbf29ce484222325"), ("foobar", "85944171f73967e8")]
  )
  func published(text: String, hash: String) { #expect(Self.hash(Array(text.utf8)) == hash) }

  @Test(
    "a path that is no file of the dashboard is not served",
    arguments: [
      "", "/assets", "/assets/", "/index.html", "/assets/../app.js", "assets/app.js", "/assets/app.js?x=1",
      "/assets/index.html",
    ]
  )
  func outsiders(path: String) { #expect(Dashboard.asset(path) == nil) }

  @Test("the headers forbid what the pages do not need")
  func policy() throws {
    let policy = try #require(Dashboard.headers.first { $0.name == "content-security-policy" }?.value)
    let rules = policy.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(rules.contains("default-src 'none'"))
    #expect(rules.contains("script-src 'self'"))
    #expect(rules.contains("style-src 'self'"))
    #expect(rules.contains("connect-src 'self'"))
    #expect(rules.contains("frame-ancestors 'none'"))
    #expect(!policy.contains("unsafe"))
    #expect(Dashboard.headers.allSatisfy { $0.name == $0.name.lowercased() })
  }

  /// FNV-1a, 64 bits, once more and on its own.
  private static func hash(_ bytes: [UInt8]) -> String {
    let value = bytes.reduce(14_695_981_039_346_656_037 as UInt64) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    return String(repeating: "0", count: 16 - String(value, radix: 16).count) + String(value, radix: 16)
  }
}
