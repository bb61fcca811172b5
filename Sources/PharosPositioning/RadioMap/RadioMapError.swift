public import PharosReports

/// Why bytes are no radio map.
public enum RadioMapError: Error, Hashable, Sendable {
  /// They are something else.
  case notARadioMap
  /// They were changed since they were written.
  case damaged
  /// They were written by another version of the program, or hold what none writes.
  case unreadable(FieldError)
}

extension RadioMapError: CustomStringConvertible {
  /// What is wrong.
  public var description: String {
    switch self {
    case .notARadioMap: return "this is no radio map: its first bytes are not PHRM"
    case .damaged: return "the radio map is damaged: its checksum is another one"
    case .unreadable(let error): return "the radio map cannot be read, \(error)"
    }
  }
}
