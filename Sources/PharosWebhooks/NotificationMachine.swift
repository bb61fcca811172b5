package import PharosEvents
package import PharosReports

/// The decision logic of notifications: a value that follows the journal event by event and has no clock of its own.
///
/// The decisions and the ids of the notifications depend on the events and the rules alone. After a restart the
/// machine reads the same events, decides the same again, and finds in the journal the notifications that were
/// already published. So no notification is published twice, and none that was decided is lost with the process.
package struct NotificationMachine: Sendable {
  /// How long after the end of a stay it is judged: an exit that happened in time may be told that much later, since
  /// reports wait 500 ms for those that were held up and the journal 20 ms for its commit.
  package static let patience = TimeSpan.seconds(1)
  /// How late something may be told; later, it would only surprise.
  package static let stalest = TimeSpan.minutes(10)
  /// The maximum number of subjects remembered over all rules; those with the oldest notifications are forgotten first.
  package static let subjectLimit = 65_536
  /// How many notifications may be on their way into the journal.
  package static let outboxLimit = 4_096

  /// A rule and whom it is about.
  struct Key: Hashable, Sendable {
    var application: String
    var rule: String
    var subject: SubjectID
  }

  /// Somebody has entered and is to stay for a while.
  struct Stay: Hashable, Sendable {
    /// When the stay is long enough.
    var deadline: Timestamp
    /// The enter.
    var cause: EventID
    /// A Boolean value that is true while the last reported state is inside, and false while it is unknown.
    var isSure: Bool
  }

  /// How many notifications were decided.
  package internal(set) var decided: UInt64 = 0
  /// How many were not told because of quiet hours.
  package internal(set) var quieted: UInt64 = 0
  /// How many were not told because the subject had been the cause of one before.
  package internal(set) var repeated: UInt64 = 0
  /// How many came too late, or were too many, to be told.
  package internal(set) var late: UInt64 = 0

  let stream: String
  var rules: [String: [NotificationRule]] = [:]
  /// When a rule last spoke of a subject.
  var spoken: [Key: Timestamp] = [:]
  /// Who must stay a while yet.
  var stays: [Key: Stay] = [:]
  /// No stay ends before.
  var firstDeadline: Timestamp?
  /// What was decided and not yet seen in the journal, in order.
  var outbox: [Event] = []
  /// How much of the outbox was handed out.
  var handedOut = 0

  /// Starts with nothing decided.
  ///
  /// - Parameter stream: the name of the stream, which is part of the ids.
  package init(stream: String) { self.stream = stream }

  /// Takes the rules; what is remembered for rules that are gone is forgotten.
  package mutating func adopt(_ new: [NotificationRule]) {
    rules = Dictionary(grouping: new, by: \.application)
    let known = Set(new.map { Key(application: $0.application, rule: $0.id, subject: .none) })
    func isKnown(_ key: Key) -> Bool {
      known.contains(Key(application: key.application, rule: key.rule, subject: .none))
    }
    spoken = spoken.filter { isKnown($0.key) }
    stays = stays.filter { isKnown($0.key) }
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }

  /// The time at which to call ``advance(to:name:)`` if no event comes before; no stay ends earlier.
  package var wakeTime: Timestamp? { firstDeadline.map { $0 + NotificationMachine.patience } }

  /// Takes an event of the journal.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - sequence: its sequence.
  ///   - name: the name that the directory has for a subject.
  package mutating func note(_ event: Event, sequence: Int64, name: (SubjectID) -> String?) {
    advance(to: event.decidedAt, name: name)
    if case .notification(let detail) = event.detail { return see(event, detail) }
    guard let rules = rules[event.application] else { return }
    for rule in rules where rule.region == event.region && sequence > rule.startsAfter {
      let key = Key(application: rule.application, rule: rule.id, subject: event.subject)
      switch (event.kind, event.detail) {
      case (.regionEnter, _) where rule.occasion == .enter:
        if let span = rule.stayAtLeast {
          wait(for: Stay(deadline: event.time + span, cause: event.id, isSure: true), key)
        } else {
          decide(rule, key, at: event.time, decidedAt: event.decidedAt, cause: event.id, name)
        }
      case (.regionExit, _):
        stays[key] = nil
        if rule.occasion == .exit {
          decide(rule, key, at: event.time, decidedAt: event.decidedAt, cause: event.id, name)
        }
      case (.regionState, .region(let transition)) where !transition.isAnswer:
        guard var stay = stays.removeValue(forKey: key), transition.to != .outside else { break }
        stay.isSure = transition.to == .inside
        wait(for: stay, key)
      default: break
      }
    }
  }

  /// Advances the time and decides the notifications of the stays that are long enough by now.
  package mutating func advance(to now: Timestamp, name: (SubjectID) -> String?) {
    guard let wakeTime, wakeTime <= now else { return }
    let due = stays.filter { $0.value.isSure && $0.value.deadline + NotificationMachine.patience <= now }
      .sorted { ($0.value.deadline, $0.key.subject) < ($1.value.deadline, $1.key.subject) }
    for (key, stay) in due {
      stays[key] = nil
      guard let rule = rules[key.application]?.first(where: { $0.id == key.rule }) else { continue }
      decide(rule, key, at: stay.deadline, decidedAt: stay.deadline, cause: stay.cause, name)
    }
    // If the state of a subject has been unknown for so long, a notification would come too late.
    stays = stays.filter { now - $0.value.deadline < NotificationMachine.stalest }
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }

  private mutating func wait(for stay: Stay, _ key: Key) {
    guard stays.count < NotificationMachine.subjectLimit else {
      late += 1
      return
    }
    stays[key] = stay
    if stay.isSure { firstDeadline = min(firstDeadline ?? stay.deadline, stay.deadline) }
  }

  /// What was decided and is to be told; each is given once, those that come too late not at all.
  package mutating func takeDecided(at now: Timestamp) -> [Event] {
    var fresh: [Event] = []
    let old = outbox.prefix(handedOut)
    // What did not come back from the journal in all that time was withheld, and never will.
    let waiting = old.filter { now - $0.time < NotificationMachine.stalest }
    for event in outbox.dropFirst(handedOut) {
      if now - event.time < NotificationMachine.stalest { fresh.append(event) } else { late += 1 }
    }
    let room = NotificationMachine.outboxLimit - waiting.count
    if fresh.count > room {
      late += UInt64(fresh.count - room)
      fresh.removeFirst(fresh.count - room)
    }
    outbox = waiting + fresh
    handedOut = outbox.count
    return fresh
  }

  /// A notification has come into the journal.
  private mutating func see(_ event: Event, _ detail: NotificationDetail) {
    if let index = outbox.firstIndex(where: { $0.id == event.id }) {
      outbox.remove(at: index)
      if index < handedOut { handedOut -= 1 }
    }
    let key = Key(application: event.application, rule: detail.rule, subject: event.subject)
    if stays[key]?.cause == detail.cause { stays[key] = nil }
    let rule = rules[event.application]?.first { $0.id == detail.rule }
    guard rule?.atMostOncePer != nil else { return }
    remember(key, at: max(spoken[key] ?? .distantPast, event.time))
  }

  private mutating func decide(
    _ rule: NotificationRule,
    _ key: Key,
    at time: Timestamp,
    decidedAt: Timestamp,
    cause: EventID,
    _ name: (SubjectID) -> String?
  ) {
    if rule.quietHours?.contains(time) == true {
      quieted += 1
      return
    }
    if let span = rule.atMostOncePer, let before = spoken[key], time - before < span {
      repeated += 1
      return
    }
    decided += 1
    if rule.atMostOncePer != nil { remember(key, at: time) }
    let detail = NotificationDetail(
      rule: rule.id,
      occasion: rule.occasion,
      text: rule.text(for: key.subject, name: name(key.subject)),
      cause: cause
    )
    outbox.append(
      Event(
        stream: stream,
        kind: .notification,
        time: time,
        decidedAt: decidedAt,
        stage: 0,
        subject: key.subject,
        application: rule.application,
        region: rule.region,
        counter: NotificationMachine.counter(rule: rule.id, cause: cause),
        detail: .notification(detail)
      )
    )
  }

  private mutating func remember(_ key: Key, at time: Timestamp) {
    spoken[key] = time
    guard spoken.count > NotificationMachine.subjectLimit else { return }
    // A sixteenth at a time, so that sorting is rare.
    let oldest = spoken.sorted { $0.value < $1.value }.prefix(NotificationMachine.subjectLimit / 16)
    for (key, _) in oldest { spoken[key] = nil }
  }

  /// What tells the notifications of a rule apart in their ids: what caused them.
  ///
  /// - Source: FNV-1a with 64 bits (draft-eastlake-fnv).
  private static func counter(rule: String, cause: EventID) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    for byte in rule.utf8 { mix(byte) }
    for word in [cause.high, cause.low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        mix(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return hash
  }
}

extension NotificationMachine {
  /// Forgets a subject: when it was spoken of, how long it has stayed, what was to be said of it.
  ///
  /// - Returns: whether there was anything.
  @discardableResult
  package mutating func forget(_ traces: SubjectTraces) -> Bool {
    let before = spoken.count + stays.count + outbox.count
    spoken = spoken.filter { !traces.contains($0.key.subject) }
    stays = stays.filter { !traces.contains($0.key.subject) }
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
    for index in outbox.indices.reversed() where traces.contains(outbox[index].subject) {
      outbox.remove(at: index)
      if index < handedOut { handedOut -= 1 }
    }
    return spoken.count + stays.count + outbox.count != before
  }
}

extension NotificationMachine {
  /// The version of the layout; another one is not read.
  static let version: UInt8 = 1

  /// Writes what is remembered, not the rules.
  package func writeState(to writer: inout FieldWriter) {
    writer.write(NotificationMachine.version)
    writer.write(UInt32(spoken.count))
    for (key, time) in spoken {
      key.write(to: &writer)
      time.write(to: &writer)
    }
    writer.write(UInt32(stays.count))
    for (key, stay) in stays {
      key.write(to: &writer)
      stay.deadline.write(to: &writer)
      writer.write(stay.cause.high)
      writer.write(stay.cause.low)
      writer.write(stay.isSure)
    }
    writer.write(UInt32(outbox.count))
    for event in outbox { event.write(to: &writer) }
  }

  /// Reads what ``writeState(to:)`` wrote, into a machine that remembers nothing yet.
  ///
  /// What was on its way into the journal is handed out again, unless the journal shows that it arrived.
  package mutating func restoreState(from reader: inout FieldReader) throws(FieldError) {
    let version = try reader.byte()
    guard version == NotificationMachine.version else {
      throw reader.failure(.version(version, expected: NotificationMachine.version))
    }
    for _ in 0..<(try reader.number(UInt32.self)) {
      let key = try Key(from: &reader)
      spoken[key] = try Timestamp(from: &reader)
    }
    for _ in 0..<(try reader.number(UInt32.self)) {
      let key = try Key(from: &reader)
      let deadline = try Timestamp(from: &reader)
      let high = try reader.number(UInt64.self)
      let cause = EventID(high: high, low: try reader.number(UInt64.self))
      stays[key] = Stay(deadline: deadline, cause: cause, isSure: try reader.flag())
    }
    for _ in 0..<(try reader.number(UInt32.self)) { outbox.append(try Event(from: &reader)) }
    handedOut = 0
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }
}

extension NotificationMachine.Key {
  fileprivate func write(to writer: inout FieldWriter) {
    writer.write(application)
    writer.write(rule)
    subject.write(to: &writer)
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    let application = try reader.text()
    let rule = try reader.text()
    self.init(application: application, rule: rule, subject: try SubjectID(from: &reader))
  }
}
