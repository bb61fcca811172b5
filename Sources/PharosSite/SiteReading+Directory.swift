import PharosModel
import PharosSecurity
import Yams

extension SiteReading {
  private static let observerKeys = ["id", "name", "person", "rssiOffset", "liveness", "lag"]
  private static let beaconKeys =
    SiteIdentity.keys + [
      "name", "person", "measuredPower", "interval", "irk",
    ]
  private static let zoneKeys = ["id", "name", "observers", "floor", "adjacent", "beacons"]

  mutating func observers(_ fields: SiteFields) -> [ObserverEntry] {
    var seen: Set<ObserverID> = []
    return fields.list("observers", of: "observers").compactMap { index, path, node in
      let place = node.named("observer", index)
      let known = SiteReading.observerKeys
      guard let entry = SiteFields(node, place: place, path: path, known: known, problems: problems) else {
        return nil
      }
      guard let idNode = entry["id"] else {
        entry.mistake("id", "id is missing", expected: "a MAC in quotes, a UUID or a name")
        return nil
      }
      guard let id = observer(idNode, "id", entry) else { return nil }
      if !seen.insert(id).inserted {
        entry.mistake("id", "this observer is listed already", expected: "each observer once")
      }
      if entry.flag("person") == true { access.personObservers.insert(id) }
      return ObserverEntry(
        id: id,
        name: entry.text("name"),
        rssiOffset: entry.number("rssiOffset", in: ObserverEntry.rssiOffsets, unit: "dB") ?? 0,
        liveness: liveness(entry),
        lag: lag(entry)
      )
    }
  }

  private func liveness(_ entry: SiteFields) -> ObserverEntry.Liveness {
    entry.parsed("liveness", expected: "auto, heartbeat, traffic or assumed") {
      ObserverEntry.Liveness(rawValue: $0)
    } ?? .auto
  }

  /// A lag above the bound would hold every decision back for longer than anybody waits.
  private func lag(_ entry: SiteFields) -> TimeSpan? {
    guard let lag = entry.time("lag", allowingZero: true) else { return nil }
    guard lag <= .minutes(10) else {
      entry.mistake("lag", "lag is \(lag.written)", expected: "at most 10m")
      return nil
    }
    return lag
  }

  mutating func beacons(_ fields: SiteFields) -> [BeaconEntry] {
    var seen: Set<BeaconConstraint> = []
    var keys: Set<IdentityKey> = []
    return fields.list("beacons", of: "beacons").compactMap { index, path, node in
      let name = node.mapping?["name"]?.scalar?.string
      let place = name.map { "beacon \"\(PlainText.cut($0, to: 64))\"" } ?? "beacon \(index + 1)"
      let known = SiteReading.beaconKeys
      guard let entry = SiteFields(node, place: place, path: path, known: known, problems: problems) else {
        return nil
      }
      let isPerson = entry.flag("person") ?? false
      let measuredPower = entry.number("measuredPower", in: -127...20, unit: "dBm")
      let interval = entry.time("interval")
      guard let identity = identity(entry) else { return nil }
      if !seen.insert(identity.constraint).inserted {
        problems.mistake(
          "\(place): \(identity.constraint) is listed already",
          line: entry.line,
          field: path,
          expected: "each beacon once"
        )
      }
      if isPerson { access.personBeacons.insert(identity.constraint) }
      let identityKey = identityKey(entry, of: identity, keys: &keys)
      return BeaconEntry(
        constraint: identity.constraint,
        keyedByAddress: identity.keyedByAddress,
        name: entry.text("name"),
        measuredPower: measuredPower,
        interval: interval,
        identityKey: identityKey
      )
    }
  }

  mutating func zones(_ fields: SiteFields) -> [Zone] {
    var zones: [Zone] = []
    var neighbours: [Neighbour] = []
    for (index, path, node) in fields.list("zones", of: "zones") {
      let place = node.named("zone", index)
      let known = SiteReading.zoneKeys
      guard let entry = SiteFields(node, place: place, path: path, known: known, problems: problems) else {
        continue
      }
      guard let zone = zone(entry, neighbours: &neighbours) else { continue }
      if zones.contains(where: { $0.identifier == zone.identifier }) {
        entry.mistake("id", "this id is taken already", expected: "each zone once")
      }
      zones.append(zone)
    }
    checkNeighbours(neighbours, of: zones)
    return zones
  }

  private mutating func zone(
    _ entry: SiteFields,
    neighbours: inout [Neighbour]
  ) -> Zone? {
    let id = entry.requiredText("id", expected: "the zone's name")
    let observers = observerList(entry, "observers")
    if observers.isEmpty {
      entry.mistake("observers", "no observer stands in it", expected: "one observer or more")
    }
    let adjacent = entry.list("adjacent", of: "zones").compactMap { _, path, node in
      let name = node.scalar?.string
      if let name { neighbours.append((id ?? "", name, path, node.mark?.line ?? entry.line)) }
      return name
    }
    let beacons = entry.list("beacons", of: "constraints").compactMap { index, path, node in
      let place = "\(entry.place): beacon \(index + 1)"
      return SiteFields(node, place: place, path: path, known: SiteIdentity.keys, problems: problems)
        .flatMap { identity($0)?.constraint }
    }
    let floor = entry.integer("floor", in: -20...200)
    return id.map {
      Zone(
        identifier: $0,
        name: entry.text("name"),
        observers: observers,
        floor: floor,
        adjacent: adjacent,
        beacons: beacons
      )
    }
  }

  /// Every mention of a zone in another's list of neighbours.
  private typealias Neighbour = (zone: String, other: String, path: String, line: Int)

  private func checkNeighbours(_ neighbours: [Neighbour], of zones: [Zone]) {
    let names = zones.map(\.identifier)
    let known = Set(names)
    for (zone, other, path, line) in neighbours {
      if other == zone {
        problems.mistake(
          "zone \"\(zone)\" is adjacent to itself",
          line: line,
          field: path,
          expected: "other zones"
        )
      } else if !known.contains(other) {
        let hint = Spelling.nearest(to: other, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
        problems.mistake(
          "zone \"\(zone)\" is adjacent to \"\(other)\", which is no zone\(hint)",
          line: line,
          field: path,
          expected: "a zone of this file"
        )
      }
    }
  }
}

/// The beacons that an entry is about, and the composition of their identity.
struct SiteIdentity {
  let constraint: BeaconConstraint
  let keyedByAddress: Bool

  /// The keys that determine it, in every entry that is about beacons.
  static let keys = ["uuid", "major", "minor", "namespace", "instance", "mac", "key"]
}

extension SiteReading {
  /// Returns the identity that an entry names; nil, with a mistake noted, if it names none or two.
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

extension SiteReading {
  /// The expected format of a key.
  private static let keyExpectation = "32 hexadecimal digits in quotes, the most significant octet first"

  /// Returns the identity key of a beacon, if it has one; no message ever contains the key.
  ///
  /// - Parameters:
  ///   - entry: the beacon's entry.
  ///   - identity: the identity of the beacon.
  ///   - keys: the keys of the previous beacons; the key is added.
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
