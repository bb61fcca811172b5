import PharosReports

extension Track {
  /// How many addresses of one identity are told apart; more are learned as one.
  static let addresses = 4

  /// Whether further addresses of the identity are known.
  var isShared: Bool { isCrowd || hasOthers }

  /// Whether further addresses of the identity are told apart.
  var hasOthers: Bool { standing.contains(.shared) }

  /// What stands for the transmitter of a sample: its address, unless that changes by itself.
  private static func transmitter(_ key: UInt64) -> UInt64 {
    key & Hearing.privateMark != 0 ? Hearing.privateMark : key & ~(0xFF << 48)
  }

  /// Another transmitter of the same identity speaks, and each is learned by itself.
  ///
  /// Resolvable addresses change by themselves and are one transmitter's; the identity is gone when all its transmitters are.
  ///
  /// - Parameters:
  ///   - key: the address of the sample that begins.
  ///   - time: when it does.
  ///   - start: when the transmitter's sample before it began; changed if it is another one.
  /// - Returns: whether the allowed gaps should be computed anew.
  mutating func turn(to key: UInt64, at time: Timestamp, from start: inout Timestamp) -> Bool {
    let transmitter = Track.transmitter(key)
    guard !isCrowd, samples > 0, Track.transmitter(sampleKey) != transmitter else { return false }
    var patience = TimeSpan.zero
    for place in 0..<presenceCount where self[presence: place].allowed != .forever {
      patience = max(patience, self[presence: place].allowed)
    }
    let left = OtherAddress(
      key: sampleKey,
      sampleStart: start,
      until: start + patience,
      allowed: allowed,
      intervals: intervals,
      history: history
    )
    surroundings = 0
    let isKnown = swap(left, with: transmitter, at: time)
    guard let found = isKnown else {
      guard others.count < Track.addresses - 1 else {
        isCrowd = true
        others = []
        return true
      }
      change { $0.others.append(left) }
      noteExtras()
      start = .distantPast
      intervals = IntervalLearner()
      history = LossHistory()
      return true
    }
    (start, intervals, history) = (found.sampleStart, found.intervals, found.history)
    allow(found.allowed)
    return presenceCount > 1
  }

  /// Forgets addresses that are gone, and puts one in the place of the one that a transmitter had; nil if it had none.
  private mutating func swap(
    _ left: OtherAddress,
    with transmitter: UInt64,
    at time: Timestamp
  ) -> OtherAddress? {
    defer { noteExtras() }
    return change { extras in
      extras.others.removeAll { $0.until < time && Track.transmitter($0.key) != transmitter }
      guard let place = extras.others.firstIndex(where: { Track.transmitter($0.key) == transmitter }) else {
        return nil
      }
      let found = extras.others[place]
      extras.others[place] = left
      return found
    }
  }

  /// Sets what the first policy allows to a transmitter that speaks again.
  private mutating func allow(_ gap: TimeSpan) {
    var presence = first
    presence.allowed = gap
    first = presence
  }
}
