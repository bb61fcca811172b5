package import PharosDocuments
import PharosModel

/// The reasons for which webhooks or notification rules cannot be read or changed.
package enum WebhookError: Error, Hashable, Sendable {
  /// The document is wrong in one or more places.
  case invalid([DocumentProblem])
  /// There is no such webhook, or it belongs to another application.
  case unknownWebhook(String)
  /// The application has no such notification rule.
  case unknownRule(String, application: String)
  /// A rule about a zone, a visit, a battery or a gateway comes from an application, which sees its regions alone.
  case zonesAreForOperators
  /// The maximum number of webhooks or rules exists already.
  case tooMany(limit: Int)
  /// The journal could not be read or written; the text contains the reason and the remedy.
  case journal(String)
}

extension WebhookError: CustomStringConvertible {
  /// The problem and its remedy, for the client.
  package var description: String {
    switch self {
    case .invalid(let problems):
      problems.map { problem in
        (problem.field.isEmpty ? "" : "\(problem.field): ")
          + problem.message + (problem.expected.map { "; expected \($0)" } ?? "")
      }
      .joined(separator: "\n")
    case .unknownWebhook(let id): "There is no webhook \"\(id)\". /v1/webhooks lists those that there are."
    case .unknownRule(let id, let application):
      "Application \"\(application)\" has no notification rule \"\(id)\"."
    case .zonesAreForOperators:
      "rules about zones, visits, batteries and gateways are made with an operator's token"
    case .tooMany(let limit): "there are \(limit) already, as many as there may be; delete one first"
    case .journal(let text): text
    }
  }
}

extension WebhookError {
  /// The longest document that is read: a filter of a thousand beacons fits twice.
  private static let maximumDocument = 64 * 1_024

  /// Reads the JSON of a request.
  static func document<Value>(
    _ json: [UInt8],
    name: String,
    known: [String],
    ignored: [String],
    _ read: (DocumentFields) -> Value?
  ) throws(WebhookError) -> Value {
    do throws(DocumentError) {
      return try DocumentNode.read(json, name: name, limit: maximumDocument) {
        DocumentFields($0, place: name, known: known, ignored: ignored, problems: $1).flatMap(read)
      }
    } catch {
      throw .invalid(error.problems)
    }
  }
}
