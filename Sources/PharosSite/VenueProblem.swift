/// A mistake in a file of a venue's folder, or a warning about it.
package struct VenueProblem: Error, Hashable, Sendable {
  /// The place of a problem in a file.
  package enum Place: Hashable, Sendable {
    /// A line, counted from 1.
    case line(Int)
    /// A feature of a GeoJSON file, counted from 1, and its id.
    case feature(Int, id: String?)
    /// The file as a whole.
    case file
  }

  /// The path of the file, relative to the venue's folder.
  package let file: String
  /// The place in the file.
  package let place: Place
  /// The field, as in `floors[0].plan.anchors[1].pixel` or `geometry.coordinates[0]`; empty for none.
  package let field: String
  /// The severity.
  package let severity: SiteProblem.Severity
  /// The description of the problem.
  package let message: String
  /// The value that would be valid.
  package let expected: String?

  /// Makes a problem.
  package init(
    file: String,
    place: Place,
    field: String = "",
    severity: SiteProblem.Severity,
    message: String,
    expected: String? = nil
  ) {
    self.file = file
    self.place = place
    self.field = field
    self.severity = severity
    self.message = message
    self.expected = expected
  }

  /// Formats the problem so that an editor can jump to it: `folder/file:line: message (expected …)`, or with the
  /// feature's number.
  package func text(in folder: String) -> String {
    let path = folder.isEmpty || folder.hasSuffix("/") ? folder + file : "\(folder)/\(file)"
    let kind = severity == .warning ? "warning: " : ""
    let wish = expected.map { " (expected \($0))" } ?? ""
    let body = PlainText.clean("\(kind)\(message)\(wish)")
    switch place {
    case .line(let line): return "\(path):\(line): \(body)"
    case .file: return "\(path): \(body)"
    case .feature(let number, let id):
      let name = id.map { " (\(PlainText.clean(PlainText.cut($0, to: 40))))" } ?? ""
      let field = field.isEmpty ? "" : "\(field): "
      return "\(path): feature \(number)\(name): \(field)\(body)"
    }
  }
}

/// A venue's folder that cannot be used: every mistake in it, file by file.
package struct VenueFolderError: Error, Hashable, Sendable {
  /// The folder.
  package let folder: String
  /// The mistakes and warnings.
  package let problems: [VenueProblem]

  /// Makes an error.
  package init(folder: String, problems: [VenueProblem]) {
    self.folder = folder
    self.problems = problems
  }
}

extension VenueFolderError: CustomStringConvertible {
  /// One line for each problem.
  package var description: String { problems.map { $0.text(in: folder) }.joined(separator: "\n") }
}

/// The problems that are found while a folder is read, collected so that all of them are reported at once.
final class VenueProblems {
  private(set) var all: [VenueProblem] = []
  /// The maximum number of problems kept; a longer list is of no use to a reader.
  private static let limit = 200

  /// Indicates whether the limit is reached, so that reading on is of no use.
  var isFull: Bool { all.count >= VenueProblems.limit }

  func add(_ problem: VenueProblem) {
    guard !isFull else { return }
    all.append(problem)
  }

  func removeAll() { all.removeAll() }

  func mistake(_ file: String, _ message: String, expected: String? = nil) {
    add(VenueProblem(file: file, place: .file, severity: .mistake, message: message, expected: expected))
  }

  func warning(_ file: String, _ message: String, expected: String? = nil) {
    add(VenueProblem(file: file, place: .file, severity: .warning, message: message, expected: expected))
  }

  /// Adds the problems that were found in the YAML.
  func add(_ problems: [SiteProblem], file: String) {
    for problem in problems {
      add(
        VenueProblem(
          file: file,
          place: .line(problem.line),
          field: problem.field,
          severity: problem.severity,
          message: problem.message,
          expected: problem.expected
        )
      )
    }
  }

  /// Indicates whether there is a mistake among them.
  var hasMistakes: Bool { all.contains { $0.severity == .mistake } }
}
