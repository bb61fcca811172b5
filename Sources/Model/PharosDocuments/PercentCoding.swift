/// Percent-encoding as URLs have it.
///
/// - Source: RFC 3986, 2.1; WHATWG URL, application/x-www-form-urlencoded, for `+`.
package enum PercentCoding {
  /// The decoded text, or nil where a `%` is not followed by two hexadecimal digits or the bytes are no UTF-8.
  package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var iterator = text.utf8.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(Hex.nibble), let low = iterator.next().flatMap(Hex.nibble)
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// A path segment: all but unreserved characters encoded.
  package static func encode(segment text: String) -> String {
    text.utf8.map { byte in
      let character = Character(UnicodeScalar(byte))
      let isPlain =
        character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
      return isPlain ? String(character) : "%" + Hex.text(CollectionOfOne(byte)).uppercased()
    }
    .joined()
  }
}
