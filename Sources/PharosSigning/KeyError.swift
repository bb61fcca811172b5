/// Why something is no key, or keys are more than may be.
public enum KeyError: Error, Hashable, Sendable {
  /// A text that is no key.
  case badText
  /// The id 0, which marks datagrams that are not signed.
  case badID
  /// A secret of another length than it has.
  case badLength(Int)
}

extension KeyError: CustomStringConvertible {
  /// What is wrong and what to do; never a part of the text that was given, which may be nearly a secret.
  public var description: String {
    switch self {
    case .badText:
      "this is no key: expected pharos-key-, 8 hexadecimal digits, - and 64 hexadecimal digits, as pharos observer add "
        + "prints it. Copy it whole, or have a new one made."
    case .badID:
      "a key's id is never 0, which marks datagrams that are not signed. Have a new key made by pharos observer add."
    case .badLength(let count):
      "a key's secret is \(count) bytes long, expected \(ObserverKey.secretLength). Copy it whole, or have a new one made."
    }
  }
}
