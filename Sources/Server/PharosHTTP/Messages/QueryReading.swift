import PharosDocuments
package import PharosModel

/// A reader of typed values from a query; it collects all errors, so that a client reads them at once.
package struct QueryReading: Sendable {
  /// The maximum number of parameters of a query.
  private static let maximumParameters = 256

  /// The parameters in their order, decoded.
  private var items: [(name: String, value: String)] = []
  private var errors: [Problem.Field] = []

  /// Reads an empty query.
  init() {}

  /// Reads the query of a request's target.
  ///
  /// - Throws: a problem for values that cannot be decoded, unknown names, and too many parameters.
  package init(target: String, known: [String]) throws(Problem) {
    guard let mark = target.firstIndex(of: "?") else { return }
    for part in target[target.index(after: mark)...].split(separator: "&") {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentCoding.decode(halves[0], plusIsSpace: true),
        let value = PercentCoding.decode(halves.count > 1 ? halves[1] : "", plusIsSpace: true),
        !value.utf8.contains(0)
      else {
        throw .badRequest("The query holds a zero byte, no UTF-8, or a percent sign without two digits.")
      }
      if known.contains(name) {
        items.append((name, value))
      } else {
        let expected = known.isEmpty ? "no parameters" : "one of \(known.joined(separator: ", "))"
        wrong(name, "is not known here", expected: expected)
      }
    }
    try finish()
    guard items.count <= QueryReading.maximumParameters else {
      throw .badRequest(
        "The query has \(items.count) parameters; at most \(QueryReading.maximumParameters) are taken."
      )
    }
  }

  /// The value of a parameter in the query of a request's target before the query is read; nil where there is none.
  static func value(of name: String, in target: String) -> String? {
    guard let mark = target.firstIndex(of: "?") else { return nil }
    for part in target[target.index(after: mark)...].split(separator: "&") where part.hasPrefix(name + "=") {
      return PercentCoding.decode(part.dropFirst(name.count + 1), plusIsSpace: true)
    }
    return nil
  }

  /// The one value of a parameter as text, or nil.
  mutating func text(_ name: String) -> String? {
    let values = values(name)
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
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    return value(name, expected: expected) { Int64($0).flatMap { range.contains($0) ? $0 : nil } }
  }

  /// Returns the number of entries that a page may have.
  package mutating func limit(default usual: Int = 100) -> Int {
    integer("limit", in: 1...Int64(Page.maximumLength)).map(Int.init) ?? usual
  }

  /// One of the words of an enumeration, or nil.
  mutating func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String,
    _ type: Word.Type
  ) -> Word? {
    let expected = "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))"
    return value(name, "is not known", expected: expected) { Word(rawValue: $0) }
  }

  /// The value of a parameter that may be empty, or nil; of one that is repeated, the last.
  func givenText(_ name: String) -> String? { values(name).last }

  /// A truth value, or nil.
  package mutating func bool(_ name: String) -> Bool? {
    value(name, "is not a truth value", expected: "true or false") { Bool($0) }
  }

  /// A number, or nil.
  package mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
    let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
    return value(name, expected: expected) { Double($0).flatMap { range.contains($0) ? $0 : nil } }
  }

  /// A time, or nil.
  package mutating func time(_ name: String) -> Timestamp? {
    let expected = "RFC 3339, as 2015-01-01T00:00:00Z, or seconds since the epoch"
    return value(name, "is not a time", expected: expected) { Timestamp(text: $0) }
  }

  private mutating func value<Value>(
    _ name: String,
    _ flaw: String = "is not valid",
    expected: String,
    _ read: (String) -> Value?
  ) -> Value? {
    guard let text = text(name) else { return nil }
    if let value = read(text) { return value }
    wrong(name, "\"\(text.shortened)\" \(flaw)", expected: expected)
    return nil
  }

  /// Texts as they stand, commas included, or nil where the parameter is not there: identifiers may hold commas.
  package mutating func texts(_ name: String) -> Set<String>? {
    let values = values(name)
    guard !values.isEmpty else { return nil }
    if values.contains("") {
      wrong(name, "is empty", expected: "a value, or the parameter left out")
    }
    return Set(values)
  }

  /// The values of a parameter that may be repeated, in their order.
  mutating func orderedTexts(_ name: String) -> [String] {
    let values = values(name)
    if values.contains("") { wrong(name, "is empty", expected: "a value, or the parameter left out") }
    return values
  }

  /// Values that a function reads, each from a parameter of its own, or nil where the parameter is not there.
  mutating func set<Value: Hashable>(
    _ name: String,
    expected: String,
    _ read: (String) -> Value?
  ) -> Set<Value>? {
    guard let texts = texts(name) else { return nil }
    return values(of: texts.sorted().filter { !$0.isEmpty }, name, "is not valid", expected, read)
  }

  /// Values that a function reads, also several of one parameter with commas between them.
  mutating func list<Value: Hashable>(
    _ name: String,
    _ flaw: String = "is not valid",
    expected: String,
    _ read: (String) -> Value?
  ) -> Set<Value>? {
    let given = values(name)
    let texts = given.flatMap { $0.split(separator: ",").map(String.init) }
    if texts.isEmpty, !given.isEmpty { wrong(name, "is empty", expected: expected) }
    guard !texts.isEmpty else { return nil }
    return values(of: texts, name, flaw, expected, read)
  }

  /// Observers, or nil.
  package mutating func observers(_ name: String) -> Set<ObserverID>? {
    let expected = "an EUI-48, an EUI-64, a UUID or a name of at most 64 bytes"
    return set(name, expected: expected) { ObserverID($0) }
  }

  /// Subjects, or nil: a text that is a beacon's stands for that beacon, any other for an observer.
  package mutating func subjects(_ name: String) -> Set<SubjectID>? {
    set(name, expected: "an observer or a beacon as events name them") { SubjectID($0) }
  }

  /// Returns whether a parameter is there, with a value or without.
  func has(_ name: String) -> Bool { items.contains { $0.name == name } }

  /// Adds an error about a parameter.
  mutating func wrong(_ name: String, _ message: String, expected: String) {
    errors.append(Problem.Field(name, message, expected: expected))
  }

  /// Throws the errors, if there are any.
  package func finish() throws(Problem) {
    guard errors.isEmpty else { throw .badQuery(errors) }
  }

  private func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

  private mutating func values<Value: Hashable>(
    of texts: [String],
    _ name: String,
    _ flaw: String,
    _ expected: String,
    _ read: (String) -> Value?
  ) -> Set<Value> {
    Set(
      texts.compactMap { text in
        if let value = read(text) { return value }
        wrong(name, "\"\(text.shortened)\" \(flaw)", expected: expected)
        return nil
      }
    )
  }
}

/// The pages of a long list: an opaque cursor, which holds the key of the entry before a page, marks where it begins.
///
/// The cursor holds a key and not an index: entries that come or go between two pages neither repeat nor hide others.
package enum Page {
  /// The maximum number of entries of a page.
  package static let maximumLength = Operation.Parameter.pageSizes.upperBound
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
        "is not a cursor of this server",
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
    let start = isBehind.map { entries.firstIndex(where: $0) ?? entries.count } ?? 0
    let page = entries[start..<min(entries.count, start + limit)]
    guard page.endIndex < entries.count, let last = page.last else { return (page, nil) }
    return (page, cursor(after: key(last)))
  }
}
