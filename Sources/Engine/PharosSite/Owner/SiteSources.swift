package import PharosDocuments
package import PharosModel

/// The declarations of the site file merged with the registrations over HTTP: a value, so that a change can be tried
/// first.
///
/// The site file wins: its declaration hides a registration over HTTP of the same name, which takes effect again when
/// the file no longer declares it.
package struct SiteSources: Hashable, Sendable {
  /// The declarations of the site file.
  package var declared: Site
  /// The registrations over HTTP, by application.
  package var made: [String: MadeApplication] = [:]
  /// Observers that were accepted over HTTP.
  package var accepted: Set<ObserverID> = []
  /// The observers that were named or configured over HTTP, which accepts them.
  package var observers: [ObserverID: ObserverEntry] = [:]
  /// The beacons that were named or described over HTTP.
  package var beacons: [BeaconID: BeaconEntry] = [:]
  /// The zones that were made over HTTP, by identifier.
  package var zones: [String: Zone] = [:]

  package init(declared: Site, made: [String: MadeApplication] = [:], accepted: Set<ObserverID> = []) {
    self.declared = declared
    self.made = made
    self.accepted = accepted
  }

  /// Makes the sources that follow from documents, as ``documents`` gives them.
  ///
  /// - Throws: what is wrong with a document.
  package init(_ documents: [DocumentChange]) throws {
    self.init(declared: Site())
    for document in documents { try RegistrationDocuments.follow(document, in: &self) }
  }

  /// The kind of the document that holds the declarations of the site file.
  package static var declaredKind: String { RegistrationDocuments.declared }

  /// The documents from which they follow, the declarations of the site file among them.
  package var documents: [DocumentChange] {
    [RegistrationDocuments.declaration(of: declared)]
      + RegistrationDocuments.changes(to: self, from: SiteSources(declared: declared))
  }

  /// The merged site, which the engine starts with.
  package var site: Site { settings.with(applications.map(application)) }

  /// The merged site without its applications.
  package var settings: Site {
    var site = declared.settings
    let listed = Set(declared.observers.map(\.id))
    site.observers += accepted.union(observers.keys).subtracting(listed).sorted().map {
      observers[$0] ?? ObserverEntry(id: $0)
    }
    site.beacons += beacons.sorted { $0.key < $1.key }.lazy.filter { !declares($0.key) }.map(\.value)
    let names = Set(declared.zones.map(\.identifier)).union(zones.keys)
    for (identifier, zone) in zones.sorted(by: { $0.key < $1.key }) where !declares(zone: identifier) {
      var zone = zone
      // A neighbour may have been removed since.
      zone.adjacent.removeAll { !names.contains($0) }
      site.zones.append(zone)
    }
    return site
  }

  /// Takes settings in place of those of the site file, whose applications stay.
  mutating func declare(_ settings: Site) { declared = settings.with(declared.applications) }

  /// Returns whether the site file lists an observer.
  package func declares(_ observer: ObserverID) -> Bool { declared.observers.contains { $0.id == observer } }

  /// Returns whether the site file describes a beacon by itself.
  package func declares(_ beacon: BeaconID) -> Bool {
    let constraint = BeaconEntry.constraint(of: beacon)
    return declared.beacons.contains { $0.constraint.normal == constraint.normal }
  }

  /// Returns whether the site file declares a zone.
  package func declares(zone identifier: String) -> Bool {
    declared.zones.contains { $0.identifier == identifier }
  }

  /// Returns whether the site file declares a region of an application, in its list or its rotation.
  package func declares(region identifier: String, of application: String) -> Bool {
    declaration(of: application)?.hasRegion(identifier) ?? false
  }

  /// The applications: those of the site file in its order, then those made over HTTP by identifier.
  package var applications: [RegisteredApplication] {
    let names = Set(declared.applications.map(\.identifier))
    return declared.applications.map { merged($0, with: made[$0.identifier]) }
      + made.keys.filter { !names.contains($0) }.sorted().map {
        merged(nil, with: made[$0], named: $0)
      }
  }

  /// Returns the site file's declaration of an application, or nil.
  package func declaration(of name: String) -> Application? {
    declared.applications.first { $0.identifier == name }
  }

  /// One application, or nil.
  package func application(_ name: String) -> RegisteredApplication? {
    let declared = declaration(of: name)
    guard declared != nil || made[name] != nil else { return nil }
    return merged(declared, with: made[name], named: name)
  }

  /// Changes the registrations for an application.
  ///
  /// - Parameters:
  ///   - name: the application.
  ///   - body: changes them; an application without any is removed.
  /// - Returns: the changes that lead to the site that is merged now.
  package mutating func update(_ name: String, _ body: (inout MadeApplication) -> Void) -> [RegionChange] {
    let none = Application(identifier: name)
    let before = application(name).map(application) ?? none
    body(&made[name, default: MadeApplication()])
    dropEmpty(name)
    return before.changes(to: application(name).map(application) ?? none)
  }

  /// Removes an application without registrations.
  mutating func dropEmpty(_ name: String) {
    if made[name]?.isEmpty == true { made[name] = nil }
  }

  /// The registrations over HTTP that are not in effect, with the reasons, for the log.
  package var conflicts: [String] {
    var hidden =
      observers.keys.filter { declares($0) }.sorted().map { "observer \"\($0)\"" }
      + beacons.keys.filter { declares($0) }.sorted().map { "beacon \"\($0)\"" }
      + zones.keys.filter(declares(zone:)).sorted().map { "zone \"\($0)\"" }
    var excess: [String] = []
    for shown in applications {
      guard let made = made[shown.identifier] else { continue }
      let application = "application \"\(shown.identifier)\""
      if shown.source == .site, made.settings != nil { hidden.append(application) }
      for identifier in made.regions.keys.sorted() {
        let region = "region \"\(identifier)\" of \(application)"
        if declares(region: identifier, of: shown.identifier) {
          hidden.append(region)
        } else if !shown.regions.contains(where: { $0.region.identifier == identifier }) {
          excess.append(
            "\(region) was made over HTTP and is left out: the application may hold \(shown.regionLimit) regions; "
              + "remove one or raise regionLimit"
          )
        }
      }
    }
    return hidden.map { "\($0) was made over HTTP; the site file's takes its place" } + excess
  }

  /// The application that the engine takes over, with the rotation that the site file declares.
  private func application(_ shown: RegisteredApplication) -> Application {
    Application(
      identifier: shown.identifier,
      regions: shown.regions.map(\.region),
      ranging: shown.ranging.map(\.request),
      rotation: declaration(of: shown.identifier)?.rotation ?? [],
      regionLimit: shown.regionLimit
    )
  }

  private func merged(
    _ declared: Application?,
    with made: MadeApplication?,
    named name: String = ""
  ) -> RegisteredApplication {
    let limit =
      declared?.regionLimit ?? made?.settings?.regionLimit ?? Application.defaultRegionLimit
    var regions = (declared?.regions ?? []).map {
      RegisteredApplication.RegisteredRegion(region: $0, source: .site)
    }
    for (identifier, region) in (made?.regions ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard Application.room(limit: limit, holding: regions.count) > 0 else { break }
      guard declared?.hasRegion(identifier) != true else { continue }
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
      rotated: declared?.rotation.flatMap(\.allRegions).count ?? 0
    )
  }
}

