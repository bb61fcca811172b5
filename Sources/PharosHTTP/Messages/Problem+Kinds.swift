extension Problem {
  /// The request cannot be understood.
  static func badRequest(_ detail: String, errors: [Field] = []) -> Problem {
    Problem(
      "badRequest",
      "The request cannot be understood",
      status: 400,
      detail: detail,
      errors: errors
    )
  }

  /// Parameters of the query are wrong.
  static func badQuery(_ errors: [Field]) -> Problem {
    let names = errors.map(\.field).joined(separator: ", ")
    return Problem(
      "badQuery",
      "Parameters of the query are wrong",
      status: 400,
      detail: "Correct or leave out: \(names).",
      errors: errors
    )
  }

  /// Fields of the body are wrong.
  static func invalidBody(_ errors: [Field]) -> Problem {
    let names = errors.map(\.field).joined(separator: ", ")
    return Problem(
      "invalidBody",
      "Fields of the body are wrong",
      status: 422,
      detail: "Nothing was changed. Correct: \(names).",
      errors: errors
    )
  }

  /// The body is no JSON.
  static func notJSON(_ detail: String) -> Problem {
    Problem("notJSON", "The body is no valid JSON", status: 400, detail: detail)
  }

  /// There is no such thing.
  static func notFound(_ detail: String) -> Problem {
    Problem("notFound", "There is no such thing here", status: 404, detail: detail)
  }

  /// The path exists, but not for this method.
  static func methodNotAllowed(_ method: String, allowed: [String]) -> Problem {
    var problem = Problem(
      "methodNotAllowed",
      "The method is not allowed here",
      status: 405,
      detail: "\(method) is not allowed here; use \(allowed.joined(separator: ", "))."
    )
    problem.headers["Allow"] = allowed.joined(separator: ", ")
    return problem
  }

  /// The request contradicts what is.
  static func conflict(_ name: String, _ detail: String) -> Problem {
    Problem(name, "The request contradicts what is already there", status: 409, detail: detail)
  }

  /// The body is longer than is taken.
  static func tooLarge(limit: Int) -> Problem {
    Problem(
      "bodyTooLarge",
      "The body is too long",
      status: 413,
      detail: "At most \(limit) bytes are taken; send less at a time."
    )
  }

  /// Returns the problem of a request without a valid token.
  static func unauthorized(_ detail: String) -> Problem {
    var problem = Problem("unauthorized", "A valid token is needed", status: 401, detail: detail)
    problem.headers["WWW-Authenticate"] = "Bearer realm=\"pharos\""
    return problem
  }

  /// Who asks may not.
  static func forbidden(_ detail: String) -> Problem {
    Problem("forbidden", "This is not allowed to you", status: 403, detail: detail)
  }

  /// The server cannot do it now.
  static func unavailable(_ detail: String) -> Problem {
    var problem = Problem("unavailable", "Pharos cannot do this now", status: 503, detail: detail)
    problem.headers["Retry-After"] = "5"
    return problem
  }

  /// The problem of an unexpected error, which is in the log and not in the answer.
  static var unexpected: Problem {
    Problem(
      "internal",
      "Pharos made a mistake",
      status: 500,
      detail: "The log of the server says what happened. Please report it."
    )
  }
}
