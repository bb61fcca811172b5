// How a subject is located: a particle filter over the floors of a venue.
//
// 1. Wait. Input goes to the inbox, in order of event time, and is used when the receive time is later by the lag. So late
//    input takes its place among the rest, and the calls by which time advances change no fix.
// 2. Move. Each movement that the motion sensors or the odometry report moves every particle, with noise of its own; a way
//    through a wall costs a particle weight (Locator+Motion, Locator+Visual, ParticleCloud).
// 3. Weigh. The readings of a look are grouped by where they were heard. Each particle's weight is multiplied by the
//    likelihood of the levels in the radio map at its place, and of what a scan did not list (Locator+Radio).
// 4. Estimate. When a fix is due, the particles give the place, the floor and the radius meant to hold 68 % of truths.
//    Particles are drawn again in proportion to their weights (`resample`). From time to time the belief is compared with
//    all other places, and a part of it moves there if they explain the last seconds much better (`audit`).

import DequeModule
import PharosDocuments
package import PharosModel
import PharosSpace

/// A locator of one subject, from radio readings, motion and outside fixes.
///
/// A particle filter. All input is held back by the lag, put in order of event time, and weighed once. A fix for a
/// time uses nothing that happened later, and neither the size of batches nor the times of the calls change any fix.
/// The same ground, rules, seed and input give the same fixes on every machine.
///
/// - Source: Gordon, Salmond and Smith, "Novel approach to nonlinear/non-Gaussian Bayesian state estimation", IEE
///   Proc. F 140 (1993).
package struct Locator: Sendable {
  let content: LocatableVenue.Content
  let rules: FusionRules
  /// The time for which input is held back.
  private var lag: TimeSpan { max(rules.lag, delivery.maximumGap) }
  private var delivery = RecentDelivery()
  var noise: FusionNoise
  var tracker: MotionTracker
  var inbox = LocatorInbox()
  package var cloud = ParticleCloud()
  var trail = WalkedTrail()
  var heard = LastHeardTable()
  /// Readings whose time has come, not weighed yet.
  var pool: [RadioReading] = []
  /// The readings of the last seconds, in order of when they were heard.
  var recent: [RadioReading] = []
  /// The time of the first evidence since the belief was empty.
  var born: Timestamp?
  package var offset: LevelOffset
  var gait = LocatorGait()
  var evidence = LocatorEvidence()
  var sky = OutsideBelief()
  var satellites = SatelliteSource()
  var visual = VisualSource()
  var carriage = LocatorCarriage()
  var conveyances = ConveyanceWatch()
  var positioning = PositioningMachine()
  var itinerary: ItineraryTrack?
  private var notes: [PositioningNote] = []
  /// The time up to which all input has been weighed.
  var now = Timestamp.distantPast
  /// The time of the next fix; nil before the first evidence, and after a silence.
  var next: Timestamp?
  /// The latest time that anything was given for.
  var newestInput = Timestamp.distantPast
  private var made: [FixEstimate] = []
  /// The counters of dropped input and of recoveries.
  package internal(set) var counters = LocatingCounters()

  /// The maximum number of fixes that wait to be fetched.
  ///
  /// Beyond it, the oldest are dropped and counted.
  static let maximumWaiting = 64

  /// Creates a locator without a belief.
  ///
  /// - Parameters:
  ///   - ground: The venue in which the subject may be.
  ///   - rules: The constants; nil for those of the ground. The table of likelihoods stays the ground's.
  ///   - seed: The seed of the random numbers.
  package init(ground: LocatableVenue, rules: FusionRules? = nil, seed: UInt64) {
    content = ground.content
    self.rules = rules ?? ground.rules
    noise = FusionNoise(seed: seed)
    // Samples wait for the lag, and some more until their batch is complete.
    tracker = MotionTracker(horizon: self.rules.lag + .milliseconds(600))
    offset = LevelOffset(deviation: self.rules.receiverDeviation)
  }

  /// The receive time at which the next fix can be made, or the distant future while nothing is known.
  ///
  /// The first evidence makes one as soon as its time has come. The value is always later than every receive time to
  /// which the locator was advanced: the fixes that were due up to there have been made, and input for an earlier time
  /// is rejected as late.
  package var nextDue: Timestamp { (next ?? inbox.nextTime).map { $0 + lag } ?? .distantFuture }

  /// Removes and returns the next fix that was made, or returns nil.
  package mutating func nextFix() -> FixEstimate? { made.isEmpty ? nil : made.removeFirst() }

  /// Removes and returns the next finding about visual positioning, or returns nil.
  package mutating func nextNote() -> PositioningNote? { notes.isEmpty ? nil : notes.removeFirst() }

  mutating func emit(_ note: PositioningNote) {
    if notes.count >= Locator.maximumWaiting { notes.removeFirst() }
    notes.append(note)
  }

  mutating func emit(_ fix: FixEstimate) {
    if made.count >= Locator.maximumWaiting {
      made.removeFirst()
      counters.unfetched += 1
    }
    made.append(fix)
  }

  /// Advances to a receive time, up to which all input was given.
  package mutating func advance(to received: Timestamp) { process(through: received - lag) }
}

