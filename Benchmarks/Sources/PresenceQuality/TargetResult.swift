/// One target of the issue and how the run fared against it.
struct TargetResult: Codable, Sendable {
  /// The quantity.
  var name: String
  /// What is asked.
  var limit: String
  /// What was seen.
  var figure: String
  /// Whether it is met; nil where the run had nothing to say about it.
  var isMet: Bool?
  /// By how much it is missed, or where; empty where it is met.
  var miss: String = ""
}
