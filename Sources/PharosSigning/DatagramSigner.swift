import PharosWire

/// Signs Pharos datagrams with one key: what a gateway does before it sends.
///
/// Build the datagram with the key's id, then sign it:
///
/// ```swift
/// var encoder = PharosDatagramEncoder(observer: observer, bootID: boot, signingKeyID: key.id)
/// // … append reports …
/// var datagram = encoder.finish(uptime: uptime)
/// DatagramSigner(key: key).sign(&datagram)
/// ```
public struct DatagramSigner: Sendable {
  /// The id that the datagrams must carry.
  public let keyID: UInt32

  private let authenticator: MessageAuthenticator

  /// Prepares for a key; keep the signer, as that is half of the work for a small datagram.
  public init(key: ObserverKey) {
    keyID = key.id
    authenticator = MessageAuthenticator(secret: key.secret)
  }

  /// Writes the tag over the last 16 bytes.
  ///
  /// - Parameter datagram: a whole datagram that ends with room for the tag, as `PharosDatagramEncoder` makes it when it is
  ///   given a key's id. A shorter one than a tag is left as it is.
  public func sign(_ datagram: inout [UInt8]) {
    let start = datagram.count - PharosDatagramLayout.tagLength
    guard start >= 0 else { return }
    let tag = unsafe authenticator.tag(of: datagram.span.bytes.extracting(0..<start))
    for index in 0..<8 {
      datagram[start + index] = DatagramSigner.byte(index, of: tag.0)
      datagram[start + 8 + index] = DatagramSigner.byte(index, of: tag.1)
    }
  }

  /// A byte of a number as it lies in memory, where the code's bytes were loaded from.
  private static func byte(_ index: Int, of number: UInt64) -> UInt8 {
    UInt8(truncatingIfNeeded: number.littleEndian >> UInt64(index * 8))
  }
}
