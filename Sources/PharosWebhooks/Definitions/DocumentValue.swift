import Foundation

/// A value of a JSON document.
enum DocumentValue: Hashable, Sendable, Decodable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([DocumentValue])
  case object([String: DocumentValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([DocumentValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: DocumentValue].self))
    }
  }

  /// What it is, for somebody who expected something else.
  var kind: String {
    switch self {
    case .null: "null"
    case .flag: "a truth value"
    case .number: "a number"
    case .text: "a text"
    case .list: "a list"
    case .object: "an object"
    }
  }
}

/// Reads the members of a JSON object and collects everything that is wrong with them.
///
/// A member that is null counts as missing. A member that nobody asked for is a problem: it is most likely misspelt.
struct DocumentReader {
  /// The longest document that is read: a filter of a thousand beacons fits twice.
  static let longest = 64 * 1_024

  private var members: [String: DocumentValue]
  private var known: Set<String> = []
  private let path: String
  /// What was found to be wrong.
  private(set) var problems: [WebhookProblem] = []

  /// Parses a document, which must be an object.
  init(json: [UInt8]) throws(WebhookError) {
    guard json.count <= DocumentReader.longest else {
      throw .invalid([
        WebhookProblem(
          "",
          "the document has \(json.count) bytes",
          expected: "at most \(DocumentReader.longest)"
        )
      ])
    }
    guard let value = try? JSONDecoder().decode(DocumentValue.self, from: Data(json)) else {
      throw .invalid([WebhookProblem("", "the document is no JSON", expected: "a JSON object")])
    }
    guard case .object(let members) = value else {
      throw .invalid([WebhookProblem("", "the document is \(value.kind)", expected: "a JSON object")])
    }
    self.init(members, path: "")
  }

  private init(_ members: [String: DocumentValue], path: String) {
    self.members = members.filter { $0.value != .null }
    self.path = path
  }

  /// Notes a problem with a member.
  mutating func refuse(_ key: String, _ message: String, expected: String) {
    problems.append(WebhookProblem(path + key, message, expected: expected))
  }

  /// A member that is a text.
  mutating func text(_ key: String, expected: String) -> String? {
    guard let value = take(key) else { return nil }
    if case .text(let text) = value { return text }
    refuse(key, "is \(value.kind)", expected: expected)
    return nil
  }

  /// A member that is a truth value.
  mutating func flag(_ key: String) -> Bool? {
    guard let value = take(key) else { return nil }
    if case .flag(let flag) = value { return flag }
    refuse(key, "is \(value.kind)", expected: "true or false")
    return nil
  }

  /// A member that is a whole number within bounds.
  mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    guard let value = take(key) else { return nil }
    if case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) {
      return integer
    }
    refuse(key, "is out of range", expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// A member that is a list of texts, each read by a function; at most a thousand.
  mutating func set<Element: Hashable>(
    _ key: String,
    expected: String,
    _ read: (String) -> Element?
  ) -> Set<Element>? {
    guard let value = take(key) else { return nil }
    guard case .list(let values) = value, !values.isEmpty, values.count <= 1_000 else {
      refuse(key, "is no list of 1 to 1000 texts", expected: "a list, each \(expected)")
      return nil
    }
    var elements: Set<Element> = []
    for (index, value) in values.enumerated() {
      guard case .text(let text) = value, let element = read(text) else {
        let found = if case .text(let text) = value { "\"\(text)\" is none" } else { "is \(value.kind)" }
        refuse("\(key)[\(index)]", found, expected: expected)
        continue
      }
      elements.insert(element)
    }
    return elements
  }

  /// A member that is an object, read by a function.
  mutating func object<Value>(_ key: String, _ read: (inout DocumentReader) -> Value) -> Value? {
    guard let value = take(key) else { return nil }
    guard case .object(let members) = value else {
      refuse(key, "is \(value.kind)", expected: "an object")
      return nil
    }
    var reader = DocumentReader(members, path: path + key + ".")
    let result = read(&reader)
    reader.refuseUnknown()
    problems += reader.problems
    return result
  }

  /// Members that are taken without a look, because they only say what is so.
  mutating func ignore(_ keys: [String]) {
    for key in keys { members[key] = nil }
  }

  /// Throws if anything was wrong, or if a member was not asked for.
  mutating func finish() throws(WebhookError) {
    refuseUnknown()
    if !problems.isEmpty { throw .invalid(problems) }
  }

  private mutating func refuseUnknown() {
    for key in members.keys.sorted() where !known.contains(key) {
      refuse(key, "is not known here", expected: "one of \(known.sorted().joined(separator: ", "))")
    }
  }

  private mutating func take(_ key: String) -> DocumentValue? {
    known.insert(key)
    return members[key]
  }
}
