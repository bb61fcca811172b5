package import PharosReports

/// The registered devices: those that a region, a ranging request, a beacon's entry or a zone names.
///
/// All other devices are unregistered: neither their addresses nor their names are kept.
package struct KnownDevices: Hashable, Sendable {
  private var constraints: Set<BeaconConstraint> = []

  /// Takes what a site names.
  package init(_ site: Site) {
    for application in site.applications { insert(application) }
    constraints.formUnion(site.beacons.lazy.map { $0.constraint.withoutKind })
    constraints.formUnion(site.zones.lazy.flatMap(\.beacons).map(\.withoutKind))
  }

  /// Adds what an application asks about.
  package mutating func insert(_ application: Application) {
    constraints.formUnion(application.regions.lazy.map { $0.constraint.withoutKind })
    constraints.formUnion(application.ranging.lazy.map { $0.constraint.withoutKind })
    application.rotation.forEach { insert($0) }
  }

  /// Adds the devices that a change names; those that it no longer names stay until the site is read again.
  mutating func insert(_ change: RegionChange) {
    switch change {
    case .startMonitoring(_, let region, assuming: _): constraints.insert(region.constraint.withoutKind)
    case .startRanging(_, let request): constraints.insert(request.constraint.withoutKind)
    case .setRotation(_, let tree): tree.forEach { insert($0) }
    default: break
    }
  }

  private mutating func insert(_ node: RegionNode) {
    constraints.insert(node.region.constraint.withoutKind)
    node.children.forEach { insert($0) }
  }

  /// Whether somebody asked about an address.
  package func contains(_ address: DeviceAddress) -> Bool {
    constraints.contains(.address(DeviceAddress(bits: address.bits, kind: .unknown)))
  }

  /// Whether somebody asked about an identity, or about all that share its UUID or namespace.
  package func contains(_ identity: BeaconID) -> Bool {
    if let uuid = identity.uuid, let major = identity.major, let minor = identity.minor {
      return constraints.contains(.proximity(uuid))
        || constraints.contains(.proximity(uuid, major: major))
        || constraints.contains(.proximity(uuid, major: major, minor: minor))
        || constraints.contains(.proximity(uuid, minor: minor))
    }
    if let namespace = identity.namespace {
      return constraints.contains(.eddystone(namespace))
        || constraints.contains(.eddystone(namespace, instance: identity.instance))
    }
    return identity.address.map { contains($0) } ?? false
  }
}

extension BeaconConstraint {
  /// The same with an address whose sort is left open, as formats tell it differently.
  fileprivate var withoutKind: BeaconConstraint {
    guard case .address(let address) = self else { return self }
    return .address(DeviceAddress(bits: address.bits, kind: .unknown))
  }
}
