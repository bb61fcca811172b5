import Foundation
package import Logging
package import PharosDocuments
package import PharosJournal
package import PharosModel
package import PharosPublishing
import PharosSecurity
import ServiceLifecycle
import Synchronization

/// The service that delivers published events to other servers: at least once, in order for each subject, signed.
///
/// Webhooks and their delivery states are stored in the journal; after a restart, deliveries continue where they
/// stopped. Each webhook reads the journal by a cursor of its own, so that a slow or broken receiver delays no other
/// and takes no memory. Changes may come from any thread, before and while the service runs.
package final class Webhooks: Service {
  /// The kind of the journal documents that hold the definitions.
  static let documentKind = "webhook"

  struct State {
    var runners: [String: WebhookRunner] = [:]
    /// Indicates whether the service has stopped and starts no further runners.
    var isClosed = false
  }

  let parts: WebhookParts
  let committed: CommittedEventHub
  let ownPorts: Set<Int>
  let state = Mutex(State())
  /// Runners that are to be started by ``run()``.
  private let launches: AsyncStream<WebhookRunner>
  private let launch: AsyncStream<WebhookRunner>.Continuation

  /// Reads the webhooks from the journal.
  ///
  /// - Parameters:
  ///   - journal: the journal, which holds the events and the delivery state.
  ///   - committed: the hub that publishes new events of the journal.
  ///   - stream: the name of the stream, which events carry as source.
  ///   - names: returns the names that events state beside identities.
  ///   - ownPorts: the TCP ports that the server listens on, which no webhook may post to.
  ///   - relay: the relay that takes mail for receivers that are addresses of people; nil for none.
  ///   - gate: returns the gate of the webhooks of an application, or, for nil, of those that belong to no application;
  ///     called before each attempt, so that a withdrawal stops waiting events at once.
  ///   - sender: the sender of requests; nil for one over HTTP.
  ///   - clock: the time.
  ///   - settings: times and bounds.
  ///   - jitter: random numbers from 0 up to 1, for the waits between attempts.
  ///   - duty: whether this server delivers.
  ///   - logger: the logger for messages to the operator.
  /// - Throws: ``WebhookError/journal(_:)`` if the webhooks cannot be read.
  package init(
    journal: Journal,
    committed: CommittedEventHub,
    stream: String,
    names: @escaping @Sendable () -> SiteNames? = { nil },
    ownPorts: Set<Int> = [],
    relay: MailRelay? = nil,
    gate: @escaping @Sendable (_ application: String?) -> Gate = { _ in .open },
    sender: (any WebhookSender)? = nil,
    clock: any DeliveryClock = MachineClock(),
    settings: DeliverySettings = DeliverySettings(),
    jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    duty: Duty = .always,
    logger: Logger
  ) throws(WebhookError) {
    let push = try WebhookError.journal { () throws(JournalError) in
      try PushSender(journal, contact: relay?.sender)
    }
    parts = WebhookParts(
      journal: journal,
      stream: stream,
      names: names,
      gate: gate,
      sender: sender ?? HTTPWebhookSender(ownPorts: ownPorts, relay: relay),
      relay: relay,
      push: push,
      clock: clock,
      settings: settings,
      jitter: jitter,
      duty: duty,
      logger: logger
    )
    self.committed = committed
    self.ownPorts = ownPorts
    (launches, launch) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    let receivers = try WebhookError.journal { () throws(JournalError) in try journal.receivers() }
    let kept = try kept()
    for definition in kept.definitions { start(definition) }
    // What was deleted while nothing ran holds the journal's events no longer.
    for receiver in receivers where receiver != MQTTPublisher.receiver && !kept.ids.contains(receiver) {
      try WebhookError.journal { () throws(JournalError) in try journal.forgetDeliveries(to: receiver) }
    }
  }

  /// Reads the webhooks again that another server may have changed.
  package func reload() throws(WebhookError) {
    let kept = try kept()
    let runners = state.withLock { $0.runners }
    for definition in kept.definitions {
      guard let runner = runners[definition.id] else {
        start(definition)
        continue
      }
      if runner.definition != definition { runner.update(definition) }
    }
    for (id, runner) in runners where !kept.ids.contains(id) {
      state.withLock { $0.runners[id] = nil }
      runner.delete()
    }
  }

  /// Reads the definitions that the journal keeps, and the identifiers of all, also of those that cannot be read.
  private func kept() throws(WebhookError) -> (definitions: [WebhookDefinition], ids: Set<String>) {
    let documents = try WebhookError.journal { () throws(JournalError) in
      try parts.journal.documents(kind: Webhooks.documentKind)
    }
    let definitions = documents.compactMap { key, document -> WebhookDefinition? in
      do {
        return try WebhookDefinition(encoded: document)
      } catch {
        parts.logger.error(
          "Cannot read a stored webhook. It is skipped.",
          metadata: ["webhook": "\(key)", "reason": "\(error)"]
        )
        return nil
      }
    }
    return (definitions, Set(documents.map(\.key)))
  }

  /// Delivers events until a graceful shutdown begins or the task is cancelled.
  ///
  /// Requests that are in flight then have a few seconds to finish.
  package func run() async {
    let tap = committed.tap { [weak self] in self?.receive($0) }
    defer { tap.cancel() }
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        await withDiscardingTaskGroup { group in
          for await runner in launches { group.addTask { await runner.follower.run() } }
        }
      } onGracefulShutdown: {
        self.stop()
      }
    } onCancel: {
      stop()
    }
    await parts.sender.shutdown()
  }

  /// Hands published fixes to the webhooks that defer events until a subject has moved.
  private func receive(_ batch: [PublishedEvent]) {
    let fixes = batch.lazy.map(\.event).filter { $0.kind == .fix }
    guard !fixes.isEmpty else { return }
    let runners = state.withLock { $0.runners.values.filter { $0.definition.deferral?.distance != nil } }
    guard !runners.isEmpty else { return }
    let events = Array(fixes)
    for runner in runners { runner.receive(events) }
  }

  /// Stops deliveries: no new request is sent, and each follower saves its delivery state.
  package func stop() {
    let runners = state.withLock { state in
      state.isClosed = true
      return Array(state.runners.values)
    }
    for runner in runners { runner.follower.stop() }
    launch.finish()
  }

  /// Starts the deliveries of a webhook.
  @discardableResult
  func start(_ definition: WebhookDefinition) -> WebhookRunner {
    let runner = WebhookRunner(definition, parts, hub: committed) { [weak self] id, reason in
      self?.disable(id, because: reason)
    }
    let isOpen = state.withLock { state in
      state.runners[definition.id] = runner
      return !state.isClosed
    }
    if isOpen { launch.yield(runner) }
    return runner
  }
}

