extension BeaconConstraint {
  /// The same constraint without what is not looked at: an address's kind, an instance's high bits.
  package var normal: BeaconConstraint {
    switch self {
    case .proximity: self
    case .eddystone(let namespace, let instance):
      .eddystone(namespace, instance: instance.map { $0 & 0xFFFF_FFFF_FFFF })
    case .address(let address): .address(DeviceAddress(bits: address.bits, kind: .unknown))
    }
  }
}

extension BeaconID {
  /// The constraints that the identity fulfils, the most specific first.
  package var constraints: [BeaconConstraint] {
    if let uuid {
      return [
        .proximity(uuid, major: major, minor: minor),
        .proximity(uuid, major: major),
        .proximity(uuid, minor: minor),
        .proximity(uuid),
      ]
    }
    if let namespace { return [.eddystone(namespace, instance: instance), .eddystone(namespace)] }
    return address.map { [.address($0)] } ?? []
  }

  /// The constraints by which a site may speak of the beacon, the most specific first: an address that is part of the
  /// identity says more than what it advertises.
  package var namingConstraints: [BeaconConstraint] {
    let byAddress = address.map { [BeaconConstraint.address($0)] } ?? []
    return ((kind == .address ? [] : byAddress) + constraints).map(\.normal)
  }
}

extension BeaconConstraint {
  /// The one beacon that the constraint is about, if nothing is left open.
  package var onlyBeacon: BeaconID? {
    switch self {
    case .proximity(let uuid, let major?, let minor?): .proximity(uuid, major: major, minor: minor)
    case .eddystone(let namespace, let instance?): .eddystone(namespace, instance: instance)
    case .address(let address): .address(address)
    case .proximity, .eddystone: nil
    }
  }
}
