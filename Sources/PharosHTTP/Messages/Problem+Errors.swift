import PharosAccess
import PharosDelivery
import PharosIngest
import PharosJournal
import PharosMonitoring
import PharosSite
import PharosWebhooks

extension Problem {
  /// Creates the problem that a client receives for an error; nil for an unexpected one.
  init?(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let refusal as RegionRefusal: self.init(refusal)
    case let error as SiteFileError: self.init(error)
    case let error as AccessError: self.init(error)
    case let error as WebhookError: self.init(error)
    case let error as JournalError: self = .unavailable("The journal cannot be used: \(error)")
    case let refusal as FeedRefusal: self = .unavailable("\(refusal)")
    case IngestError.stopped, is CancellationError:
      self = .unavailable("The server is stopping; try again in a moment.")
    case let error as IngestError: self = .unavailable("\(error)")
    default: return nil
    }
  }

  private init(_ refusal: RegionRefusal) {
    switch refusal {
    case .regionLimitExceeded(let limit, let application, let identifier):
      self = .regionLimit(limit, application: application, region: identifier)
    case .unknownRegion: self = .notFound("\(refusal)")
    case .duplicateIdentifier, .duplicateApplication: self = .conflict("duplicate", "\(refusal)")
    case .emptyApplication, .emptyIdentifier, .crossedLevels, .crossedDistances:
      self = .invalidBody([Field("", "\(refusal)")])
    }
  }

  private init(_ error: SiteFileError) {
    let mistakes = error.problems.filter { $0.severity == .mistake }
    self = .invalidBody(mistakes.map { Field($0.field, $0.message, expected: $0.expected) })
    guard mistakes.count == 1,
      mistakes[0].message.hasPrefix("not JSON") || mistakes[0].message == "not UTF-8"
    else { return }
    self = .notJSON("Line \(mistakes[0].line): \(mistakes[0].message).")
  }

  private init(_ error: AccessError) {
    switch error {
    case .badName(let field, _): self = .invalidBody([Field(field, "\(error)")])
    case .badPurpose, .purposeMissing: self = .invalidBody([Field("purpose", "\(error)")])
    case .noSubject: self = .invalidBody([Field("subject", "\(error)")])
    case .expired: self = .invalidBody([Field("expiresAt", "\(error)")])
    case .operatorOnly: self = .forbidden("\(error)")
    case .tooMany, .tooManyKeys: self = .conflict("tooMany", "\(error)")
    case .notARadio: self = .invalidBody([Field("radios", "\(error)")])
    case .damaged, .store: self = .unavailable("\(error)")
    }
  }

  private init(_ error: WebhookError) {
    switch error {
    case .invalid(let problems):
      self = .invalidBody(problems.map { Field($0.field, $0.message, expected: $0.expected) })
    case .unknown: self = .notFound("\(error)")
    case .tooMany: self = .conflict("tooMany", "\(error)")
    case .journal: self = .unavailable("\(error)")
    }
  }
}
