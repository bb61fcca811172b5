import PharosEvents
package import PharosReports

/// What a track's samples say.
extension Track {
  /// What stands for no sample that a gap could be counted from.
  static let noSample = TaggedNumber.greatest

  /// When the latest sample began, or the distant past if no gap can be counted from it.
  ///
  /// It never lies further before ``lastHeard`` than reports join it.
  package var sampleStart: Timestamp {
    get {
      sample.number == Track.noSample
        ? .distantPast : lastHeard - TimeSpan(nanoseconds: Int64(sample.number))
    }
    set {
      let since = lastHeard - newValue
      let isNear = since >= .zero && since <= Track.joinSpan
      sample.number = isNear ? UInt32(since.nanoseconds) : Track.noSample
    }
  }

  /// What was received and lost, all levels together.
  var losses: LossRuns { history.all(received: intervals.received) }

  /// Samples since the recent window began: at 8, 16, 32 and 64 samples, and with every further 128.
  var recentSamples: UInt32 {
    if samples >= LossHistory.window { return samples & (LossHistory.window - 1) }
    return samples < 8
      ? samples
      : samples < 16
        ? samples - 8
        : samples < 32
          ? samples - 16
          : samples < 64 ? samples - 32 : samples - 64
  }

  /// Whether another window of recent memory begins with the sample taken last.
  package var isAtTurn: Bool { samples >= 8 && recentSamples == 0 }

  /// Whether the sample of a number asks for the allowed gaps to be computed anew: those that double the count at first,
  /// later the last one of each window.
  @inline(__always)
  static func isMilestone(_ samples: UInt32) -> Bool {
    samples & (LossHistory.window - 1) == 0 || samples & (samples &- 1) == 0
  }

  /// Begins another window of recent memory; gives what was counted in the one that ends, for the observer's pool.
  package mutating func turnWindow() -> LossRuns {
    let length = samples > LossHistory.window ? LossHistory.window : samples > 8 ? samples / 2 : samples
    var losses = history
    defer {
      history = losses
      noteExtras()
    }
    return losses.turn(&intervals, samples: length)
  }

  /// Where its level lies.
  var levelClass: LevelClass { surroundings == 0 ? .usual : surroundings == 1 ? .low : .far }

  /// The level of the sample taken last in dBm, if it had one.
  var lastLevel: Double? { sampleLevel.isNaN ? nil : Double(sampleLevel) }

  /// Whether one body in the way could hide it.
  var isWithinBodyReach: Bool { usual.level < AdaptiveSilence.bodyReach }

  /// Until when another address of the identity may be silent.
  var othersUntil: Timestamp {
    guard hasOthers, let box else { return .distantPast }
    return box.extras.others.reduce(.distantPast) { max($0, $1.until) }
  }

  /// The Kalman filter's level in dBm, or not a number before the first sample with one.
  var kalmanLevel: Float { kalman.estimate }

  /// The filtered level in dBm, or nil before the first sample with one.
  func level(_ kind: LevelFilterKind) -> Double? {
    guard !kalman.isEmpty else { return nil }
    guard kind != .kalman, let window = box?.extras.window else { return kalman.level }
    return window.level(kind)
  }

  /// The variance of the filtered level in dB².
  func variance(_ kind: LevelFilterKind) -> Double {
    guard kind != .kalman, let window = box?.extras.window else { return kalman.variance }
    return window.variance(kind)
  }

  /// Moves all levels by so many dB: the observer's offset was changed, and that is no change of the beacon's.
  mutating func shiftLevels(by difference: Float) {
    sampleLevel = FieldReader.held(sampleLevel + difference)
    kalman.estimate = FieldReader.held(kalman.estimate + difference)
    usual.level = FieldReader.held(usual.level + difference)
    guard box?.extras.window != nil else { return }
    change { $0.window?.shift(by: Double(difference)) }
  }
}
