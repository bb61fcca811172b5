/// Why a recorded input could not be read.
public struct RecordingError: Error, Hashable, Sendable {
  /// What was found.
  public enum Problem: Hashable, Sendable {
    /// It ends inside a field.
    case cut
    /// So many bytes are left behind the last field.
    case surplus(bytes: Int)
    /// Its version is newer than this program.
    case version(UInt8)
    /// The kind of input is not known.
    case kind(UInt8)
    /// A field that chooses between cases holds a value that is none of them.
    case unknownTag(field: String, tag: UInt8)
    /// A text is no UTF-8.
    case badText
    /// The identity of an observer or a beacon cannot be one.
    case badIdentity
    /// A tree is deeper than any that is written.
    case tooDeep(limit: Int)
  }

  /// What was found.
  public let problem: Problem
  /// Where.
  ///
  /// - Units: bytes from the start of the block's content.
  public let offset: Int

  /// Makes an error.
  public init(_ problem: Problem, at offset: Int) {
    self.problem = problem
    self.offset = offset
  }
}

extension RecordingError: CustomStringConvertible {
  /// What is wrong, where, and what to do.
  public var description: String {
    let place = "recorded input, byte \(offset): "
    switch problem {
    case .cut: return place + "it ends inside a field. The file is damaged; record again."
    case .surplus(let bytes):
      return place + "\(bytes) bytes too many. The file is damaged; record again."
    case .version(let version):
      return place
        + "version \(version), this program reads version \(RecordedInput.version). Use the program that recorded it."
    case .kind(let kind):
      return place + "kind \(kind) is not known. Use the program that recorded it."
    case .unknownTag(let field, let tag):
      return place + "\(tag) is no value of \(field). The file is damaged; record again."
    case .badText: return place + "a text that is not UTF-8. The file is damaged; record again."
    case .badIdentity:
      return place + "an identity that cannot be one. The file is damaged; record again."
    case .tooDeep(let limit):
      return place + "a tree of regions deeper than \(limit) levels. The file is damaged; record again."
    }
  }
}
