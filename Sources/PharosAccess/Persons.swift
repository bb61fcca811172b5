package import PharosReports

/// The observers and beacons that people carry; events about them are withheld unless an authorisation allows them.
package struct Persons: Hashable, Sendable {
  /// The handsets.
  package var observers: Set<ObserverID>
  /// The tags: single ones, or all that share a UUID, a namespace or an address.
  package var beacons: Set<BeaconConstraint>

  /// Names who is a person.
  package init(observers: Set<ObserverID> = [], beacons: Set<BeaconConstraint> = []) {
    self.observers = observers
    self.beacons = Set(beacons.map(\.withoutUnseen))
  }

  /// A Boolean value that is true if no observer and no beacon is a person.
  package var isEmpty: Bool { observers.isEmpty && beacons.isEmpty }

  /// Whether a subject is a person.
  package func contains(_ subject: SubjectID) -> Bool {
    switch subject {
    case .none: false
    case .observer(let observer): observers.contains(observer)
    case .beacon(let beacon): !beacons.isEmpty && beacon.matched.contains(where: beacons.contains)
    }
  }

  /// These and those.
  func union(_ other: Persons) -> Persons {
    var all = self
    all.observers.formUnion(other.observers)
    all.beacons.formUnion(other.beacons)
    return all
  }

  /// Adds a single subject.
  mutating func insert(_ subject: SubjectID) {
    switch subject {
    case .none: break
    case .observer(let observer): observers.insert(observer)
    case .beacon(let beacon): if let exact = beacon.matched.first { beacons.insert(exact) }
    }
  }
}

extension BeaconConstraint {
  /// The same constraint without what no comparison looks at: an address's kind, an instance's high bits.
  fileprivate var withoutUnseen: BeaconConstraint {
    switch self {
    case .proximity: self
    case .eddystone(let namespace, let instance):
      .eddystone(namespace, instance: instance.map { $0 & 0xFFFF_FFFF_FFFF })
    case .address(let address): .address(DeviceAddress(bits: address.bits, kind: .unknown))
    }
  }
}

extension BeaconID {
  /// The constraints that the identity fulfils, the most specific first; where an address is part of the key, the
  /// address alone as well.
  fileprivate var matched: [BeaconConstraint] {
    let byAddress: [BeaconConstraint] = address.map { [.address($0)] } ?? []
    if let uuid {
      return byAddress + [
        .proximity(uuid, major: major, minor: minor),
        .proximity(uuid, major: major),
        .proximity(uuid, minor: minor),
        .proximity(uuid),
      ]
    }
    if let namespace {
      return byAddress + [.eddystone(namespace, instance: instance), .eddystone(namespace)]
    }
    return byAddress
  }
}
