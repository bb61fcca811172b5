import PharosReports

/// That a radio is deaf: since when, and who says so.
struct Deafness: Sendable {
  /// How long an observer may be taken to be deaf before what it hears counts as usual.
  static let longest = TimeSpan.minutes(5)
  /// How often it is asked whether a deaf radio hears again.
  static let pause = TimeSpan.milliseconds(250)
  /// How long witnesses have to come back after the radio is found to hear, or to be heard thinned out still.
  static let patience = TimeSpan.seconds(10)

  /// Since when.
  var since: Timestamp
  /// Bits of the places of those that collapsed together.
  var witnesses: UInt64 = 0
  /// When it was last asked whether it hears again.
  var askedAt: Timestamp
  /// When those that are heard were last thinned out.
  var thinnedAt: Timestamp
  /// Since when somebody has been heard as usual while the witnesses are not.
  var fineSince: Timestamp?
  /// From when on gaps teach if it turns out to have been none.
  var taughtFrom: Timestamp
}

extension Reception {
  /// The radio turned out to be deaf in a silence that began then.
  mutating func becomeDeaf(since start: Timestamp, at time: Timestamp) {
    let earliest = max(start, time - Deafness.longest)
    var deafness =
      deafness
      ?? Deafness(since: earliest, askedAt: time, thinnedAt: time, taughtFrom: teachesFrom)
    deafness.since = min(deafness.since, earliest)
    deafness.askedAt = time
    deafness.thinnedAt = time
    for place in places.indices where places[place].isKnown {
      switch places[place].testimony(from: start, through: time) {
      case .thinned, .silent: deafness.witnesses |= 1 << UInt64(place)
      case .unclear(let gain): if gain <= -4 { deafness.witnesses |= 1 << UInt64(place) }
      case .none, .fine: break
      }
    }
    self.deafness = deafness
    teachesFrom = .distantFuture
  }

  /// Reassesses whether a deaf radio hears again; the shortest window that allows a verdict decides.
  ///
  /// The radio was deaf if the transmitters that collapsed together come back, and only then does silence get a credit.
  /// If another transmitter is heard as usual and they do not come back, or if no transmitter is thinned out any more,
  /// they have slowed down or left of their own accord.
  mutating func reassess(at time: Timestamp) {
    guard var deafness else { return }
    deafness.askedAt = time
    let window = window(before: time, within: deafness.since)
    if let window, window.verdict.isFine {
      let back = witnesses(of: deafness, from: window.start, through: time)
      if back.fine > 0, back.fine >= back.collapsed { return end(deafness, wasDeaf: true, at: time) }
      let since = deafness.fineSince ?? time
      deafness.fineSince = since
      if time - since >= Deafness.patience { return end(deafness, wasDeaf: false, at: time) }
    } else {
      if window != nil || isThinned(before: time, within: deafness.since) {
        deafness.thinnedAt = time
        deafness.fineSince = nil
      }
      if time - deafness.thinnedAt >= Deafness.patience || time - deafness.since >= Deafness.longest {
        // It stays so: this is what it hears from now on.
        return end(deafness, wasDeaf: false, at: time)
      }
    }
    self.deafness = deafness
  }

  /// Nothing could be heard in a span: an outage, a restart, datagrams that were lost.
  ///
  /// What the transmitters' histories say about the time before is forgotten, since all of them have a hole now.
  mutating func addSpan(from start: Timestamp, to end: Timestamp) {
    guard end > start else { return }
    spans.add(from: max(start, end - Deafness.longest), to: end)
    restart(at: end)
  }

  /// Silence up to a time says nothing about anybody.
  mutating func restart(at time: Timestamp) {
    teachesFrom = max(deafness?.taughtFrom ?? teachesFrom, time)
    deafness = nil
    for place in places.indices where places[place].tag != 0 { places[place].restart(at: time) }
  }

  /// Somebody's adverts became sparse in so many of its slots: it may be the radio.
  mutating func reconsider(_ place: Int, slots: Int64, at time: Timestamp) {
    guard deafness == nil else { return }
    if let window = window(before: time, within: time - Deafness.longest), window.verdict.isDeaf {
      return becomeDeaf(since: window.start, at: time)
    }
    // A shorter pause may be a run of losses.
    guard slots >= Transmitter.round else { return }
    let start = places[place].start(of: slots, before: time)
    guard verdict(from: start, through: time, without: place).isFine else { return }
    places[place].pausedItself()
  }

  private mutating func end(_ deafness: Deafness, wasDeaf: Bool, at time: Timestamp) {
    self.deafness = nil
    guard !wasDeaf else {
      teachesFrom = time
      spans.add(from: deafness.since, to: time)
      return
    }
    teachesFrom = deafness.taughtFrom
    for place in places.indices where deafness.witnesses >> UInt64(place) & 1 == 1 {
      places[place].relearn(at: time)
    }
  }

  /// How many of those that collapsed are heard as usual in a window, and how many still are not.
  private func witnesses(
    of deafness: Deafness,
    from start: Timestamp,
    through time: Timestamp
  ) -> (fine: Int, collapsed: Int) {
    var count = (fine: 0, collapsed: 0)
    for place in places.indices where deafness.witnesses >> UInt64(place) & 1 == 1 {
      switch places[place].testimony(from: start, through: time) {
      case .fine: count.fine += 1
      case .thinned: count.collapsed += 1
      case .none, .silent, .unclear: break
      }
    }
    return count
  }

  /// Whether any window says that what is heard is thinned out.
  private func isThinned(before time: Timestamp, within earliest: Timestamp) -> Bool {
    for seconds in [4.0, 16, 64] {
      let start = max(earliest, time - .seconds(seconds))
      if verdict(from: start, through: time).isThinned { return true }
      if start == earliest { return false }
    }
    return false
  }
}
