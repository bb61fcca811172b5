package import PharosModel

/// The names that a site's directory gives to observers and beacons.
package struct SiteNames: Sendable {
  private let site: Site

  /// Reads a site's directory.
  package init(_ site: Site) { self.site = site }

  /// The name that the directory gives to a subject; nil if there is none.
  package func given(to subject: SubjectID) -> String? { site.name(of: subject) }

  /// A subject's name, or its identity, that of a beacon cut short in the middle; empty for no subject.
  package func name(of subject: SubjectID) -> String {
    if let given = given(to: subject) { return given }
    guard case .beacon(let beacon) = subject else { return subject.description }
    guard let uuid = beacon.uuid?.description else { return beacon.description }
    let address = beacon.address.map { "@\($0)" } ?? ""
    return "\(uuid.prefix(4))…\(beacon.description.dropFirst(uuid.count).prefix { $0 != "@" })\(address)"
  }
}