extension Locator {
  /// The number of bytes that the subject takes, counting the filled part of its arrays.
  ///
  /// At most 64 KiB with the default rules, and a third more with the reserve of the arrays: the waiting input, the
  /// remembered readings and the number of particles are all bounded.
  package var bytes: Int {
    MemoryLayout<Locator>.size + cloud.count * 33 + recent.count * MemoryLayout<RadioReading>.stride
      + pool.count * MemoryLayout<RadioReading>.stride + inbox.bytes + heard.bytes + WalkedTrail.capacity * 16
      + 8_192
  }
}

extension Locator {
  /// Takes a sensing of the subject's handset.
  package mutating func receive(_ sensing: Sensing) {
    complete(before: sensing.decidedAt)
    switch sensing.body {
    case .accessPoints(let points):
      for point in points { receive(point, arrived: sensing.time) }
    case .beacon(let beacon, let address, let rssi, accuracy: _):
      guard let emitter = content.emitter(ofBeacon: beacon, address: address) else {
        counters.unknown += 1
        return
      }
      let reading = RadioReading(
        heard: sensing.time,
        emitter: emitter,
        level: Float(rssi.dBm),
        kind: .beacon
      )
      add(reading, arrived: sensing.time)
    case .motion(let samples):
      for sample in samples { tracker.update(sample, at: sensing.time - sample.age) }
      newestInput = max(newestInput, sensing.time)
    case .outside(let fix):
      receive(fix, arrived: sensing.time)
    case .relativePose(let pose):
      guard VisualSource.isSensible(pose) else {
        counters.invalid += 1
        return
      }
      receive(.pose(pose), arrived: sensing.time)
    case .visualStatus(let status): receive(.status(status), arrived: sensing.time)
    }
  }

  /// Returns the time at which something was decided that happened at a time, given that it is decided now.
  func decided(_ time: Timestamp) -> Timestamp { max(time + lag, delivery.lowered) }

  /// Holds input back for as long as observers needed of late to deliver what they hear, if that is longer than the lag.
  package mutating func wait(for span: TimeSpan, at instant: Timestamp) { delivery.record(span, at: instant) }

  /// Takes the level at which a fixed observer heard the subject, a tag, in half a second.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - level: The mean level in dBm.
  ///   - time: The time at which the tag was last heard in that second.
  ///   - decidedAt: The time at which the summary was decided.
  package mutating func receive(
    _ observer: ObserverID,
    level: Double,
    heard time: Timestamp,
    decidedAt: Timestamp
  ) {
    complete(before: decidedAt)
    guard let emitter = content.emitter(.observer(observer)) else {
      counters.unknown += 1
      return
    }
    offset.leaveOpen(deviation: rules.senderDeviation)
    add(RadioReading(heard: time, emitter: emitter, level: Float(level), kind: .observer), arrived: time)
  }

  /// Processes what was received before an instant.
  ///
  /// It is complete: the result must not depend on when a caller advanced the time. What comes now may be as old as the lag, to
  /// the nanosecond.
  private mutating func complete(before received: Timestamp) {
    process(through: received - lag - .oneNanosecond)
  }

  private mutating func receive(_ point: AccessPoint, arrived time: Timestamp) {
    guard let rssi = point.rssi else { return }
    guard let emitter = content.emitter(.accessPoint(point.bssid)) else {
      counters.unknown += 1
      return
    }
    guard point.lastHeard <= rules.oldestReading else {
      counters.repeated += 1
      return
    }
    let age = max(.zero, point.lastHeard)
    let reading = RadioReading(
      heard: time - age,
      emitter: emitter,
      level: Float(rssi.dBm),
      kind: .accessPoint
    )
    add(reading, arrived: time)
  }

  private mutating func receive(_ fix: OutsideFix, arrived time: Timestamp) {
    let radius = fix.horizontalAccuracy.value
    guard radius.isFinite, radius > 0, fix.attitude?.isUnit != false,
      Coordinate(latitude: fix.latitude, longitude: fix.longitude) != nil
    else {
      counters.invalid += 1
      return
    }
    guard time > now else {
      counters.late += 1
      return
    }
    newestInput = max(newestInput, time)
    if !inbox.add(fix, arrived: time) { counters.crowded += 1 }
  }

