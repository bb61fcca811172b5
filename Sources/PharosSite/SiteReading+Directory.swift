import PharosReports
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
