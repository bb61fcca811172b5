package import Logging
package import PharosDelivery
package import PharosJournal
import PharosDocuments
package import PharosModel
package import PharosSite

/// The declarations of the site file merged with the registrations over HTTP: a value, so that a change can be tried
/// first.
///
/// The site file wins: its declaration hides a registration over HTTP of the same name, which takes effect again when
/// the file no longer declares it.
package struct Register: Hashable, Sendable {
  /// The declarations of the site file.
  package var declared: Site
  /// The registrations over HTTP, by application.
  package var made: [String: MadeApplication] = [:]
  /// Observers that were accepted over HTTP.
  package var accepted: Set<ObserverID> = []
  /// The observers that were named or configured over HTTP, which accepts them.
  package var observers: [ObserverID: ObserverEntry] = [:]
  /// The zones that were made over HTTP, by identifier.
  package var zones: [String: Zone] = [:]

  package init(declared: Site, made: [String: MadeApplication] = [:], accepted: Set<ObserverID> = []) {
    self.declared = declared
    self.made = made
    self.accepted = accepted
  }

  /// The merged site, which the engine starts with.
  package var site: Site {
    var site = declared
    site.applications = applications.map(application)
    let listed = Set(declared.observers.map(\.id))
    site.observers += accepted.union(observers.keys).subtracting(listed).sorted().map {
      observers[$0] ?? ObserverEntry(id: $0)
    }
    let names = Set(declared.zones.map(\.identifier)).union(zones.keys)
    for (identifier, zone) in zones.sorted(by: { $0.key < $1.key }) where !declares(zone: identifier) {
      var zone = zone
      // A neighbour may have been removed since.
      zone.adjacent.removeAll { !names.contains($0) }
      site.zones.append(zone)
    }
    return site
  }

  /// Returns whether the site file lists an observer.
  func declares(_ observer: ObserverID) -> Bool { declared.observers.contains { $0.id == observer } }

  /// Returns whether the site file declares a zone.
  func declares(zone identifier: String) -> Bool { declared.zones.contains { $0.identifier == identifier } }

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

  /// Changes the registrations for an application.
  ///
  /// - Parameters:
  ///   - name: the application.
  ///   - body: changes them; an application without any is removed.
  /// - Returns: the changes that lead to the site that the register merges now.
  package mutating func update(_ name: String, _ body: (inout MadeApplication) -> Void) -> [RegionChange] {
    let none = Application(identifier: name)
    let before = application(name).map(application) ?? none
    body(&made[name, default: MadeApplication()])
    if made[name]?.isEmpty == true { made[name] = nil }
    return before.changes(to: application(name).map(application) ?? none)
  }

  /// The registrations over HTTP that are not in effect, with the reasons, for the log.
  package var conflicts: [String] {
    var conflicts = hiddenPlaces
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

  /// The observers and zones that were made over HTTP and that the site file declares as well.
  private var hiddenPlaces: [String] {
    let hidden =
      observers.keys.filter(declares).sorted().map { "observer \"\($0)\"" }
      + zones.keys.filter(declares(zone:)).sorted().map { "zone \"\($0)\"" }
    return hidden.map { "\($0) was made over HTTP; the site file's takes its place" }
  }

  /// Returns whether the site file declares a region, in the list or in the rotation.
  static func declares(_ application: Application, region identifier: String) -> Bool {
    application.regions.contains { $0.identifier == identifier }
      || application.rotation.contains { $0.allRegions.contains { $0.identifier == identifier } }
  }

  /// The application that the engine takes over, with the rotation that the site file declares.
  private func application(_ shown: RegisteredApplication) -> Application {
    Application(
      identifier: shown.identifier,
      regions: shown.regions.map(\.region),
      ranging: shown.ranging.map(\.request),
      rotation: declared.applications.first { $0.identifier == shown.identifier }?.rotation ?? [],
      regionLimit: shown.regionLimit
    )
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
      guard Application.room(limit: limit, holding: regions.count) > 0 else { break }
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
  }

  /// A ranging request, its name and its source.
  package struct RegisteredRanging: Hashable, Sendable {
    /// The name; a request of the site file, which has none, is named after its constraint.
    package var name: String
    /// The request.
    package var request: RangingRequest
    /// The source.
    package var source: Registration
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
  package var document: ApplicationDocument?
  /// Its regions by identifier.
  package var regions: [String: Region] = [:]
  /// Its ranging requests, by name.
  package var ranging: [String: RangingRequest] = [:]

  package init(
    document: ApplicationDocument? = nil,
    regions: [String: Region] = [:],
    ranging: [String: RangingRequest] = [:]
  ) {
    self.document = document
    self.regions = regions
    self.ranging = ranging
  }

  /// Indicates whether there are no registrations.
  package var isEmpty: Bool { document == nil && regions.isEmpty && ranging.isEmpty }
}

/// The registrations over HTTP as documents of the journal: the JSON that the interface takes.
package enum RegistrarDocuments {
  /// The kind of documents that name the applications which the site file declared last; the key is the name.
  static let declaredApplication = "site.application"

  /// The kinds of documents.
  private enum Kind {
    /// An application; the key is its name.
    static let application = "http.application"
    /// A region; the key is the application's name and its identifier, encoded as in a path.
    static let region = "http.region"
    /// A ranging request; the key is the application's name and its own, encoded as in a path.
    static let ranging = "http.ranging"
    /// An accepted observer; the key is the observer.
    static let accepted = "http.acceptedObserver"
    /// An observer with its name; the key is the observer.
    static let observer = "http.observer"
    /// A zone; the key is its identifier.
    static let zone = "http.zone"
  }

  /// Reads all documents; logs one that cannot be read, and leaves it in the store.
  ///
  /// - Parameters:
  ///   - store: the store of the documents.
  ///   - register: the register that they are added to.
  ///   - logger: logs documents that cannot be read.
  /// - Throws: the error of a store that cannot be read.
  package static func read(
    from store: any DocumentStore,
    into register: inout Register,
    logger: Logger
  ) throws(JournalError) {
    for (key, document) in try store.documents(kind: Kind.application) {
      attempt(Kind.application, key, logger) {
        register.made[key, default: MadeApplication()].document =
          try ApplicationDocument(json: document, identifier: key)
      }
    }
    for (key, document) in try store.documents(kind: Kind.region) {
      attempt(Kind.region, key, logger) {
        let (application, identifier) = try names(in: key)
        register.made[application, default: MadeApplication()].regions[identifier] =
          try RegionDocument.region(json: document, identifier: identifier)
      }
    }
    for (key, document) in try store.documents(kind: Kind.ranging) {
      attempt(Kind.ranging, key, logger) {
        let (application, name) = try names(in: key)
        register.made[application, default: MadeApplication()].ranging[name] =
          try RangingDocument.request(json: document)
      }
    }
    for (key, _) in try store.documents(kind: Kind.accepted) {
      if let observer = ObserverID(key) { register.accepted.insert(observer) }
    }
    for (key, document) in try store.documents(kind: Kind.observer) {
      attempt(Kind.observer, key, logger) {
        guard let observer = ObserverID(key) else { throw noKey }
        register.observers[observer] = try ObserverDocument.observer(json: document, id: observer)
      }
    }
    for (key, document) in try store.documents(kind: Kind.zone) {
      attempt(Kind.zone, key, logger) {
        register.zones[key] = try ZoneDocument.zone(json: document, identifier: key)
      }
    }
  }

  /// Returns the changes of documents that lead from one register to another.
  ///
  /// - Parameters:
  ///   - register: the new register.
  ///   - former: the register that the store holds.
  /// - Returns: the documents to store and to drop.
  package static func changes(to register: Register, from former: Register) -> [DocumentChange] {
    var changes: [DocumentChange] = []
    for name in Set(register.made.keys).union(former.made.keys).sorted()
    where register.made[name] != former.made[name] {
      let (new, old) = (documents(of: name, register.made[name]), documents(of: name, former.made[name]))
      for key in Set(new.keys).union(old.keys).sorted() where new[key] != old[key] {
        changes.append(DocumentChange(kind: key.kind, key: key.key, document: new[key]))
      }
    }
    for observer in register.accepted.symmetricDifference(former.accepted).sorted() {
      let document = register.accepted.contains(observer) ? Array("{}".utf8) : nil
      changes.append(DocumentChange(kind: Kind.accepted, key: "\(observer)", document: document))
    }
    for observer in changed(register.observers, former.observers) {
      let document = register.observers[observer].map { entry in
        json { ObserverDocument.write(entry, to: &$0) }
      }
      changes.append(DocumentChange(kind: Kind.observer, key: "\(observer)", document: document))
    }
    for identifier in changed(register.zones, former.zones) {
      let document = register.zones[identifier].map { zone in json { ZoneDocument.write(zone, to: &$0) } }
      changes.append(DocumentChange(kind: Kind.zone, key: identifier, document: document))
    }
    return changes
  }

  /// The keys whose values differ between two dictionaries, in order.
  private static func changed<Name: Hashable & Comparable, Value: Equatable>(
    _ new: [Name: Value],
    _ old: [Name: Value]
  ) -> [Name] {
    Set(new.keys).union(old.keys).filter { new[$0] != old[$0] }.sorted()
  }

  /// The kind and the key of a document.
  private struct Key: Hashable, Comparable {
    let kind: String
    let key: String

    static func < (left: Key, right: Key) -> Bool { (left.kind, left.key) < (right.kind, right.key) }
  }

  private static func documents(of name: String, _ made: MadeApplication?) -> [Key: [UInt8]] {
    var documents: [Key: [UInt8]] = [:]
    guard let made else { return documents }
    if let document = made.document {
      documents[Key(kind: Kind.application, key: name)] = json { document.write(to: &$0) }
    }
    for (identifier, region) in made.regions {
      let key = Key(kind: Kind.region, key: key(name, identifier))
      documents[key] = json { RegionDocument.write(region, to: &$0) }
    }
    for (ranging, request) in made.ranging {
      let key = Key(kind: Kind.ranging, key: key(name, ranging))
      documents[key] = json { RangingDocument.write(request, to: &$0) }
    }
    return documents
  }

  private static func json(_ write: (inout JSONText) -> Void) -> [UInt8] {
    var json = JSONText()
    json.openObject()
    write(&json)
    json.closeObject()
    return json.utf8
  }

  private static func key(_ application: String, _ name: String) -> String {
    PercentCoding.encode(segment: application) + "/" + PercentCoding.encode(segment: name)
  }

  private static func names(in key: String) throws(Problem) -> (application: String, name: String) {
    let parts = key.split(separator: "/").map { PercentCoding.decode($0) }
    guard parts.count == 2, let application = parts[0], let name = parts[1] else { throw noKey }
    return (application, name)
  }

  private static let noKey = Problem.badRequest("Pharos did not write this key.")

  private static func attempt(
    _ kind: String,
    _ key: String,
    _ logger: Logger,
    _ body: () throws -> Void
  ) {
    do {
      try body()
    } catch {
      logger.error(
        "a stored registration cannot be read; it is kept and has no effect",
        metadata: ["document": "\(kind)/\(key)", LogKey.reason: "\(error)"]
      )
    }
  }
}
