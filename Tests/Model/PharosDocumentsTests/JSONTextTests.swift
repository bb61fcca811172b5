import Foundation
import PharosDocuments
import PharosModel
import Testing

@Suite("JSON text")
struct JSONTextTests {
  @Test("is read back by another reader to the same values")
  func foundation() throws {
    var json = JSONText()
    json.openObject()
    json.member("text", "a \"quoted\" \\ line\n\ttab \u{1} é 🏛")
    json.member("whole", -42)
    json.member("number", 1.25)
    json.member("rounded", 2.0 / 3.0, decimals: 3)
    json.member("missing", Double.nan)
    json.member("truth", true)
    json.openArray("list")
    json.element("a")
    json.element(7)
    json.openObject()
    json.closeObject()
    json.closeArray()
    json.null("nothing")
    json.closeObject()
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    )
    #expect(object["text"] as? String == "a \"quoted\" \\ line\n\ttab \u{1} é 🏛")
    #expect(object["whole"] as? Int == -42)
    #expect(object["number"] as? Double == 1.25)
    #expect(object["rounded"] as? Double == 0.667)
    #expect(object["missing"] is NSNull)
    #expect(object["truth"] as? Bool == true)
    #expect((object["list"] as? [Any])?.count == 3)
    #expect(object["nothing"] is NSNull)
  }

  @Test("writes whole numbers without a fraction")
  func whole() {
    var json = JSONText()
    json.openArray()
    json.closeArray()
    json.newLine()
    json.openObject()
    json.member("a", 30.0)
    json.member("b", -1.0, decimals: 2)
    json.closeObject()
    #expect(json.text == "[]\n{\"a\":30,\"b\":-1}")
  }
}
