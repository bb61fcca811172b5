package import PharosDocuments
package import PharosModel

/// The decision logic of notifications: a value that follows the journal event by event and has no clock of its own.
///
/// The decisions and the ids of the notifications depend on the events and the rules alone. After a restart the
/// machine reads the same events, decides the same again, and finds in the journal the notifications that were
/// already published. So no notification is published twice, and none that was decided is lost with the process.
package struct NotificationMachine: Sendable {
  /// The time between the end of a stay and its evaluation.
  ///
  /// An exit that happened in time may arrive that much later, since reports wait 500 ms for delayed ones and the
  /// journal 20 ms for its commit.
  package static let patience = TimeSpan.seconds(1)
  /// The maximum age of a notification when it is published; an older one would only surprise, and is dropped.
  package static let maximumAge = TimeSpan.minutes(10)
  /// The maximum number of subjects remembered over all rules; those with the oldest notifications are forgotten first.
  package static let subjectLimit = 65_536
  /// The maximum number of published notifications that the journal does not hold yet.
  package static let outboxLimit = 4_096

  /// A rule and a subject that it applies to.
  struct Key: Hashable, Sendable {
    var application: String
    var rule: String
    var subject: SubjectID
  }

  /// The stay of a subject that entered and must remain inside for a time.
  struct Stay: Hashable, Sendable {
    /// The time at which the stay is long enough.
    var deadline: Timestamp
    /// The enter event.
    var cause: EventID
    /// A Boolean value that is true while the last reported state is inside, and false while it is unknown.
    var isSure: Bool
  }

  /// The number of decided notifications.
  package internal(set) var decided: UInt64 = 0
  /// The number of notifications that quiet hours suppressed.
  package internal(set) var quieted: UInt64 = 0
  /// The number of notifications that `atMostOncePer` suppressed.
  package internal(set) var repeated: UInt64 = 0
  /// The number of notifications that were dropped because they came too late or exceeded a limit.
  package internal(set) var late: UInt64 = 0

  let stream: String
  var rules: [String: [NotificationRule]] = [:]
  /// The rules about zones, by zone.
  private var zoneRules: [String: [NotificationRule]] = [:]
  /// The time of the last notification of each rule about each subject.
  var spoken: [Key: Timestamp] = [:]
  /// The stays that are not yet long enough.
  var stays: [Key: Stay] = [:]
  /// The earliest deadline among the stays of subjects that are known to be inside.
  var firstDeadline: Timestamp?
  /// The notifications that were decided but not yet read back from the journal, in order.
  var outbox: [Event] = []
  /// The number of notifications at the beginning of the outbox that were already published.
  var handedOut = 0

  /// Creates a machine with an empty state.
  ///
  /// - Parameter stream: the name of the stream, which is part of the ids.
  package init(stream: String) { self.stream = stream }

  /// Replaces the rules and removes the state that belongs to deleted rules.
  package mutating func adopt(_ new: [NotificationRule]) {
    rules = Dictionary(grouping: new, by: \.application)
    zoneRules = Dictionary(grouping: new.filter(\.occasion.isAboutZone), by: \.region)
    let known = Set(new.map { Key(application: $0.application, rule: $0.id, subject: .none) })
    func isKnown(_ key: Key) -> Bool {
      known.contains(Key(application: key.application, rule: key.rule, subject: .none))
    }
    spoken = spoken.filter { isKnown($0.key) }
    stays = stays.filter { isKnown($0.key) }
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }

  /// The time at which to call ``advance(to:names:)`` if no event comes before; no stay ends earlier.
  package var wakeTime: Timestamp? { firstDeadline.map { $0 + NotificationMachine.patience } }

  /// Processes one event of the journal.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - sequence: its sequence.
  ///   - names: the names that the site gives.
  package mutating func record(_ event: Event, sequence: Int64, names: SiteNames?) {
    advance(to: event.decidedAt, names: names)
    if case .notification(let detail) = event.detail { return see(event, detail) }
    let isAboutZone = event.kind.group == .zone
    guard let rules = isAboutZone ? zoneRules[event.region] : rules[event.application] else { return }
    for rule in rules
    where rule.region == event.region && rule.occasion.isAboutZone == isAboutZone
      && sequence > rule.startsAfter
      && rule.subject.map({ $0 == event.subject || event.subject == .none }) ?? true
    {
      let key = Key(application: rule.application, rule: rule.id, subject: event.subject)
      if event.kind == .regionReset {
        stays = stays.filter { $0.key.application != rule.application || $0.key.rule != rule.id }
        continue
      }
      switch (event.kind, event.detail) {
      case (.regionEnter, _) where rule.occasion == .enter, (.zoneEnter, _) where rule.occasion == .zoneEnter:
        if let span = rule.stayAtLeast {
          wait(for: Stay(deadline: event.time + span, cause: event.id, isSure: true), key)
        } else {
          decide(rule, key, at: event.time, decidedAt: event.decidedAt, cause: event.id, names)
        }
      case (.regionExit, _), (.zoneExit, _):
        stays[key] = nil
        if rule.occasion == .exit || rule.occasion == .zoneExit {
          decide(rule, key, at: event.time, decidedAt: event.decidedAt, cause: event.id, names)
        }
      case (.regionState, .region(let transition)) where !transition.isAnswer:
        guard var stay = stays.removeValue(forKey: key), transition.to != .outside else { break }
        stay.isSure = transition.to == .inside
        wait(for: stay, key)
      case (.zoneUnmonitored, _), (.zoneMonitored, _):
        guard var stay = stays.removeValue(forKey: key) else { break }
        stay.isSure = event.kind == .zoneMonitored
        wait(for: stay, key)
      default: break
      }
    }
  }

  /// Advances the time and decides the notifications of the stays that are long enough by now.
  package mutating func advance(to now: Timestamp, names: SiteNames?) {
    guard let wakeTime, wakeTime <= now else { return }
    let due = stays.filter { $0.value.isSure && $0.value.deadline + NotificationMachine.patience <= now }
      .sorted { ($0.value.deadline, $0.key.subject) < ($1.value.deadline, $1.key.subject) }
    for (key, stay) in due {
      stays[key] = nil
      guard let rule = rules[key.application]?.first(where: { $0.id == key.rule }) else { continue }
      decide(rule, key, at: stay.deadline, decidedAt: stay.deadline, cause: stay.cause, names)
    }
    // If the state of a subject has been unknown for so long, a notification would come too late.
    stays = stays.filter { now - $0.value.deadline < NotificationMachine.maximumAge }
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

  /// Returns the decided notifications to publish, each once; drops those that come too late.
  package mutating func drainDecided(at now: Timestamp) -> [Event] {
    var fresh: [Event] = []
    let old = outbox.prefix(handedOut)
    // What did not come back from the journal in all that time was withheld, and never will.
    let waiting = old.filter { now - $0.time < NotificationMachine.maximumAge }
    for event in outbox.dropFirst(handedOut) {
      if now - event.time < NotificationMachine.maximumAge { fresh.append(event) } else { late += 1 }
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

  /// Processes a notification that the journal now holds.
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
    _ names: SiteNames?
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
      text: rule.text(for: key.subject, by: names?.asOf(time)),
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

  /// Returns the number that distinguishes the notifications of a rule in their ids: a hash of the rule and the cause.
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
  /// Removes a subject: the times of its notifications, its stays and its waiting notifications.
  ///
  /// - Returns: true if the state named the subject.
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
  /// The version of the layout; data of other versions is not read.
  static let version: UInt8 = 1

  /// Hands the state to a coder, without the rules; a reader reads into a machine that has none yet.
  ///
  /// The machine returns notifications in the outbox once more, unless the journal shows that they arrived.
  package mutating func visitState<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: NotificationMachine.version)
    try coder.code(&spoken)
    try coder.code(&stays)
    try coder.code(&outbox)
    guard Coder.isReader else { return }
    handedOut = 0
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }
}

extension NotificationMachine.Key: FieldRecord, Comparable {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      application: try coder.field(value().application),
      rule: try coder.field(value().rule),
      subject: try coder.field(value().subject)
    )
  }

  static func < (left: Self, right: Self) -> Bool {
    (left.application, left.rule, left.subject) < (right.application, right.rule, right.subject)
  }
}

extension NotificationMachine.Stay: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      deadline: try coder.field(value().deadline),
      cause: try coder.field(value().cause),
      isSure: try coder.field(value().isSure)
    )
  }
}
