/// The problems that are found while a file is read, collected so that all of them are reported at once.
final class SiteProblems {
  private(set) var all: [SiteProblem] = []
  /// Whether the text is JSON, where a number is no text and a text no number; YAML leaves that to the reader.
  let isJSON: Bool

  /// The maximum number of problems kept.
  ///
  /// A longer list is of no use to a reader, and aliases in YAML can multiply one mistake without end.
  private static let limit = 200

  init(isJSON: Bool = false) { self.isJSON = isJSON }

  func mistake(_ message: String, line: Int, field: String, expected: String? = nil) {
    add(SiteProblem(line: line, field: field, severity: .mistake, message: message, expected: expected))
  }

  func warning(_ message: String, line: Int, field: String, expected: String? = nil) {
    add(SiteProblem(line: line, field: field, severity: .warning, message: message, expected: expected))
  }

  /// Whether reading on is of no use.
  var isFull: Bool { all.count >= SiteProblems.limit }

  private func add(_ problem: SiteProblem) {
    guard !isFull else { return }
    all.append(problem)
  }

  /// The problems by line; those of one line stay in the order in which they were found.
  var sorted: [SiteProblem] {
    all.enumerated()
      .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
      .map(\.element)
  }

  /// Ends a reading.
  ///
  /// - Returns: the warnings, where there is nothing worse.
  /// - Throws: all problems, where one of them is a mistake.
  func conclude(path: String) throws(SiteFileError) -> [SiteProblem] {
    let found = sorted
    guard !found.contains(where: { $0.severity == .mistake }) else {
      throw SiteFileError(path: path, problems: found)
    }
    return found
  }
}
