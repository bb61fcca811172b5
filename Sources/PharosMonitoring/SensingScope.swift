package import PharosReports

/// What stage one must know of the venues in which handsets and tags are located.
///
/// An engine that is given none hands nothing on for that, and pays nothing for it.
package struct SensingScope: Hashable, Sendable {
  /// The observers that are mounted at known places.
  ///
  /// They are not handsets. Stage one reports what they hear of tags to stage two every second.
  package var fixedObservers: Set<ObserverID>
  /// The addresses of beacons that are known by nothing else, which adverts without an identity may come from.
  package var beaconAddresses: Set<UInt64>

  /// Makes a scope; by default nothing hangs anywhere.
  package init(fixedObservers: Set<ObserverID> = [], beaconAddresses: Set<UInt64> = []) {
    self.fixedObservers = fixedObservers
    self.beaconAddresses = beaconAddresses
  }
}