/// The dependencies that all webhooks share.
struct WebhookParts: Sendable {
  let journal: Journal
  /// The pages that webhooks with equal filters share.
  let recent = RecentPages<JournalPage>()
  let stream: String
  let names: @Sendable () -> SiteNames?
  let gate: @Sendable (String?) -> Gate
  let sender: any WebhookSender
  let relay: MailRelay?
  let push: PushSender
  let clock: any DeliveryClock
  let settings: DeliverySettings
  let jitter: @Sendable () -> Double
  let duty: Duty
  let logger: Logger

  /// The text of a test for a person.
  var testText: String { "This is a test of the notifications of \(stream)." }
}

extension WebhookError {
  /// Accesses the journal and converts its error into one of this module.
  @discardableResult
  static func journal<Result>(_ body: () throws(JournalError) -> Result) throws(WebhookError) -> Result {
    do {
      return try body()
    } catch {
      throw .journal("\(error)")
    }
  }
}

extension Webhooks {
  /// Returns all webhooks with their states, or those of one application, by identifier.
  package func list(application: String? = nil) -> [WebhookStanding] {
    state.withLock { Array($0.runners.values) }.map(\.standing)
      .filter { application == nil || $0.definition.application == application }
      .sorted { $0.definition.id < $1.definition.id }
  }

