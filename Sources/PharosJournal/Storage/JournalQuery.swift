import GRDB
import PharosEvents
import PharosReports

/// A filter in the numbers of the journal: for each member that asks for something, the keys that fulfil it.
struct JournalQuery {
  /// All of these must be fulfilled, each by one of its keys.
  private(set) var members: [Set<Int64>] = []
  let since: Timestamp?
  let until: Timestamp?

  /// Whether a member can be fulfilled by no event, since the journal has none of its names.
  var isHopeless: Bool {
    if members.contains(where: \.isEmpty) { return true }
    if let since, let until { return since >= until }
    return false
  }

  /// Whether all events fulfil it.
  var isAll: Bool { members.isEmpty && since == nil && until == nil }

  init(_ filter: EventFilter, in database: Database) throws {
    since = filter.since
    until = filter.until
    if let kinds = filter.kinds {
      members.append(Set(kinds.map { Dimension.kind.key(Int64($0.rawValue)) }))
    }
    if let texts = filter.applications {
      members.append(try JournalQuery.keys(of: texts, .application, database))
    }
    if let texts = filter.regions { members.append(try JournalQuery.keys(of: texts, .region, database)) }
    if let subjects = filter.subjects {
      var keys: Set<Int64> = []
      for subject in subjects {
        switch subject {
        case .none: keys.insert(Dimension.subject.key(0))
        case .observer(let observer):
          if let key = try EventName.observer(observer).key(in: database) {
            keys.insert(Dimension.subject.key(key))
          }
        case .beacon(let beacon):
          if let key = try EventName.beacon(beacon).key(in: database) {
            keys.insert(Dimension.subject.key(key))
          }
        }
      }
      members.append(keys)
    }
    if let observers = filter.observers {
      var keys: Set<Int64> = []
      for observer in observers {
        guard let key = try EventName.observer(observer).key(in: database) else { continue }
        keys.insert(Dimension.subject.key(key))
        keys.insert(Dimension.mention.key(key))
      }
      members.append(keys)
    }
  }

  private static func keys(
    of texts: Set<String>,
    _ dimension: Dimension,
    _ database: Database
  ) throws -> Set<Int64> {
    var keys: Set<Int64> = []
    for text in texts {
      if text.isEmpty {
        keys.insert(dimension.key(0))
      } else if let key = try EventName.text(text).key(in: database) {
        keys.insert(dimension.key(key))
      }
    }
    return keys
  }

  /// Whether a time can fulfil it.
  func allows(_ time: Timestamp) -> Bool {
    if let since, time < since { return false }
    if let until, time >= until { return false }
    return true
  }

  /// The places in the unfinished block, from one on, that fulfil it, times left aside.
  func places(in tail: TailIndex, from first: Int) -> BlockBits {
    var bits = BlockBits(all: true)
    for member in members { bits.formIntersection(tail.places(of: member, from: first)) }
    return bits
  }

  /// The places in a block that is full.
  func places(in block: Int64, _ database: Database) throws -> BlockBits {
    var bits = BlockBits(all: true)
    let statement = try PreparedStatement(
      cachedBy: database,
      "SELECT places FROM postings WHERE block = ? AND key = ?"
    )
    defer { statement.reset() }
    for member in members {
      var found = BlockBits()
      for key in member {
        statement.reset()
        statement.bind(block, at: 1)
        statement.bind(key, at: 2)
        if try statement.next() { try found.formUnion(encoded: statement.bytes(0)) }
      }
      bits.formIntersection(found)
      if bits.isEmpty { break }
    }
    return bits
  }
}
