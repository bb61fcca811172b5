import PharosReports

extension Locator {
  /// Weighs everything up to a time in its order, and makes the fixes that fall due.
  mutating func process(through time: Timestamp) {
    guard time > now else { return }
    while true {
      let input = inbox.nextTime
      let due = next
      if let input, input <= time, input <= due ?? .distantFuture {
        move(through: input)
        take(at: input)
      } else if let due, due <= time {
        move(through: due)
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
  private mutating func take(at time: Timestamp) {
    while let reading = inbox.reading(at: time) {
      if reading.kind != .observer, !heard.note(reading.emitter, at: reading.heard) {
        counters.repeated += 1
        continue
      }
      pool.append(reading)
      if next == nil { next = time }
      if pool.count >= Locator.mostPooled { weigh(at: time) }
    }
    while let fix = inbox.outsideFix(at: time) {
      look(at: fix, time)
      if next == nil { next = time }
    }
  }

  /// How many readings are weighed together at most.
  static let mostPooled = 600

  /// Makes the fix that is due, and sets the time of the next one.
  private mutating func finish(at due: Timestamp) {
    if let fix = estimate(at: due) { emit(fix) }
    let following = due + max(rules.interval, .milliseconds(50))
    next = following - newestInput > rules.silence ? nil : following
  }

  /// Moves the belief by everything that the motion sensors told up to a time.
  private mutating func move(through time: Timestamp) {
    let before = tracker.sensedThrough ?? .distantPast
    while let movement = tracker.next(through: time) { apply(movement) }
    if let sensed = tracker.sensedThrough, sensed - before > rules.motionSilence { gait.seenSince = sensed }
  }
}
