/// What a value in a document may be, as JSON Schema (2020-12, which OpenAPI 3.1 takes over) states it.
///
/// A named schema is a reference where it is used; the description of the interface defines it once, as a component.
package struct Schema: Sendable {
  /// A member of an object.
  package struct Member: Sendable {
    fileprivate let name: String
    fileprivate let schema: Schema
    fileprivate let isRequired: Bool

    /// The member as one that an object may lack.
    package var optional: Member { Member(name: name, schema: schema, isRequired: false) }

    /// A member that every such object has.
    package static func required(_ name: String, _ schema: Schema, _ description: String? = nil) -> Member {
      Member(name: name, schema: description.map(schema.described) ?? schema, isRequired: true)
    }

    /// A member that an object may lack.
    package static func optional(_ name: String, _ schema: Schema, _ description: String? = nil) -> Member {
      Member(name: name, schema: description.map(schema.described) ?? schema, isRequired: false)
    }
  }

  /// The keywords where the schema is used: of a named one, the reference.
  private var keywords: [JSONValue.Member]
  /// The definitions of the named schemas that it leads to, by name.
  package private(set) var components: [String: JSONValue]

  private init(_ keywords: [(String, JSONValue)], leadingTo others: [Schema] = []) {
    self.keywords = keywords.map { JSONValue.Member(name: $0.0, value: $0.1) }
    components = others.reduce(into: [:]) { known, other in
      known.merge(other.components) { first, _ in first }
    }
  }

  private init(type: String, _ keywords: [(String, JSONValue)] = [], leadingTo others: [Schema] = []) {
    self.init([("type", .string(type))] + keywords, leadingTo: others)
  }

  /// The schema as JSON.
  package var json: JSONValue { .object(keywords) }

  private func with(_ name: String, _ value: JSONValue) -> Schema {
    var schema = self
    schema.keywords.removeAll { $0.name == name }
    schema.keywords.append(JSONValue.Member(name: name, value: value))
    return schema
  }

  /// The schema as a component of this name, with a reference in its place.
  package func named(_ name: String) -> Schema {
    var reference = Schema([("$ref", .string("#/components/schemas/\(name)"))])
    reference.components = components
    reference.components[name] = json
    return reference
  }

  /// The schema with words for people.
  package func described(_ description: String) -> Schema { with("description", .string(description)) }

  /// The schema with the value that is taken where none is given.
  package func usually(_ value: JSONValue) -> Schema { with("default", value) }

  /// The names of the members of an object; none for any other value.
  package var memberNames: Set<String> {
    Set(members(of: json)?.map(\.name) ?? [])
  }

  /// The columns of a table of such objects: the names of their members, and for a member that is an object itself those of
  /// its own members behind a dot.
  package var columns: [String] { columns(of: json) ?? [] }

  /// The columns of an object; nil for any other value.
  private func columns(of schema: JSONValue) -> [String]? {
    members(of: schema)?.flatMap { member in
      columns(of: member.value)?.map { "\(member.name).\($0)" } ?? [member.name]
    }
  }

  /// The members that the schema of an object states; nil for any other value.
  private func members(of schema: JSONValue) -> [JSONValue.Member]? {
    guard case .object(var stated) = schema else { return nil }
    if case .string(let path)? = stated.first(where: { $0.name == "$ref" })?.value,
      case .object(let keywords)? = path.split(separator: "/").last.flatMap({ components[String($0)] })
    {
      stated = keywords
    }
    guard case .object(let members)? = stated.first(where: { $0.name == "properties" })?.value else {
      return nil
    }
    return members
  }

  /// Indicates whether it is the schema of a list.
  package var isList: Bool { keywords.contains { $0.name == "type" && $0.value == .string("array") } }

  /// The schema of a value that may also be null.
  package var orNull: Schema {
    guard let type = keywords.first(where: { $0.name == "type" })?.value else { return self }
    return with("type", .array([type, .string("null")]))
  }
}

extension [Schema.Member] {
  /// The member of a name, or nil.
  package func named(_ name: String) -> Schema.Member? { first { $0.name == name } }
}

