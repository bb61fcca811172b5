import Synchronization
import PharosJournal
import PharosReports

extension Notifications {
  /// The rules of an application, by identifier.
  package func list(application: String) -> [NotificationRule] {
    shared.withLock { Array(($0.rules[application] ?? [:]).values) }.sorted { $0.id < $1.id }
  }

  /// One rule.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - application: its application.
  /// - Returns: the rule.
  /// - Throws: ``WebhookError/unknown(_:)``.
  package func rule(_ id: String, application: String) throws(WebhookError) -> NotificationRule {
    guard let rule = shared.withLock({ $0.rules[application]?[id] }) else { throw .unknown(id) }
    return rule
  }

  /// Creates a rule, or replaces the one with this identifier.
  ///
  /// A new rule applies to the events that are published from now on.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - json: the rule: `region`, `on`, `text`, and optionally `atMostOncePer`, `quietHours` {`from`, `to`,
  ///     `timeZone`}, `onlyIfStillInsideAfter`.
  ///   - application: its application.
  /// - Returns: the rule, and whether it is new.
  /// - Throws: ``WebhookError``.
  package func put(
    _ id: String,
    json: [UInt8],
    application: String
  ) throws(WebhookError) -> (rule: NotificationRule, isNew: Bool) {
    var rule = try NotificationDocument.rule(json: json, application: application, id: id)
    let (before, count) = shared.withLock { ($0.rules[application]?[id], $0.rules[application]?.count ?? 0) }
    guard before != nil || count < NotificationRule.limit else {
      throw .tooMany(limit: NotificationRule.limit)
    }
    rule.startsAfter = before?.startsAfter ?? journal.head
    var writer = FieldWriter()
    rule.write(to: &writer)
    let bytes = writer.bytes
    try WebhookError.journal { () throws(JournalError) in
      try journal.put(bytes, kind: Notifications.ruleKind, key: Notifications.key(application, id))
    }
    let kept = rule
    shared.withLock { shared in
      shared.rules[application, default: [:]][id] = kept
      shared.areRulesChanged = true
    }
    bell.ring()
    return (rule, before == nil)
  }

  /// Deletes a rule, and what is remembered for it.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - application: its application.
  /// - Throws: ``WebhookError``.
  package func delete(_ id: String, application: String) throws(WebhookError) {
    _ = try rule(id, application: application)
    try WebhookError.journal { () throws(JournalError) in
      try journal.delete(kind: Notifications.ruleKind, key: Notifications.key(application, id))
    }
    shared.withLock { shared in
      shared.rules[application]?[id] = nil
      shared.areRulesChanged = true
    }
    bell.ring()
  }

  /// Deletes the rules of an application that is no more.
  ///
  /// - Parameter application: the application.
  /// - Throws: ``WebhookError``.
  package func deleteAll(of application: String) throws(WebhookError) {
    for rule in list(application: application) { try delete(rule.id, application: application) }
  }

  /// The key of a rule's document; the length keeps any two pairs apart.
  private static func key(_ application: String, _ id: String) -> String {
    "\(application.utf8.count):\(application)/\(id)"
  }
}
