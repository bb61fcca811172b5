import PharosModel

extension JSONText {
  /// The text of one object, which a closure fills.
  package static func object(_ fill: (inout JSONText) -> Void) -> String {
    var json = JSONText()
    json.openObject()
    fill(&json)
    json.closeObject()
    return json.text
  }

  /// Writes a key and an array of strings.
  package mutating func member(_ key: StaticString, _ values: some Sequence<String>) {
    openArray(key)
    for value in values { element(value) }
    closeArray()
  }

  /// Writes a key and an array of objects, each of which a closure fills.
  package mutating func member<Values: Sequence>(
    _ key: StaticString,
    objects values: Values,
    _ fill: (Values.Element, inout JSONText) -> Void
  ) {
    openArray(key)
    for value in values {
      openObject()
      fill(value, &self)
      closeObject()
    }
    closeArray()
  }
}
