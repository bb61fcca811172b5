import PharosReports

/// The reason why a request was not carried out, for its client: RFC 9457 problem details with the fields in error.
///
/// - Source: RFC 9457, Problem Details for HTTP APIs.
package struct Problem: Error, Hashable, Sendable {
  /// One field that is wrong.
  package struct Field: Hashable, Sendable {
    /// Where it is: a name, or a path such as `enter.samples`.
    package var field: String
    /// What is wrong with it.
    package var message: String
    /// What would be right.
    package var expected: String?

    /// Names a field.
    package init(_ field: String, _ message: String, expected: String? = nil) {
      self.field = field
      self.message = message
      self.expected = expected
    }
  }

  /// The last part of the problem's type, `urn:pharos:problem:` before it: what a program compares.
  package var name: String
  /// The type in words.
  package var title: String
  /// The HTTP status.
  package var status: Int
  /// What happened this time and what to do about it.
  package var detail: String
  /// The fields that are wrong.
  package var errors: [Field]
  /// Further header fields of the answer.
  var headers: [String: String] = [:]

  /// Makes a problem.
  package init(_ name: String, _ title: String, status: Int, detail: String, errors: [Field] = []) {
    self.name = name
    self.title = title
    self.status = status
    self.detail = detail
    self.errors = errors
  }

  /// The problem as `application/problem+json`.
  package var answer: APIAnswer {
    var json = JSONText()
    json.openObject()
    json.member("type", "urn:pharos:problem:\(name)")
    json.member("title", title)
    json.member("status", status)
    json.member("detail", detail)
    if !errors.isEmpty {
      json.openArray("errors")
      for error in errors { error.write(to: &json) }
      json.closeArray()
    }
    json.closeObject()
    var answer = APIAnswer.bytes(json.utf8, type: "application/problem+json", status: status)
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) { answer.setHeader(name, value) }
    return answer
  }
}

extension Problem.Field {
  fileprivate func write(to json: inout JSONText) {
    json.openObject()
    json.member("field", field)
    json.member("message", message)
    json.member("expected", ifPresent: expected)
    json.closeObject()
  }
}
