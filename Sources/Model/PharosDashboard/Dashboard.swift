import CDashboard

/// The pages of the browser: files that live in the binary, found by the path of a request.
package enum Dashboard {
  /// The header fields that go with every file of the dashboard, names in lower case.
  ///
  /// The policy lets a page load only its own files and connect only to its own server; it forbids inline scripts and
  /// styles, framing, and form submissions. `no-cache` makes browsers revalidate each file, at the cost of a 304, so a
  /// page never runs with the scripts of an older server.
  ///
  /// - Source: Content Security Policy Level 3; RFC 9111, section 5.2.2.4.
  package static let headers: [(name: String, value: String)] = [
    (
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-cache"),
  ]

  /// The paths of all files, sorted.
  package static var paths: [String] { assets.keys.sorted() }

  /// The file at the path of a request, without its query: `/` or `/assets/` and a name; nil if there is none.
  package static func asset(_ path: String) -> DashboardAsset? { assets[path] }

  /// All files by path, copied out of the binary once.
  private static let assets: [String: DashboardAsset] = {
    var assets: [String: DashboardAsset] = [:]
    for index in 0..<cdashboard_file_count() {
      let file = cdashboard_file(index)
      let name = String(cString: file.name)
      let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
      assets[name == indexName ? "/" : "/assets/" + name] = DashboardAsset(name: name, bytes: bytes)
    }
    return assets
  }()

  /// The file that stands at the root.
  private static let indexName = "index.html"
}

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
