import PharosReports

/// One key of one observer: a secret that only the observer and the server know.
///
/// The tag of a datagram is a MAC, made and verified with the same secret; so a server has to keep the secret itself, not a
/// hash of it as it does for tokens. ``description`` shows the fingerprint, never the secret.
public struct ObserverKey: Hashable, Sendable {
  /// How long a secret is.
  ///
  /// - Units: bytes. As long as the output of SHA-256: a shorter one weakens the MAC, a longer one adds nothing.
  /// - Source: RFC 2104 section 3.
  public static let secretLength = 32

  /// What ``text`` begins with, so that a scanner for leaked credentials knows one when it sees it.
  static let prefix = "pharos-key-"

  /// Which key it is among those of its observer; never 0, which marks datagrams that are not signed.
  public let id: UInt32

  /// The secret, ``secretLength`` bytes; a sender that has it can speak for the observer.
  public let secret: [UInt8]

  /// Makes a key of its parts.
  ///
  /// - Throws: ``KeyError/badID`` for 0; ``KeyError/badLength(_:)`` for a secret of another length.
  public init(id: UInt32, secret: [UInt8]) throws(KeyError) {
    guard id != 0 else { throw .badID }
    guard secret.count == ObserverKey.secretLength else { throw .badLength(secret.count) }
    self.init(unchecked: id, secret)
  }

  /// Makes a new key.
  ///
  /// - Parameter generator: a generator whose output cannot be predicted, such as the system's.
  /// - Returns: a key with a random id and a random secret.
  public static func random(using generator: inout some RandomNumberGenerator) -> ObserverKey {
    let id = UInt32.random(in: 1...UInt32.max, using: &generator)
    let secret = (0..<secretLength).map { _ in UInt8.random(in: 0...UInt8.max, using: &generator) }
    return ObserverKey(unchecked: id, secret)
  }

  /// Reads a key as ``text`` writes it: `pharos-key-`, the id in 8 and the secret in 64 hexadecimal digits.
  ///
  /// Space and line ends around it are passed over, as files have them.
  ///
  /// - Throws: ``KeyError/badText`` for any other text; it never says which.
  public init(text: String) throws(KeyError) {
    let trimmed = text.trimmingSpace
    guard trimmed.hasPrefix(ObserverKey.prefix) else { throw .badText }
    let parts = trimmed.dropFirst(ObserverKey.prefix.count).split(
      separator: "-",
      omittingEmptySubsequences: false
    )
    guard parts.count == 2, parts[0].utf8.count == 8, let id = ObserverKey.id(parts[0]) else {
      throw .badText
    }
    guard let secret = Hex.bytes(parts[1]), secret.count == ObserverKey.secretLength else { throw .badText }
    try self.init(id: id, secret: secret)
  }

  private init(unchecked id: UInt32, _ secret: [UInt8]) {
    self.id = id
    self.secret = secret
  }

  /// The key as `pharos observer add` prints it once, and as gateways are given it.
  public var text: String { "\(ObserverKey.prefix)\(idText)-\(Hex.text(secret))" }

  /// The id in 8 hexadecimal digits, as commands take it.
  public var idText: String { Hex.text(UInt64(id), bytes: 4) }

  /// What may be shown and logged: 8 hexadecimal digits of a hash of the key, by which two ends can be compared.
  public var fingerprint: String { Hex.text(MessageAuthenticator.fingerprint(of: self)) }

  /// The id that 1 to 8 hexadecimal digits spell, or nil.
  public static func id(_ text: some StringProtocol) -> UInt32? {
    guard (1...8).contains(text.utf8.count), text.utf8.allSatisfy({ Hex.nibble($0) != nil }) else {
      return nil
    }
    return UInt32(text, radix: 16).flatMap { $0 == 0 ? nil : $0 }
  }
}

extension ObserverKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The id and the fingerprint.
  public var description: String { "key \(idText) (\(fingerprint))" }

  /// The same: not even a debugger's print shows a secret.
  public var debugDescription: String { description }

  /// The same once more, for `dump` and for what prints a value that holds a key.
  public var customMirror: Mirror { Mirror(self, children: ["id": idText, "fingerprint": fingerprint]) }
}

extension String {
  /// The text without space and line ends around it.
  fileprivate var trimmingSpace: Substring {
    var text = self[...]
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text
  }
}

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
