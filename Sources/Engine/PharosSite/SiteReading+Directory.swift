import PharosDocuments
package import PharosModel
import PharosSecurity

extension SiteReading {
  static let observerKeys =
    ["id"] + DocumentField.keys(ObserverEntry.properties) + ["person"]
  static let beaconKeys =
    DocumentFields.identityKeys + DocumentField.keys(BeaconEntry.properties) + ["person", "irk"]
  static let zoneKeys =
    ["id", "observers", "adjacent", "beacons", "occupancy", "fingerprint"]
    + DocumentField.keys(Zone.properties)
  static let thresholdKeys = ["above", "below"]

  /// Warns of an observer whose identity is that of another in another spelling: names in another case, addresses from
  /// the last octet to the first.
  ///
  /// Nor does a name that looks like an address, with an octet too few or the letter O in it, mean a gateway.
  mutating func warnOfLikeObserver(_ id: ObserverID, _ place: String, _ path: String, _ line: Int) {
    let octets = id.isHardware ? [] : id.description.split(separator: ":", omittingEmptySubsequences: false)
    let areOctets = octets.allSatisfy { octet in
      1...2 ~= octet.count && octet.allSatisfy { $0.isLetter || $0.isNumber }
    }
    if octets.count > 3, areOctets {
      problems.warning(
        "\(place): \"\(id)\" looks like an address and is none, so that it counts as a name",
        line: line,
        field: path,
        expected: "six octets of two digits each, 0 to 9 and a to f, as in \"ac:23:3f:a0:00:01\""
      )
    }
    guard let spelling = id.commonSpelling else { return }
    guard let other = spellings[spelling] else {
      spellings[spelling] = id
      return
    }
    guard other != id else { return }
    problems.warning(
      "\(place): \"\(id)\" is \"\(other)\" \(id.differenceOfSpelling), and counts as another observer",
      line: line,
      field: path,
      expected: "one spelling throughout, as `pharos listen` shows it"
    )
  }

  mutating func observers(_ fields: DocumentFields) -> [ObserverEntry] {
    var seen: Set<ObserverID> = []
    var names: [String: ObserverID] = [:]
    let known = SiteReading.observerKeys
    return fields.entries("observers", known: known, place: { $0.name("observer", $1) }).compactMap {
      fields in
      guard let id = fields.requiredObserver("id") else { return nil }
      if !seen.insert(id).inserted {
        fields.mistake("id", "this observer is listed already", expected: "each observer once")
      }
      if fields.value("person", .flag) == true { access.personObservers.insert(id) }
      var entry = ObserverEntry(id: id)
      DocumentField.read(ObserverEntry.properties, of: fields, into: &entry)
      if let name = entry.name?.lowercased() {
        if let other = names[name] {
          fields.warning(
            "name",
            "observer \"\(other)\" has this name, too",
            expected: "a name of its own for each, so that events say which is meant"
          )
        }
        names[name] = id
      }
      warnOfLikeObserver(id, fields.place, fields.path(of: "id"), fields.line(of: "id"))
      return entry
    }
  }

  mutating func beacons(_ fields: DocumentFields) -> [BeaconEntry] {
    var seen: Set<BeaconConstraint> = []
    var keys: Set<IdentityKey> = []
    let known = SiteReading.beaconKeys
    let entries = fields.entries("beacons", known: known, place: { $0.name("beacon", $1, key: "name") })
    return entries.compactMap { fields in
      let identity = fields.identity()
      var entry = BeaconEntry(constraint: identity?.constraint ?? .unread)
      entry.keyedByAddress = identity?.keyedByAddress ?? false
      DocumentField.read(BeaconEntry.properties, of: fields, into: &entry)
      let isPerson = fields.value("person", .flag) ?? false
      guard identity != nil else { return nil }
      if !seen.insert(entry.constraint).inserted {
        fields.mistake("", "\(entry.constraint) is listed already", expected: "each beacon once")
      }
      if isPerson { access.personBeacons.insert(entry.constraint) }
      entry.identityKey = fields.identityKey(of: entry.constraint, besides: &keys)
      return entry
    }
  }

