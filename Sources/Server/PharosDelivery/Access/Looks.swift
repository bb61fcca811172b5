package import PharosDocuments
import PharosJournal
package import PharosModel
import Synchronization

/// A look of one subject at where another is, on the ground of a share.
///
/// Looks of the same kind within an hour are one entry, which counts them.
package struct Look: Hashable, Sendable {
  /// What the viewer looked at.
  package enum Means: String, CaseIterable, Hashable, Sendable {
    /// The list of its friends.
    case friends
    /// A live stream of its friends.
    case stream
    /// The way to the subject.
    case guidance
  }

  /// The subject that looked.
  package let viewer: SubjectID
  /// What it looked at.
  package let means: Means
  /// How finely it learned where the subject is.
  package let accuracy: AccuracyAuthorisation
  /// The time of the first look.
  package let since: Timestamp
  /// The time of the last look.
  package fileprivate(set) var until: Timestamp
  /// The number of looks.
  package fileprivate(set) var count: Int
}

extension Look.Means: FieldChoice {
  /// The name of the field.
  package static var fieldName: String { "a means of a look" }
}

extension Look: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Look(
      viewer: try coder.field(value().viewer),
      means: try coder.field(value().means),
      accuracy: try coder.field(value().accuracy),
      since: try coder.field(value().since),
      until: try coder.field(value().until),
      count: try coder.field(value().count)
    )
  }
}

/// The looks at each subject, which the subject can read.
///
/// A new entry is stored before the look is answered; the count of an entry that grows is stored with the next new one, or a minute
/// later.
package final class Looks: Sendable {
  /// The maximum number of entries for each subject; beyond it the oldest are dropped.
  package static let maximum = 1_000
  /// The time for which an entry is kept.
  package static let retention = TimeSpan.minutes(30 * 24 * 60)
  /// The length of an entry.
  private static let span = TimeSpan.minutes(60)
  /// The time after which a count that has grown is stored.
  private static let pause = TimeSpan.seconds(60)

  /// The looks at a subject.
  private struct List: FieldRecord {
    let subject: SubjectID
    var looks: [Look]
    /// The time at which it was stored.
    var storedAt = Timestamp.distantPast

    static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
      let subject = try coder.field(value().subject)
      return List(subject: subject, looks: try coder.field(value().looks))
    }

    /// The key of its document.
    var document: String { Secret.key { subject.write(to: &$0) } }
  }

  private let store: any DocumentStore<JournalError>
  private let lists: Mutex<[SubjectID: List]>

  /// Reads the stored looks.
  init(store: any DocumentStore<JournalError>) throws(AccessError) {
    self.store = store
    let kept: [(key: String, value: List)] = try store.decoded(kind: DocumentKind.looks)
    lists = Mutex(Dictionary(kept.map { ($0.value.subject, $0.value) }) { $1 })
  }

  /// Returns the looks at a subject, the newest first.
  package func looks(at subject: SubjectID, now: Timestamp) -> [Look] {
    let looks = lists.withLock { $0[subject]?.looks ?? [] }
    return looks.filter { now - $0.until <= Looks.retention }.reversed()
  }

  /// Adds a look.
  ///
  /// - Throws: `AccessError.store`; the look must not be answered then.
  package func record(
    at subject: SubjectID,
    by viewer: SubjectID,
    _ means: Look.Means,
    _ accuracy: AccuracyAuthorisation,
    now: Timestamp
  ) throws(AccessError) {
    try lists.withLock { lists throws(AccessError) in
      var list = lists[subject] ?? List(subject: subject, looks: [])
      let same = list.looks.lastIndex { look in
        look.viewer == viewer && look.means == means && look.accuracy == accuracy
          && now - look.since < Looks.span && now >= look.since
      }
      if let same {
        list.looks[same].count += 1
        list.looks[same].until = now
      } else {
        list.looks.removeAll { now - $0.until > Looks.retention }
        list.looks.removeFirst(max(0, list.looks.count - Looks.maximum + 1))
        list.looks.append(
          Look(viewer: viewer, means: means, accuracy: accuracy, since: now, until: now, count: 1)
        )
      }
      if same == nil || now - list.storedAt >= Looks.pause {
        list.storedAt = now
        try store.keep(list, kind: DocumentKind.looks, key: list.document)
      }
      lists[subject] = list
    }
  }

  /// Removes the looks at a subject, and those of it at others.
  ///
  /// - Returns: the number of entries that were removed.
  func erase(_ traces: SubjectTraces) throws(AccessError) -> Int {
    try lists.withLock { lists throws(AccessError) in
      var kept = lists
      var erased = 0
      var changes: [DocumentChange] = []
      for (subject, list) in lists {
        var left = list
        left.looks.removeAll { traces.contains(subject) || traces.contains($0.viewer) }
        guard left.looks.count < list.looks.count else { continue }
        erased += list.looks.count - left.looks.count
        kept[subject] = left.looks.isEmpty ? nil : left
        let document = left.looks.isEmpty ? nil : left.encoded
        changes.append(DocumentChange(kind: DocumentKind.looks, key: list.document, document: document))
      }
      try store.carryOut(changes)
      lists = kept
      return erased
    }
  }
}
