import PharosReports
import Yams

/// Which beacons an entry is about, and what makes their identity.
struct SiteIdentity {
  let constraint: BeaconConstraint
  let keyedByAddress: Bool

  /// The keys that say so, in every entry that is about beacons.
  static let keys = ["uuid", "major", "minor", "namespace", "instance", "mac", "key"]
}

extension SiteReading {
  /// The identity that an entry names; nil, with a mistake noted, if it names none or two.
  func identity(_ fields: SiteFields) -> SiteIdentity? {
    let named = ["uuid", "namespace", "mac"].filter(fields.has)
    guard named.count == 1, let name = named.first else {
      let problem =
        named.isEmpty
        ? "no uuid, namespace or mac says which beacons are meant"
        : "\(named.joined(separator: " and ")) stand together"
      fields.mistake(named.last ?? "", problem, expected: "exactly one of uuid, namespace and mac")
      return nil
    }
    refuseStrangers(fields, of: name)
    let keyed = isKeyedByAddress(fields)
    let constraint: BeaconConstraint? =
      switch name {
      case "uuid": proximity(fields)
      case "namespace": eddystone(fields)
      default: address(fields["mac"], "mac", fields).map { .address($0) }
      }
    return constraint.map { SiteIdentity(constraint: $0, keyedByAddress: keyed) }
  }

  private func refuseStrangers(_ fields: SiteFields, of name: String) {
    let own = ["uuid": ["major", "minor"], "namespace": ["instance"]][name] ?? []
    for key in ["major", "minor", "instance"] where fields.has(key) && !own.contains(key) {
      fields.mistake(key, "\(key) does not go with \(name)", expected: own.joined(separator: " or "))
    }
  }

  private func proximity(_ fields: SiteFields) -> BeaconConstraint? {
    let expected = "32 hexadecimal digits, as in E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    let uuid = fields.parsed("uuid", expected: expected) { UUID128($0) }
    let major = fields.integer("major", in: 0...65_535)
    let minor = fields.integer("minor", in: 0...65_535)
    if fields.has("minor"), !fields.has("major") {
      fields.mistake("minor", "minor stands without major", expected: "a major as well")
    }
    guard let uuid else { return nil }
    return .proximity(
      uuid,
      major: major.map { UInt16($0) },
      minor: major == nil ? nil : minor.map { UInt16($0) }
    )
  }

  private func eddystone(_ fields: SiteFields) -> BeaconConstraint? {
    let namespace = fields.parsed("namespace", expected: "20 hexadecimal digits") { EddystoneNamespace($0) }
    let instance = fields.parsed("instance", expected: "12 hexadecimal digits") { text in
      text.utf8.count == 12 ? Hex.bytes(text)?.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
    }
    return namespace.map { .eddystone($0, instance: instance) }
  }

  private func isKeyedByAddress(_ fields: SiteFields) -> Bool {
    guard let key = fields.text("key") else { return false }
    guard key == "mac" else {
      fields.mistake("key", "key is \"\(key)\"", expected: "mac, or no key at all")
      return false
    }
    return true
  }

  func address(_ node: Node?, _ key: String, _ fields: SiteFields) -> DeviceAddress? {
    guard let node else { return nil }
    checkQuotes(node, key, fields)
    guard let address = fields.text(of: node, .text).flatMap({ DeviceAddress($0) }) else {
      fields.mistake(key, "\(key) is \(node.sketch)", expected: "six octets, as in \"ac:23:3f:a0:00:01\"")
      return nil
    }
    return address
  }

  /// An observer's identity, quoted where YAML might read a number.
  func observer(_ node: Node, _ key: String, _ fields: SiteFields, path: String? = nil) -> ObserverID? {
    checkQuotes(node, key, fields)
    guard let id = fields.text(of: node, .text).flatMap({ ObserverID($0) }) else {
      problems.mistake(
        "\(fields.place): \(key) has \(node.sketch)",
        line: node.mark?.line ?? fields.line,
        field: path ?? fields.path(of: key),
        expected: "a MAC in quotes, a UUID or a name of at most \(ObserverID.longestName) bytes"
      )
      return nil
    }
    return id
  }

  /// The identities in a list of observers.
  mutating func observerList(_ fields: SiteFields, _ key: String) -> [ObserverID] {
    var ids: [ObserverID] = []
    for (_, path, node) in fields.list(key, of: "observers") {
      guard let id = observer(node, key, fields, path: path) else { continue }
      let line = node.mark?.line ?? fields.line
      if ids.contains(id) {
        problems.mistake(
          "\(fields.place): observer \"\(id)\" stands twice",
          line: line,
          field: path,
          expected: "it once"
        )
      } else {
        ids.append(id)
        observerMentions.append((id, fields.place, path, line))
      }
    }
    return ids
  }

  /// YAML reads 11:22:33:44:55:06 as a number to the base of 60 and 112233445566 as a decimal one; what
  /// looks like an address is therefore quoted, whatever its digits.
  private func checkQuotes(_ node: Node, _ key: String, _ fields: SiteFields) {
    guard !problems.isJSON, let scalar = node.scalar, scalar.style == .plain else { return }
    guard DeviceAddress(scalar.string) != nil else { return }
    let line = node.mark?.line ?? fields.line
    let isNumber =
      node.tag == Tag(.int) || node.tag == Tag(.float)
      || scalar.string.allSatisfy { $0.isNumber || $0 == ":" }
    if isNumber {
      problems.mistake(
        "\(fields.place): \(key) \(scalar.string) is a number to YAML",
        line: line,
        field: fields.path(of: key),
        expected: "quotes around it: \"\(scalar.string)\""
      )
    } else {
      problems.warning(
        "\(fields.place): \(key) \(scalar.string) stands without quotes; YAML reads some addresses as numbers",
        line: line,
        field: fields.path(of: key),
        expected: "\"\(scalar.string)\""
      )
    }
  }
}