  private mutating func receive(_ report: LocatorInbox.Visual, arrived time: Timestamp) {
    guard time > now else {
      counters.late += 1
      return
    }
    newestInput = max(newestInput, time)
    if !inbox.add(report, arrived: time) { counters.crowded += 1 }
  }

  private mutating func add(_ reading: RadioReading, arrived time: Timestamp) {
    guard time > now else {
      counters.late += 1
      return
    }
    newestInput = max(newestInput, time)
    if !inbox.add(reading, arrived: time) { counters.crowded += 1 }
  }
}

/// The longest time that observers needed to deliver what they heard in the last one to two minutes.
///
/// An observer that uploads every ten seconds is waited for. A slower one tells where a tag was long ago: it is waited for only
/// while no quicker one hears the tag.
struct RecentDelivery: Sendable, Hashable {
  /// The longest time that is waited for where a quicker observer hears the tag: an upload every ten seconds, and its reading.
  private static let prompt = TimeSpan.seconds(12)
  private static let window = TimeSpan.minutes(1)
  /// The length of the window in times of the slowest delivery: a slow observer delivers once in each.
  private static let slowWindow = 2.0

  /// The longest times of one window.
  struct Delays: Hashable {
    /// Of those within ``prompt``.
    var prompt = TimeSpan.zero
    /// Of all.
    var any = TimeSpan.zero
  }

  /// The longest times in this window, and in the one before.
  private var present = Delays()
  private var before = Delays()
  private var turned = Timestamp.distantPast
  /// The time of the latest delivery within ``prompt``.
  private var promptAt = Timestamp.distantPast
  /// The time at which the longest time last fell: nothing is decided for an earlier one from then on.
  private(set) var lowered = Timestamp.distantPast

  var maximumGap: TimeSpan {
    let prompt = max(present.prompt, before.prompt)
    return prompt > .zero ? prompt : max(present.any, before.any)
  }

  /// Takes the time that an observer needed for what it delivered at an instant.
  mutating func record(_ span: TimeSpan, at instant: Timestamp) {
    let was = maximumGap
    let length = max(RecentDelivery.window, max(present.any, before.any) * RecentDelivery.slowWindow)
    if turned == .distantPast || instant - turned >= length {
      (before, present, turned) = (present, Delays(), instant)
    }
    present.any = max(present.any, span)
    if span <= RecentDelivery.prompt {
      (present.prompt, promptAt) = (max(present.prompt, span), instant)
    } else if instant - promptAt > RecentDelivery.prompt {
      // The quicker observers no longer hear it.
      (present.prompt, before.prompt) = (.zero, .zero)
    }
    if maximumGap < was { lowered = instant }
  }
}

/// The waiting input, in order of event time.
///
/// Input of the same instant stays in order of arrival.
struct LocatorInbox: Sendable {
  /// A reading and the event time of its report.
  struct Entry: Hashable, Sendable {
    var time: Timestamp
    var reading: RadioReading
  }

  /// The maximum number of waiting readings: two scans of a mall, where phones hear 250 to 560 access points.
  static let capacity = 1_024

  private var readings: Deque<Entry> = []
  private var outside: Deque<(time: Timestamp, fix: OutsideFix)> = []
  private var visual: Deque<(time: Timestamp, report: Visual)> = []

  /// A report of visual positioning that is no fix.
  enum Visual: Hashable, Sendable {
    case pose(RelativePose)
    case status(VisualStatus)
  }

  /// The maximum number of waiting locations from outside; one a second is usual.
  private static let maximumOutside = 16
  /// The maximum number of waiting movements: 30 a second during a lag of some seconds.
  private static let maximumVisual = 128

  /// The number of bytes that the waiting input takes.
  var bytes: Int { readings.count * MemoryLayout<Entry>.stride + outside.count * 96 + visual.count * 64 }

  /// The time of the next input.
  var nextTime: Timestamp? {
    let times = (readings.first?.time, outside.first?.time, visual.first?.time)
    guard times.0 != nil || times.1 != nil || times.2 != nil else { return nil }
    return min(times.0 ?? .distantFuture, times.1 ?? .distantFuture, times.2 ?? .distantFuture)
  }

