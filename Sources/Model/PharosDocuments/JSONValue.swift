/// A JSON value as a client sent it.
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

  /// The kind of value, for an error message about an unexpected value.
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
}

extension JSONValue {
  /// Reads the single value that the bytes hold, strictly: no comments, no trailing commas, each key of an object once, a
  /// bounded depth.
  ///
  /// - Throws: the offset and the cause, if they are not valid JSON.
  public init(parsing bytes: [UInt8]) throws(JSONError) {
    guard bytes.count <= UInt32.max else {
      throw JSONError(offset: 0, reason: "longer than 4 GiB", expected: "a shorter document")
    }
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      throw JSONError(offset: error.byteOffsets.lowerBound, reason: "a text is not UTF-8", expected: "UTF-8")
    }
    let text = unsafe bytes.span.bytes
    // Some editors put a byte order mark before a text, which RFC 8259, 8.1, lets a parser pass over.
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let tree = try JSONReader.value(text, start..<bytes.count)
    try self.init(tree.root, of: tree, text)
  }

  /// The value of a slice.
  private init(_ slice: JSONSlice, of tree: JSONTree, _ bytes: RawSpan) throws(JSONError) {
    switch slice.kind {
    case .absent, .null: self = .null
    case .yes: self = .bool(true)
    case .no: self = .bool(false)
    case .number: try self.init(number: slice, bytes)
    case .string: self = .string(slice.string(bytes))
    case .array:
      var elements: [JSONValue] = []
      for element in tree.elements(of: slice) { elements.append(try JSONValue(element, of: tree, bytes)) }
      self = .array(elements)
    case .object:
      var members: [Member] = []
      var seen: Set<String> = []
      for (key, value) in tree.members(of: slice) {
        let name = key.string(bytes)
        guard seen.insert(name).inserted else {
          throw JSONError(
            offset: key.range.upperBound + 1,
            reason: "the key \"\(name.prefix(60))\" occurs twice",
            expected: "each key once"
          )
        }
        members.append(Member(name: name, value: try JSONValue(value, of: tree, bytes)))
      }
      self = .object(members)
    }
  }

  private init(number: JSONSlice, _ bytes: RawSpan) throws(JSONError) {
    let text = number.string(bytes)
    if let whole = Int64(text) {
      self = .integer(whole)
    } else if let number = Double(text), number.isFinite {
      self = .number(number)
    } else {
      throw JSONError(
        offset: number.range.upperBound,
        reason: "the number \(text.prefix(60)) is out of range",
        expected: "a number of double precision"
      )
    }
  }
}

/// An error that states where and why bytes are not valid JSON.
public struct JSONError: Error, Hashable, Sendable {
  /// The offset at which reading stopped.
  ///
  /// - Units: bytes from the start.
  public let offset: Int
  /// The problem found there.
  public let reason: String
  /// The valid content.
  public let expected: String
}

extension JSONError: CustomStringConvertible {
  /// The offset, the problem and the expected content.
  public var description: String { "at byte \(offset): \(reason) (expected \(expected))" }
}
