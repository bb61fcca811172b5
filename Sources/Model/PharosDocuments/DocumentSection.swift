/// A mapping of a document, as messages about misplaced keys name it: its keys, and the key under which it stands.
package struct DocumentSection: Hashable, Sendable {
  /// The name in messages.
  package let name: String
  /// The key under which it stands in the sections around it; nil for the root.
  package let key: String?
  /// Indicates whether a list of such mappings stands under the key.
  package let isList: Bool
  /// The names of the sections around it.
  package let parents: [String]
  /// The keys that it may have.
  package let keys: [String]

  /// The name of the root.
  package static let top = "the top level"

  /// Declares the root.
  package init(root keys: [String]) {
    name = DocumentSection.top
    key = nil
    isList = false
    parents = []
    self.keys = keys
  }

  /// Declares a section that stands within others.
  ///
  /// - Parameters:
  ///   - key: the key under which it stands.
  ///   - name: the name in messages; nil for the key.
  ///   - parents: the names of the sections around it.
  ///   - isList: indicates whether a list of such mappings stands under the key.
  ///   - keys: the keys that it may have.
  package init(
    _ key: String,
    name: String? = nil,
    in parents: [String] = [top],
    isList: Bool = false,
    _ keys: [String]
  ) {
    self.name = name ?? key
    self.key = key
    self.isList = isList
    self.parents = parents
    self.keys = keys
  }

  /// Returns how a key is typed in the section.
  fileprivate func example(of name: String) -> String {
    guard let key else { return "\(name): … without indentation" }
    return isList ? "\(key): [{ \(name): … }]" : "\(key): { \(name): … }"
  }
}

extension [DocumentSection] {
  /// The maximum number of sections that a message names: a key of more of them, such as `id`, says little of its place.
  private static let maximumHomes = 4

  /// Returns where a key belongs that a section does not have: in the sections within it, else in any.
  ///
  /// - Parameters:
  ///   - name: the key.
  ///   - known: the keys of the section in which it is written.
  ///   - onlyWithin: indicates whether only the sections within it count: the key is near to one of these, or the document
  ///     has no other sections.
  /// - Returns: the names of the sections, and how the key is typed there; nil if the key belongs nowhere or nearly everywhere.
  package func home(
    of name: String,
    besides known: [String],
    onlyWithin: Bool
  ) -> (names: String, example: String)? {
    guard let own = first(where: { $0.keys == known }) else { return nil }
    let others = filter { $0.keys.contains(name) && $0.keys != known }
    let within = others.filter { $0.parents.contains(own.name) }
    let homes = !within.isEmpty ? within : onlyWithin ? [] : others
    guard (1...Self.maximumHomes).contains(homes.count) else { return nil }
    // Sections that are typed alike, as regions with and without an area are, are named once.
    var typed: [(name: String, example: String)] = []
    for home in homes where !typed.contains(where: { $0.example == home.example(of: name) }) {
      typed.append((home.name, home.example(of: name)))
    }
    return (Wording.alternatives(typed.map(\.name)), Wording.alternatives(typed.map(\.example)))
  }
}
