package import PharosMonitoring
import PharosPlaces
package import PharosPositioning
import PharosReports

extension SensingScope {
  /// What stage one must know of the venues in which somebody is located; nil if there are none, so that nothing is handed on.
  package init?(_ grounds: [Ground]) {
    guard !grounds.isEmpty else { return nil }
    self.init()
    for (_, floor) in grounds.lazy.flatMap(\.venue.floors) {
      fixedObservers.formUnion(floor.observers.map(\.observer))
      for placed in floor.beacons where placed.beacon.kind == .address {
        if let address = placed.beacon.address { beaconAddresses.insert(address.bits) }
      }
    }
  }
}