  /// Adds a report of visual positioning.
  ///
  /// - Returns: `true` if there was room.
  mutating func add(_ report: Visual, arrived time: Timestamp) -> Bool {
    guard visual.count < LocatorInbox.maximumVisual else { return false }
    var place = visual.count
    while place > 0, visual[place - 1].time > time { place -= 1 }
    visual.insert((time, report), at: place)
    return true
  }

  /// Takes the next report of visual positioning of exactly a time.
  mutating func visualReport(at time: Timestamp) -> Visual? {
    guard let found = visual.first, found.time == time else { return nil }
    return visual.removeFirst().report
  }

  /// Adds a reading.
  ///
  /// - Returns: `true` if there was room.
  mutating func add(_ reading: RadioReading, arrived time: Timestamp) -> Bool {
    guard readings.count < LocatorInbox.capacity else { return false }
    var place = readings.count
    while place > 0, readings[place - 1].time > time { place -= 1 }
    readings.insert(Entry(time: time, reading: reading), at: place)
    return true
  }

  /// Adds a location from outside.
  ///
  /// - Returns: `true` if there was room.
  mutating func add(_ fix: OutsideFix, arrived time: Timestamp) -> Bool {
    guard outside.count < LocatorInbox.maximumOutside else { return false }
    let place = outside.firstIndex { $0.time > time } ?? outside.endIndex
    outside.insert((time, fix), at: place)
    return true
  }

  /// Takes the next reading of exactly a time.
  mutating func reading(at time: Timestamp) -> RadioReading? {
    guard let next = readings.first, next.time == time else { return nil }
    readings.removeFirst()
    // A scan is large and rare: nothing is kept for the next one.
    if readings.isEmpty { readings = [] }
    return next.reading
  }

  /// Takes the next location from outside of exactly a time.
  mutating func outsideFix(at time: Timestamp) -> OutsideFix? {
    guard let found = outside.first, found.time == time else { return nil }
    return outside.removeFirst().fix
  }
}

extension Locator {
  /// Weighs everything up to a time in its order, and makes the fixes that fall due.
  mutating func process(through time: Timestamp) {
    guard time > now else { return }
    while true {
      let input = inbox.nextTime
      let due = next
      if let input, input <= time, input <= due ?? .distantFuture {
        move(through: input)
        processInputs(at: input)
      } else if let due, due <= time {
        move(through: due)
        unload()
        weigh(at: due)
        finish(at: due)
      } else {
        break
      }
    }
    move(through: time)
    now = time
  }

  /// Takes every input of a time.
  private mutating func processInputs(at time: Timestamp) {
    while let reading = inbox.reading(at: time) {
      if reading.kind != .observer, !heard.record(reading.emitter, at: reading.heard) {
        counters.repeated += 1
        continue
      }
      pool.append(reading)
      if next == nil { next = time }
      if pool.count >= Locator.maximumPooled { weigh(at: time) }
    }
    while let report = inbox.visualReport(at: time) {
      switch report {
      case .pose(let pose): receive(pose, time)
      case .status(let status): visual.receive(status, at: time)
      }
      if next == nil { next = time }
    }
    while let fix = inbox.outsideFix(at: time) {
      look(at: fix, time)
      if next == nil { next = time }
    }
  }

  /// The maximum number of readings that are weighed together.
  static let maximumPooled = 600

  /// Makes the fix that is due, and sets the time of the next one.
  private mutating func finish(at due: Timestamp) {
    var fix = estimate(at: due)
    if var made = fix {
      follow(&made)
      emit(made)
      fix = made
    }
    lookAtPositioning(fix, at: due)
    let following = due + max(rules.interval, .milliseconds(50))
    next = following - newestInput > rules.silence ? nil : following
  }

  /// Moves the belief by all movements that the motion sensors reported up to a time.
  private mutating func move(through time: Timestamp) {
    let before = tracker.sensedThrough ?? .distantPast
    while let movement = tracker.next(through: time) { apply(movement) }
    if let sensed = tracker.sensedThrough, sensed - before > rules.motionSilence { gait.seenSince = sensed }
  }
}

/// The recent evidence behind the belief.
struct LocatorEvidence: Sendable, Hashable {
  /// The sources used since the last fix.
  var sources: FixSources = []
  /// The time of the newest radio reading or location from outside.
  var newest = Timestamp.distantPast
  /// The time at which the last scan was weighed.
  private(set) var scanned = Timestamp.distantPast
  /// The number of usual scans that a scan stands for, by the time since the one before: what errs together in scans
  /// that follow each other closely has changed until a later one.
  private(set) var scanWeight: Float = 1
  /// The floor of the last fix.
  var reportedFloor: Int?
  /// The time at which the belief was last compared with all other places.
  var audited = Timestamp.distantPast
  /// The misfit of readings with the map at the belief: the mean of squared deviations from the expected levels, each
  /// in its own standard deviations.
  ///
  /// It begins with the usual value.
  var misfit = LocatorEvidence.usualMisfit

