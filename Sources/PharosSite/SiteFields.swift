import PharosReports
import Yams

/// One mapping of a site file or an object of a document: its values by key, each read as what it must be.
///
/// Every getter that finds something else notes the mistake and answers nil, so that reading goes on and all
/// mistakes come out together.
struct SiteFields {
  /// What the mapping describes, as messages name it: `region "entrance"`.
  let place: String
  /// Where it is in the tree; empty for the root.
  let path: String
  /// Where it starts.
  let line: Int
  let problems: SiteProblems
  private let values: [String: Node]
  private let keyLines: [String: Int]

  /// Reads a mapping; nil, with a mistake noted, if the node is none.
  init?(_ node: Node, place: String, path: String, known: [String], problems: SiteProblems) {
    let line = node.mark?.line ?? 1
    self.place = place
    self.path = path
    self.line = line
    self.problems = problems
    guard !node.isNothing || problems.isJSON else {
      values = [:]
      keyLines = [:]
      return
    }
    guard let mapping = node.mapping else {
      let expected = problems.isJSON ? "an object" : "keys and values"
      problems.mistake("\(place) is \(node.sketch)", line: line, field: path, expected: expected)
      return nil
    }
    var values: [String: Node] = [:]
    var keyLines: [String: Int] = [:]
    for (key, value) in mapping {
      let keyLine = key.mark?.line ?? line
      guard let name = key.scalar?.string, known.contains(name) else {
        let name = key.scalar?.string ?? "(a structure)"
        let hint = Spelling.nearest(to: name, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
        problems.mistake(
          "\(place): unknown key \"\(name)\"\(hint)",
          line: keyLine,
          field: path.isEmpty ? name : "\(path).\(name)",
          expected: "one of \(known.joined(separator: ", "))"
        )
        continue
      }
      values[name] = value
      keyLines[name] = keyLine
    }
    self.values = values
    self.keyLines = keyLines
    guard problems.isJSON else { return }
    for (key, value) in mapping where value.isNothing {
      let name = key.scalar?.string ?? ""
      mistake(name, "\(name) is null", expected: "a value, or no such key")
    }
  }

  /// The value of a key; one that is written and empty counts as absent.
  subscript(_ key: String) -> Node? {
    guard let node = values[key], !node.isNothing else { return nil }
    return node
  }

  /// Whether the key stands in the file with a value.
  func has(_ key: String) -> Bool { self[key] != nil }

  /// The line of a key, or of the mapping where the key is absent.
  func line(of key: String) -> Int { keyLines[key] ?? line }

  /// Where a key is in the tree.
  func path(of key: String) -> String {
    if key.isEmpty { return path }
    return path.isEmpty ? key : "\(path).\(key)"
  }

  /// Where an element of a key's list is in the tree.
  func path(of key: String, _ index: Int) -> String { "\(path(of: key))[\(index)]" }

  /// Notes a mistake about a key.
  func mistake(_ key: String, _ message: String, expected: String? = nil) {
    problems.mistake(
      "\(place): \(message)",
      line: line(of: key),
      field: path(of: key),
      expected: expected
    )
  }

  /// Notes something about a key that deserves a look.
  func warning(_ key: String, _ message: String, expected: String? = nil) {
    problems.warning(
      "\(place): \(message)",
      line: line(of: key),
      field: path(of: key),
      expected: expected
    )
  }

  /// The elements of a list with their places in the tree; a key without a value is an empty one.
  func list(_ key: String, of things: String) -> [(index: Int, path: String, node: Node)] {
    guard let node = self[key] else { return [] }
    guard let sequence = node.sequence else {
      mistake(key, "\(key) is \(node.sketch)", expected: "a list of \(things)")
      return []
    }
    return sequence.enumerated().map { ($0.offset, path(of: key, $0.offset), $0.element) }
  }

  /// A mapping below a key.
  func fields(_ key: String, known: [String]) -> SiteFields? {
    guard let node = self[key] else { return nil }
    return SiteFields(
      node,
      place: place == "site" ? key : "\(place): \(key)",
      path: path(of: key),
      known: known,
      problems: problems
    )
  }
}
