package import PharosReports

/// What a radio map tells the levels of: something at rest that is heard at many places, or that hears there.
package enum Emitter: Hashable, Sendable {
  /// A radio of a Wi-Fi access point, by the address that its network is known by.
  case accessPoint(DeviceAddress)
  /// A beacon; with its address where many share the rest of the identity.
  case beacon(BeaconID)
  /// A fixed observer, heard the other way round: the level at which it hears a tag at a place.
  case observer(ObserverID)

  /// The same emitter without what formats tell of it or not: whether an address is public or random.
  package var plain: Emitter {
    guard case .accessPoint(let address) = self else { return self }
    return .accessPoint(DeviceAddress(bits: address.bits, kind: .unknown))
  }
}

extension Emitter: Comparable {
  private var rank: Int {
    switch self {
    case .accessPoint: 0
    case .beacon: 1
    case .observer: 2
    }
  }

  /// Orders access points before beacons before observers, each by their identity.
  package static func < (left: Emitter, right: Emitter) -> Bool {
    switch (left, right) {
    case (.accessPoint(let left), .accessPoint(let right)): left < right
    case (.beacon(let left), .beacon(let right)): left < right
    case (.observer(let left), .observer(let right)): left.description < right.description
    case (.accessPoint, _), (.beacon, _), (.observer, _): left.rank < right.rank
    }
  }
}

extension Emitter: CustomStringConvertible {
  /// The kind and the identity, as in `access point ac:23:3f:a0:00:01`.
  package var description: String {
    switch self {
    case .accessPoint(let address): "access point \(address)"
    case .beacon(let beacon): "beacon \(beacon)"
    case .observer(let observer): "observer \(observer)"
    }
  }
}