  /// Returns one webhook with its state.
  ///
  /// - Parameters:
  ///   - id: the webhook.
  ///   - application: the application that the caller is bound to, or nil if it sees all.
  /// - Returns: the webhook.
  /// - Throws: ``WebhookError/unknownWebhook(_:)``.
  package func standing(_ id: String, application: String? = nil) throws(WebhookError) -> WebhookStanding {
    try runner(id, application).standing
  }

  /// Creates a webhook, which receives the events that are published from now on.
  ///
  /// - Parameters:
  ///   - json: the webhook: `url`, and optionally `summary`, `application`, `filter` {`kinds`, `regions`,
  ///     `subjects`, `observers`}, `secret`, `concurrency`, `deferral` {`time`, `distance`, `maximumCount`}, `enabled`.
  ///   - application: the application that the caller is bound to, or nil if it may name any.
  /// - Returns: the webhook with its secret.
  /// - Throws: ``WebhookError``.
  package func create(json: [UInt8], application: String? = nil) throws(WebhookError) -> WebhookMade {
    let document = try WebhookDocument(
      json: json,
      boundTo: application,
      ownPorts: ownPorts,
      hasMail: parts.relay != nil
    )
    let secret = document.secret ?? WebhookSecret()
    var definition = WebhookDefinition(
      id: "wh_" + Hex.text((0..<8).map { _ in UInt8.random(in: .min ... .max) }),
      url: document.url,
      summary: document.summary,
      application: document.application,
      filter: document.filter,
      secret: secret,
      concurrency: document.concurrency,
      isEnabled: document.isEnabled,
      createdAt: parts.clock.now,
      startsAfter: parts.journal.head
    )
    definition.deferral = document.deferral
    definition.push = document.push
    if document.push != nil {
      // A browser that subscribes once more has the same address.
      let former = state.withLock { $0.runners.values.map(\.definition) }.first {
        $0.push != nil && $0.url == document.url && $0.application == document.application
      }
      if let former { return try replace(former.id, json: json, application: application) }
      _ = try publicPushKey()
    }
    try checkCount(of: document.application)
    try keep(definition)
    return WebhookMade(standing: start(definition).standing, secret: document.push == nil ? secret : nil)
  }

  /// Returns the public key that browsers subscribe with: 65 bytes in base64url.
  ///
  /// - Throws: ``WebhookError/journal(_:)`` if the key cannot be stored.
  package func publicPushKey() throws(WebhookError) -> String {
    try WebhookError.journal { () throws(JournalError) in try parts.push.keep() }
    return Secret.base64URL(parts.push.key.point)
  }

  /// Refuses one more webhook for an application that has as many as one may have, or for all.
  private func checkCount(of application: String?) throws(WebhookError) {
    let applications = state.withLock { $0.runners.values.map(\.definition.application) }
    guard applications.count(where: { $0 == application }) < WebhookDefinition.limitOfOneApplication else {
      throw .tooMany(limit: WebhookDefinition.limitOfOneApplication)
    }
    guard applications.count < WebhookDefinition.limit else { throw .tooMany(limit: WebhookDefinition.limit) }
  }

  /// Returns the change that deletes the webhooks of an application.
  package func deletingAll(of application: String) -> PendingChange {
    let definitions = list(application: application).map(\.definition)
    return PendingChange(
      documents: definitions.map { DocumentChange(kind: Webhooks.documentKind, key: $0.id) }
    ) { [self] in
      for definition in definitions {
        state.withLock { $0.runners.removeValue(forKey: definition.id) }?.delete()
      }
    }
  }