  mutating func zones(_ fields: DocumentFields) -> [Zone] {
    var zones: [Zone] = []
    var neighbours: [Neighbour] = []
    for fields in fields.entries("zones", known: SiteReading.zoneKeys, place: { $0.name("zone", $1) }) {
      let id = fields.requiredText("id", expected: "the zone's name")
      let zone = zone(fields, identifier: id ?? "", &neighbours)
      guard id != nil else { continue }
      if zones.contains(where: { $0.identifier == zone.identifier }) {
        fields.mistake("id", "this id is already in use", expected: "each zone once")
      }
      if let warning = zone.warning(beside: zones) {
        fields.warning("observers", warning, expected: Zone.expectedObservers)
      }
      zones.append(zone)
    }
    checkNeighbours(neighbours, of: zones)
    return zones
  }

  /// One zone, whose identifier stands in it or in the address.
  private mutating func zone(
    _ fields: DocumentFields,
    identifier: String,
    _ neighbours: inout [Neighbour]
  ) -> Zone {
    var zone = Zone(identifier: identifier, observers: observerList(fields, "observers"))
    if zone.observers.isEmpty {
      fields.mistake("observers", "no observer stands in it", expected: "one observer or more")
    }
    DocumentField.read(Zone.properties, of: fields, into: &zone)
    for (_, path, node) in fields.list("adjacent", of: "zones") {
      guard let name = node.scalar else { continue }
      neighbours.append((zone.identifier, name, path, node.line))
      zone.adjacent.append(name)
    }
    zone.beacons = fields.constraints("beacons", "beacon")
    zone.occupancy = thresholds(fields)
    zone.fingerprint = FingerprintDocument.read(fields, "fingerprint")
    return zone
  }

  /// The thresholds of a zone's occupancy: one as a mapping, or a list of them.
  private func thresholds(_ fields: DocumentFields) -> [OccupancyThreshold] {
    guard let node = fields["occupancy"] else { return [] }
    if let text = node.scalar {
      let above = Int(text).map { "\($0)" } ?? "20"
      fields.mistake(
        "occupancy",
        "occupancy is \(node.sketch)",
        expected: "a threshold or a list of them: occupancy: { above: \(above) }"
      )
      return []
    }
    let nodes =
      node.members != nil
      ? [(index: 0, path: fields.path(of: "occupancy"), node: node)]
      : fields.list("occupancy", of: "thresholds")
    if nodes.count > OccupancyThreshold.maximumCount {
      fields.mistake(
        "occupancy",
        "occupancy has \(nodes.count) thresholds",
        expected: "at most \(OccupancyThreshold.maximumCount)"
      )
    }
    var thresholds: [OccupancyThreshold] = []
    for (_, path, node) in nodes.prefix(OccupancyThreshold.maximumCount) {
      let place = "\(fields.place): occupancy"
      let known = SiteReading.thresholdKeys
      guard
        let entry = DocumentFields(node, place: place, path: path, known: known, problems: problems),
        let above = entry.required("above", .integer(in: OccupancyThreshold.bounds))
      else { continue }
      let below = entry.value("below", .integer(in: OccupancyThreshold.bounds)) ?? above
      let threshold = OccupancyThreshold(above: above, below: below)
      if below > above {
        entry.mistake(
          "below",
          "below is \(below), and above is \(above)",
          expected: "below no larger than above"
        )
      } else if thresholds.contains(threshold) {
        entry.mistake("above", "this threshold occurs twice", expected: "it once")
      } else {
        thresholds.append(threshold)
      }
    }
    return thresholds
  }

  /// A zone of a document; which zones there are beside it the caller checks.
  mutating func zone(_ node: DocumentNode, identifier: String, path: String = "") -> Zone? {
    let fields = DocumentFields(
      node,
      place: "zone \"\(PlainText.cut(identifier, to: 64))\"",
      path: path,
      known: SiteReading.zoneKeys,
      // An answer, which may have warnings, can be sent back.
      ignored: ["warnings"],
      problems: problems
    )
    guard let fields else { return nil }
    fields.check(identifier: identifier)
    var neighbours: [Neighbour] = []
    let zone = zone(fields, identifier: identifier, &neighbours)
    fields.check(name: zone.name)
    return zone
  }

