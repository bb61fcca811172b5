package import PharosModel

/// The names that a site's directory gives to observers and beacons.
package struct SiteNames: Sendable {
  private let observers: [ObserverID: String]
  private let beacons: [BeaconEntry]

  /// Reads a site's directory.
  package init(_ site: Site) {
    beacons = site.beacons.filter { $0.name != nil }
    observers = Dictionary(
      site.observers.compactMap { entry in entry.name.map { (entry.id, $0) } },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// The name that the directory gives to a subject; nil if there is none.
  package func given(to subject: SubjectID) -> String? {
    switch subject {
    case .none: nil
    case .observer(let observer): observers[observer]
    case .beacon(let beacon): beacons.first { $0.constraint.matches(beacon) }?.name
    }
  }

  /// A subject's name, or its identity, that of a beacon cut short in the middle; empty for no subject.
  package func name(of subject: SubjectID) -> String {
    if let given = given(to: subject) { return given }
    guard case .beacon(let beacon) = subject else { return subject.description }
    guard let uuid = beacon.uuid?.description else { return beacon.description }
    let address = beacon.address.map { "@\($0)" } ?? ""
    return "\(uuid.prefix(4))…\(beacon.description.dropFirst(uuid.count).prefix { $0 != "@" })\(address)"
  }
}
