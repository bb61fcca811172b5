import NIOCore

/// A pause of reading while the receiver of events has no room: no socket is read, and no time passes for the engines.
enum ReadingHold {
  /// The loop reads.
  case none
  /// The loop stands still since a time; requests wait.
  case brief(since: NIODeadline)
  /// It stands still for so long that this is logged, and requests are refused.
  case long

  /// A change that the loop has to act upon.
  enum Change {
    case began, becameLong
  }

  /// The time for which requests wait.
  private static let maximumBrief = TimeAmount.seconds(1)

  /// Indicates whether requests are refused.
  var isLong: Bool { if case .long = self { true } else { false } }

  /// Records that the loop still stands still.
  mutating func goOn(at now: NIODeadline) -> Change? {
    switch self {
    case .none:
      self = .brief(since: now)
      return .began
    case .brief(let since):
      guard now - since >= ReadingHold.maximumBrief else { return nil }
      self = .long
      return .becameLong
    case .long: return nil
    }
  }
}
