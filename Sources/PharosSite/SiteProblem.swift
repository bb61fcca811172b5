/// A mistake in a site file or a document, or a warning about it.
package struct SiteProblem: Error, Hashable, Sendable {
  /// The severity of a problem.
  package enum Severity: Hashable, Sendable {
    /// The file cannot be used.
    case mistake
    /// The file can be used, but may not do what its author meant.
    case warning
  }

  /// The line, counted from 1.
  package let line: Int
  /// The path in the tree, as in `applications[0].regions[2].enter.rssi`; empty for the whole of it.
  package let field: String
  /// The severity.
  package let severity: Severity
  /// The description of the problem.
  package let message: String
  /// The value that would be valid.
  package let expected: String?

  /// Makes a problem.
  package init(
    line: Int,
    field: String = "",
    severity: Severity,
    message: String,
    expected: String? = nil
  ) {
    self.line = line
    self.field = field
    self.severity = severity
    self.message = message
    self.expected = expected
  }

  /// Formats the problem so that an editor can jump to it: `path:line: message (expected …)`.
  package func text(in path: String) -> String {
    let kind = severity == .warning ? "warning: " : ""
    let wish = expected.map { " (expected \($0))" } ?? ""
    return "\(path):\(line): \(kind)\(PlainText.clean(message + wish))"
  }
}

/// A site file or a document that cannot be used: every mistake in it, in the order of its lines.
package struct SiteFileError: Error, Hashable, Sendable {
  /// The path of the file, or the name of the document.
  package let path: String
  /// The mistakes and warnings.
  package let problems: [SiteProblem]

  /// Makes an error.
  package init(path: String, problems: [SiteProblem]) {
    self.path = path
    self.problems = problems
  }
}

extension SiteFileError: CustomStringConvertible {
  /// One line for each problem.
  package var description: String { problems.map { $0.text(in: path) }.joined(separator: "\n") }
}

/// The problems that are found while a file is read, collected so that all of them are reported at once.
final class SiteProblems {
  private(set) var all: [SiteProblem] = []
  /// Indicates whether the text is JSON, which distinguishes numbers from texts; in YAML the reader decides.
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

  /// Indicates whether the limit is reached, so that reading on is of no use.
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
  /// - Returns: the warnings, if there are no mistakes.
  /// - Throws: all problems, if one of them is a mistake.
  func conclude(path: String) throws(SiteFileError) -> [SiteProblem] {
    let found = sorted
    guard !found.contains(where: { $0.severity == .mistake }) else {
      throw SiteFileError(path: path, problems: found)
    }
    return found
  }
}
