import PharosReports

/// What few tracks need: another filter than Kalman's, and further addresses.
struct Extras: Sendable {
  var window: LevelWindow?
  var others: [OtherAddress] = []
}

/// What is kept of an address that shares a track's identity with the one heard last.
struct OtherAddress: Sendable {
  var key: UInt64
  var sampleStart: Timestamp
  /// Until when it may be silent, under the most patient adaptive policy.
  var until: Timestamp
  /// What the first policy allowed it.
  var allowed: TimeSpan
  var intervals: IntervalLearner
  var history: LossHistory
}

extension Track {
  /// How many addresses of one identity are told apart; more are learned as one.
  static let addresses = 4

  /// Whether further addresses of the identity are known.
  var isShared: Bool { isCrowd || extras.first.map { !$0.others.isEmpty } ?? false }

  /// What stands for the transmitter of a sample: its address, unless that changes by itself.
  private static func transmitter(_ key: UInt64) -> UInt64 {
    key & Hearing.privateMark != 0 ? Hearing.privateMark : key & ~(0xFF << 48)
  }

  /// Another transmitter of the same identity speaks, and each is learned by itself.
  ///
  /// True if the allowed gaps should be computed anew.
  /// Resolvable addresses change by themselves and are one transmitter's; the identity is gone when all its transmitters are.
  mutating func turn(to key: UInt64, at time: Timestamp) -> Bool {
    let transmitter = Track.transmitter(key)
    guard !isCrowd, samples > 0, Track.transmitter(sampleKey) != transmitter else { return false }
    if extras.isEmpty { extras.append(Extras()) }
    extras[0].others.removeAll { $0.until < time && Track.transmitter($0.key) != transmitter }
    var patience = TimeSpan.zero
    for place in 0...more.count where self[presence: place].allowed != .forever {
      patience = max(patience, self[presence: place].allowed)
    }
    let left = OtherAddress(
      key: sampleKey,
      sampleStart: sampleStart,
      until: sampleStart + patience,
      allowed: first.allowed,
      intervals: intervals,
      history: history
    )
    surroundings = 0
    if let place = extras[0].others.firstIndex(where: { Track.transmitter($0.key) == transmitter }) {
      let found = extras[0].others[place]
      (sampleStart, intervals, history) = (found.sampleStart, found.intervals, found.history)
      extras[0].others[place] = left
      first.allowed = found.allowed
      return !more.isEmpty
    }
    guard extras[0].others.count < Track.addresses - 1 else {
      isCrowd = true
      extras[0].others = []
      return true
    }
    extras[0].others.append(left)
    sampleStart = .distantPast
    intervals = IntervalLearner()
    history = LossHistory()
    return true
  }
}
