/// The parameters of a query in their order, decoded.
package struct QueryItems: Hashable, Sendable {
  /// One of them.
  struct Item: Hashable, Sendable {
    var name: String
    var value: String
  }

  /// How many parameters a query may have.
  static let limit = 256

  /// The parameters.
  private(set) var items: [Item] = []

  /// Has none.
  init() {}

  /// Reads the query of a request's target.
  ///
  /// - Throws: what cannot be decoded, names that are not known, and too many.
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