  /// The usual misfit: half of the fixes of held-back walks have less than 0.7, because a look's readings err
  /// together.
  static let usualMisfit: Float = 0.85
  /// The share of the misfit that a look renews: five looks, or 10 s.
  private static let renewal: Float = 0.2

  /// The time from one scan to the next for which the bounds on a scan's evidence were found.
  ///
  /// - Units: seconds.
  private static let usualWait: Float = 2
  /// The most usual scans that one stands for.
  private static let maximumWeight: Float = 3

  /// Records that a scan is weighed.
  mutating func recordScan(at time: Timestamp) {
    if scanned > .distantPast {
      let wait = Float((time - scanned).seconds)
      scanWeight = min(LocatorEvidence.maximumWeight, max(1, wait / LocatorEvidence.usualWait))
    }
    scanned = time
  }

  /// Takes the misfit of a look.
  mutating func learn(misfit: Float) { self.misfit += (misfit - self.misfit) * LocatorEvidence.renewal }
}

extension Locator {
  /// Hands the belief to a coder.
  ///
  /// Fixes that were made and not fetched are no part of it, and neither are the counters.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try delivery.visitFields(&coder)
    try noise.visitFields(&coder)
    try tracker.visitFields(&coder)
    try inbox.visitFields(&coder)
    try cloud.visitFields(&coder)
    try trail.visitFields(&coder)
    try heard.visitFields(&coder)
    try coder.code(&pool)
    try coder.code(&recent)
    try coder.code(&born)
    try offset.visitFields(&coder)
    try gait.visitFields(&coder)
    try evidence.visitFields(&coder)
    try sky.visitFields(&coder)
    try satellites.visitFields(&coder)
    try visual.visitFields(&coder)
    try carriage.visitFields(&coder)
    try conveyances.visitFields(&coder)
    try positioning.visitFields(&coder)
    let hadItinerary = try coder.field(itinerary != nil)
    try coder.check(hadItinerary == (itinerary != nil), "an itinerary")
    try itinerary?.visitFields(&coder)
    try coder.code(&now)
    try coder.code(&next)
    try coder.code(&newestInput)
    let (floors, emitters) = (content.floors.count, content.radio.emitters.count)
    try coder.check(cloud.floor.allSatisfy { Int($0) < floors }, "a floor")
    try coder.check(evidence.reportedFloor.map { (0..<floors).contains($0) } ?? true, "a floor")
    try coder.check((pool + recent + inbox.waiting).allSatisfy { $0.emitter < emitters }, "an emitter")
  }
}

extension RecentDelivery {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try present.visitFields(&coder)
    try before.visitFields(&coder)
    try coder.code(&turned)
    try coder.code(&promptAt)
    try coder.code(&lowered)
  }
}

extension RecentDelivery.Delays {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&prompt)
    try coder.code(&any)
  }
}

extension LocatorInbox {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(deque: &readings)
    var (locations, reports) = (Array(outside), Array(visual))
    try coder.code(list: &locations, into: (.distantPast, OutsideFix())) { (entry, coder) throws(C.Failure) in
      try coder.code(&entry.time)
      try coder.code(&entry.fix)
    }
    try coder.code(list: &reports, into: (.distantPast, .status(VisualStatus(state: .notPositioning)))) {
      (entry, coder) throws(C.Failure) in
      try coder.code(&entry.time)
      try coder.code(&entry.report)
    }
    if C.isReader { (outside, visual) = (Deque(locations), Deque(reports)) }
  }
}

extension LocatorInbox {
  /// The readings that wait.
  var waiting: [RadioReading] { readings.map(\.reading) }
}

extension LocatorInbox.Entry: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      time: try coder.field(value().time),
      reading: try coder.field(value().reading)
    )
  }
}

extension LocatorInbox.Visual: FieldUnion {
  /// The name of the field.
  static var fieldName: String { "a report of visual positioning" }

  /// Hands each case to a coder.
  static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.pose) { if case .pose(let pose) = $0 { pose } else { nil } }
    try coder.code(&union, 1, Self.status) { if case .status(let status) = $0 { status } else { nil } }
  }
}

extension LocatorEvidence {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(options: &sources)
    try coder.code(&newest)
    try coder.code(&scanned)
    try coder.code(&scanWeight)
    try coder.code(&reportedFloor)
    try coder.code(&audited)
    try coder.code(&misfit)
  }
}
