import PharosPrivacy
import PharosReports
import Yams

extension SiteReading {
  /// What a key looks like.
  private static let keyExpectation = "32 hexadecimal digits in quotes, the most significant octet first"

  /// The identity key of a beacon, if it has one; no message ever shows what stands there.
  ///
  /// - Parameters:
  ///   - entry: the beacon's entry.
  ///   - identity: which beacon it is.
  ///   - keys: the keys of the beacons before it; the key is added.
  /// - Returns: the key; nil without one, or with a mistake noted.
  func identityKey(
    _ entry: SiteFields,
    of identity: SiteIdentity,
    keys: inout Set<IdentityKey>
  ) -> IdentityKey? {
    guard let node = entry["irk"] else { return nil }
    guard case .address = identity.constraint else {
      entry.mistake(
        "irk",
        "irk stands without mac",
        expected: "the mac as well: the address under which the beacon is known whichever it sends"
      )
      return nil
    }
    if !problems.isJSON, let scalar = node.scalar, scalar.style == .plain {
      problems.warning(
        "\(entry.place): irk stands without quotes; YAML reads some keys as numbers",
        line: node.mark?.line ?? entry.line,
        field: entry.path(of: "irk"),
        expected: "quotes around it"
      )
    }
    guard let text = entry.text(of: node, .text), let octets = Hex.bytes(text), octets.count == 16,
      let key = IdentityKey(octets: octets)
    else {
      entry.mistake("irk", "irk is no key", expected: SiteReading.keyExpectation)
      return nil
    }
    guard Set(octets).count > 1 else {
      entry.mistake(
        "irk",
        "irk is the same octet sixteen times: what a device without a key gives",
        expected: SiteReading.keyExpectation
      )
      return nil
    }
    guard keys.insert(key).inserted else {
      entry.mistake("irk", "another beacon has this irk", expected: "each key once: a device's own")
      return nil
    }
    if keys.count == Resolver.mostKeys + 1 {
      entry.mistake(
        "irk",
        "this is the \(keys.count)th irk",
        expected: "at most \(Resolver.mostKeys): every new address is tried with all of them"
      )
    }
    return key
  }
}
