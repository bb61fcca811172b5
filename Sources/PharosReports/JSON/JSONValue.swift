/// A JSON value as somebody sent it.
public enum JSONValue: Hashable, Sendable {
  /// Null.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number without fraction and exponent that fits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, its members in their order, each name once.
  case object([Member])

  /// A member of an object.
  public struct Member: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: JSONValue

    /// Makes a member.
    public init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// What it is, for somebody who expected something else.
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// Reads the one value that some bytes hold.
  ///
  /// - Throws: where they are no JSON, and why.
  public init(parsing bytes: [UInt8]) throws(JSONError) { self = try JSONParser.read(bytes) }
}

/// Why some bytes are no JSON, and where.
public struct JSONError: Error, Hashable, Sendable {
  /// Where reading stopped.
  ///
  /// - Units: bytes from the start.
  public let offset: Int
  /// What was found there.
  public let reason: String
  /// What would have been right.
  public let expected: String
}

extension JSONError: CustomStringConvertible {
  /// Where, what, and what was expected.
  public var description: String { "at byte \(offset): \(reason) (expected \(expected))" }
}