  /// Replaces the definition of a webhook; its delivery state stays.
  ///
  /// A new `secret`, or `"rotateSecret": true`, leaves the present one signing beside it for a day.
  ///
  /// - Parameters:
  ///   - id: the webhook.
  ///   - json: the new definition, as in ``create(json:application:)``.
  ///   - application: the application that the caller is bound to, or nil if it sees all.
  /// - Returns: the webhook, with its secret if that is new.
  /// - Throws: ``WebhookError``.
  package func replace(
    _ id: String,
    json: [UInt8],
    application: String? = nil
  ) throws(WebhookError) -> WebhookMade {
    let runner = try runner(id, application)
    let document = try WebhookDocument(
      json: json,
      boundTo: application,
      ownPorts: ownPorts,
      hasMail: parts.relay != nil
    )
    var definition = runner.definition
    if definition.application != document.application { try checkCount(of: document.application) }
    // The keys stay with the address: no listing shows them, so that they need not be sent back.
    definition.push = document.push ?? (document.url == definition.url ? definition.push : nil)
    definition.url = document.url
    definition.summary = document.summary
    definition.application = document.application
    definition.filter = document.filter
    definition.concurrency = document.concurrency
    definition.deferral = document.deferral
    definition.isEnabled = document.isEnabled
    if document.isEnabled { definition.disabledBecause = nil }
    let secret = document.secret ?? (document.rotatesSecret ? WebhookSecret() : definition.secret)
    let isNew = secret != definition.secret
    if isNew {
      definition.formerSecret = definition.secret
      definition.rotatesAt = parts.clock.now + WebhookDefinition.rotation
      definition.secret = secret
    }
    try keep(definition)
    runner.update(definition)
    return WebhookMade(standing: runner.standing, secret: isNew ? secret : nil)
  }

  /// Deletes a webhook, with its dead letters.
  ///
  /// - Parameters:
  ///   - id: the webhook.
  ///   - application: the application that the caller is bound to, or nil if it sees all.
  /// - Throws: ``WebhookError``.
  package func delete(_ id: String, application: String? = nil) throws(WebhookError) {
    let runner = try runner(id, application)
    try WebhookError.journal { () throws(JournalError) in
      try parts.journal.delete(kind: Webhooks.documentKind, key: id)
    }
    state.withLock { $0.runners[id] = nil }
    runner.delete()
  }

  /// Returns the dead letters, the newest first.
  ///
  /// - Parameters:
  ///   - id: the webhook.
  ///   - before: the sequence below which to begin, or nil for the newest.
  ///   - limit: the maximum number of dead letters.
  ///   - application: the application that the caller is bound to, or nil if it sees all.
  /// - Returns: dead letters.
  /// - Throws: ``WebhookError``.
  package func dead(
    _ id: String,
    before: Int64? = nil,
    limit: Int = 100,
    application: String? = nil
  ) throws(WebhookError) -> [DeadLetter] {
    let definition = try runner(id, application).definition
    let letters = try WebhookError.journal { () throws(JournalError) in
      try parts.journal.deadLetters(of: id, before: before, limit: limit)
    }
    let gate = parts.gate(definition.application)
    return letters.compactMap { letter in
      var letter = letter
      guard let event = gate.passed(letter.event, matching: definition.boundFilter) else { return nil }
      letter.event = event
      return letter
    }
  }

  /// Delivers dead letters once more, in order for each subject, and tries each for a day again.
  ///
  /// - Parameters:
  ///   - id: the webhook.
  ///   - sequences: the sequences of the dead letters, or nil for all.
  ///   - application: the application that the caller is bound to, or nil if it sees all.
  /// - Returns: the number of dead letters that are delivered once more.
  /// - Throws: ``WebhookError``.
  package func replay(
    _ id: String,
    sequences: [Int64]? = nil,
    application: String? = nil
  ) throws(WebhookError) -> Int {
    let runner = try runner(id, application)
    let (count, subjects) = try WebhookError.journal { () throws(JournalError) in
      try parts.journal.replayDeadLetters(of: id, sequences: sequences)
    }
    runner.replay(subjects)
    return count
  }

