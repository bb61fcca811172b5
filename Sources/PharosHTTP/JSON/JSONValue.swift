/// A JSON value as a client sent it.
enum JSONValue: Hashable, Sendable {
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
  struct Member: Hashable, Sendable {
    var name: String
    var value: JSONValue
  }

  /// What it is, in a word.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// Reads the bytes of a body.
  ///
  /// - Throws: where it is no JSON, and why.
  init(_ bytes: [UInt8]) throws(Problem) {
    var parser = JSONParser(bytes: bytes)
    do throws(JSONParser.Failure) {
      self = try parser.document()
    } catch {
      throw .notJSON("At byte \(error.offset): \(error.reason).")
    }
  }
}
