/// A JSON value in a datagram: what it is and where it lies.
///
/// Nothing is copied.
struct JSONValue {
  /// What a value is.
  enum Kind: UInt8 {
    /// It is not there at all.
    case absent
    case null
    case yes
    case no
    case number
    case string
    case array
    case object
  }

  let kind: Kind
  /// Whether a string holds backslashes, so that its bytes are not its text.
  let isEscaped: Bool
  private let start: UInt32
  private let end: UInt32

  /// What stands in for a member that an object does not have.
  static let absent = JSONValue(.absent, 0..<0)

  init(_ kind: Kind, _ range: Range<Int>, isEscaped: Bool = false) {
    self.kind = kind
    self.isEscaped = isEscaped
    start = UInt32(range.lowerBound)
    end = UInt32(range.upperBound)
  }

  /// Where it lies, quotes and brackets left out.
  var range: Range<Int> { Int(start)..<Int(end) }

  /// Whether there is something: neither absent nor null.
  var isPresent: Bool { kind != .absent && kind != .null }
}
