import PharosReports

/// What proves that an observer lives, and how long it may give no proof before it counts as down.
struct LifeSigns: Sendable {
  /// The least and the greatest silence that learned gaps may allow.
  static let least = TimeSpan.seconds(10)
  static let greatest = TimeSpan.minutes(15)
  /// The silence allowed while fewer than sixteen gaps are known.
  static let unlearned = TimeSpan.seconds(30)
  /// A radio is normally busy when it hears so many adverts between two heartbeats: by chance alone it would then hear
  /// none once in three thousand.
  static let busy = 8.0
  /// How fast the greatest gap is forgotten.
  ///
  /// - Units: seconds; two hours, so that a quiet spell is remembered through the next busy one.
  static let memory = 7_200.0

  /// How the observer's silence is judged.
  let mode: ObserverEntry.Liveness
  /// The latest event time of something that proves life.
  private(set) var lastProof = Timestamp.distantPast
  private var heartbeats = GapMemory()
  private var others = GapMemory()
  private var traffic = GapMemory()
  private var usualCount = 0.0
  private var leader: UInt64 = 0
  private var votes = 0

  init(mode: ObserverEntry.Liveness) { self.mode = mode }

  /// Whether it is taken to live since there is nothing that its life could be seen by.
  var isAssumed: Bool {
    switch mode {
    case .assumed: true
    case .auto: heartbeats.last == nil && others.last == nil
    case .heartbeat, .traffic: false
    }
  }

  /// Whether there are heartbeats to go by even when the radio does not scan.
  var hasHeartbeats: Bool { heartbeats.last != nil }

  /// Whether something heard after a time proves life then.
  func proves(after time: Timestamp) -> Bool { isAssumed || lastProof > time }

  /// The silence after which it counts as down: three times the greatest gap of late between heartbeats, or where there
  /// are none, four times that of traffic.
  var allowedGap: TimeSpan {
    switch mode {
    case .heartbeat: return LifeSigns.allowed(heartbeats, times: 3, unlearned: .seconds(60))
    case .traffic: return LifeSigns.allowed(others.last == nil ? traffic : others, times: 4)
    case .auto, .assumed:
      if heartbeats.last != nil { return LifeSigns.allowed(heartbeats, times: 3) }
      return LifeSigns.allowed(others.last == nil ? traffic : others, times: 4)
    }
  }

  /// A heartbeat came; true if it proves life.
  ///
  /// One that says that a normally busy radio heard nothing proves only that the gateway's processor runs.
  mutating func heartbeat(_ heartbeat: Heartbeat, at time: Timestamp) -> Bool {
    heartbeats.note(time)
    if let count = heartbeat.advertsHeard {
      guard count > 0 || usualCount < LifeSigns.busy else { return false }
      if count > 0 { usualCount += (Double(count) - usualCount) / 8 }
    }
    guard mode != .traffic else { return false }
    lastProof = max(lastProof, time)
    return true
  }

  /// An advert came, from the transmitter that the key stands for; true if it proves life.
  ///
  /// Gaps are learned from all transmitters but the most frequent one (Boyer and Moore's majority vote): its own
  /// departure must not look like the observer's.
  mutating func advert(from key: UInt64, at time: Timestamp) -> Bool {
    traffic.note(time)
    if votes == 0 {
      if leader != key, leader != 0 { others.note(time) }
      leader = key
      votes = 1
    } else if leader == key {
      votes = min(votes + 1, 64)
    } else {
      votes -= 1
      others.note(time)
    }
    guard mode != .heartbeat else { return false }
    lastProof = max(lastProof, time)
    return true
  }

  /// Something came that is neither an advert nor a heartbeat: a scan, a motion, a display; true if it proves life.
  mutating func other(at time: Timestamp) -> Bool {
    guard mode == .auto || mode == .assumed else { return false }
    others.note(time)
    lastProof = max(lastProof, time)
    return true
  }

  /// The observer counts as down: its heartbeats, which come by a clock, learn no gap from that.
  ///
  /// Gaps of traffic go on being learned: a quiet night looks like an outage, and should do so only once.
  mutating func end() { heartbeats.isBroken = true }

  /// The observer is known from now on, or again: gaps do not span the time before.
  mutating func begin(at time: Timestamp) {
    lastProof = max(lastProof, time)
    heartbeats.skip(to: time)
    others.skip(to: time)
    traffic.skip(to: time)
  }

  private static func allowed(
    _ gaps: GapMemory,
    times factor: Double,
    unlearned: TimeSpan = LifeSigns.unlearned
  ) -> TimeSpan {
    let learned = TimeSpan.seconds(gaps.greatest * factor + 1)
    let floor = gaps.count < 16 ? unlearned : least
    return min(max(learned, floor), greatest)
  }
}

/// The greatest gap of late between things of one sort.
private struct GapMemory: Sendable {
  var last: Timestamp?
  var greatest = 0.0
  var count = 0
  /// Whether the gap up to the next one is none.
  var isBroken = false

  mutating func note(_ time: Timestamp) {
    guard let last else {
      self.last = time
      return
    }
    guard time > last else { return }
    self.last = time
    guard !isBroken else {
      isBroken = false
      return
    }
    count = min(count + 1, 1_000)
    // What is shorter than a hundredth of a second is no gap: a busy radio pays for no arithmetic here.
    guard time - last > .milliseconds(10) else { return }
    let gap = (time - last).seconds
    greatest = max(gap, greatest * (1 - min(1, gap / LifeSigns.memory)))
  }

  mutating func skip(to time: Timestamp) {
    if let last { self.last = max(last, time) }
  }
}
