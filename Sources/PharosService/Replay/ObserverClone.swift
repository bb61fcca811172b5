package import PharosReports

extension ObserverID {
  /// The identity of this observer's copy of some number; copy 0 is the observer itself.
  ///
  /// Copies of observers that one maker numbered never meet: an EUI keeps its last 24 bits and becomes a locally
  /// administered one with the number mixed into the 16 bits before them, a UUID keeps its lower half, a name gets
  /// the number behind it.
  package func clone(_ number: Int) -> ObserverID {
    guard number > 0 else { return self }
    let bits = UInt64(number)
    switch self {
    case .eui48(let value): return .eui48(ObserverID.relabel(value, with: bits, localBit: 41))
    case .eui64(let value): return .eui64(ObserverID.relabel(value, with: bits, localBit: 57))
    case .uuid(let value): return .uuid(UUID128(high: value.high ^ bits, low: value.low))
    case .name(let name):
      let suffix = "-\(number)"
      var stem = name
      while stem.utf8.count + suffix.utf8.count > ObserverID.longestName { stem.removeLast() }
      return .name(stem + suffix)
    }
  }

  /// The most copies that have an identity of their own: 16 bits hold the number.
  package static let mostClones = 65_536

  private static func relabel(_ value: UInt64, with number: UInt64, localBit: UInt64) -> UInt64 {
    (value ^ number << 24) | 1 << localBit
  }
}
