package import Logging
package import PharosDocuments
import PharosModel

/// The registrations over HTTP as documents of a store: the JSON that the interface takes.
package enum RegistrationDocuments {
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
    /// A beacon with its name; the key is the beacon.
    static let beacon = "http.beacon"
    /// A zone; the key is its identifier.
    static let zone = "http.zone"

    /// All of them, in the order in which they are read.
    static let all = [application, region, ranging, accepted, observer, beacon, zone]
  }

  /// The kind of the document that holds the declarations of the site file, where several servers take them from each other.
  static let declared = "site.declared"

  /// Reads all documents; logs one that cannot be read, and leaves it in the store.
  ///
  /// - Parameters:
  ///   - store: the store of the documents.
  ///   - sources: what they are added to.
  ///   - logger: logs documents that cannot be read.
  /// - Throws: the error of a store that cannot be read.
  package static func read(
    from store: any DocumentStore,
    into sources: inout SiteSources,
    logger: Logger
  ) throws {
    for kind in Kind.all {
      for (key, document) in try store.documents(kind: kind) {
        attempt(kind, key, logger) {
          try follow(DocumentChange(kind: kind, key: key, document: document), in: &sources)
        }
      }
    }
  }

  /// Has sources follow from a document that was stored or dropped; one of another kind changes nothing.
  ///
  /// - Throws: what is wrong with the document; nothing has changed then.
  static func follow(_ change: DocumentChange, in sources: inout SiteSources) throws {
    let (key, document) = (change.key, change.document)
    switch change.kind {
    case declared:
      guard let document else { return }
      var reader = FieldReader(document[...])
      sources.declared = try Site(from: &reader)
    case Kind.application:
      let settings = try document.map { try ApplicationSettings(json: $0, identifier: key) }
      sources.made[key, default: MadeApplication()].settings = settings
      sources.dropEmpty(key)
    case Kind.region:
      let (application, identifier) = try names(in: key)
      let region = try document.map { try RegionDocument.region(json: $0, identifier: identifier) }
      sources.made[application, default: MadeApplication()].regions[identifier] = region
      sources.dropEmpty(application)
    case Kind.ranging:
      let (application, name) = try names(in: key)
      let request = try document.map { try RangingDocument.request(json: $0) }
      sources.made[application, default: MadeApplication()].ranging[name] = request
      sources.dropEmpty(application)
    case Kind.accepted:
      guard let observer = ObserverID(key) else { return }
      if document == nil { sources.accepted.remove(observer) } else { sources.accepted.insert(observer) }
    case Kind.observer:
      guard let observer = ObserverID(key) else { throw UnknownKey() }
      sources.observers[observer] = try document.map { try ObserverDocument.observer(json: $0, id: observer) }
    case Kind.beacon:
      guard let beacon = BeaconID(key) else { throw UnknownKey() }
      sources.beacons[beacon] = try document.map { try BeaconDocument.beacon(json: $0, id: beacon) }
    case Kind.zone: sources.zones[key] = try document.map { try ZoneDocument.zone(json: $0, identifier: key) }
    default: break
    }
  }

  /// Returns the document that holds the declarations of a site file.
  static func declaration(of site: Site) -> DocumentChange {
    var writer = FieldWriter()
    writer.write(site)
    return DocumentChange(kind: declared, key: "", document: writer.bytes)
  }

  /// Returns the changes of documents that lead from some sources to others.
  ///
  /// - Parameters:
  ///   - sources: the new sources.
  ///   - former: the sources that the store holds.
  /// - Returns: the documents to store and to drop.
  package static func changes(to sources: SiteSources, from former: SiteSources) -> [DocumentChange] {
    var changes: [DocumentChange] = []
    for name in Set(sources.made.keys).union(former.made.keys).sorted()
    where sources.made[name] != former.made[name] {
      let (new, old) = (documents(of: name, sources.made[name]), documents(of: name, former.made[name]))
      for key in Set(new.keys).union(old.keys).sorted() where new[key] != old[key] {
        changes.append(DocumentChange(kind: key.kind, key: key.key, document: new[key]))
      }
    }
    for observer in sources.accepted.symmetricDifference(former.accepted).sorted() {
      let document = sources.accepted.contains(observer) ? Array("{}".utf8) : nil
      changes.append(DocumentChange(kind: Kind.accepted, key: "\(observer)", document: document))
    }
    for observer in changed(sources.observers, former.observers) {
      let document = sources.observers[observer].map { entry in
        json { ObserverDocument.write(entry, to: &$0) }
      }
      changes.append(DocumentChange(kind: Kind.observer, key: "\(observer)", document: document))
    }
    for beacon in changed(sources.beacons, former.beacons) {
      let document = sources.beacons[beacon].map { entry in json { BeaconDocument.write(entry, to: &$0) } }
      changes.append(DocumentChange(kind: Kind.beacon, key: "\(beacon)", document: document))
    }
    for identifier in changed(sources.zones, former.zones) {
      let document = sources.zones[identifier].map { zone in json { ZoneDocument.write(zone, to: &$0) } }
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
    if let settings = made.settings {
      documents[Key(kind: Kind.application, key: name)] = json { settings.write(to: &$0) }
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

  private static func names(in key: String) throws(UnknownKey) -> (application: String, name: String) {
    let parts = key.split(separator: "/").map { PercentCoding.decode($0) }
    guard parts.count == 2, let application = parts[0], let name = parts[1] else { throw UnknownKey() }
    return (application, name)
  }

  /// The key of a document that no owner of a site has written.
  private struct UnknownKey: Error, CustomStringConvertible {
    let description = "Pharos did not write this key."
  }

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
        "Cannot read a stored registration. It is kept and has no effect.",
        metadata: ["document": "\(kind)/\(key)", LogKey.reason: "\(error)"]
      )
    }
  }
}
