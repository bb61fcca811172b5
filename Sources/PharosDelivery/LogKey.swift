/// The keys of what this module logs.
enum LogKey {
  /// What went wrong, in the words of what failed.
  static let error = "error"
  /// How many events it is about.
  static let events = "events"
  /// The sequence number it is about.
  static let sequence = "sequence"
}
