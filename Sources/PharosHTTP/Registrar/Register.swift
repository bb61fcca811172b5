package import PharosReports
import PharosSite

/// What the site file declares and what was made over HTTP, merged: a value, so that a change can be tried first.
///
/// The site file wins: what it declares hides what was made over HTTP under the same name, which comes back when the
/// file no longer declares it.
package struct Register: Hashable, Sendable {
  /// What the site file declares.
  package var declared: Site
  /// What was made over HTTP, by application.
  package var made: [String: MadeApplication] = [:]
  /// Observers that were accepted over HTTP.
  package var accepted: Set<ObserverID> = []

  package init(declared: Site, made: [String: MadeApplication] = [:], accepted: Set<ObserverID> = []) {
    self.declared = declared
    self.made = made
    self.accepted = accepted
  }

  /// The merged site, which the engine adopts.
  package var site: Site {
    var site = declared
    site.applications = applications.map { shown in
      shown.application(declared: declared.applications.first { $0.identifier == shown.identifier })
    }
    let listed = Set(declared.observers.map(\.id))
    site.observers += accepted.subtracting(listed).sorted().map { ObserverEntry(id: $0) }
    return site
  }

  /// The applications: those of the site file in its order, then those made over HTTP by identifier.
  var applications: [RegisteredApplication] {
    let names = Set(declared.applications.map(\.identifier))
    return declared.applications.map { merged($0, with: made[$0.identifier]) }
      + made.keys.filter { !names.contains($0) }.sorted().map {
        merged(nil, with: made[$0], named: $0)
      }
  }

  /// One application, or nil.
  package func application(_ name: String) -> RegisteredApplication? {
    let declared = declared.applications.first { $0.identifier == name }
    guard declared != nil || made[name] != nil else { return nil }
    return merged(declared, with: made[name], named: name)
  }

  /// What was made over HTTP and is not in effect, and why, for the log.
  package var conflicts: [String] {
    var conflicts: [String] = []
    for declared in declared.applications {
      guard let made = made[declared.identifier] else { continue }
      let name = declared.identifier
      if made.document != nil {
        conflicts.append(
          "application \"\(name)\" was made over HTTP; the site file's takes its place"
        )
      }
      for identifier in made.regions.keys.sorted()
      where Register.declares(declared, region: identifier) {
        conflicts.append(
          "region \"\(identifier)\" of application \"\(name)\" was made over HTTP; the site file's takes its place"
        )
      }
    }
    for shown in applications {
      let wanted = made[shown.identifier].map { Array($0.regions.keys) } ?? []
      let left = Set(wanted).subtracting(shown.regions.map(\.region.identifier)).sorted()
      let declared = declared.applications.first { $0.identifier == shown.identifier }
      for identifier in left
      where declared.map({ !Register.declares($0, region: identifier) }) ?? true {
        conflicts.append(
          "region \"\(identifier)\" of application \"\(shown.identifier)\" was made over HTTP and is left out: the "
            + "application may hold \(shown.regionLimit) regions; remove one or raise regionLimit"
        )
      }
    }
    return conflicts
  }

  /// Whether the site file declares a region, in the list or in the rotation.
  static func declares(_ application: Application, region identifier: String) -> Bool {
    func holds(_ node: RegionNode) -> Bool {
      node.region.identifier == identifier || node.children.contains(where: holds)
    }
    return application.regions.contains { $0.identifier == identifier }
      || application.rotation.contains(where: holds)
  }

  private func merged(
    _ declared: Application?,
    with made: MadeApplication?,
    named name: String = ""
  ) -> RegisteredApplication {
    let limit =
      declared?.regionLimit ?? made?.document?.regionLimit ?? Application.defaultRegionLimit
    var regions = (declared?.regions ?? []).map {
      RegisteredApplication.RegisteredRegion(region: $0, source: .site)
    }
    for (identifier, region) in (made?.regions ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard regions.count < limit else { break }
      guard declared.map({ !Register.declares($0, region: identifier) }) ?? true else { continue }
      regions.append(RegisteredApplication.RegisteredRegion(region: region, source: .http))
    }
    var ranging = (declared?.ranging ?? []).map {
      RegisteredApplication.RegisteredRanging(name: "\($0.constraint)", request: $0, source: .site)
    }
    for (name, request) in (made?.ranging ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard
        !ranging.contains(where: { $0.request.constraint == request.constraint || $0.name == name })
      else {
        continue
      }
      ranging.append(
        RegisteredApplication.RegisteredRanging(name: name, request: request, source: .http)
      )
    }
    return RegisteredApplication(
      identifier: declared?.identifier ?? name,
      source: declared == nil ? .http : .site,
      regionLimit: limit,
      regions: regions,
      ranging: ranging,
      rotated: (declared?.rotation ?? []).reduce(0) { $0 + Register.count($1) }
    )
  }

  private static func count(_ node: RegionNode) -> Int {
    1 + node.children.reduce(0) { $0 + count($1) }
  }
}
