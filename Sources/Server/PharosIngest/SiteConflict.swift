import PharosDocuments
package import PharosModel

/// Something that what is heard proves to be wrong with a site, and that its owner has to mend.
package struct SiteConflict: Hashable, Sendable {
  /// The kinds of conflicts.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// Several tags send one identity.
    case sharedIdentity
    /// Two observers have one identity in two spellings.
    case spelling
    /// Two observers have one name.
    case sharedName
  }

  /// The kind.
  package let kind: Kind
  /// The conflict as a sentence, without addresses of tags.
  package let message: String
  /// The step that ends it.
  package let remedy: String
  /// The addresses of the tags that send one identity; empty for other kinds.
  package let addresses: [DeviceAddress]
}

extension Heard {
  /// Returns the conflicts that what is heard of late proves, in a stable order.
  ///
  /// - Parameter site: the site, whose registered devices alone are looked at.
  /// - Returns: the conflicts.
  package func conflicts(with site: Site) -> [SiteConflict] {
    sharedIdentities(site) + spellings(site) + sharedNames(site)
  }

  private func sharedIdentities(_ site: Site) -> [SiteConflict] {
    var shared = SharedIdentities()
    let latest = beacons.map(\.lastHeard).max() ?? .distantPast
    for heard in beacons where latest - heard.lastHeard <= HeardTable.memory {
      // An address is there only of a registered device.
      guard let address = heard.address else { continue }
      for beacon in heard.identities where !site.keepsApart(beacon) {
        shared.record(beacon, from: address, between: heard.firstHeard, and: heard.lastHeard)
      }
    }
    return shared.conflicts.map { beacon, addresses in
      SiteConflict(
        kind: .sharedIdentity,
        message: "\(addresses.count) tags send one identity, \(beacon), and are taken for one.",
        remedy: "Give each its own minor, or set key: mac for it in the site file.",
        addresses: addresses
      )
    }
  }

  private func spellings(_ site: Site) -> [SiteConflict] {
    let ids = Set(site.observers.map(\.id) + observers.map(\.id))
    let alike = Dictionary(grouping: ids.filter { $0.commonSpelling != nil }.sorted()) { $0.commonSpelling }
    return alike.values.filter { $0.count > 1 }.sorted { $0[0] < $1[0] }.map { ids in
      let others = Wording.list(ids.dropFirst().map { "\"\($0)\"" })
      return SiteConflict(
        kind: .spelling,
        message:
          "Gateway \(others) is \"\(ids[0])\" \(ids[0].differenceOfSpelling), and counts as another one.",
        remedy: "Write it in one spelling throughout: as the gateway sends it.",
        addresses: []
      )
    }
  }

  private func sharedNames(_ site: Site) -> [SiteConflict] {
    let named = site.observers.filter { $0.name?.isEmpty == false }.sorted { $0.id < $1.id }
    let alike = Dictionary(grouping: named) { $0.name?.lowercased() }
    return alike.values.filter { $0.count > 1 }.sorted { $0[0].id < $1[0].id }.map { entries in
      SiteConflict(
        kind: .sharedName,
        message: "\(entries.count) gateways have the name \"\(entries[0].name ?? "")\": "
          + "\(Wording.list(entries.map(\.id.description))).",
        remedy: "Give each a name of its own, so that events say which is meant.",
        addresses: []
      )
    }
  }
}
