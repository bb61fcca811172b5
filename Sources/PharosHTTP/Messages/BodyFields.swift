import PharosModel

/// The members of a JSON object, taken one by one; all that is wrong is collected, so that a client reads it at once.
///
/// Take every member that may be there, then ``finish()``: it throws the mistakes, unknown members among them.
package struct BodyFields {
  private let path: String
  private var members: [String: JSONValue] = [:]
  private let order: [String]
  private var taken: [String] = []
  /// The errors so far.
  private(set) var errors: [Problem.Field] = []

  /// Reads a body that has to be one object; an empty body is an empty object where that is allowed.
  ///
  /// - Throws: a problem if it is none.
  package init(_ body: [UInt8], emptyIsObject: Bool = false) throws(Problem) {
    if body.isEmpty, emptyIsObject {
      self.init([], path: "")
      return
    }
    guard !body.isEmpty else { throw .notJSON("The body is empty; a JSON object was expected.") }
    let value = try JSONValue(body)
    guard case .object(let members) = value else {
      throw .notJSON("The body is \(value.kind); a JSON object was expected.")
    }
    self.init(members, path: "")
  }

  /// Takes the members of an object that lies within another.
  init(_ members: [JSONValue.Member], path: String) {
    self.path = path
    order = members.map(\.name)
    for member in members { self.members[member.name] = member.value }
  }

  /// A string, or nil where there is none or it is wrong.
  package mutating func string(_ name: String, length: ClosedRange<Int> = 0...4_096) -> String? {
    guard let value = take(name) else { return nil }
    let expected =
      length.lowerBound > 0
      ? "\(length.lowerBound) to \(length.upperBound) bytes" : "at most \(length.upperBound) bytes"
    guard case .string(let text) = value else {
      wrong(name, "is \(value.kind)", expected: "a string of \(expected)")
      return nil
    }
    guard length.contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
    else {
      wrong(name, "has \(text.utf8.count) bytes or holds a control character", expected: expected)
      return nil
    }
    return text
  }

  /// A whole number, or nil where there is none or it is wrong.
  package mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
    guard let value = take(name) else { return nil }
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .integer(let number) = value, let integer = Int(exactly: number),
      range.contains(integer)
    else {
      wrong(name, "is \(value.kind), but not one that is taken", expected: expected)
      return nil
    }
    return integer
  }

  /// True or false, or nil where there is neither.
  package mutating func bool(_ name: String) -> Bool? {
    guard let value = take(name) else { return nil }
    guard case .bool(let truth) = value else {
      wrong(name, "is \(value.kind)", expected: "true or false")
      return nil
    }
    return truth
  }

  /// Whole numbers, or nil where there are none or something else.
  package mutating func integers(_ name: String, count: ClosedRange<Int> = 0...1_000) -> [Int64]? {
    guard let value = take(name) else { return nil }
    guard case .array(let elements) = value, count.contains(elements.count) else {
      wrong(
        name,
        "is \(value.kind)",
        expected: "an array of at most \(count.upperBound) whole numbers"
      )
      return nil
    }
    var integers: [Int64] = []
    for (index, element) in elements.enumerated() {
      guard case .integer(let number) = element else {
        wrong("\(name)[\(index)]", "is \(element.kind)", expected: "a whole number")
        continue
      }
      integers.append(number)
    }
    return integers
  }

  /// Texts, or nil where there are none or something else.
  mutating func strings(_ name: String, count: ClosedRange<Int> = 0...1_000) -> [String]? {
    guard let value = take(name) else { return nil }
    guard case .array(let elements) = value, count.contains(elements.count) else {
      wrong(name, "is \(value.kind)", expected: "an array of at most \(count.upperBound) strings")
      return nil
    }
    var texts: [String] = []
    for (index, element) in elements.enumerated() {
      guard case .string(let text) = element else {
        wrong("\(name)[\(index)]", "is \(element.kind)", expected: "a string")
        continue
      }
      texts.append(text)
    }
    return texts
  }

  /// An object within this one, or nil; hand its mistakes back by ``adopt(_:)``.
  package mutating func object(_ name: String) -> BodyFields? {
    guard let value = take(name) else { return nil }
    guard case .object(let members) = value else {
      wrong(name, "is \(value.kind)", expected: "an object")
      return nil
    }
    return BodyFields(members, path: path + name + ".")
  }

  /// One of some words, or nil where there is none or another.
  package mutating func choice<Value>(_ name: String, _ choices: [(word: String, value: Value)]) -> Value? {
    guard let text = string(name) else { return nil }
    if let choice = choices.first(where: { $0.word == text }) { return choice.value }
    wrong(
      name,
      "\"\(text)\" is none of them",
      expected: choices.map(\.word).joined(separator: ", ")
    )
    return nil
  }

  /// Adds an error if a required member is missing.
  package mutating func require(_ name: String, expected: String) {
    guard members[name] == nil || members[name] == .null else { return }
    guard !errors.contains(where: { $0.field == path + name }) else { return }
    wrong(name, "is missing", expected: expected)
  }

  /// Adds an error about a member.
  mutating func wrong(_ name: String, _ message: String, expected: String? = nil) {
    errors.append(Problem.Field(path + name, message, expected: expected))
  }

  /// Takes over the mistakes of an object within this one, its unknown members among them.
  package mutating func adopt(_ inner: BodyFields) { errors += inner.allErrors }

  /// Throws what is wrong, unknown members among it.
  package func finish() throws(Problem) {
    let errors = allErrors
    guard errors.isEmpty else { throw .invalidBody(errors) }
  }

  private var allErrors: [Problem.Field] {
    let known = taken.joined(separator: ", ")
    return errors
      + order.filter { !taken.contains($0) }
      .map { Problem.Field(path + $0, "is not known here", expected: "one of \(known)") }
  }

  /// A member; null counts as not there.
  private mutating func take(_ name: String) -> JSONValue? {
    taken.append(name)
    guard let value = members[name], value != .null else { return nil }
    return value
  }
}

extension JSONValue {
  /// Reads the bytes of a body.
  ///
  /// - Throws: a problem with the position and the reason if it is not JSON.
  package init(_ bytes: [UInt8]) throws(Problem) {
    do throws(JSONError) {
      try self.init(parsing: bytes)
    } catch {
      throw .notJSON("At byte \(error.offset): \(error.reason); expected \(error.expected).")
    }
  }
}
