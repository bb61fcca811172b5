package import PharosModel

extension Zone {
  static let expectedObservers = "an observer of its own in each zone"

  /// Returns the warning that the same observers place the same beacons in another zone; nil if there is none.
  func warning(beside zones: [Zone]) -> String? {
    let other = zones.first { other in
      other.identifier != identifier && !observers.isEmpty && Set(observers) == Set(other.observers)
        && Set(beacons) == Set(other.beacons)
    }
    return other.map { other in
      "its observers are those of zone \"\(other.identifier)\", so no tag can be located in one rather than the other"
    }
  }

  /// Returns what `pharos check` warns of, for a zone that is made beside those of a site.
  package func warnings(in site: Site) -> [String] {
    warning(beside: site.zones).map { ["\($0); expected \(Zone.expectedObservers)"] } ?? []
  }
}
