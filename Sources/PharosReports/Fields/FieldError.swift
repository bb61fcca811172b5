/// Why bytes that ``FieldWriter`` should have written could not be read.
public struct FieldError: Error, Hashable, Sendable {
  /// What was found.
  public enum Problem: Hashable, Sendable {
    /// It ends inside a field.
    case cut
    /// So many bytes are left behind the last field.
    case surplus(bytes: Int)
    /// It was written by another version of the program.
    case version(UInt8, expected: UInt8)
    /// The kind of thing is not known.
    case kind(UInt8)
    /// A field that chooses between cases holds a value that is none of them.
    case unknownTag(field: String, tag: UInt8)
    /// A number that the field cannot hold.
    case outOfRange(field: String)
    /// A text is no UTF-8.
    case badText
    /// The identity of an observer or a beacon cannot be one.
    case badIdentity
    /// A tree is deeper than any that is written.
    case tooDeep(limit: Int)
    /// What is kept in several parts lacks one, counted from 0, or has it in another place.
    case missingPart(UInt32)
  }

  /// What was found.
  public let problem: Problem
  /// Where.
  ///
  /// - Units: bytes from the start.
  public let offset: Int

  /// Makes an error.
  @inlinable
  public init(_ problem: Problem, at offset: Int) {
    self.problem = problem
    self.offset = offset
  }
}

extension FieldError: CustomStringConvertible {
  /// The problem and its place; the caller knows where the bytes came from and adds the remedy.
  public var description: String {
    let place = "byte \(offset): "
    switch problem {
    case .cut: return place + "it ends inside a field"
    case .surplus(let bytes): return place + "\(bytes) bytes too many"
    case .version(let found, let expected):
      return place + "version \(found), this program reads version \(expected)"
    case .kind(let kind): return place + "kind \(kind) is not known"
    case .unknownTag(let field, let tag): return place + "\(tag) is no value of \(field)"
    case .outOfRange(let field): return place + "a number that \(field) cannot hold"
    case .badText: return place + "a text that is not UTF-8"
    case .badIdentity: return place + "an identity that cannot be one"
    case .tooDeep(let limit): return place + "a tree deeper than \(limit) levels"
    case .missingPart(let part): return place + "part \(part) is missing or out of its place"
    }
  }
}
