package import PharosModel

/// A reader of typed values from a query; it collects all errors, so that a client reads them at once.
package struct QueryReading {
  private let items: QueryItems
  /// The errors so far.
  private(set) var errors: [Problem.Field] = []

  /// Reads a request's query.
  package init(_ request: APIRequest) { items = request.query }

  /// The one value of a parameter as text, or nil.
  mutating func text(_ name: String) -> String? {
    let values = items.values(name)
    if values.count > 1 { wrong(name, "is given \(values.count) times", expected: "one value") }
    guard let value = values.first else { return nil }
    guard !value.isEmpty else {
      wrong(name, "is empty", expected: "a value, or the parameter left out")
      return nil
    }
    return value
  }

  /// A whole number, or nil.
  package mutating func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let text = text(name) else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      wrong(
        name,
        "\"\(text.shortened)\" is none",
        expected: "a whole number from \(range.lowerBound) to \(range.upperBound)"
      )
      return nil
    }
    return number
  }

  /// Returns the number of entries that a page may have.
  package mutating func limit(default usual: Int = 100) -> Int {
    integer("limit", in: 1...Int64(Page.longest)).map(Int.init) ?? usual
  }

  /// A truth value, or nil.
  package mutating func bool(_ name: String) -> Bool? {
    guard let text = text(name) else { return nil }
    switch text {
    case "true": return true
    case "false": return false
    default:
      wrong(name, "\"\(text.shortened)\" is neither", expected: "true or false")
      return nil
    }
  }

  /// A number, or nil.
  package mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
    guard let text = text(name) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      wrong(
        name,
        "\"\(text.shortened)\" is none",
        expected: "a number from \(range.lowerBound) to \(range.upperBound)"
      )
      return nil
    }
    return number
  }

  /// A time, or nil.
  package mutating func time(_ name: String) -> Timestamp? {
    guard let text = text(name) else { return nil }
    guard let time = Timestamp(text: text) else {
      wrong(
        name,
        "\"\(text.shortened)\" is no time",
        expected: "RFC 3339, as 2015-01-01T00:00:00Z, or seconds since the epoch"
      )
      return nil
    }
    return time
  }

  /// Values that a function reads, or nil where the parameter is not there.
  mutating func set<Value: Hashable>(
    _ name: String,
    expected: String,
    _ read: (String) -> Value?
  ) -> Set<Value>? {
    let texts = items.list(name)
    guard !texts.isEmpty else {
      if !items.values(name).isEmpty { wrong(name, "is empty", expected: expected) }
      return nil
    }
    var values: Set<Value> = []
    for text in texts {
      guard let value = read(text) else {
        wrong(name, "\"\(text.shortened)\" is none", expected: expected)
        continue
      }
      values.insert(value)
    }
    return values
  }

  /// Texts as they stand, commas included, or nil where the parameter is not there: identifiers may hold commas.
  package mutating func texts(_ name: String) -> Set<String>? {
    let values = items.values(name)
    guard !values.isEmpty else { return nil }
    if values.contains("") {
      wrong(name, "is empty", expected: "a value, or the parameter left out")
    }
    return Set(values)
  }

  /// Observers, or nil.
  package mutating func observers(_ name: String) -> Set<ObserverID>? {
    guard let texts = texts(name) else { return nil }
    return set(
      name,
      expected: "an EUI-48, an EUI-64, a UUID or a name of at most 64 bytes",
      from: texts
    ) {
      ObserverID($0)
    }
  }

  /// Subjects, or nil: a text that is a beacon's stands for that beacon, any other for an observer.
  package mutating func subjects(_ name: String) -> Set<SubjectID>? {
    guard let texts = texts(name) else { return nil }
    return set(name, expected: "an observer or a beacon as events name them", from: texts) {
      SubjectID($0)
    }
  }

  /// Adds an error about a parameter.
  mutating func wrong(_ name: String, _ message: String, expected: String) {
    errors.append(Problem.Field(name, message, expected: expected))
  }

  /// Throws the errors, if there are any.
  package func finish() throws(Problem) {
    guard errors.isEmpty else { throw .badQuery(errors) }
  }

  private mutating func set<Value: Hashable>(
    _ name: String,
    expected: String,
    from texts: Set<String>,
    _ read: (String) -> Value?
  ) -> Set<Value> {
    var values: Set<Value> = []
    for text in texts.sorted() where !text.isEmpty {
      guard let value = read(text) else {
        wrong(name, "\"\(text.shortened)\" is none", expected: expected)
        continue
      }
      values.insert(value)
    }
    return values
  }
}

extension SubjectID {
  /// Reads a subject as events name it: a text that is a beacon's stands for that beacon, any other for an observer.
  package init?(_ text: String) {
    if let beacon = BeaconID(text) {
      self = .beacon(beacon)
    } else if let observer = ObserverID(text) {
      self = .observer(observer)
    } else {
      return nil
    }
  }
}