  /// Sends a `pharos.webhook.test` event at once, ahead of all waiting events, and returns the result.
  ///
  /// - Parameters:
  ///   - id: the webhook.
  ///   - application: the application that the caller is bound to, or nil if it sees all.
  /// - Returns: the result.
  /// - Throws: ``WebhookError``.
  package func test(_ id: String, application: String? = nil) async throws(WebhookError) -> WebhookTrial {
    let definition = try runner(id, application).definition
    let began = parts.clock.now
    let eventID = Hex.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    var json = JSONText()
    json.openObject()
    json.member("specversion", "1.0")
    json.member("id", eventID)
    json.member("source", "/pharos/\(parts.stream)")
    json.member("type", "pharos.webhook.test")
    json.member("time", began.rfc3339)
    json.member("datacontenttype", "application/json")
    json.openObject("data")
    json.member("webhook", id)
    json.closeObject()
    json.closeObject()
    var request = WebhookRequest(
      url: definition.url,
      id: eventID,
      body: json.utf8,
      secrets: definition.secrets(at: began),
      at: began,
      timeout: parts.settings.timeout
    )
    request.mail = definition.receiver.flatMap { receiver in
      parts.relay.map { relay in
        MailMessage(
          id: eventID,
          title: "Pharos",
          text: parts.testText,
          from: relay.sender,
          to: receiver,
          at: began
        )
      }
    }
    if let push = definition.push {
      let message = PushMessage(id: eventID, title: "Pharos", text: parts.testText)
      request = WebhookRequest(message, to: definition.url, push, from: parts.push, at: began, parts.settings)
    }
    let outcome = await parts.sender.send(request)
    if case .failed(SendFailure.noConnection, _) = outcome {
      // The time must not tell a closed port, which refuses at once, from one behind a filter.
      let bell = AsyncSignal()
      let cancel = parts.clock.alarm(at: began + WebhookTrial.timeWithoutConnection, ring: bell.ring)
      await bell.wait()
      cancel()
      return WebhookTrial(id: eventID, outcome: outcome, duration: WebhookTrial.timeWithoutConnection)
    }
    return WebhookTrial(id: eventID, outcome: outcome, duration: parts.clock.now - began)
  }

  /// Disables a webhook whose receiver accepts no further events, or deletes it if the receiver is a browser: a browser that
  /// subscribes again has another address.
  func disable(_ id: String, because reason: String) {
    guard let runner = state.withLock({ $0.runners[id] }) else { return }
    var definition = runner.definition
    if definition.push != nil {
      parts.logger.info("A browser has unsubscribed. Its webhook is deleted.", metadata: ["webhook": "\(id)"])
      do {
        return try delete(id)
      } catch {
        parts.logger.error(
          "Cannot delete the webhook of a browser. It is disabled.",
          metadata: ["webhook": "\(id)", "reason": "\(error)"]
        )
      }
    }
    definition.isEnabled = false
    definition.disabledBecause = reason
    runner.update(definition)
    parts.logger.warning("A webhook was disabled.", metadata: ["webhook": "\(id)", "reason": "\(reason)"])
    do {
      try keep(definition)
    } catch {
      parts.logger.error(
        "Cannot store that a webhook is disabled.",
        metadata: ["webhook": "\(id)", "reason": "\(error)"]
      )
    }
  }

  private func keep(_ definition: WebhookDefinition) throws(WebhookError) {
    try WebhookError.journal { () throws(JournalError) in
      try parts.journal.put(definition.encoded, kind: Webhooks.documentKind, key: definition.id)
    }
  }

  private func runner(_ id: String, _ application: String?) throws(WebhookError) -> WebhookRunner {
    guard let runner = state.withLock({ $0.runners[id] }) else { throw .unknownWebhook(id) }
    guard application == nil || runner.definition.application == application else {
      throw .unknownWebhook(id)
    }
    return runner
  }
}

extension Webhooks {
  /// Removes the undelivered events of a subject, before the subject is erased from the journal.
  package func forget(_ traces: SubjectTraces) {
    for runner in state.withLock({ Array($0.runners.values) }) { runner.forget(traces) }
  }
}
