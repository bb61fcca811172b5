import HTTPTypes
import PharosDelivery
package import PharosDocuments
package import PharosJournal
package import PharosModel

/// A comparison of presence rules on a capture, as the journal keeps it: the page, and what a list shows of it.
///
/// The capture itself is not kept.
package struct CaptureComparison: Sendable {
  /// The name of the capture, as its sender wrote it.
  package var name: String
  /// The time at which it was made.
  package var madeAt: Timestamp
  /// The result in one to three sentences.
  package var headline: String
  /// The page: HTML that needs no other file.
  package var page: String

  /// Makes a comparison.
  package init(name: String, madeAt: Timestamp, headline: String, page: String) {
    (self.name, self.madeAt, self.headline, self.page) = (name, madeAt, headline, page)
  }

  /// Compares a capture: takes the path of the file, the name for people, the time-out of the rule in use, the text of an
  /// edited site file to compare with the site of a recording, if there is one, and a function that it calls with the number
  /// of unpacked bytes read so far.
  ///
  /// Throws ``Refused`` for a file that cannot be compared, and what the function throws. It takes seconds for a large
  /// capture, and blocks.
  package typealias Maker =
    @Sendable (
      _ path: String, _ name: String, _ timeout: TimeSpan, _ edited: String?,
      _ check: @escaping @Sendable (Int) throws -> Void
    ) throws -> (headline: String, page: String)

  /// The reason why a capture cannot be compared, for the person who sent it.
  package struct Refused: Error {
    /// The sentence.
    package var reason: String

    /// Gives the reason.
    package init(_ reason: String) { self.reason = reason }
  }
}

extension CaptureComparison: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      name: try coder.field(value().name),
      madeAt: try coder.field(value().madeAt),
      headline: try coder.field(value().headline),
      page: try coder.field(value().page)
    )
  }
}

/// The comparisons that are kept: the newest few, each under an identifier that cannot be guessed.
package struct ComparisonStore: Sendable {
  let journal: Journal

  package init(journal: Journal) { self.journal = journal }

  /// The kind of the documents.
  private static let kind = "comparison"
  /// The most comparisons that are kept; a further one replaces the oldest.
  static let capacity = 20

  /// All of them by identifier, the newest first.
  func all() throws -> [(id: String, comparison: CaptureComparison)] {
    try journal.documents(kind: ComparisonStore.kind)
      .map { (id: $0.key, comparison: try CaptureComparison(encoded: $0.document)) }
      .sorted { ($0.comparison.madeAt, $0.id) > ($1.comparison.madeAt, $1.id) }
  }

  /// Returns the one with an identifier, or nil.
  func comparison(_ id: String) throws -> CaptureComparison? {
    try journal.document(kind: ComparisonStore.kind, key: id).map { try CaptureComparison(encoded: $0) }
  }

  /// Keeps a comparison and drops the oldest ones beyond the limit.
  ///
  /// - Returns: the identifier, 128 random bits.
  func keep(_ comparison: CaptureComparison) throws -> String {
    var generator = SystemRandomNumberGenerator()
    let id = Hex.text((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    for old in try all().dropFirst(ComparisonStore.capacity - 1) { try drop(old.id) }
    try journal.put(comparison.encoded, kind: ComparisonStore.kind, key: id)
    return id
  }

  /// Drops one.
  ///
  /// - Returns: true if there was one.
  @discardableResult
  func drop(_ id: String) throws -> Bool { try journal.delete(kind: ComparisonStore.kind, key: id) }

  /// Drops those that show a subject.
  ///
  /// - Returns: their number.
  package func erase(_ traces: SubjectTraces) throws -> Int {
    let shown = try journal.documents(kind: ComparisonStore.kind).filter { traces.isNamed(in: $0.document) }
    for document in shown { try drop(document.key) }
    return shown.count
  }
}