  /// An observer of a document.
  func observer(_ node: DocumentNode, id: ObserverID) -> ObserverEntry? {
    let place = "observer \"\(id)\""
    let known = SiteReading.observerKeys.filter { $0 != "person" }
    guard let fields = DocumentFields(node, place: place, known: known, problems: problems) else {
      return nil
    }
    fields.check(identifier: id.description)
    var entry = ObserverEntry(id: id)
    DocumentField.read(ObserverEntry.properties, of: fields, into: &entry)
    fields.check(name: entry.name)
    return entry
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
        problems.mistake(
          "zone \"\(zone)\" is adjacent to \"\(other)\", which is no zone"
            + Spelling.hint(for: other, among: names),
          line: line,
          field: path,
          expected: "a zone of this file"
        )
      }
    }
  }

  /// The identities in a list of observers.
  mutating func observerList(_ fields: DocumentFields, _ key: String) -> [ObserverID] {
    var ids: [ObserverID] = []
    for (_, path, node) in fields.list(key, of: "observers") {
      fields.checkQuotes(node, key, path: path)
      guard let id = fields.element(node, of: key, path: path, .observer) else { continue }
      if ids.contains(id) {
        problems.mistake(
          "\(fields.place): observer \"\(id)\" occurs twice",
          line: node.line,
          field: path,
          expected: "it once"
        )
      } else {
        ids.append(id)
        observerMentions.append((id, fields.place, path, node.line))
      }
    }
    return ids
  }
}

extension BeaconConstraint {
  /// Stands for an identity that could not be read, so that the rest of its entry is read all the same.
  static let unread = BeaconConstraint.address(DeviceAddress(bits: 0, kind: .unknown))
}

extension DocumentFields {
  /// Returns the beacons that an entry is about, and whether their address is part of their identity; nil, with a mistake
  /// noted, if it names none or two.
  func identity() -> (constraint: BeaconConstraint, keyedByAddress: Bool)? {
    let named = ["uuid", "namespace", "mac"].filter(has)
    guard named.count == 1, let name = named.first else {
      let problem =
        named.isEmpty
        ? "no uuid, namespace or mac says which beacons are meant"
        : "\(named.joined(separator: " and ")) are set together"
      mistake(named.last ?? "", problem, expected: "exactly one of uuid, namespace and mac")
      return nil
    }
    let own = ["uuid": ["major", "minor"], "namespace": ["instance"]][name] ?? []
    for key in ["major", "minor", "instance"] where has(key) && !own.contains(key) {
      mistake(key, "\(key) does not go with \(name)", expected: own.joined(separator: " or "))
    }
    let keyed = isKeyedByAddress
    let constraint: BeaconConstraint? =
      switch name {
      case "uuid": proximity
      case "namespace":
        value("namespace", .namespace).map { .eddystone($0, instance: value("instance", .instance)) }
      default: address("mac").map { .address($0) }
      }
    return constraint.map { ($0, keyed) }
  }

  private var proximity: BeaconConstraint? {
    let uuid = value("uuid", .uuid)
    let major = value("major", .integer(in: 0...UInt16.max))
    let minor = value("minor", .integer(in: 0...UInt16.max))
    if has("minor"), !has("major") {
      mistake("minor", "minor is set without major", expected: "a major as well")
    }
    return uuid.map { .proximity($0, major: major, minor: major == nil ? nil : minor) }
  }

  private var isKeyedByAddress: Bool {
    guard let key = text("key") else { return false }
    guard key == "mac" else {
      mistake("key", "key is \"\(key)\"", expected: "mac, or no key at all")
      return false
    }
    return true
  }

