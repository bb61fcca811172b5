/// A mistake in a document that a person or a client wrote, or a warning about it.
package struct DocumentProblem: Error, Hashable, Sendable {
  /// The severity of a problem.
  package enum Severity: Hashable, Sendable {
    /// The document cannot be used.
    case mistake
    /// The document can be used, but may not do what its author meant.
    case warning
  }

  /// The place of a problem in a file.
  package enum Place: Hashable, Sendable {
    /// A line, counted from 1.
    case line(Int)
    /// A feature of a GeoJSON file, counted from 1, and its id.
    case feature(Int, id: String?)
    /// The file as a whole.
    case file
  }

  /// The path of the file, relative to the folder that is read; nil where one document is read.
  package var file: String?
  /// The place in the file.
  package var place: Place
  /// The path in the tree, as in `applications[0].regions[2].enter.rssi`; empty for the whole of it.
  package var field: String
  /// The severity.
  package var severity: Severity
  /// The description of the problem.
  package var message: String
  /// The value that would be valid.
  package var expected: String?

  /// Makes a problem; without a place, one of the file as a whole.
  package init(
    file: String? = nil,
    place: Place = .file,
    field: String = "",
    severity: Severity = .mistake,
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

  /// The line; nil if the place is none.
  package var line: Int? {
    guard case .line(let line) = place else { return nil }
    return line
  }

  /// Formats the problem so that an editor can jump to it: `path:line: message (expected …)`, or with the number of the
  /// feature.
  ///
  /// - Parameter path: the document, or the folder of the file.
  /// - Returns: one line.
  package func text(in path: String) -> String {
    let path = file.map { path.isEmpty || path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" } ?? path
    let kind = severity == .warning ? "warning: " : ""
    let body = PlainText.clean(kind + message + (expected.map { " (expected \($0))" } ?? ""))
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

/// A document or a folder that cannot be used, with every mistake in it.
package struct DocumentError: Error, Hashable, Sendable {
  /// The path of the file or folder, or the name of the document.
  package let path: String
  /// The mistakes and warnings.
  package let problems: [DocumentProblem]

  /// Makes an error.
  package init(path: String, problems: [DocumentProblem]) {
    self.path = path
    self.problems = problems
  }
}

extension DocumentError: CustomStringConvertible {
  /// One line for each problem.
  package var description: String { problems.map { $0.text(in: path) }.joined(separator: "\n") }
}

extension DocumentProblem {
  /// What is expected instead of bytes that are not UTF-8; names UTF-16, in which some programs save texts.
  package static func textInUTF8(_ what: String, instead bytes: [UInt8]) -> String {
    let isUTF16 = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    return "\(what) in UTF-8" + (isUTF16 ? "; this is UTF-16: save it with the encoding UTF-8" : "")
  }
}

/// The problems that are found while a document is read, collected so that all of them are reported at once.
package final class DocumentProblems {
  /// The file of the problems that have a line; nil where one document is read.
  private let file: String?
  private var found: [DocumentProblem] = []
  private var counts: [DocumentProblem.Severity: Int] = [:]
  /// The number of warnings beyond the limit.
  private var omittedWarnings = 0
  /// The sections of the document, from which messages say where a key belongs that is written elsewhere.
  package var sections: [DocumentSection] = []

  /// The maximum number of mistakes kept, and of warnings.
  ///
  /// A longer list is of no use to a reader, and aliases in YAML can multiply one problem without end.
  private static let limit = 200

  /// Starts with no problem.
  package init(file: String? = nil) { self.file = file }

  /// Adds a problem, unless there are too many of its severity.
  package func add(_ problem: DocumentProblem) {
    let count = counts[problem.severity, default: 0]
    guard count < DocumentProblems.limit else {
      if problem.severity == .warning { omittedWarnings += 1 }
      return
    }
    counts[problem.severity] = count + 1
    found.append(problem)
  }

  /// Adds a mistake at a line.
  package func mistake(_ message: String, line: Int, field: String, expected: String? = nil) {
    add(DocumentProblem(file: file, place: .line(line), field: field, message: message, expected: expected))
  }

  /// Adds a warning at a line.
  package func warning(_ message: String, line: Int, field: String, expected: String? = nil) {
    add(
      DocumentProblem(
        file: file,
        place: .line(line),
        field: field,
        severity: .warning,
        message: message,
        expected: expected
      )
    )
  }

  /// Adds a mistake in a file as a whole.
  package func mistake(_ file: String, _ message: String, expected: String? = nil) {
    add(DocumentProblem(file: file, message: message, expected: expected))
  }

  /// Indicates whether there are so many mistakes that reading on is of no use.
  package var isFull: Bool { counts[.mistake, default: 0] >= DocumentProblems.limit }

  /// Indicates whether there is a mistake.
  package var hasMistakes: Bool { counts[.mistake] != nil }

  /// Ends a reading.
  ///
  /// - Parameter path: the document, or the folder of its files.
  /// - Returns: the warnings, if there are no mistakes.
  /// - Throws: all problems, if one of them is a mistake: first those of this file by their lines, then those of other
  ///   files as they were found.
  package func conclude(path: String) throws(DocumentError) -> [DocumentProblem] {
    let own = found.enumerated().filter { $0.element.file == file }
      .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
      .map(\.element)
    var all = own + found.filter { $0.file != file }
    if omittedWarnings > 0 {
      all.append(
        DocumentProblem(
          severity: .warning,
          message:
            "\(Wording.count(omittedWarnings, "more warning")) beyond the first \(DocumentProblems.limit)"
        )
      )
    }
    guard !hasMistakes else { throw DocumentError(path: path, problems: all) }
    return all
  }
}
