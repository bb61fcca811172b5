import Foundation
import PharosDashboard
import Testing

@Suite("A page that stands alone")
struct StandalonePageTests {
  static let page = Dashboard.standalone("pictures.html", data: #"{"title":"</script><b>"}"#)

  @Test("styles and scripts stand in it, each once, and it refers to no file")
  func whole() {
    for text in ["--paper: #f5f5f1", ".walkable {", "function drawFloor(", "function h("] {
      #expect(Self.page.components(separatedBy: text).count == 2, "\(text)")
    }
    #expect(!Self.page.contains("src=") && !Self.page.contains("href=\"/"))
    #expect(!Self.page.contains("\nimport ") && !Self.page.contains("\nexport "))
    #expect(Self.page.hasSuffix("</html>\n"))
  }

  @Test("a string of the data cannot end its element")
  func closed() {
    #expect(Self.page.contains(#"id="data">{"title":"\u003c/script>\u003cb>"}</script>"#))
  }

  @Test("no two scripts of a page declare the same name")
  func names() {
    let declared = Self.page.matches(of: #/\n(?:async )?(?:function|class|const|let) (\w+)/#).map {
      String($0.1)
    }
    #expect(declared.count > 20)
    #expect(Set(declared).count == declared.count)
  }
}
