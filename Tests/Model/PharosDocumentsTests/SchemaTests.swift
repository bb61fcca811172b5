import PharosDocuments
import Testing

/// Schemas, and the documents that are declared with them.
@Suite("Schemas")
struct SchemaTests {
  private struct Badge: Sendable {
    var name = ""
    var floor: Int?
    var isLent = false
  }

  private static let fields: [DocumentField<Badge>] = [
    DocumentField("name", \.name, .text(length: 1...8), "For people.", isRequired: true),
    DocumentField("floor", \.floor, .integer(in: -2...9)),
    DocumentField("lent", \.isLent, .flag),
  ]

  private static func text(_ value: JSONValue) -> String {
    var json = JSONText()
    json.element(value)
    return json.text
  }

  @Test("a named schema is a reference, and leads to its definition and to those in it")
  func references() {
    let inner = Schema.words(["in", "out"]).named("State")
    let outer = Schema.object([.required("state", inner, "Now."), .optional("since", .time)]).named("Row")
    #expect(
      Self.text(Schema.list(outer).json) == ##"{"type":"array","items":{"$ref":"#/components/schemas/Row"}}"##
    )
    #expect(Set(Schema.list(outer).components.keys) == ["Row", "State"])
    #expect(Self.text(Schema.words(["in", "out", "in"]).json) == ##"{"type":"string","enum":["in","out"]}"##)
    #expect(
      outer.components["Row"].map(Self.text) == ##"""
        {"type":"object","properties":{"state":{"$ref":"#/components/schemas/State","description":"Now."},\##
        "since":{"type":"string","format":"date-time"}},"required":["state"]}
        """##
    )
  }

  @Test("bounds, defaults and null are keywords, and of two members with a name the first counts")
  func keywords() {
    #expect(Self.text(Schema.count.json) == #"{"type":"integer","minimum":0}"#)
    #expect(
      Self.text(Schema.integer(1...9).usually(.integer(3)).json)
        == #"{"type":"integer","minimum":1,"maximum":9,"default":3}"#
    )
    #expect(Self.text(Schema.text.orNull.json) == #"{"type":["string","null"]}"#)
    #expect(Self.text(Schema.text(0...4).json) == #"{"type":"string","maxLength":4}"#)
    let twice = Schema.closed([.optional("a", .flag), .required("a", .text)])
    #expect(
      Self.text(twice.json)
        == #"{"type":"object","properties":{"a":{"type":"boolean"}},"additionalProperties":false}"#
    )
  }

  @Test("the fields of a document give its reader, its writer and both of its schemas")
  func oneDeclaration() throws {
    let badge = try DocumentNode.read(Array(#"{"name":"K7","lent":true}"#.utf8), name: "badge", limit: 99) {
      node,
      problems -> Badge? in
      let known = DocumentField.keys(Self.fields)
      guard let fields = DocumentFields(node, place: "badge", known: known, problems: problems) else {
        return nil
      }
      var badge = Badge()
      DocumentField.read(Self.fields, of: fields, into: &badge)
      return badge
    }
    let written = JSONText.object { DocumentField.write(Self.fields, of: badge, to: &$0) }
    #expect(written == #"{"name":"K7","lent":true}"#)
    let name = #""name":{"type":"string","minLength":1,"maxLength":8,"description":"For people."}"#
    let others = #""floor":{"type":"integer","minimum":-2,"maximum":9},"lent":{"type":"boolean"}"#
    let given = Self.text(Schema.closed(.given(Self.fields)).json)
    #expect(given.contains("{\(name),\(others)}"))
    #expect(given.contains(#""required":["name"]"#))
    #expect(Self.text(Schema.object(Self.fields).json).contains(#""required":["name","lent"]"#))
  }

  @Test("members that are only written are left out without a value, alone and in lists")
  func written() {
    let fields: [DocumentField<Badge>] = [
      .always("id", .text) { $0.name },
      .sometimes("floor", .integer, "0 is the ground floor.") { $0.floor },
      .always("labels", .list(.text)) { [$0.name, "x"] },
      .part(ofAny: Self.fields) { $0.isLent ? $0 : nil },
    ]
    let plain = JSONText.object { DocumentField.write(fields, of: Badge(name: "K7"), to: &$0) }
    #expect(plain == #"{"id":"K7","labels":["K7","x"]}"#)
    #expect(Self.text(Schema.object(fields).json).contains(#""required":["id","labels"]"#))
    let lent = JSONText.object { json in
      json.objects("badges", [Badge(name: "A", floor: 2, isLent: true)], fields)
    }
    #expect(
      lent == #"{"badges":[{"id":"A","floor":2,"labels":["A","x"],"name":"A","floor":2,"lent":true}]}"#
    )
  }
}