extension EventKind {
  /// The kind of a CloudEvents type, with or without `pharos.` before it; nil where there is none.
  init?(type: String) {
    guard
      let kind = EventKind.allCases.first(where: { $0.type == type || $0.type == "pharos.\(type)" })
    else {
      return nil
    }
    self = kind
  }
}

extension String {
  /// The text, cut where it is longer than a message should repeat.
  var shortened: String { count <= 64 ? self : prefix(64) + "…" }
}

/// The parameters of a query in their order, decoded.
package struct QueryItems: Hashable, Sendable {
  /// One of them.
  struct Item: Hashable, Sendable {
    var name: String
    var value: String
  }

  /// The maximum number of parameters of a query.
  static let limit = 256

  /// The parameters.
  private(set) var items: [Item] = []

  /// Has none.
  init() {}

  /// Reads the query of a request's target.
  ///
  /// - Throws: a problem for values that cannot be decoded, unknown names, and too many parameters.
  package init(target: String, known: [String]) throws(Problem) {
    guard let mark = target.firstIndex(of: "?") else { return }
    var errors: [Problem.Field] = []
    for part in target[target.index(after: mark)...].split(separator: "&") {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentCoding.decode(halves[0], plusIsSpace: true),
        let value = PercentCoding.decode(halves.count > 1 ? halves[1] : "", plusIsSpace: true),
        !value.utf8.contains(0)
      else {
        throw .badRequest(
          "The query holds a zero byte, no UTF-8, or a percent sign without two digits."
        )
      }
      guard known.contains(name) else {
        let expected = known.isEmpty ? "no parameters" : "one of \(known.joined(separator: ", "))"
        errors.append(Problem.Field(name, "is not known here", expected: expected))
        continue
      }
      items.append(Item(name: name, value: value))
    }
    guard errors.isEmpty else { throw .badQuery(errors) }
    guard items.count <= QueryItems.limit else {
      throw .badRequest(
        "The query has \(items.count) parameters; at most \(QueryItems.limit) are taken."
      )
    }
  }

  /// All values of a parameter; one value may hold several, separated by commas.
  func list(_ name: String) -> [String] {
    items.filter { $0.name == name }
      .flatMap { $0.value.split(separator: ",").map(String.init) }
  }

  /// All values of a parameter as they stand, commas included.
  func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}

/// The pages of a long list: an opaque cursor, which holds the key of the entry before a page, marks where it begins.
///
/// The cursor holds a key and not an index: entries that come or go between two pages neither repeat nor hide others.
package enum Page {
  /// The maximum number of entries of a page.
  package static let longest = 1_000
  /// The separator between the parts of a key: a control character, which no identifier may hold.
  private static let separator: Character = "\n"

  /// The cursor behind an entry with some key.
  package static func cursor(after key: [String]) -> String {
    "c" + Hex.text(Array(key.joined(separator: String(separator)).utf8))
  }

  /// The key that a request's cursor holds, or nil for the first page.
  ///
  /// - Parameters:
  ///   - query: the query.
  ///   - read: makes a key of its parts, or nil if they are none.
  /// - Returns: the key.
  package static func key<Key>(_ query: inout QueryReading, _ read: ([String]) -> Key?) -> Key? {
    guard let text = query.text("cursor") else { return nil }
    guard text.first == "c", let bytes = Hex.bytes(text.dropFirst()),
      let joined = String(validating: bytes, as: UTF8.self),
      let key = read(
        joined.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
      )
    else {
      query.wrong(
        "cursor",
        "is none that Pharos gave",
        expected: "the value of next in the page before"
      )
      return nil
    }
    return key
  }

  /// The entries of one page, and the cursor of the next one if there is one.
  ///
  /// - Parameters:
  ///   - entries: all entries in their order.
  ///   - limit: the maximum number of entries of the page.
  ///   - isBehind: indicates whether an entry comes after the previous page: from some entry on all do; nil for the
  ///     first page.
  ///   - key: the parts of an entry's key.
  /// - Returns: the page, and the cursor of the next one.
  package static func cut<Entry>(
    _ entries: [Entry],
    limit: Int,
    isBehind: ((Entry) -> Bool)?,
    key: (Entry) -> [String]
  ) -> (entries: ArraySlice<Entry>, next: String?) {
    var start = 0
    if let isBehind {
      var end = entries.count
      while start < end {
        let middle = (start + end) / 2
        if isBehind(entries[middle]) { end = middle } else { start = middle + 1 }
      }
    }
    let page = entries[start..<min(entries.count, start + limit)]
    guard page.endIndex < entries.count, let last = page.last else { return (page, nil) }
    return (page, cursor(after: key(last)))
  }
}
