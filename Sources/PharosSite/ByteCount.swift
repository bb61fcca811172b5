/// Sizes as people write them.
package enum ByteCount {
  /// The units, the longest name first; thousands as disks are sold, powers of two where the name says so.
  private static let units: [(name: String, bytes: Double)] = [
    ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12),
    ("B", 1),
  ]

  /// Reads a number and its unit, as in `500MB`, `1.5GB`, `10GiB` or `512B`; nil if it is none.
  ///
  /// - Returns: bytes, at most an exabyte.
  package static func read(_ text: some StringProtocol) -> Int64? {
    guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
    let number = text.dropLast(unit.name.count)
    guard number.first?.isNumber == true, number.last?.isNumber == true else { return nil }
    guard number.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }) else { return nil }
    guard let count = Double(number), count * unit.bytes <= 1e18 else { return nil }
    return Int64((count * unit.bytes).rounded())
  }

  /// A size in the largest unit that leaves a number of at least one, as in `1.5 GB`.
  package static func text(_ bytes: Int64) -> String {
    let decimal = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
    guard let unit = decimal.first(where: { Double(bytes) >= $0.1 }) else { return "\(bytes) bytes" }
    let tenths = (Double(bytes) / unit.1 * 10).rounded() / 10
    return "\(SiteFields.plain(tenths)) \(unit.0)"
  }
}
