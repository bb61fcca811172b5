/// One mistake in a site file or a document, or something that deserves a look.
package struct SiteProblem: Error, Hashable, Sendable {
  /// How bad it is.
  package enum Severity: Hashable, Sendable {
    /// The file cannot be used.
    case mistake
    /// The file can be used, and may not do what was meant.
    case warning
  }

  /// The line, counted from 1.
  package let line: Int
  /// Where in the tree it is, as in `applications[0].regions[2].enter.rssi`; empty for the whole of it.
  package let field: String
  /// How bad it is.
  package let severity: Severity
  /// What is wrong, and with what.
  package let message: String
  /// What would have been right.
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

  /// The problem as an editor can jump to it: `path:line: message (expected …)`.
  package func text(in path: String) -> String {
    let kind = severity == .warning ? "warning: " : ""
    let wish = expected.map { " (expected \($0))" } ?? ""
    return "\(path):\(line): \(kind)\(PlainText.clean(message + wish))"
  }
}

/// A site file or a document that cannot be used: every mistake in it, in the order of its lines.
package struct SiteFileError: Error, Hashable, Sendable {
  /// The file, or what the document is.
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
