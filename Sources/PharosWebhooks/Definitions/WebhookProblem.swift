/// One thing that is wrong with a document that somebody sent.
package struct WebhookProblem: Hashable, Sendable {
  /// Where: the path of the member, as in `filter.kinds`, or an empty text for the whole document.
  package var field: String
  /// What is wrong.
  package var message: String
  /// What would be right.
  package var expected: String

  /// Makes a problem.
  package init(_ field: String, _ message: String, expected: String) {
    self.field = field
    self.message = message
    self.expected = expected
  }
}

/// Why webhooks or notification rules were not changed or read as asked.
package enum WebhookError: Error, Hashable, Sendable {
  /// The document is wrong in one or more places.
  case invalid([WebhookProblem])
  /// There is no such webhook or rule, or it belongs to another application.
  case unknown(String)
  /// There are as many as there may be.
  case tooMany(limit: Int)
  /// The journal could not be read or written; the text says why and what to do.
  case journal(String)
}

extension WebhookError: CustomStringConvertible {
  /// What is wrong and what to do, for who asked.
  package var description: String {
    switch self {
    case .invalid(let problems):
      problems.map { problem in
        (problem.field.isEmpty ? "" : "\(problem.field): ")
          + "\(problem.message); expected \(problem.expected)"
      }
      .joined(separator: "\n")
    case .unknown(let name): "there is none called \"\(name)\"; list them to see which there are"
    case .tooMany(let limit): "there are \(limit) already, as many as there may be; delete one first"
    case .journal(let text): text
    }
  }
}
