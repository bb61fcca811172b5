import PharosCaptures
package import PharosModel
package import PharosSecurity
package import PharosWire

/// An observer that is heard, whether or not the site knows it.
package struct HeardObserver: Hashable, Sendable {
  /// The identity that it sends.
  package var id: ObserverID
  /// The source of its last datagram.
  package var source: Endpoint
  /// The format of its last datagram.
  package var format: WireFormat
  /// The time at which it was first heard.
  package var firstHeard: Timestamp
  /// The time at which it was last heard.
  package var lastHeard: Timestamp
  /// Its recent reports per second, or nil if it is too new to tell.
  package var reportsPerSecond: Double?

  /// Makes an entry.
  package init(
    id: ObserverID,
    source: Endpoint,
    format: WireFormat,
    firstHeard: Timestamp,
    lastHeard: Timestamp,
    reportsPerSecond: Double?
  ) {
    self.id = id
    self.source = source
    self.format = format
    self.firstHeard = firstHeard
    self.lastHeard = lastHeard
    self.reportsPerSecond = reportsPerSecond
  }
}

/// A transmitter that an observer hears, whether or not some region asks about it.
package struct HeardBeacon: Hashable, Sendable {
  /// The observer that hears it.
  package var observer: ObserverID
  /// The device address, or nil if it has none or is hidden because the device is not registered.
  package var address: DeviceAddress?
  /// The pseudonym that replaces the hidden address of an unregistered device.
  package var pseudonym: Pseudonym?
  /// The identities that its adverts carry, in order; empty for a device that is no beacon.
  package var identities: [BeaconID]
  /// The company under which it advertises in the layout of an iBeacon without being taken for one; nil if it does not.
  package var iBeaconCompany: UInt16?
  /// The name that its adverts give, if they do and the site asks about it.
  package var name: String?
  /// The last level, or nil if the radio had none.
  package var rssi: RSSI?
  /// The time at which it was first heard.
  package var firstHeard: Timestamp
  /// The time at which it was last heard.
  package var lastHeard: Timestamp
  /// Its recent adverts per second, or nil if it is too new to tell.
  package var advertsPerSecond: Double?

  /// Makes an entry.
  package init(
    observer: ObserverID,
    address: DeviceAddress?,
    pseudonym: Pseudonym? = nil,
    identities: [BeaconID],
    name: String?,
    rssi: RSSI?,
    firstHeard: Timestamp,
    lastHeard: Timestamp,
    advertsPerSecond: Double?
  ) {
    self.observer = observer
    self.address = address
    self.pseudonym = pseudonym
    self.identities = identities
    self.name = name
    self.rssi = rssi
    self.firstHeard = firstHeard
    self.lastHeard = lastHeard
    self.advertsPerSecond = advertsPerSecond
  }
}

/// All that is heard, registered or not, at one moment.
package struct Heard: Hashable, Sendable {
  /// The observers, by identity.
  package var observers: [HeardObserver] = []
  /// The transmitters that they hear, by observer, the strongest first.
  package var beacons: [HeardBeacon] = []

  /// Starts with nothing.
  package init() {}

  /// Puts together what several loops heard: an observer whose port has changed is heard by two.
  package init(merging parts: [Heard]) {
    var observers: [ObserverID: HeardObserver] = [:]
    for observer in parts.flatMap(\.observers) {
      observers[observer.id] = observers[observer.id].map { $0.merged(with: observer) } ?? observer
    }
    var beacons: [HeardBeacon.Key: HeardBeacon] = [:]
    for beacon in parts.flatMap(\.beacons) {
      beacons[beacon.key] = beacons[beacon.key].map { $0.merged(with: beacon) } ?? beacon
    }
    self.observers = observers.values.sorted { $0.id < $1.id }
    self.beacons = beacons.values.sorted(by: HeardBeacon.isOrderedBefore)
  }
}

extension HeardObserver {
  /// The later of two entries, with the rates of both.
  func merged(with other: HeardObserver) -> HeardObserver {
    var merged = lastHeard >= other.lastHeard ? self : other
    merged.firstHeard = min(firstHeard, other.firstHeard)
    merged.reportsPerSecond = sum(reportsPerSecond, other.reportsPerSecond)
    return merged
  }
}

extension HeardBeacon {
  /// The key of an entry.
  struct Key: Hashable {
    var observer: ObserverID
    var address: DeviceAddress?
    var pseudonym: Pseudonym?
    var identity: BeaconID?
  }

  /// The key of this entry: the address, or the pseudonym that replaces it, or without either the identity.
  var key: Key {
    let isNameless = address == nil && pseudonym == nil
    return Key(
      observer: observer,
      address: address.map { DeviceAddress(bits: $0.bits, kind: .unknown) },
      pseudonym: pseudonym,
      identity: isNameless ? identities.first : nil
    )
  }

  /// The later of two entries, with the rates of both.
  func merged(with other: HeardBeacon) -> HeardBeacon {
    var merged = lastHeard >= other.lastHeard ? self : other
    merged.firstHeard = min(firstHeard, other.firstHeard)
    merged.name = merged.name ?? name ?? other.name
    merged.iBeaconCompany = iBeaconCompany ?? other.iBeaconCompany
    merged.advertsPerSecond = sum(advertsPerSecond, other.advertsPerSecond)
    return merged
  }

  /// By observer, the strongest first, then by identity or address.
  static func isOrderedBefore(_ left: HeardBeacon, _ right: HeardBeacon) -> Bool {
    if left.observer != right.observer { return left.observer < right.observer }
    let levels = (left.rssi?.dBm ?? .min, right.rssi?.dBm ?? .min)
    if levels.0 != levels.1 { return levels.0 > levels.1 }
    if let first = left.identities.first, let second = right.identities.first, first != second {
      return first < second
    }
    return (left.address?.bits ?? 0, left.pseudonym?.bits ?? 0)
      < (right.address?.bits ?? 0, right.pseudonym?.bits ?? 0)
  }
}

private func sum(_ left: Double?, _ right: Double?) -> Double? {
  guard let left, let right else { return left ?? right }
  return left + right
}
