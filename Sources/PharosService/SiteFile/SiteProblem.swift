/// One mistake in a site file, or something that deserves a look.
public struct SiteProblem: Hashable, Sendable {
  /// How bad it is.
  public enum Severity: Hashable, Sendable {
    /// The file cannot be used.
    case mistake
    /// The file can be used, and may not do what was meant.
    case warning
  }

  /// The line, counted from 1.
  public let line: Int
  /// How bad it is.
  public let severity: Severity
  /// What is wrong, and with what.
  public let message: String
  /// What would have been right.
  public let expected: String?

  /// Makes a problem.
  public init(line: Int, severity: Severity, message: String, expected: String? = nil) {
    self.line = line
    self.severity = severity
    self.message = message
    self.expected = expected
  }

  /// The problem as an editor can jump to it: `path:line: message (expected …)`.
  public func text(in path: String) -> String {
    let kind = severity == .warning ? "warning: " : ""
    let wish = expected.map { " (expected \($0))" } ?? ""
    return "\(path):\(line): \(kind)\(TextTable.clean(message + wish))"
  }
}

/// A site file that cannot be used: every mistake in it, in the order of its lines.
public struct SiteFileError: Error, Hashable, Sendable {
  /// The file.
  public let path: String
  /// The mistakes and warnings.
  public let problems: [SiteProblem]

  /// Makes an error.
  public init(path: String, problems: [SiteProblem]) {
    self.path = path
    self.problems = problems
  }
}

extension SiteFileError: CustomStringConvertible {
  /// One line for each problem.
  public var description: String { problems.map { $0.text(in: path) }.joined(separator: "\n") }
}

/// Gathers problems while a file is read, so that all of them are told at once.
final class SiteProblems {
  private(set) var all: [SiteProblem] = []

  /// How many are kept: nobody reads more, and aliases in YAML can multiply one mistake without end.
  private static let limit = 200

  func mistake(_ message: String, line: Int, expected: String? = nil) {
    add(SiteProblem(line: line, severity: .mistake, message: message, expected: expected))
  }

  func warning(_ message: String, line: Int, expected: String? = nil) {
    add(SiteProblem(line: line, severity: .warning, message: message, expected: expected))
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
}
