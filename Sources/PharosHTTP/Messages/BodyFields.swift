import PharosModel

/// The members of a JSON object, taken one by one; all that is wrong is collected, so that a client reads it at once.
///
/// Take every member that may be there, then ``finish()``: it throws the mistakes, unknown members among them.
package struct BodyFields {
  private let members: [JSONValue.Member]
  private var taken: [String] = []
  private var errors: [Problem.Field] = []

  /// Reads a body that has to be one object; an empty body is an empty object where that is allowed.
  ///
  /// - Throws: a problem if it is none.
  package init(_ body: [UInt8], emptyIsObject: Bool = false) throws(Problem) {
    guard !body.isEmpty || !emptyIsObject else {
      members = []
      return
    }
    guard !body.isEmpty else { throw .notJSON("The body is empty; a JSON object was expected.") }
    let value = try JSONValue(body)
    guard case .object(let members) = value else {
      throw .notJSON("The body is \(value.kind); a JSON object was expected.")
    }
    self.members = members
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
    list(name, count, of: "whole number") { if case .integer(let number) = $0 { number } else { nil } }
  }

  /// Texts, or nil where there are none or something else.
  mutating func strings(_ name: String, count: ClosedRange<Int> = 0...1_000) -> [String]? {
    list(name, count, of: "string") { if case .string(let text) = $0 { text } else { nil } }
  }

  private mutating func list<Value>(
    _ name: String,
    _ count: ClosedRange<Int>,
    of kind: String,
    _ read: (JSONValue) -> Value?
  ) -> [Value]? {
    guard let value = take(name) else { return nil }
    guard case .array(let elements) = value, count.contains(elements.count) else {
      wrong(name, "is \(value.kind)", expected: "an array of at most \(count.upperBound) \(kind)s")
      return nil
    }
    return elements.enumerated().compactMap { index, element in
      if let value = read(element) { return value }
      wrong("\(name)[\(index)]", "is \(element.kind)", expected: "a \(kind)")
      return nil
    }
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
    guard value(name) == nil, !errors.contains(where: { $0.field == name }) else { return }
    wrong(name, "is missing", expected: expected)
  }

  /// Adds an error about a member.
  mutating func wrong(_ name: String, _ message: String, expected: String) {
    errors.append(Problem.Field(name, message, expected: expected))
  }

  /// Throws what is wrong, unknown members among it.
  package func finish() throws(Problem) {
    let known = "one of \(taken.joined(separator: ", "))"
    let strangers = members.map(\.name).filter { !taken.contains($0) }
    let errors = errors + strangers.map { Problem.Field($0, "is not known here", expected: known) }
    guard errors.isEmpty else { throw .invalidBody(errors) }
  }

  private mutating func take(_ name: String) -> JSONValue? {
    taken.append(name)
    return value(name)
  }

  /// A member; null counts as not there.
  private func value(_ name: String) -> JSONValue? {
    members.first { $0.name == name && $0.value != .null }?.value
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
