package import Logging
package import PharosAccess
package import PharosJournal
import PharosReports
import PharosSite

/// What was registered over HTTP as documents of the journal: the very JSON that the interface takes.
package enum RegistrarDocuments {
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
  }

  /// Keeps what one register has and another has not, and forgets what is gone.
  ///
  /// - Parameters:
  ///   - register: what is to be kept.
  ///   - former: what is kept so far.
  ///   - store: where.
  /// - Throws: why the store cannot be written.
  package static func write(
    _ register: Register,
    replacing former: Register,
    in store: any DocumentStore
  ) throws(JournalError) {
    for name in Set(register.made.keys).union(former.made.keys).sorted() {
      let (new, old) = (
        register.made[name] ?? MadeApplication(), former.made[name] ?? MadeApplication()
      )
      guard new != old else { continue }
      if new.document != old.document {
        let document = new.document.map { value in json { value.write(to: &$0) } }
        try keep(document, Kind.application, name, store)
      }
      for identifier in Set(new.regions.keys).union(old.regions.keys).sorted()
      where new.regions[identifier] != old.regions[identifier] {
        let document = new.regions[identifier].map { region in
          json { RegionDocument.write(region, to: &$0) }
        }
        try keep(document, Kind.region, key(name, identifier), store)
      }
      for ranging in Set(new.ranging.keys).union(old.ranging.keys).sorted()
      where new.ranging[ranging] != old.ranging[ranging] {
        let document = new.ranging[ranging].map { request in
          json { RangingDocument.write(request, to: &$0) }
        }
        try keep(document, Kind.ranging, key(name, ranging), store)
      }
    }
    for observer in register.accepted.subtracting(former.accepted).sorted() {
      try keep(Array("{}".utf8), Kind.accepted, "\(observer)", store)
    }
    for observer in former.accepted.subtracting(register.accepted).sorted() {
      try keep(nil, Kind.accepted, "\(observer)", store)
    }
  }

  private static func keep(
    _ document: [UInt8]?,
    _ kind: String,
    _ key: String,
    _ store: any DocumentStore
  ) throws(JournalError) {
    if let document {
      try store.put(document, kind: kind, key: key)
    } else {
      _ = try store.delete(kind: kind, key: key)
    }
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
    guard parts.count == 2, let application = parts[0], let name = parts[1] else {
      throw .badRequest("The key is none that Pharos wrote.")
    }
    return (application, name)
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
        "a registration that is kept cannot be read; it is left alone and not in effect",
        metadata: ["document": "\(kind)/\(key)", LogKey.reason: "\(error)"]
      )
    }
  }
}
