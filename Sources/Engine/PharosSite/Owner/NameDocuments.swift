import Logging
import PharosDocuments
import PharosModel

/// The names of a site as documents of a store: a record of its present and its former names for each identity.
///
/// The present name is among them so that the next start finds what was renamed while the server was stopped.
enum NameDocuments {
  /// The kind of the documents; the key is the identity.
  private static let kind = "site.name"
  /// The document that says that the store keeps names, though there may be none yet.
  static let beginning = DocumentChange(kind: kind, key: "", document: [])

  /// Reads all records; logs one that cannot be read, which the next change of its name replaces.
  ///
  /// - Returns: the records; nil from a store that never kept names.
  /// - Throws: the error of a store that cannot be read.
  static func read(from store: any DocumentStore, logger: Logger) throws -> [NameRecord]? {
    let documents = try store.documents(kind: kind)
    guard !documents.isEmpty else { return nil }
    var records: [NameRecord] = []
    for (key, document) in documents where !key.isEmpty {
      do throws(FieldError) {
        records.append(try record(document))
      } catch {
        logger.error(
          "Cannot read the former names of an identity. Events of the past are shown without its name.",
          metadata: ["document": "\(kind)/\(key)", LogKey.reason: "\(error)"]
        )
      }
    }
    return records
  }

  /// Returns the changes of documents that lead from some names to others.
  static func changes(to names: SiteNames, from former: SiteNames) -> [DocumentChange] {
    let (new, old) = (names.records, former.records)
    return Set(new.keys).union(old.keys).filter { new[$0] != old[$0] }
      .map { identity in
        var writer = FieldWriter()
        new[identity]?.write(to: &writer)
        return DocumentChange(
          kind: kind,
          key: "\(identity)",
          document: new[identity].map { _ in writer.bytes }
        )
      }
      .sorted { $0.key < $1.key }
  }

  /// Returns the keys of the documents about a subject.
  static func keys(of traces: SubjectTraces, in store: any DocumentStore) throws -> [String] {
    try store.documents(kind: kind).filter { key, document in
      !key.isEmpty && (try? record(document)).map { traces.contain($0.identity) } ?? false
    }
    .map(\.key)
  }

  /// Returns the change that removes a document.
  static func removal(_ key: String) -> DocumentChange { DocumentChange(kind: kind, key: key) }

  private static func record(_ document: [UInt8]) throws(FieldError) -> NameRecord {
    var reader = FieldReader(document[...])
    let record = try NameRecord(from: &reader)
    try reader.finish()
    return record
  }
}
