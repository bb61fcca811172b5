/// Whose datagrams a listener takes.
public enum ListenPolicy: String, CaseIterable, Hashable, Sendable {
  /// Anybody's, in any format; signatures are not looked at. For addresses that only friends can reach.
  case open
  /// Those of observers that the site lists or that were accepted, in any format; who has a key must sign.
  case allowlist
  /// Those that are signed by a key of their observer.
  case signed
}