/// The source of an application, a region or a ranging request.
package enum Registration: String, Hashable, Sendable {
  /// From the site file, which alone changes it.
  case site
  /// Over HTTP; it is kept in the journal and changed over HTTP.
  case http
}

/// An application as the interface shows it: the declarations of the site file and the registrations over HTTP.
package struct RegisteredApplication: Hashable, Sendable {
  /// A region and its source.
  package struct RegisteredRegion: Hashable, Sendable {
    /// The region.
    package var region: Region
    /// The source.
    package var source: Registration

    package init(region: Region, source: Registration) {
      self.region = region
      self.source = source
    }
  }

  /// A ranging request, its name and its source.
  package struct RegisteredRanging: Hashable, Sendable {
    /// The name; a request of the site file, which has none, is named after its constraint.
    package var name: String
    /// The request.
    package var request: RangingRequest
    /// The source.
    package var source: Registration

    package init(name: String, request: RangingRequest, source: Registration) {
      self.name = name
      self.request = request
      self.source = source
    }
  }

  /// The application's identifier.
  package var identifier: String
  /// The source.
  package var source: Registration
  /// The maximum number of regions.
  package var regionLimit: Int
  /// Its regions, by identifier.
  package var regions: [RegisteredRegion]
  /// Its ranging requests, by name.
  package var ranging: [RegisteredRanging]
  /// The number of regions in its rotation.
  package var rotated: Int
}

/// The registrations over HTTP for one application.
package struct MadeApplication: Hashable, Sendable {
  /// The settings of the application, if it was made over HTTP.
  package var settings: ApplicationSettings?
  /// Its regions by identifier.
  package var regions: [String: Region] = [:]
  /// Its ranging requests, by name.
  package var ranging: [String: RangingRequest] = [:]

  package init(
    settings: ApplicationSettings? = nil,
    regions: [String: Region] = [:],
    ranging: [String: RangingRequest] = [:]
  ) {
    self.settings = settings
    self.regions = regions
    self.ranging = ranging
  }

  /// Indicates whether there are no registrations.
  package var isEmpty: Bool { settings == nil && regions.isEmpty && ranging.isEmpty }
}
