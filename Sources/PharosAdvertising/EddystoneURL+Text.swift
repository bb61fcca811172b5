import PharosReports

extension EddystoneURL {
  /// The address as text.
  ///
  /// What cannot stand in an address (control characters, spaces, bytes beyond ASCII and the codes that the
  /// specification reserves) is percent-encoded, so that no advert can write control characters to a terminal.
  public var url: String {
    var text = scheme.text
    for index in 0..<Int(count) {
      let byte = bytes[index]
      if Int(byte) < EddystoneURL.endings.count {
        text += EddystoneURL.endings[Int(byte)]
      } else if byte > 0x20, byte < 0x7F {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%" + Hex.text(CollectionOfOne(byte)).uppercased()
      }
    }
    return text
  }

  /// Makes a frame from an address, or nil if it does not begin with `http://` or `https://`, holds what cannot be
  /// encoded, or does not fit into 17 bytes once it is.
  public init?(_ url: String, transmitPower: Int8) {
    let text = Array(url.utf8)
    guard let scheme = Scheme.allCases.first(where: { text.starts(with: $0.text.utf8) }) else { return nil }
    var rest = text.dropFirst(scheme.text.utf8.count)
    var encoded: [UInt8] = []
    while let byte = rest.first {
      guard encoded.count < EddystoneURL.longestRest else { return nil }
      if let code = EddystoneURL.endings.firstIndex(where: { rest.starts(with: $0.utf8) }) {
        encoded.append(UInt8(code))
        rest = rest.dropFirst(EddystoneURL.endings[code].utf8.count)
      } else {
        guard byte > 0x20, byte < 0x7F else { return nil }
        encoded.append(byte)
        rest = rest.dropFirst()
      }
    }
    self.init(scheme: scheme, encoded: encoded, transmitPower: transmitPower)
  }

  /// What the codes 0 to 13 stand for; those with a slash come first, so that the longest match is the first.
  private static let endings = [
    ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/",
    ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov",
  ]
}
