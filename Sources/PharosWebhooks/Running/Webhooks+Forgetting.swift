package import PharosReports
import Synchronization

extension Webhooks {
  /// Forgets what was to be delivered of a subject, before it is erased from the journal.
  package func forget(_ traces: SubjectTraces) {
    for runner in state.withLock({ Array($0.runners.values) }) { runner.forget(traces) }
  }
}

extension WebhookRunner {
  /// Nothing of a subject is to be delivered any more.
  func forget(_ traces: SubjectTraces) {
    shared.withLock { $0.mail.forgotten.append(traces) }
    bell.ring()
  }
}
