import PharosReports

extension SurveyWalk {
  /// How much later than the last sample a step may be known.
  private static let tail = TimeSpan.seconds(5)

  /// The walker's steps, in order of time.
  var steps: [Step] {
    let sorted = motion.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    guard let last = sorted.last?.element.time else { return [] }
    var tracker = MotionTracker()
    var steps: [Step] = []
    func collect(through time: Timestamp) {
      while let movement = tracker.next(through: time) {
        if case .step(let step) = movement { steps.append(step) }
      }
    }
    for (_, reading) in sorted {
      // Up to just before: what other sensors read at the very same time is not late.
      collect(through: reading.time - .oneNanosecond)
      tracker.take(reading.sample, at: reading.time)
    }
    collect(through: last + SurveyWalk.tail)
    return steps.sorted { $0.time < $1.time }
  }
}
