public import PharosReports

/// What one AD structure says, if it is a beacon's.
///
/// Fixed in size and free of references, so that a million of them cost no allocation.
public enum Frame: Hashable, Sendable {
  /// An iBeacon.
  case iBeacon(IBeacon)
  /// An AltBeacon.
  case altBeacon(AltBeacon)
  /// An Eddystone beacon's identity.
  case eddystoneUID(EddystoneUID)
  /// An Eddystone beacon's web address.
  case eddystoneURL(EddystoneURL)
  /// An Eddystone beacon's telemetry.
  case eddystoneTLM(EddystoneTLM)
  /// An Eddystone beacon's telemetry, encrypted.
  case eddystoneEncryptedTLM(EddystoneEncryptedTLM)
  /// An Eddystone beacon's changing identity.
  case eddystoneEID(EddystoneEID)

  /// Which beacon the frame identifies, or nil if it identifies none.
  ///
  /// A web address is no identity, telemetry has none, and a changing one is no key.
  @inlinable public var beacon: BeaconID? {
    switch self {
    case .iBeacon(let frame):
      .proximity(frame.uuid, major: frame.major, minor: frame.minor)
    case .altBeacon(let frame):
      .proximity(frame.uuid, major: frame.major, minor: frame.minor)
    case .eddystoneUID(let frame):
      .eddystone(frame.namespace, instance: frame.instance)
    case .eddystoneURL, .eddystoneTLM, .eddystoneEncryptedTLM, .eddystoneEID:
      nil
    }
  }

  /// The level at which a receiver 1 m away hears the beacon, or nil if the frame does not tell.
  ///
  /// Eddystone states its power at 0 m; 41 dB are taken off for the first metre, down to −128.
  ///
  /// - Units: dBm.
  @inlinable public var measuredPower: Int8? {
    switch self {
    case .iBeacon(let frame): frame.measuredPower
    case .altBeacon(let frame): frame.measuredPower
    case .eddystoneUID(let frame): Eddystone.measuredPower(transmitPower: frame.transmitPower)
    case .eddystoneURL(let frame): Eddystone.measuredPower(transmitPower: frame.transmitPower)
    case .eddystoneEID(let frame): Eddystone.measuredPower(transmitPower: frame.transmitPower)
    case .eddystoneTLM, .eddystoneEncryptedTLM: nil
    }
  }

  /// Whether the frame is one of Eddystone's.
  public var isEddystone: Bool {
    switch self {
    case .iBeacon, .altBeacon: false
    case .eddystoneUID, .eddystoneURL, .eddystoneTLM, .eddystoneEncryptedTLM, .eddystoneEID: true
    }
  }
}
