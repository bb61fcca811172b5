/// Which beacons a region or a ranging request is about: an identity with its lower parts left open.
public enum BeaconConstraint: Hashable, Sendable {
  /// A proximity UUID with, if given, a major, and with that, if given, a minor.
  case proximity(UUID128, major: UInt16? = nil, minor: UInt16? = nil)
  /// An Eddystone namespace with, if given, an instance in the low 48 bits.
  case eddystone(EddystoneNamespace, instance: UInt64? = nil)
  /// A device address, whatever it advertises.
  case address(DeviceAddress)

  /// Whether a beacon fulfils the constraint; the address that `key: mac` adds to an identity is not looked at.
  public func matches(_ beacon: BeaconID) -> Bool {
    switch self {
    case .proximity(let uuid, let major, let minor):
      beacon.uuid == uuid && (major == nil || beacon.major == major)
        && (minor == nil || beacon.minor == minor)
    case .eddystone(let namespace, let instance):
      beacon.namespace == namespace && (instance == nil || beacon.instance == instance)
    case .address(let address):
      beacon.kind == .address && beacon.address?.bits == address.bits
    }
  }
}

extension BeaconConstraint: CustomStringConvertible {
  /// As ``BeaconID/description``, with `*` for what is left open.
  public var description: String {
    switch self {
    case .proximity(let uuid, let major, let minor):
      "\(uuid)/\(major.map { "\($0)" } ?? "*")/\(minor.map { "\($0)" } ?? "*")"
    case .eddystone(let namespace, let instance):
      "eddystone:\(namespace)/\(instance.map { Hex.text($0, bytes: 6) } ?? "*")"
    case .address(let address):
      "mac:\(address)"
    }
  }
}