  /// Returns the constraints in a list of entries that are called by a word in messages.
  func constraints(_ key: String, _ word: String) -> [BeaconConstraint] {
    let known = DocumentFields.identityKeys
    return list(key, of: "constraints", known: known).compactMap { index, path, node in
      guard !problems.isFull else { return nil }
      let place = "\(place): \(word) \(index + 1)"
      if let text = node.scalar, !node.isJSON {
        problems.mistake(
          "\(place) is \(node.sketch)",
          line: node.line,
          field: path,
          expected: "the beacon's keys: \(DocumentFields.example(ofBeacon: text))"
        )
        return nil
      }
      let fields = DocumentFields(node, place: place, path: path, known: known, problems: problems)
      return fields?.identity()?.constraint
    }
  }

  /// Returns how the keys of a beacon are typed that is written as one text.
  private static func example(ofBeacon text: String) -> String {
    let parts = text.split(separator: "/").map(String.init)
    if let first = parts.first, UUID128(first) != nil {
      let numbers = zip(["major", "minor"], parts.dropFirst()).map { ", \($0): \($1)" }.joined()
      return "{ uuid: \(first)\(numbers) }"
    }
    if DeviceAddress(text) != nil { return "{ mac: \"\(text)\" }" }
    return "{ uuid: …, major: …, minor: … }, { namespace: …, instance: … } or { mac: … }"
  }

  /// Returns the ranging request of an entry.
  func ranging() -> RangingRequest? {
    let whileInside = value("whileInside", .flag) ?? false
    return identity().map {
      RangingRequest(
        constraint: $0.constraint,
        keyedByAddress: $0.keyedByAddress,
        whileInside: whileInside
      )
    }
  }

  /// Returns the identity key of a beacon, if it has one; no message ever contains the key.
  ///
  /// - Parameters:
  ///   - constraint: the identity of the beacon.
  ///   - keys: the keys of the previous beacons; the key is added.
  /// - Returns: the key; nil without one, or with a mistake noted.
  fileprivate func identityKey(
    of constraint: BeaconConstraint,
    besides keys: inout Set<IdentityKey>
  ) -> IdentityKey? {
    guard let node = self["irk"] else { return nil }
    func refuse(_ message: String, _ expected: String) -> IdentityKey? {
      mistake("irk", message, expected: expected)
      return nil
    }
    guard case .address = constraint else {
      let wanted = "the mac as well: the address under which the beacon is known whichever it sends"
      return refuse("irk is set without mac", wanted)
    }
    if case .plain = node.content {
      warning(
        "irk",
        "irk is set without quotes; YAML reads some keys as numbers",
        expected: "quotes around it"
      )
    }
    let form = "32 hexadecimal digits in quotes, the most significant octet first"
    guard let octets = node.scalar(.text).flatMap({ Hex.bytes($0) }), octets.count == 16,
      let key = IdentityKey(octets: octets)
    else { return refuse("irk is no key", form) }
    guard Set(octets).count > 1 else {
      return refuse("irk is the same octet sixteen times: what a device without a key gives", form)
    }
    guard keys.insert(key).inserted else {
      return refuse("another beacon has this irk", "each key once: a device's own")
    }
    if keys.count == Resolver.maximumKeys + 1 {
      mistake(
        "irk",
        "this is the \(keys.count)th irk",
        expected: "at most \(Resolver.maximumKeys): every new address is tried with all of them"
      )
    }
    return key
  }
}

extension Zone {
  static let expectedObservers = "an observer of its own in each zone"

  /// Returns the warning that the same observers place the same beacons in another zone; nil if there is none.
  func warning(beside zones: [Zone]) -> String? {
    let other = zones.first { other in
      other.identifier != identifier && !observers.isEmpty && Set(observers) == Set(other.observers)
        && Set(beacons) == Set(other.beacons)
    }
    return other.map { other in
      "its observers are those of zone \"\(other.identifier)\", so no tag can be located in one rather than the other"
    }
  }

  /// Returns what `pharos check` warns of, for a zone that is made beside those of a site.
  package func warnings(in site: Site) -> [String] {
    warning(beside: site.zones).map { ["\($0); expected \(Zone.expectedObservers)"] } ?? []
  }
}