extension Schema {
  /// Any value.
  package static let any = Schema([])
  /// Null.
  package static let null = Schema(type: "null")
  /// True or false.
  package static let flag = Schema(type: "boolean")
  /// A number.
  package static let number = Schema(type: "number")
  /// A whole number.
  package static let integer = Schema(type: "integer")
  /// A whole number that is not negative.
  package static let count = integer(0...)
  /// A text.
  package static let text = Schema(type: "string")
  /// A text that is not empty.
  package static let name = text(1...)
  /// A time as RFC 3339 has it.
  package static let time = Schema(type: "string", [("format", .string("date-time"))])
  /// A length of time with its unit.
  package static let duration = pattern(#"^[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d)$"#)
    .described("A number and its unit: ns, us, ms, s, m, h or d, as in `30s`.")
  /// A distance with its unit.
  package static let distance = pattern(#"^[0-9]+(\.[0-9]+)?m$"#)
  /// An address of the web.
  package static let address = Schema(type: "string", [("format", .string("uri"))])
  /// Bytes of another type than JSON.
  ///
  /// JSON Schema names what they are; generators of clients know them by the format, as OpenAPI 3.0 has it.
  package static func binary(_ mediaType: String) -> Schema {
    Schema(type: "string", [("format", .string("binary")), ("contentMediaType", .string(mediaType))])
  }
  /// An object of any members.
  package static let anyObject = Schema(type: "object", [("additionalProperties", .bool(true))])
  /// An object of which the schema does not state the members.
  package static let someObject = Schema(type: "object")

  /// An object of any names of 1 to 128 characters, each with a text of so many characters at most.
  package static func texts(upTo count: Int, ofLength length: Int) -> Schema {
    Schema(
      type: "object",
      [
        ("propertyNames", text(1...128).json), ("maxProperties", whole(count)),
        ("additionalProperties", text(1...length).json),
      ]
    )
  }

  /// A number within bounds.
  package static func number(_ range: ClosedRange<Double>) -> Schema {
    number.with("minimum", .number(range.lowerBound)).with("maximum", .number(range.upperBound))
  }

  /// A number of at least a bound.
  package static func number(_ range: PartialRangeFrom<Double>) -> Schema {
    number.with("minimum", .number(range.lowerBound))
  }

  /// A whole number within bounds.
  package static func integer(_ range: ClosedRange<Int>) -> Schema {
    integer.with("minimum", whole(range.lowerBound)).with("maximum", whole(range.upperBound))
  }

  /// A whole number of at least a bound.
  package static func integer(_ range: PartialRangeFrom<Int>) -> Schema {
    integer.with("minimum", whole(range.lowerBound))
  }

  /// One of several whole numbers.
  package static func integers(_ numbers: [Int]) -> Schema {
    integer.with("enum", .array(numbers.map(whole)))
  }

  /// A text of so many characters.
  package static func text(_ length: ClosedRange<Int>) -> Schema {
    (length.lowerBound > 0 ? text(length.lowerBound...) : text).with("maxLength", whole(length.upperBound))
  }

  /// A text of at least so many characters.
  package static func text(_ length: PartialRangeFrom<Int>) -> Schema {
    text.with("minLength", whole(length.lowerBound))
  }

  /// A text that a regular expression matches.
  package static func pattern(_ pattern: String) -> Schema { text.with("pattern", .string(pattern)) }

  /// One of several words, each of which is stated once.
  package static func words(_ words: [String]) -> Schema {
    var stated: Set<String> = []
    return text.with("enum", .array(words.filter { stated.insert($0).inserted }.map { .string($0) }))
  }

  /// The words of an enumeration.
  package static func words<Word: RawRepresentable<String> & CaseIterable>(of _: Word.Type) -> Schema {
    words(Word.allCases.map(\.rawValue))
  }

  /// A constant text.
  package static func constant(_ word: String) -> Schema { text.with("const", .string(word)) }

  /// A list.
  package static func list(_ element: Schema) -> Schema {
    Schema(type: "array", [("items", element.json)], leadingTo: [element])
  }

  /// A list of so many elements.
  package static func list(_ element: Schema, _ count: ClosedRange<Int>) -> Schema {
    list(element, count.lowerBound...).with("maxItems", whole(count.upperBound))
  }

  /// A list of at least so many elements.
  package static func list(_ element: Schema, _ count: PartialRangeFrom<Int>) -> Schema {
    count.lowerBound > 0 ? list(element).with("minItems", whole(count.lowerBound)) : list(element)
  }

  /// A list of different elements, at least one.
  package static func set(_ element: Schema) -> Schema {
    list(element, 1...).with("uniqueItems", .bool(true))
  }

  /// A value that exactly one of several schemas allows.
  package static func one(of schemas: [Schema]) -> Schema {
    Schema([("oneOf", .array(schemas.map(\.json)))], leadingTo: schemas)
  }

  /// An object; of several members with the same name, the first counts.
  package static func object(_ given: [Member]) -> Schema {
    let members = given.indices.filter { place in !given[..<place].contains { $0.name == given[place].name } }
      .map { given[$0] }
    var keywords: [(String, JSONValue)] = [
      ("properties", .object(members.map { JSONValue.Member(name: $0.name, value: $0.schema.json) }))
    ]
    let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { keywords.append(("required", .array(required))) }
    return Schema(type: "object", keywords, leadingTo: members.map(\.schema))
  }

  /// An object without other members, as documents that clients send are.
  package static func closed(_ members: [Member]) -> Schema {
    object(members).with("additionalProperties", .bool(false))
  }

  /// An object of which some members need others.
  package func requiring(_ needs: KeyValuePairs<String, String>) -> Schema {
    let members = needs.map { JSONValue.Member(name: $0.key, value: .array([.string($0.value)])) }
    return with("dependentRequired", .object(members))
  }

  /// An object of at least so many members.
  package func holding(atLeast count: Int) -> Schema { with("minProperties", Schema.whole(count)) }

  /// What only answers hold.
  package var readOnly: Schema { with("readOnly", .bool(true)) }

  private static func whole(_ number: Int) -> JSONValue { .integer(Int64(number)) }
}
