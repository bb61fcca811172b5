package import PharosDocuments
package import PharosModel
import PharosWays

// A rule waits for an occasion. Most occasions are events of the journal:
//
//   1. an enter, exit, visit, low battery or outage is decided with its event, or, if it must last, once it has lasted,
//   2. limits and quiet hours drop a decision; what passes is an event of the outbox, which is published once,
//   3. the journal hands each notification back, which ends its time in the outbox.
//
// Proximity and appointments follow from ranging and fixes, which the journal does not keep. They are decided once, and the
// notification that the journal hands back says after a restart which ones were: an approach is not announced again until
// the subject has left, and the warnings of an appointment are numbered.

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

  /// The time without a near report after which a subject that was near has left: two reports more than a radio loses in a crowd.
  package static let release = TimeSpan.seconds(10)

  /// A rule and a subject that it applies to, and perhaps some beacons.
  struct Key: Hashable, Sendable {
    var application: String
    var rule: String
    var subject: SubjectID
    /// The beacons, if there is more to tell apart than subjects.
    var beacons: BeaconConstraint?
  }

  /// The time that a subject has been near a beacon.
  struct Approach: Hashable, Sendable {
    /// The first of its reports.
    var since: Timestamp
    /// The last of them.
    var lastNear: Timestamp
    /// Indicates whether the notification was decided.
    var isAnnounced = false
    /// Indicates whether the state comes from before a restart, so that a gap in the reports is no proof that the subject left.
    var isResumed = false
  }

  /// The stay of a subject that entered and must remain inside for a time.
  struct Stay: Hashable, Sendable {
    /// The time at which the stay is long enough.
    var deadline: Timestamp
    /// The enter event.
    var cause: EventID
    /// A Boolean value that is true while the last reported state is inside, and false while it is unknown.
    var isSure: Bool
    /// The beacon that caused it, where one did.
    var beacon: BeaconID?
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
  /// The rules about visits, batteries and observers, of all applications.
  private var siteRules: [NotificationRule] = []
  /// The rules about appointments, by subject.
  private var appointments: [SubjectID: [NotificationRule]] = [:]
  /// The time of the last notification of each rule about each subject.
  var spoken: [Key: Timestamp] = [:]
  /// The stays that are not yet long enough.
  var stays: [Key: Stay] = [:]
  /// The subjects that are near a beacon.
  var approaches: [Key: Approach] = [:]
  /// The beacons whose batteries are low, with the time of the first such report.
  var low: [Key: Timestamp] = [:]
  /// The appointments of subjects that were located or warned.
  var departures: [Key: DepartureWatch] = [:]
  /// A time not after the earliest at which a subject without fixes may have to leave.
  private var firstDeparture: Timestamp?
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

  /// Replaces the rules and removes the state that belongs to deleted rules and to appointments that were changed.
  package mutating func adopt(_ new: [NotificationRule]) {
    var before: [Key: NotificationRule.Appointment] = [:]
    for rule in appointments.values.joined() { before[Key(rule, .none)] = rule.appointment }
    rules = Dictionary(grouping: new, by: \.application)
    zoneRules = Dictionary(grouping: new.filter(\.occasion.isAboutZone), by: \.region)
    siteRules = new.filter { $0.isForOperators && !$0.occasion.isAboutZone }
    appointments = [:]
    var known: Set<Key> = []
    var changed: Set<Key> = []
    for rule in new {
      let key = Key(rule, .none)
      known.insert(key)
      guard let appointment = rule.appointment, let subject = rule.subject else { continue }
      appointments[subject, default: []].append(rule)
      if let former = before[key], former != appointment { changed.insert(key) }
    }
    func isKnown(_ key: Key) -> Bool { known.contains(key.ofRule) }
    spoken = spoken.filter { isKnown($0.key) }
    stays = stays.filter { isKnown($0.key) }
    approaches = approaches.filter { isKnown($0.key) }
    low = low.filter { isKnown($0.key) }
    departures = departures.filter { isKnown($0.key) && !changed.contains($0.key.ofRule) }
    findFirstDeparture()
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }

  /// The time at which to call ``advance(to:site:)`` if no event comes before; nothing becomes due earlier.
  package var wakeTime: Timestamp? {
    [firstDeadline.map { $0 + NotificationMachine.patience }, firstDeparture].compactMap { $0 }.min()
  }

  private mutating func findFirstDeparture() {
    firstDeparture =
      appointments.values.joined().compactMap { rule in
        rule.watched.flatMap { self.departures[Key(rule, rule.subject ?? .none)]?.wakeTime(for: $0) }
      }
      .min()
  }

  /// Returns the rules that an event of the journal may concern.
  private func candidates(for event: Event) -> [NotificationRule] {
    switch event.kind.group {
    case .zone: zoneRules[event.region] ?? []
    case .visit, .beacon, .observer: siteRules
    default: (rules[event.application] ?? []).filter { $0.region == event.region && !$0.occasion.isAboutZone }
    }
  }

  /// Processes one event of the journal.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - sequence: its sequence.
  ///   - site: the site.
  package mutating func record(_ event: Event, sequence: Int64, site: NotificationSite) {
    advance(to: event.decidedAt, site: site)
    if case .notification(let detail) = event.detail { return see(event, detail) }
    for rule in candidates(for: event)
    where sequence > rule.startsAfter && (event.subject == .none || rule.concerns(event.subject)) {
      let key = Key(rule, event.subject)
      if event.kind == .regionReset {
        stays = stays.filter { $0.key.ofRule != key.ofRule }
        approaches = approaches.filter { $0.key.ofRule != key.ofRule }
        continue
      }
      var occasion = NotificationText.Occasion(subject: event.subject, region: event.region, time: event.time)
      switch (event.kind, event.detail) {
      case (.regionEnter, .region(let transition)) where rule.occasion == .enter:
        occasion.beacon = transition.refinement
        begin(rule, key, occasion, event, site)
      case (.zoneEnter, _) where rule.occasion == .zoneEnter,
        (.observerOffline, _) where rule.occasion == .offline:
        begin(rule, key, occasion, event, site)
      case (.observerOnline, _) where rule.occasion == .offline: stays[key] = nil
      case (.regionExit, _), (.zoneExit, _):
        stays[key] = nil
        guard rule.occasion == .exit || rule.occasion == .zoneExit else { break }
        if case .region(let transition) = event.detail { occasion.beacon = transition.refinement }
        decide(rule, occasion, decidedAt: event.decidedAt, cause: event.id, site)
      case (.visitArrive, _) where rule.occasion == .visitArrive && rule.isAt(event.region),
        (.visitDepart, _) where rule.occasion == .visitDepart && rule.isAt(event.region):
        decide(rule, occasion, decidedAt: event.decidedAt, cause: event.id, site)
      case (.beaconBattery, .battery(let millivolts, _)) where rule.occasion == .lowBattery:
        guard let below = rule.below else { break }
        if millivolts >= below + NotificationRule.batteryHysteresis { low[key] = nil }
        guard millivolts < below, low[key] == nil, low.count < NotificationMachine.subjectLimit else { break }
        low[key] = event.time
        occasion.millivolts = millivolts
        decide(rule, occasion, decidedAt: event.decidedAt, cause: event.id, site)
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

  /// Decides an occasion that has begun, or waits until it has lasted.
  private mutating func begin(
    _ rule: NotificationRule,
    _ key: Key,
    _ occasion: NotificationText.Occasion,
    _ event: Event,
    _ site: NotificationSite
  ) {
    guard let span = rule.stayAtLeast else {
      return decide(rule, occasion, decidedAt: event.decidedAt, cause: event.id, site)
    }
    let deadline = event.time + span
    wait(for: Stay(deadline: deadline, cause: event.id, isSure: true, beacon: occasion.beacon), key)
  }

  /// Processes an event that the journal does not keep: ranging, or a fix.
  ///
  /// To be called once the journal was read to its end, so that the notifications from before a restart are known.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - site: the site.
  ///   - walk: returns the walk from a fix to the place of an appointment; nil if there is no way.
  package mutating func receive(
    live event: Event,
    site: NotificationSite,
    walk: (FixDetail, NotificationRule.Appointment) -> TimeSpan?
  ) {
    switch event.detail {
    case .ranging(_, let readings):
      for rule in rules[event.application] ?? []
      where rule.occasion == .proximity && rule.concerns(event.subject) {
        guard let wanted = rule.beacons ?? site.beacons(of: rule.region, application: rule.application) else {
          continue
        }
        for reading in readings where wanted.matches(reading.beacon) {
          approach(rule, reading, of: event, site)
        }
      }
    case .fix(let fix):
      for rule in appointments[event.subject] ?? [] {
        guard let appointment = rule.appointment, let watched = rule.watched, event.time < watched.time else {
          continue
        }
        let key = Key(rule, event.subject)
        var watch = departures[key] ?? DepartureWatch()
        guard event.time >= watch.nextSample(for: watched), let way = walk(fix, appointment) else { continue }
        let isDue = watch.update(walk: way, at: event.time, for: watched)
        departures[key] = watch
        if let time = watch.wakeTime(for: watched) { firstDeparture = min(firstDeparture ?? time, time) }
        if isDue { warn(rule, watch, at: event.time, decidedAt: event.decidedAt, site) }
      }
    default: break
    }
  }

  /// Follows a subject near a beacon.
  private mutating func approach(
    _ rule: NotificationRule,
    _ reading: RangedReading,
    of event: Event,
    _ site: NotificationSite
  ) {
    var key = Key(rule, event.subject)
    key.beacons = BeaconEntry.constraint(of: reading.beacon).normal
    let before = approaches[key]
    let gap = before?.isResumed == true ? NotificationMachine.maximumAge : NotificationMachine.release
    guard rule.isNear(reading.proximity) else {
      guard let before else { return }
      if before.isResumed {
        // The time without a near report counts from now on.
        approaches[key]?.isResumed = false
        approaches[key]?.lastNear = event.time
      } else if event.time - before.lastNear >= gap || !before.isAnnounced && reading.proximity != .unknown {
        approaches[key] = nil
      }
      return
    }
    var approach = Approach(since: event.time, lastNear: event.time)
    if let before, event.time - before.lastNear < gap {
      (approach.since, approach.isAnnounced) = (before.since, before.isAnnounced)
    } else if before == nil, approaches.count >= NotificationMachine.subjectLimit {
      late += 1
      return
    }
    let isDue = !approach.isAnnounced && event.time - approach.since >= rule.stayAtLeast ?? .zero
    if isDue { approach.isAnnounced = true }
    approaches[key] = approach
    guard isDue else { return }
    var occasion = NotificationText.Occasion(subject: event.subject, region: rule.region, time: event.time)
    occasion.beacon = reading.beacon
    decide(rule, occasion, decidedAt: event.decidedAt, cause: event.id, site)
  }

  /// Decides the warning that a subject has to leave now.
  private mutating func warn(
    _ rule: NotificationRule,
    _ watch: DepartureWatch,
    at time: Timestamp,
    decidedAt: Timestamp,
    _ site: NotificationSite
  ) {
    guard let appointment = rule.appointment else { return }
    var occasion = NotificationText.Occasion(subject: rule.subject ?? .none, region: "", time: time)
    occasion.appointment = appointment
    occasion.walk = watch.walk
    let number = EventID(high: appointment.number, low: UInt64(watch.warnings))
    decide(rule, occasion, decidedAt: decidedAt, cause: number, site)
  }

  /// Advances the time and decides the notifications of the stays that are long enough by now.
  package mutating func advance(to now: Timestamp, site: NotificationSite) {
    guard let wakeTime, wakeTime <= now else { return }
    if let firstDeparture, firstDeparture <= now { remind(at: now, site) }
    let due = stays.filter { $0.value.isSure && $0.value.deadline + NotificationMachine.patience <= now }
      .sorted { ($0.value.deadline, $0.key.subject) < ($1.value.deadline, $1.key.subject) }
    for (key, stay) in due {
      stays[key] = nil
      guard let rule = rules[key.application]?.first(where: { $0.id == key.rule }) else { continue }
      var occasion = NotificationText.Occasion(subject: key.subject, region: rule.region, time: stay.deadline)
      occasion.beacon = stay.beacon
      decide(rule, occasion, decidedAt: stay.deadline, cause: stay.cause, site)
    }
    // If the state of a subject has been unknown for so long, a notification would come too late.
    stays = stays.filter { now - $0.value.deadline < NotificationMachine.maximumAge }
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }

  /// Warns the subjects without fixes that have to leave.
  private mutating func remind(at now: Timestamp, _ site: NotificationSite) {
    for rule in appointments.values.joined().sorted(by: { ($0.application, $0.id) < ($1.application, $1.id) })
    {
      guard let watched = rule.watched, let subject = rule.subject else { continue }
      let key = Key(rule, subject)
      guard departures[key]?.advance(to: now, for: watched) == true, let watch = departures[key] else {
        continue
      }
      warn(rule, watch, at: now, decidedAt: now, site)
    }
    findFirstDeparture()
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
    var key = Key(application: event.application, rule: detail.rule, subject: event.subject)
    if stays[key]?.cause == detail.cause { stays[key] = nil }
    guard let rule = rules[event.application]?.first(where: { $0.id == detail.rule }) else { return }
    if detail.occasion == .deadline, detail.cause.high == rule.appointment?.number {
      departures[key, default: DepartureWatch()].restore(
        warnings: Int(clamping: detail.cause.low),
        at: event.time
      )
    }
    if detail.occasion == .proximity, let beacon = detail.beacon {
      var near = key
      near.beacons = BeaconEntry.constraint(of: beacon).normal
      var approach = Approach(since: event.time, lastNear: event.time, isAnnounced: true, isResumed: true)
      if let known = approaches[near], known.lastNear >= event.time { approach = known }
      approach.isAnnounced = true
      approaches[near] = approach
    }
    guard rule.isLimited else { return }
    key.beacons = rule.scope(of: detail.beacon)
    remember(key, at: max(spoken[key] ?? .distantPast, event.time))
  }

  private mutating func decide(
    _ rule: NotificationRule,
    _ occasion: NotificationText.Occasion,
    decidedAt: Timestamp,
    cause: EventID,
    _ site: NotificationSite
  ) {
    if rule.quietHours?.contains(occasion.time) == true {
      quieted += 1
      return
    }
    var key = Key(rule, occasion.subject)
    key.beacons = rule.scope(of: occasion.beacon)
    if rule.isLimited, let before = spoken[key],
      rule.atMostOncePer.map({ occasion.time - before < $0 }) ?? true
    {
      repeated += 1
      return
    }
    decided += 1
    if rule.isLimited { remember(key, at: occasion.time) }
    func filled(_ text: String) -> String { NotificationText.filled(text, occasion, site) }
    var detail = NotificationDetail(
      rule: rule.id,
      occasion: rule.occasion,
      text: filled(rule.text),
      cause: cause
    )
    detail.title = rule.title.map(filled)
    detail.link = rule.link.map(filled)
    detail.picture = rule.picture.map(filled)
    detail.beacon = occasion.beacon
    detail.deadline = rule.appointment?.time
    outbox.append(
      Event(
        stream: stream,
        kind: .notification,
        time: occasion.time,
        decidedAt: decidedAt,
        stage: 0,
        subject: occasion.subject,
        application: rule.application,
        region: occasion.region,
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
    let before = stateCount
    func isKept(_ key: Key) -> Bool { !traces.contains(key.subject) }
    spoken = spoken.filter { isKept($0.key) }
    stays = stays.filter { isKept($0.key) }
    approaches = approaches.filter { isKept($0.key) }
    low = low.filter { isKept($0.key) }
    departures = departures.filter { isKept($0.key) }
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
    for index in outbox.indices.reversed() where traces.contains(outbox[index].subject) {
      outbox.remove(at: index)
      if index < handedOut { handedOut -= 1 }
    }
    return stateCount != before
  }

  private var stateCount: Int {
    spoken.count + stays.count + approaches.count + low.count + departures.count + outbox.count
  }
}

extension NotificationMachine {
  /// The versions of the layout: for rules about regions and zones alone; with proximity, batteries and appointments.
  private static let versions: (regions: UInt8, present: UInt8) = (1, 2)

  /// Hands the state to a coder, without the rules; a reader reads into a machine that has none yet.
  ///
  /// The machine returns notifications in the outbox once more, unless the journal shows that they arrived.
  package mutating func visitState<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let versions = NotificationMachine.versions
    var version = versions.present
    try coder.code(&version)
    try coder.check(versions.regions...versions.present ~= version, "a version of the notifications' state")
    if version == versions.regions {
      var (spoken, stays): ([EarlierKey: Timestamp], [EarlierKey: EarlierStay]) = ([:], [:])
      try coder.code(&spoken)
      try coder.code(&stays)
      self.spoken = Dictionary(uniqueKeysWithValues: spoken.map { ($0.key.key, $0.value) })
      self.stays = Dictionary(uniqueKeysWithValues: stays.map { ($0.key.key, $0.value.stay) })
    } else {
      try coder.code(&spoken)
      try coder.code(&stays)
    }
    try coder.code(&outbox)
    if version == versions.present {
      try coder.code(&approaches)
      try coder.code(&low)
      try coder.code(&departures)
    }
    guard Coder.isReader else { return }
    handedOut = 0
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }
}

extension NotificationRule {
  /// Indicates whether some of its notifications are left out because of earlier ones.
  fileprivate var isLimited: Bool { atMostOncePer != nil || oncePer != nil }

  /// The appointment as ``DepartureWatch`` sees it.
  fileprivate var watched: DepartureWatch.Appointment? {
    appointment.map { DepartureWatch.Appointment(time: $0.time, margin: $0.margin) }
  }

  /// Returns whether the rule is about visits of a place.
  fileprivate func isAt(_ place: String) -> Bool { region.isEmpty || region == place }
}

extension NotificationRule.Appointment {
  /// A number that distinguishes the appointment from others of the same rule: a hash of its place and time.
  ///
  /// - Source: FNV-1a with 64 bits (draft-eastlake-fnv).
  fileprivate var number: UInt64 {
    var hash = UInt64(bitPattern: time.nanoseconds) ^ 0xCBF2_9CE4_8422_2325
    for byte in place.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }
}

extension NotificationMachine.Key: FieldRecord, Comparable {
  /// Names a rule and a subject.
  fileprivate init(_ rule: NotificationRule, _ subject: SubjectID) {
    self.init(application: rule.application, rule: rule.id, subject: subject)
  }

  /// The rule alone.
  fileprivate var ofRule: Self { Self(application: application, rule: rule, subject: .none) }

  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      application: try coder.field(value().application),
      rule: try coder.field(value().rule),
      subject: try coder.field(value().subject),
      beacons: try coder.field(value().beacons)
    )
  }

  static func < (left: Self, right: Self) -> Bool {
    let beacons = (left.beacons?.description ?? "", right.beacons?.description ?? "")
    return (left.application, left.rule, left.subject, beacons.0)
      < (right.application, right.rule, right.subject, beacons.1)
  }
}

extension NotificationMachine.Stay: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      deadline: try coder.field(value().deadline),
      cause: try coder.field(value().cause),
      isSure: try coder.field(value().isSure),
      beacon: try coder.field(value().beacon)
    )
  }
}

extension NotificationMachine.Approach: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      since: try coder.field(value().since),
      lastNear: try coder.field(value().lastNear),
      isAnnounced: try coder.field(value().isAnnounced),
      isResumed: true
    )
  }
}

/// A key of a state that was saved before rules could be about beacons.
private struct EarlierKey: FieldRecord, Hashable, Comparable {
  var key: NotificationMachine.Key

  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      key: NotificationMachine.Key(
        application: try coder.field(value().key.application),
        rule: try coder.field(value().key.rule),
        subject: try coder.field(value().key.subject)
      )
    )
  }

  static func < (left: Self, right: Self) -> Bool { left.key < right.key }
}

/// A stay of such a state.
private struct EarlierStay: FieldRecord {
  var stay: NotificationMachine.Stay

  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      stay: NotificationMachine.Stay(
        deadline: try coder.field(value().stay.deadline),
        cause: try coder.field(value().stay.cause),
        isSure: try coder.field(value().stay.isSure)
      )
    )
  }
}
