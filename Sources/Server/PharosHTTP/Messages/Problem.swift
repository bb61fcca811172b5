import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosIngest
import PharosJournal
import PharosModel
import PharosPresence
import PharosSite
import PharosWire

/// The reason why a request was not carried out, for its client: RFC 9457 problem details with the fields in error.
///
/// - Source: RFC 9457, Problem Details for HTTP APIs.
package struct Problem: Error, Hashable, Sendable {
  /// One field that is wrong.
  package struct Field: Hashable, Sendable {
    /// The field: a name, or a path such as `enter.samples`.
    package var field: String
    /// The error in it.
    package var message: String
    /// The values that it may have.
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
  /// The cause in this case, and the remedy.
  package var detail: String
  /// The fields that are wrong.
  package var errors: [Field]
  /// The code of OSRM, where a client of OSRM may read the answer.
  var code: String?
  /// Further header fields of the answer.
  var headers: HTTPFields = [:]

  /// Makes a problem.
  package init(_ name: String, _ title: String, status: Int, detail: String, errors: [Field] = []) {
    self.name = name
    self.title = title
    self.status = status
    self.detail = detail
    self.errors = errors
  }

  /// The problem as `application/problem+json`.
  var answer: APIAnswer {
    var answer = APIAnswer.json(Problem.members, of: self, status: HTTPResponse.Status(code: status))
    answer.headers = headers
    answer.headers[.contentType] = "application/problem+json"
    return answer
  }
}

extension Problem {
  fileprivate static let members: [DocumentField<Problem>] = [
    .always(
      "type",
      .text(.pattern("^urn:pharos:problem:[a-z]+([A-Z]+[a-z]*)*$")),
      "`urn:pharos:problem:` and a name that does not change."
    ) { "urn:pharos:problem:\($0.name)" },
    .always("title", .text) { $0.title },
    .always("status", .integer) { $0.status },
    .always("detail", .text) { $0.detail },
    .sometimes("code", .text(.words(codes)), "The code of OSRM, in answers about ways.") { $0.code },
    .sometimes("message", .text, "The same as `detail`, where there is a `code`.") {
      $0.code == nil ? nil : $0.detail
    },
    .sometimes(
      "errors",
      .list(
        .object([
          .always("field", .text, "Where: a name, or a path such as `enter.samples`.") { $0.field },
          .always("message", .text) { $0.message },
          .sometimes("expected", .text) { $0.expected },
        ])
      )
    ) { $0.errors.isEmpty ? nil : $0.errors },
  ]

  private static let codes = [
    "NoRoute", "NoSegment", "InvalidValue", "InvalidQuery", "InvalidOptions", "NotImplemented", "TooBig",
  ]
}

extension Problem {
  /// The request cannot be understood.
  static func badRequest(_ detail: String) -> Problem {
    Problem("badRequest", "The request cannot be understood", status: 400, detail: detail)
  }

  /// The problem with the code of OSRM for it.
  func coded(_ code: String) -> Problem {
    var problem = self
    problem.code = code
    return problem
  }

  /// Indicates whether parameters of the query are wrong, and no code of OSRM names the mistake.
  var isOfQuery: Bool { name == Problem.badQueryName && code == nil }

  private static let badQueryName = "badQuery"

  /// Parameters of the query are wrong.
  static func badQuery(_ errors: [Field]) -> Problem {
    let names = errors.map(\.field).joined(separator: ", ")
    return Problem(
      badQueryName,
      "Parameters of the query are wrong",
      status: 400,
      detail: "Correct or leave out: \(names).",
      errors: errors
    )
  }

  /// Fields of the body are wrong, or the body as a whole: an error without a field.
  static func invalidBody(_ errors: [Field]) -> Problem {
    let names = errors.map(\.field).filter { !$0.isEmpty }
    let whole = errors.filter(\.field.isEmpty).map { error in
      error.message + (error.expected.map { "; expected \($0)" } ?? "")
    }
    let corrections = names.isEmpty ? [] : ["Correct: \(names.joined(separator: ", "))"]
    return Problem(
      "invalidBody",
      "Fields of the body are wrong",
      status: 422,
      detail: (["Nothing was changed"] + corrections + whole).map(PlainText.sentence).joined(separator: " "),
      errors: errors
    )
  }

  /// The body is no JSON.
  static func notJSON(_ detail: String) -> Problem {
    Problem("notJSON", "The body is no valid JSON", status: 400, detail: detail)
  }

  /// Returns the name of the problem of a refused datagram, written as all names of problems are: `noObserver`.
  ///
  /// The name in metrics and in the status is `no_observer`.
  static func name(of refusal: DatagramRefusal) -> String {
    let words = refusal.name.split(separator: "_")
    return words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
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
    problem.headers[.allow] = allowed.joined(separator: ", ")
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

  /// The body is of a type that is not understood.
  static func unsupportedType(_ detail: String) -> Problem {
    Problem("unsupportedType", "The body is of a type that is not understood", status: 415, detail: detail)
  }

  /// The body is packed in a way that is not understood; the answer names the one that is.
  ///
  /// - Source: RFC 9110, 12.5.3.
  static func unknownCoding(_ coding: String) -> Problem {
    var problem = unsupportedType(
      "The body has Content-Encoding \(coding.shortened); send it as it is or packed with gzip."
    )
    problem.headers[.acceptEncoding] = "gzip"
    return problem
  }

  /// The body is to be packed with gzip, and is not, or not whole.
  static var damagedGzip: Problem {
    badRequest(
      "The body is no whole gzip data; send it as it is, or packed with gzip and Content-Encoding: gzip."
    )
  }

  /// Returns the problem of a request without a valid token.
  static func unauthorized(_ detail: String) -> Problem {
    var problem = Problem("unauthorized", "A valid token is needed", status: 401, detail: detail)
    problem.headers[.wwwAuthenticate] = "Bearer realm=\"pharos\""
    return problem
  }

  /// Returns the problem of a client that may not use a route.
  static func forbidden(_ detail: String) -> Problem {
    Problem("forbidden", "Forbidden", status: 403, detail: detail)
  }

  /// The server cannot do it now.
  static func unavailable(_ detail: String) -> Problem {
    var problem = Problem("unavailable", "Pharos cannot do this now", status: 503, detail: detail)
    problem.headers[.retryAfter] = "5"
    return problem
  }

  /// The client closed its side of the connection before its turn, or while long work was done for it.
  ///
  /// - Source: the status 499 of nginx, for logs and metrics; seldom is anyone left to read it.
  static var clientLeft: Problem {
    Problem(
      "clientLeft",
      "The client closed its side of the connection",
      status: 499,
      detail:
        "The request waited for its turn, or took long. Keep the connection open until the answer has come."
    )
  }

  /// Too many requests wait for their turn.
  package static var busy: Problem {
    var problem = Problem.unavailable("Too many requests wait for their turn; try again in a moment.")
    problem.headers[.retryAfter] = "1"
    return problem
  }

  /// The client asks more often than it may.
  static func tooManyRequests(_ detail: String) -> Problem {
    var problem = Problem("tooManyRequests", "Too many requests", status: 429, detail: detail)
    problem.headers[.retryAfter] = "1"
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

extension Problem {
  /// The name of the problem that the limit of regions is.
  static let regionLimitExceeded = "regionLimitExceeded"

  /// The application holds as many regions as it may.
  static func regionLimit(_ limit: Int, application: String, region: String) -> Problem {
    .conflict(
      regionLimitExceeded,
      """
      Application "\(application)" may hold \(limit) regions and holds \(limit); region "\(region)" was \
      refused. 
      """
        + "Remove another one, use a wider constraint, or raise regionLimit."
    )
  }
}

extension Problem {
  /// Creates the problem that a client receives for an error; nil for an unexpected one.
  package init?(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let refusal as RegionRefusal: self.init(refusal)
    case let refusal as RegistrationRefusal: self.init(refusal)
    case let error as DocumentError: self.init(error)
    case let error as AccessError: self.init(error)
    case let error as WebhookError: self.init(error)
    case let error as JournalError:
      if case .notReplicated(let reason) = error.problem {
        self = .unavailable(PlainText.sentence(reason))
      } else {
        self = .unavailable("The journal cannot be used: \(error)")
      }
    case let refusal as FeedRefusal: self = .unavailable("\(refusal)")
    case IngestError.stopped, is CancellationError:
      self = .unavailable("The server is stopping; try again in a moment.")
    case IngestError.alreadyRecording:
      self = .conflict("alreadyRecording", PlainText.sentence("\(error)"))
    case let error as IngestError: self = .unavailable("\(error)")
    default: return nil
    }
  }

  private init(_ refusal: RegionRefusal) {
    switch refusal {
    case .regionLimitExceeded(let limit, let application, let identifier):
      self = .regionLimit(limit, application: application, region: identifier)
    case .regionLimitTooLow(let limit, let application, let held):
      self = .conflict(
        Problem.regionLimitExceeded,
        """
        Application "\(application)" holds \(held) regions, more than the limit of \(limit) that is asked \
        for. Remove 
        """
          + "regions first."
      )
    case .unknownRegion: self = .notFound("\(refusal)")
    case .duplicateIdentifier, .duplicateApplication: self = .conflict("duplicate", "\(refusal)")
    case .emptyApplication, .emptyIdentifier, .crossedLevels, .crossedDistances, .unusableGeofence,
      .crossedProbabilities:
      self = .invalidBody([Field("", "\(refusal)")])
    }
  }

  private init(_ refusal: RegistrationRefusal) {
    switch refusal {
    case .declaredBySite: self = .conflict("declaredBySite", "\(refusal)")
    case .unknown: self = .notFound("\(refusal)")
    case .unknownNeighbour(let name):
      self = .invalidBody([
        Field("adjacent", "has \"\(name.shortened)\"", expected: "other zones that there are")
      ])
    case .alreadyRanged: self = .conflict("alreadyRanged", "\(refusal)")
    case .tooManyApplications: self = .conflict("tooManyApplications", "\(refusal)")
    case .tooManyPlaces: self = .conflict("tooManyPlaces", "\(refusal)")
    case .tooManyRangingRequests: self = .conflict("tooManyRangingRequests", "\(refusal)")
    case .starting: self = .unavailable("\(refusal)")
    }
  }

  private init(_ error: DocumentError) {
    let mistakes = error.problems.filter { $0.severity == .mistake }
    self = .invalidBody(mistakes.map { Field($0.field, $0.message, expected: $0.expected) })
    guard mistakes.count == 1,
      mistakes[0].message.hasPrefix("not JSON") || mistakes[0].message == "not UTF-8"
    else { return }
    self = .notJSON("Line \(mistakes[0].line ?? 1): \(mistakes[0].message).")
  }

  private init(_ error: AccessError) {
    switch error {
    case .badName(let field, _): self = .invalidBody([Field(field, "\(error)")])
    case .badPurpose, .purposeMissing: self = .invalidBody([Field("purpose", "\(error)")])
    case .noSubject: self = .invalidBody([Field("subject", "\(error)")])
    case .expired: self = .invalidBody([Field("expiresAt", "\(error)")])
    case .badGateway: self = .invalidBody([Field("gateway", "\(error)")])
    case .undeclaredPurpose: self = .invalidBody([Field("purposeKey", "\(error)")])
    case .noSession: self = .conflict("noSession", "\(error)")
    case .operatorOnly: self = .forbidden("\(error)")
    case .tooMany, .tooManyKeys: self = .conflict("tooMany", "\(error)")
    case .notARadio: self = .invalidBody([Field("radios", "\(error)")])
    case .damaged, .store: self = .unavailable("\(error)")
    }
  }

  private init(_ error: WebhookError) {
    switch error {
    case .invalid(let problems):
      self = .invalidBody(
        problems.map { problem in
          let line = problem.field.isEmpty ? problem.line.map { "line \($0): " } ?? "" : ""
          return Field(problem.field, line + problem.message, expected: problem.expected)
        }
      )
    case .unknownWebhook, .unknownRule: self = .notFound("\(error)")
    case .zonesAreForOperators: self = .forbidden("\(error)")
    case .tooMany: self = .conflict("tooMany", "\(error)")
    case .journal: self = .unavailable("\(error)")
    }
  }
}

extension Schema {
  static let problem = Schema.object(Problem.members).named("Problem")
}
