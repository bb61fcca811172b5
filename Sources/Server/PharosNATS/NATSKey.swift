#if NATS
import CCrypto
import Foundation

/// The public key of a user's NKey: Ed25519, written in base32 with a prefix and a CRC (github.com/nats-io/nkeys).
enum NATSKey {
  /// The first byte of a seed, and of a user's public key.
  private static let prefixes = (seed: UInt8(18 << 3), user: UInt8(20 << 3))
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  /// Reads a seed from a file; returns the public key that the servers know.
  static func publicKey(ofSeedIn file: String) throws(NATSError) -> String {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw .settings("the file \(file) of the NKey's seed cannot be read")
    }
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("SU") } ?? ""
    guard let bytes = decode(line), bytes.count == 36, bytes[0] & 0xF8 == prefixes.seed,
      (bytes[0] & 7) << 5 | bytes[1] >> 3 == prefixes.user,
      crc(bytes.dropLast(2)) == UInt16(bytes[34]) | UInt16(bytes[35]) << 8,
      let key = ed25519(Array(bytes[2..<34]))
    else {
      throw .settings(
        "the file \(file) has no seed of a user's NKey (a line with SU and 56 more characters; make one with "
          + "nk -gen user)"
      )
    }
    var coded = [prefixes.user] + key
    let check = crc(coded[...])
    coded += [UInt8(check & 0xFF), UInt8(check >> 8)]
    return encode(coded)
  }

  /// The public key of 32 secret bytes (RFC 8032).
  private static func ed25519(_ secret: [UInt8]) -> [UInt8]? {
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, secret, secret.count) else {
      return nil
    }
    defer { EVP_PKEY_free(key) }
    var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
    guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == 32 else { return nil }
    return bytes
  }

  /// CRC-16/XMODEM, which NKeys end with.
  private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { crc, byte in
      (0..<8).reduce(crc ^ UInt16(byte) << 8) { value, _ in
        value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
      }
    }
  }

  private static func decode(_ text: Substring) -> [UInt8]? {
    var (bytes, buffer, count) = ([UInt8](), UInt32(0), 0)
    for character in text.utf8 where character != UInt8(ascii: "\r") {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      buffer = buffer << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(count)))
      }
    }
    return bytes
  }

  private static func encode(_ bytes: [UInt8]) -> String {
    var (text, buffer, count) = ([UInt8](), UInt32(0), 0)
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(alphabet[Int(buffer >> UInt32(count) & 31)])
      }
    }
    if count > 0 { text.append(alphabet[Int(buffer << UInt32(5 - count) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }
}
#endif
