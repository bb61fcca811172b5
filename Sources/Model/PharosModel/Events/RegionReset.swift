import PharosDocuments

/// The reason for which what was known about the subjects of a region no longer holds.
public enum RegionReset: String, CaseIterable, Hashable, Sendable {
  /// A region about something else, or with another policy, took its place; nothing is known about its subjects yet.
  case replaced
  /// The region is no longer monitored.
  case removed
}

extension RegionReset: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a reason for a reset" }
}
