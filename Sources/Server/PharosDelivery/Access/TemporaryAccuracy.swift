package import PharosDocuments
import PharosJournal
package import PharosModel
import Synchronization

/// Full accuracy that an application has for a time and a purpose, as Core Location grants it with
/// `requestTemporaryFullAccuracyAuthorization(withPurposeKey:)`.
package struct TemporaryAccuracy: Hashable, Sendable {
  /// The end of a temporary full accuracy.
  package enum End: Hashable, Sendable {
    /// When the application's last live stream is closed; until then it is for live streams and for what holds now.
    case session
    /// At a steady time, and the same as a time of day.
    case at(TimeSpan, Timestamp)
  }

  /// The key of the purpose.
  package let key: String
  /// The end.
  package let end: End

  /// The longest duration that may be asked for.
  package static let maximumDuration = TimeSpan.minutes(24 * 60)
}

extension Authorisations {
  /// Returns the accuracy of an application and the purposes for which it may ask for full accuracy, as set over HTTP or
  /// else declared by the site.
  package func accuracyPolicy(of application: String) -> AccuracyPolicy {
    state.withLock { $0.policies[application] ?? $0.declaredPolicies[application] } ?? AccuracyPolicy()
  }

  /// Returns the policy of an application that was set over HTTP; nil if none was.
  package func policyOverHTTP(of application: String) -> AccuracyPolicy? {
    state.withLock { $0.policies[application] }
  }

  /// Returns the temporary full accuracy of an application, or nil if it has none.
  package func temporaryAccuracy(of application: String) -> TemporaryAccuracy? { view.temporary[application] }

  /// Returns the change that sets the accuracy of an application, and the purposes for which it may ask for full accuracy.
  package func settingAccuracy(_ policy: AccuracyPolicy, application: String) -> PendingChange {
    PendingChange(
      documents: [DocumentChange(kind: DocumentKind.accuracy, key: application, document: policy.encoded)]
    ) { [self] in
      update { state in
        state.policies[application] = policy
        state.gatherAccuracies()
      }
    }
  }

  /// Gives an application full accuracy for a time.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - key: the key of the purpose, which must be declared with the application.
  ///   - duration: the length; nil for as long as the application has a live stream open.
  ///   - isLive: indicates whether it has one.
  ///   - now: the present time.
  /// - Throws: `AccessError.undeclaredPurpose` or `.noSession`; nothing has changed then.
  package func requestFullAccuracy(
    application: String,
    purpose key: String,
    for duration: TimeSpan?,
    isLive: Bool,
    at now: Timestamp
  ) throws(AccessError) {
    let policy = accuracyPolicy(of: application)
    guard policy.purposes[key] != nil else {
      throw .undeclaredPurpose(application: application, key: key, declared: policy.purposes.keys.sorted())
    }
    guard policy.accuracy.isReduced else { return }
    guard duration != nil || isLive else { throw .noSession(application: application) }
    let end = duration.map { TemporaryAccuracy.End.at(uptime() + $0, now + $0) } ?? .session
    update { $0.view.setTemporary(TemporaryAccuracy(key: key, end: end), of: application) }
  }

  /// Ends the temporary full accuracy of an application.
  package func endTemporaryAccuracy(of application: String) {
    update { state in
      if state.view.temporary[application] != nil { state.view.setTemporary(nil, of: application) }
    }
  }

  /// Ends the temporary full accuracy that lasts as long as the application's live streams: the last one is closed.
  func endSession(of application: String) {
    update { state in
      if state.view.temporary[application]?.end == .session { state.view.setTemporary(nil, of: application) }
    }
  }

  /// Ends the temporary full accuracies and the shares whose time has passed.
  ///
  /// Reads of ``view`` see none of them even before.
  func endExpiredAccuracies() { update { $0.endExpired(at: uptime, clock) } }
}

extension Authorisations.State {
  /// Gathers the accuracies from all declarations; those over HTTP come before the site's.
  mutating func gatherAccuracies() {
    let policies = declaredPolicies.merging(policies) { $1 }
    let reduced = policies.filter { $0.value.accuracy.isReduced }
    let before = view.accuracies
    if reduced != before { view.setAccuracies(policies) }
  }

  /// Ends the temporary full accuracies and the shares whose time has passed; a clock is read only if there are some.
  mutating func endExpired(at uptime: () -> TimeSpan, _ clock: () -> Timestamp) {
    if let first = view.firstEndOfShares, first <= clock() { view.endShares(at: clock()) }
    guard !view.temporary.isEmpty else { return }
    let now = uptime()
    for (application, accuracy) in view.temporary {
      if case .at(let end, _) = accuracy.end, now >= end { view.setTemporary(nil, of: application) }
    }
  }
}
