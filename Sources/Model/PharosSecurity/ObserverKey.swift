import PharosDocuments
import PharosModel

/// One key of one observer: a secret that only the observer and the server know.
///
/// The tag of a datagram is a MAC, made and verified with the same secret. So a server must store the secret itself,
/// not a hash of it as it does for tokens. ``description`` shows the fingerprint, never the secret.
public struct ObserverKey: Hashable, Sendable {
  /// The length of a secret.
  ///
  /// - Units: bytes. As long as the output of SHA-256: a shorter one weakens the MAC, a longer one adds nothing.
  /// - Source: RFC 2104 section 3.
  public static let secretLength = 32

  /// The prefix of ``text``, by which a scanner for leaked credentials recognises a key.
  static let prefix = "pharos-key-"

  /// The id of the key among those of its observer; never 0, which marks datagrams that are not signed.
  public let id: UInt32

  /// The secret, ``secretLength`` bytes; a sender that has it can speak for the observer.
  public let secret: [UInt8]

  /// Makes a key from its parts.
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

  /// Parses a key in the format of ``text``: `pharos-key-`, the id in 8 and the secret in 64 hexadecimal digits.
  ///
  /// Surrounding space and line ends are ignored, as files contain them.
  ///
  /// - Throws: ``KeyError/badText`` for any other text; the error never contains the text.
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

  /// Makes a key from parts that have been checked.
  init(unchecked id: UInt32, _ secret: [UInt8]) {
    self.id = id
    self.secret = secret
  }

  /// The key as `pharos observer add` prints it once, and as gateways are given it.
  public var text: String { "\(ObserverKey.prefix)\(idText)-\(Hex.text(secret))" }

  /// The id in 8 hexadecimal digits, as commands take it.
  public var idText: String { Hex.text(UInt64(id), bytes: 4) }

  /// A value that may be shown and logged: 8 hexadecimal digits of a hash of the key, by which two ends can compare
  /// keys.
  public var fingerprint: String { Hex.text(MessageAuthenticator.fingerprint(of: self)) }

  /// Parses an id of 1 to 8 hexadecimal digits; returns nil if the text is none.
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

  /// The id and the fingerprint: not even a debugger's print shows a secret.
  public var debugDescription: String { description }

  /// A mirror of the id and the fingerprint, for `dump` and for printing a value that contains a key.
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

/// The reason for which a key is invalid.
public enum KeyError: Error, Hashable, Sendable {
  /// A text that is no key.
  case badText
  /// The id 0, which marks datagrams that are not signed.
  case badID
  /// A secret of a wrong length.
  case badLength(Int)
}

extension KeyError: CustomStringConvertible {
  /// The problem and its remedy; never a part of the given text, which may be nearly a secret.
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
