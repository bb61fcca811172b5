import PharosModel

/// A reader of the members of one JSON object, which collects all problems with them.
///
/// A member that is null counts as missing. A member that the caller does not read is reported as a problem, since it
/// is most likely misspelt.
struct DocumentReader {
  /// The longest document that is read: a filter of a thousand beacons fits twice.
  static let longest = 64 * 1_024

  private var members: [String: JSONValue]
  private var known: Set<String> = []
  private let path: String
  /// The problems found so far.
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
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: json)
    } catch {
      let reason = "the document is no JSON: at byte \(error.offset), \(error.reason)"
      throw .invalid([WebhookProblem("", reason, expected: error.expected)])
    }
    guard case .object(let members) = value else {
      throw .invalid([WebhookProblem("", "the document is \(value.kind)", expected: "a JSON object")])
    }
    self.init(members, path: "")
  }

  private init(_ members: [JSONValue.Member], path: String) {
    self.members = Dictionary(
      uniqueKeysWithValues: members.lazy.filter { $0.value != .null }.map { ($0.name, $0.value) }
    )
    self.path = path
  }

  /// Records a problem with a member.
  mutating func refuse(_ key: String, _ message: String, expected: String) {
    problems.append(WebhookProblem(path + key, message, expected: expected))
  }

  /// Returns a member that is a string.
  mutating func text(_ key: String, expected: String) -> String? {
    guard let value = take(key) else { return nil }
    if case .string(let text) = value { return text }
    refuse(key, "is \(value.kind)", expected: expected)
    return nil
  }

  /// Returns a member that is a Boolean value.
  mutating func flag(_ key: String) -> Bool? {
    guard let value = take(key) else { return nil }
    if case .bool(let flag) = value { return flag }
    refuse(key, "is \(value.kind)", expected: "true or false")
    return nil
  }

  /// Returns a member that is an integer within bounds.
  mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    guard let value = take(key) else { return nil }
    if case .integer(let number) = value, let integer = Int(exactly: number), range.contains(integer) {
      return integer
    }
    refuse(key, "is out of range", expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// Returns a member that is a list of 1 to 1000 strings, each parsed by a function.
  mutating func set<Element: Hashable>(
    _ key: String,
    expected: String,
    _ read: (String) -> Element?
  ) -> Set<Element>? {
    guard let value = take(key) else { return nil }
    guard case .array(let values) = value, !values.isEmpty, values.count <= 1_000 else {
      refuse(key, "is no list of 1 to 1000 texts", expected: "a list, each \(expected)")
      return nil
    }
    var elements: Set<Element> = []
    for (index, value) in values.enumerated() {
      guard case .string(let text) = value, let element = read(text) else {
        let found = if case .string(let text) = value { "\"\(text)\" is none" } else { "is \(value.kind)" }
        refuse("\(key)[\(index)]", found, expected: expected)
        continue
      }
      elements.insert(element)
    }
    return elements
  }

  /// Returns a member that is an object, read by a function.
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

  /// Ignores members that only describe the state, as listings contain them.
  mutating func ignore(_ keys: [String]) {
    for key in keys { members[key] = nil }
  }

  /// Throws if there are problems, or if the document has members that the caller did not read.
  mutating func finish() throws(WebhookError) {
    refuseUnknown()
    if !problems.isEmpty { throw .invalid(problems) }
  }

  private mutating func refuseUnknown() {
    for key in members.keys.sorted() where !known.contains(key) {
      refuse(key, "is not known here", expected: "one of \(known.sorted().joined(separator: ", "))")
    }
  }

  private mutating func take(_ key: String) -> JSONValue? {
    known.insert(key)
    return members[key]
  }
}

/// One problem with a document that a client sent.
package struct WebhookProblem: Hashable, Sendable {
  /// The path of the member, as in `filter.kinds`, or an empty string for the whole document.
  package var field: String
  /// The description of the problem.
  package var message: String
  /// The values that would be valid.
  package var expected: String

  /// Makes a problem.
  package init(_ field: String, _ message: String, expected: String) {
    self.field = field
    self.message = message
    self.expected = expected
  }
}

/// The reasons for which webhooks or notification rules cannot be read or changed.
package enum WebhookError: Error, Hashable, Sendable {
  /// The document is wrong in one or more places.
  case invalid([WebhookProblem])
  /// There is no such webhook or rule, or it belongs to another application.
  case unknown(String)
  /// The maximum number of webhooks or rules exists already.
  case tooMany(limit: Int)
  /// The journal could not be read or written; the text contains the reason and the remedy.
  case journal(String)
}

extension WebhookError: CustomStringConvertible {
  /// The problem and its remedy, for the client.
  package var description: String {
    switch self {
    case .invalid(let problems):
      problems.map { problem in
        (problem.field.isEmpty ? "" : "\(problem.field): ")
          + "\(problem.message); expected \(problem.expected)"
      }
      .joined(separator: "\n")
    case .unknown(let name): "there is none called \"\(name)\"; list them to see which there are"
    case .tooMany(let limit): "there are \(limit) already, as many as there may be; delete one first"
    case .journal(let text): text
    }
  }
}
