package import PharosReports

extension Reception {
  /// How often a radio goes deaf, to reckon with: once in so many seconds.
  ///
  /// - Units: seconds; ten minutes is a bad day of a congested channel, and makes an error on either side as likely there.
  private static let meanTimeToDeafness = 600.0

  /// What all that are heard say together about a window of time.
  package struct Verdict: Hashable {
    /// How surely the radio hears as usual.
    var fine = 0.0
    /// How surely it does not.
    var thinned = 0.0
    /// How many fell silent together, or have just come back.
    var suspects = 0
    /// How surprising it would be if all that fell silent or thinned out had done so by themselves.
    var surprise = 0.0
    /// The greatest part of it that one has.
    var greatest = 0.0
    /// The length of the window in seconds.
    var length = 0.0

    /// How surprising it would be if the others had done as one did, by chance and in the same window.
    var coincidence: Double { surprise - greatest }

    /// Whether what is heard is thinned out, whatever the reason.
    var isThinned: Bool { thinned >= Reception.settled && thinned > fine }

    /// Whether the radio is deaf: others than the one in question collapsed together, far beyond chance.
    package var isDeaf: Bool {
      guard isThinned, length > 0 else { return false }
      let odds = RadioMath.binaryLog(Reception.meanTimeToDeafness / length) * RadioMath.naturalLogOfTwo
      return coincidence >= max(0, odds) + Reception.settled
    }

    /// Whether the radio hears, surely.
    package var isFine: Bool { fine >= Reception.settled && fine >= thinned }

    /// A Boolean value that is true if one transmitter's silence is in doubt.
    ///
    /// The adverts received are thinned out, or two or more transmitters are suspects and none is heard as usual.
    package var isDoubtful: Bool { isThinned || fine == 0 && suspects >= 2 }

    fileprivate mutating func add(surprise value: Double) {
      surprise += value
      greatest = max(greatest, value)
    }
  }

  /// What was heard from a time up to now says about the radio, one place left out if that is asked for.
  package func verdict(from start: Timestamp, through time: Timestamp, without left: Int = -1) -> Verdict {
    var verdict = Verdict(length: (time - start).seconds)
    for place in places.indices where places[place].isKnown && place != left {
      switch places[place].testimony(from: start, through: time) {
      case .none: break
      case .fine(let weight): verdict.fine += weight
      case .thinned(let weight):
        verdict.thinned += weight
        verdict.add(surprise: min(weight, places[place].surprise(within: verdict.length)))
      case .silent:
        verdict.suspects += 1
        verdict.add(surprise: min(4, places[place].surprise(within: places[place].slack)))
      case .unclear(let gain):
        verdict.suspects += 1
        if gain <= -4 { verdict.add(surprise: min(4, places[place].surprise(within: verdict.length))) }
      }
    }
    return verdict
  }

  /// Returns true if the radio has fallen silent although two or more regular transmitters were present until then.
  ///
  /// A lone transmitter that falls silent has left. If several that keep their rate fall silent together, it is much
  /// likelier that they still transmit unheard than that all left within the same few of their intervals. A transmitter
  /// that left earlier is not counted among them: the others were still heard after its last advert.
  package func isSilentTogether(at time: Timestamp) -> Bool {
    guard latest != .distantPast, time - latest >= .seconds(1) else { return false }
    let verdict = verdict(from: latest, through: time)
    return verdict.suspects >= 2 && verdict.coincidence >= Reception.settled
  }

  /// The shortest window before a time in which it can be said whether the radio hears.
  ///
  /// All are asked about the same time: a slow beacon's good memory of what was before says nothing about now.
  func window(
    before time: Timestamp,
    within earliest: Timestamp
  ) -> (start: Timestamp, verdict: Verdict)? {
    for seconds in [4.0, 16, 64, 256] {
      let start = max(earliest, time - .seconds(seconds))
      let verdict = verdict(from: start, through: time)
      if verdict.isDeaf || verdict.isFine { return (start, verdict) }
      if start == earliest { return nil }
    }
    return nil
  }
}
