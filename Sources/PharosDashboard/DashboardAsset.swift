/// One file of the dashboard, as a server sends it.
package struct DashboardAsset: Hashable, Sendable {
  /// The file's bytes.
  package let bytes: [UInt8]
  /// Its media type, with the character set where it is text.
  package let contentType: String
  /// A strong entity tag in its quotes, computed from the bytes: equal files have equal tags across versions.
  package let entityTag: String

  /// Makes an asset of a file's name and its bytes.
  init(name: String, bytes: [UInt8]) {
    self.bytes = bytes
    contentType = DashboardAsset.contentType(of: name)
    entityTag = DashboardAsset.entityTag(of: bytes)
  }

  /// The media type by the name's end: the few that the dashboard is made of.
  static func contentType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "application/octet-stream"
    }
  }

  /// The 64-bit FNV-1a hash of the bytes, as sixteen hexadecimal digits in quotes.
  ///
  /// It distinguishes the files of different builds. The hash can be forged, and nothing depends on that.
  ///
  /// - Source: Fowler, Noll, Vo; offset basis and prime of the 64-bit form.
  static func entityTag(of bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes {
      hash ^= UInt64(byte)
      hash &*= 0x100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return "\"" + String(repeating: "0", count: 16 - digits.count) + digits + "\""
  }
}
