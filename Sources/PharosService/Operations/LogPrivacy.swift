/// Keeps device addresses out of the log, which is read by many, shipped elsewhere and kept for long.
///
/// What a text says beside them stays: the line of the file, the name of the entry. Who needs the addresses asks for them: `pharos check`
/// shows them on the console.
package enum LogPrivacy {
  /// What stands in the place of an address.
  static let mask = "(address)"

  /// A text without device addresses: six octets with colons or dashes between them.
  package static func hidden(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var shown: [UInt8] = []
    shown.reserveCapacity(bytes.count)
    var position = 0
    while position < bytes.count {
      if isAddress(bytes, at: position) {
        shown += Array(mask.utf8)
        position += length
      } else {
        shown.append(bytes[position])
        position += 1
      }
    }
    return String(decoding: shown, as: UTF8.self)
  }

  /// Six octets of two digits each and five signs between them.
  private static let length = 17

  private static func isAddress(_ bytes: [UInt8], at start: Int) -> Bool {
    guard start + length <= bytes.count else { return false }
    // A longer run of octets is an observer's EUI-64 or something else altogether.
    if start >= 3, isSeparator(bytes[start - 1]), isDigit(bytes[start - 2]), isDigit(bytes[start - 3]),
      start == 3 || !isWord(bytes[start - 4])
    {
      return false
    }
    let separator = bytes[start + 2]
    guard isSeparator(separator) else { return false }
    for index in 0..<length {
      let byte = bytes[start + index]
      guard index % 3 == 2 ? byte == separator : isDigit(byte) else { return false }
    }
    let end = start + length
    return end >= bytes.count || !(isDigit(bytes[end]) || bytes[end] == separator)
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ":") || byte == UInt8(ascii: "-")
  }

  /// Whether a byte goes on with a word, as the m of `mac:` does before two letters that could be digits.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
