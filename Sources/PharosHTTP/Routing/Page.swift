import PharosReports

/// The pages of a long list: an opaque cursor, which holds the key of the entry before a page, marks where it begins.
///
/// The cursor holds a key and not an index: entries that come or go between two pages neither repeat nor hide others.
package enum Page {
  /// How many entries a page may have.
  package static let longest = 1_000
  /// What separates the parts of a key: a control character, which no identifier may hold.
  private static let separator: Character = "\n"

  /// The cursor behind an entry with some key.
  package static func cursor(after key: [String]) -> String {
    "c" + Hex.text(Array(key.joined(separator: String(separator)).utf8))
  }

  /// The key that a request's cursor holds, or nil for the first page.
  ///
  /// - Parameters:
  ///   - query: the query.
  ///   - read: makes a key of its parts, or nil of what is none.
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
  ///   - limit: how many the page may have.
  ///   - isBehind: whether an entry comes behind the page before: from some entry on all do; nil for the first page.
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
