package import PharosDocuments
package import PharosModel

/// The judgement of whether an observer's radio hears what it usually hears, from the transmitters themselves.
///
/// A beacon that left and a radio that went deaf look the same in that beacon's silence, and differ in the silence of
/// the others: while a group leaves, those who stay keep their own rates; when the radio, the channel or the way to us
/// is jammed, all are thinned out, or fall silent together. So up to 64 transmitters, registered or not, are kept with
/// their recent history (``Transmitter``), and are evaluated when an exit is due.
package struct Reception: Sendable {
  /// The maximum number of transmitters: a room full.
  static let capacity = 64
  /// The log of a likelihood ratio that settles a question: ten to one.
  static let decisive = 2.3

  /// The event time of the latest advert.
  package var latest = Timestamp.distantPast
  /// That the radio is deaf, if it is.
  var deafness: Deafness?
  /// The spans in which it was deaf.
  package var spans = DeafSpans()
  /// Gaps that began before it teach nothing; the far future while the radio is deaf.
  package var teachesFrom = Timestamp.distantPast
  package var places = TransmitterTable()
  /// The number of adverts from transmitters without a place; it wraps around.
  var rejectedInsertions: UInt8 = 0

  package init() {}

  /// The time since which the radio is deaf, if it is.
  package var deafSince: Timestamp? { deafness?.since }

  /// An advert came from the transmitter that the key stands for.
  package mutating func receive(_ key: UInt64, at time: Timestamp) {
    places.makeUnique()
    receiveUnshared(Reception.tag(of: key), at: time)
  }

  /// The same with the tag of the key, after the places have been made the observer's own.
  @inline(__always)
  mutating func receiveUnshared(_ tag: UInt32, at time: Timestamp) {
    latest = max(latest, time)
    if let found = places.find(tag) {
      let absent = found.pointee.receive(at: time)
      if absent > 0 { reconsider(places.place(of: found), slots: absent, at: time) }
    } else {
      rejectedInsertions &+= 1
      // At an observer that keeps as many as it may only every eighth newcomer is let in to look, since it would have to look
      // at four others.
      if places.count < Reception.capacity || rejectedInsertions & 7 == 0 { admit(tag, at: time) }
    }
    if deafness != nil { askAgain(at: time) }
  }

  /// Half of a key, well mixed: where the search for it begins, and what is compared there.
  ///
  /// Of two transmitters with one tag the radio's judge makes one: with 64 of them that happens once in two million observers.
  ///
  /// - Source: Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, 6.4).
  @inline(__always)
  package static func tag(of key: UInt64) -> UInt32 {
    let tag = UInt32(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32)
    // Zero stands for a free place; an address of zero goes where an address of one does.
    return tag == 0 ? 0x9E37_79B9 : tag
  }

  @inline(never)
  private mutating func askAgain(at time: Timestamp) {
    guard let deafness, time - deafness.askedAt >= Deafness.pause else { return }
    reassess(at: time)
  }

  /// Gives a newcomer a place, if there is a free or a stale one near where its tag points.
  @inline(never)
  private mutating func admit(_ tag: UInt32, at time: Timestamp) {
    if places.count == 0 { places = TransmitterTable(count: 8) }
    for step in 0..<TransmitterTable.probes {
      let place = (Int(tag) &+ step) & (places.count - 1)
      guard places[place].tag == 0 || places[place].isStale(at: time) else { continue }
      places[place] = Transmitter(tag: tag, at: time)
      deafness?.witnesses &= ~(1 << UInt64(place))
      return
    }
    if places.count < Reception.capacity { grow() }
  }

  private mutating func grow() {
    let old = places
    let witnesses = deafness?.witnesses ?? 0
    deafness?.witnesses = 0
    places = TransmitterTable(count: old.count * 2)
    for former in old.indices where old[former].tag != 0 {
      for step in 0..<TransmitterTable.probes {
        let place = (Int(old[former].tag) &+ step) & (places.count - 1)
        guard places[place].tag == 0 else { continue }
        places[place] = old[former]
        deafness?.witnesses |= (witnesses >> UInt64(former) & 1) << UInt64(place)
        break
      }
    }
  }
}

extension Reception {
  /// The assumed mean time until a radio goes deaf.
  ///
  /// - Units: seconds; ten minutes is a bad day of a congested channel, and makes an error on either side as likely there.
  private static let meanTimeToDeafness = 600.0
  /// The assumed mean time until an observer fails.
  ///
  /// - Units: seconds; a day.
  private static let meanTimeToFailure = 86_400.0

  /// The joint evidence of all transmitters that are heard about a window of time.
  package struct Verdict: Hashable {
    /// The weight of the evidence that the radio hears as usual.
    var fine = 0.0
    /// The weight of the evidence that it does not.
    var thinned = 0.0
    /// The number of transmitters that fell silent together, or have just come back.
    var suspects = 0
    /// The surprise if all that fell silent or thinned out had done so by themselves.
    var surprise = 0.0
    /// The greatest contribution of one transmitter to it.
    var maximumContribution = 0.0
    /// The length of the window in seconds.
    var length = 0.0

    /// The surprise if the others had done as one did, by chance and in the same window.
    var coincidence: Double { surprise - maximumContribution }

    /// Indicates whether the adverts received are thinned out, whatever the reason.
    var isThinned: Bool { thinned >= Reception.decisive && thinned > fine }

    /// Indicates whether the radio is deaf: others than the one in question collapsed together, far beyond chance.
    package var isDeaf: Bool {
      guard isThinned, length > 0 else { return false }
      let odds = RadioMath.binaryLog(Reception.meanTimeToDeafness / length) * RadioMath.naturalLogOfTwo
      return coincidence >= max(0, odds) + Reception.decisive
    }

    /// Indicates whether the radio surely hears.
    package var isFine: Bool { fine >= Reception.decisive && fine >= thinned }

    /// A Boolean value that is true if one transmitter's silence is in doubt.
    ///
    /// The adverts received are thinned out, or two or more transmitters are suspects and none is heard as usual. Nor does a
    /// transmitter settle the matter of which it is only known that it was heard once, if the others would have
    /// fallen silent together by an unlikely chance: that is what the end of a short outage looks like.
    package var isDoubtful: Bool {
      guard !isThinned, suspects >= 2 else { return isThinned }
      return fine == 0 || fine < Reception.decisive && coincidence >= Reception.decisive
    }

    fileprivate mutating func add(surprise value: Double) {
      surprise += value
      maximumContribution = max(maximumContribution, value)
    }
  }

  /// Returns the evidence about the radio from a time up to now, without one place if that is asked for.
  package func verdict(from start: Timestamp, through time: Timestamp, without left: Int = -1) -> Verdict {
    var verdict = Verdict(length: (time - start).seconds)
    for place in places.indices where places[place].isKnown && place != left {
      switch places[place].evidence(from: start, through: time) {
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
  /// Two explanations are compared: that each transmitter fell silent by itself, through losses or because it left within
  /// the same few of its intervals, and that the radio did. A lone transmitter that falls silent has left. If several do so
  /// together, neither losses nor departures may explain it: a radio is assumed to fail once a day. A transmitter that left
  /// earlier is not counted among them: the others were still heard after its last advert.
  package func isSilentTogether(at time: Timestamp) -> Bool {
    guard latest != .distantPast, time - latest >= .seconds(1) else { return false }
    var (losses, surprise, maximum, suspects) = (0.0, 0.0, 0.0, 0)
    for place in places.indices where places[place].isKnown {
      guard let silence = places[place].silence(since: latest, through: time) else { continue }
      suspects += 1
      losses += silence.byLosses
      let own = min(silence.byLosses, silence.byLeaving, 4)
      surprise += own
      maximum = max(maximum, own)
    }
    guard suspects >= 2, surprise - maximum >= Reception.decisive else { return false }
    let odds = RadioMath.binaryLog(Reception.meanTimeToFailure / (time - latest).seconds)
    return losses >= max(0, odds * RadioMath.naturalLogOfTwo) + Reception.decisive
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

/// The deafness of a radio: its start, and the witnesses to it.
struct Deafness: Equatable, Sendable {
  /// The longest time for which an observer counts as deaf before what it hears counts as usual.
  static let maximumTime = TimeSpan.minutes(5)
  /// The interval at which a deaf radio is reassessed.
  static let pause = TimeSpan.milliseconds(250)
  /// The time that witnesses have to come back after the radio is found to hear, or to be heard thinned out still.
  static let patience = TimeSpan.seconds(10)

  /// The start of the deafness.
  var since = Timestamp.distantPast
  /// Bits of the places of those that collapsed together.
  var witnesses: UInt64 = 0
  /// The time of the last assessment.
  var askedAt = Timestamp.distantPast
  /// The time when the adverts received were last thinned out.
  var thinnedAt = Timestamp.distantPast
  /// The time since which a transmitter has been heard as usual while the witnesses are not.
  var fineSince: Timestamp?
  /// The value of ``Reception/teachesFrom`` to restore if the radio turns out not to have been deaf.
  var taughtFrom = Timestamp.distantPast
}

extension Reception {
  /// The radio turned out to be deaf in a silence that began then.
  mutating func becomeDeaf(since start: Timestamp, at time: Timestamp) {
    let earliest = max(start, time - Deafness.maximumTime)
    var deafness =
      deafness
      ?? Deafness(since: earliest, askedAt: time, thinnedAt: time, taughtFrom: teachesFrom)
    deafness.since = min(deafness.since, earliest)
    deafness.askedAt = time
    deafness.thinnedAt = time
    for place in places.indices where places[place].isKnown {
      switch places[place].evidence(from: start, through: time) {
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
  /// If another transmitter is heard as usual and they do not come back, or if no transmitter is thinned out now,
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
      if time - deafness.thinnedAt >= Deafness.patience || time - deafness.since >= Deafness.maximumTime {
        // It stays so: this is what it hears from now on.
        return end(deafness, wasDeaf: false, at: time)
      }
    }
    self.deafness = deafness
  }

  /// Adds a span in which nothing could be heard: an outage, a restart, datagrams that were lost.
  ///
  /// Discards the transmitters' histories before its end, since all of them have a hole now.
  mutating func addSpan(from start: Timestamp, to end: Timestamp) {
    guard end > start else { return }
    spans.add(from: start, to: end, crediting: Deafness.maximumTime)
    restart(at: end)
  }

  /// Discards the silence up to a time as evidence.
  mutating func restart(at time: Timestamp) {
    teachesFrom = max(deafness?.taughtFrom ?? teachesFrom, time)
    deafness = nil
    for place in places.indices where places[place].tag != 0 { places[place].restart(at: time) }
  }

  /// Takes that a transmitter's adverts became sparse in so many of its slots, which may be the radio's doing.
  mutating func reconsider(_ place: Int, slots: Int64, at time: Timestamp) {
    guard deafness == nil else { return }
    if let window = window(before: time, within: time - Deafness.maximumTime), window.verdict.isDeaf {
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

  /// Counts the transmitters that collapsed and are heard as usual in a window, and those that are thinned out still.
  private func witnesses(
    of deafness: Deafness,
    from start: Timestamp,
    through time: Timestamp
  ) -> (fine: Int, collapsed: Int) {
    var count = (fine: 0, collapsed: 0)
    for place in places.indices where deafness.witnesses >> UInt64(place) & 1 == 1 {
      switch places[place].evidence(from: start, through: time) {
      case .fine: count.fine += 1
      case .thinned: count.collapsed += 1
      case .none, .silent, .unclear: break
      }
    }
    return count
  }

  /// Returns true if the adverts received are thinned out in any window.
  private func isThinned(before time: Timestamp, within earliest: Timestamp) -> Bool {
    for seconds in [4.0, 16, 64] {
      let start = max(earliest, time - .seconds(seconds))
      if verdict(from: start, through: time).isThinned { return true }
      if start == earliest { return false }
    }
    return false
  }
}

/// The times in which an observer is known to have heard nothing or next to nothing, so that silence in them is no
/// evidence.
///
/// The latest eight, in order and apart; when there are more, the two that are closest together become one. What lies
/// between those was probably no better, and the credit that a silence gets is bounded anyway.
package struct DeafSpans: Sendable {
  /// The maximum number of separate spans.
  static let capacity = 8
  /// A silence is made longer by at most so much: an exit must come some day.
  package static let maximumCredit = TimeSpan.minutes(15)

  package var spans: [Range<Int64>] = []
  /// The end of the latest one.
  package var end = Timestamp.distantPast
  /// The length of all that there ever were, together.
  package var total = TimeSpan.zero

  package init() {}

  /// Adds a span, the end of which is credited to silences up to a length.
  package mutating func add(
    from start: Timestamp,
    to end: Timestamp,
    crediting maximum: TimeSpan = DeafSpans.maximumCredit
  ) {
    guard end > start else { return }
    if end > self.end { total = total + (end - max(start, self.end)) }
    var added = max(start, end - maximum).nanoseconds..<end.nanoseconds
    spans.removeAll { span in
      guard span.upperBound >= added.lowerBound, span.lowerBound <= added.upperBound else { return false }
      added = min(span.lowerBound, added.lowerBound)..<max(span.upperBound, added.upperBound)
      return true
    }
    let place = spans.firstIndex { $0.lowerBound > added.lowerBound } ?? spans.count
    spans.insert(added, at: place)
    if spans.count > DeafSpans.capacity { joinClosest() }
    self.end = max(self.end, end)
  }

  /// Returns the part of the time since an instant in which the radio was deaf, at most ``maximumCredit``.
  package func credit(since start: Timestamp) -> TimeSpan {
    guard end > start else { return .zero }
    var sum: Int64 = 0
    for span in spans where span.upperBound > start.nanoseconds {
      sum += span.upperBound - max(span.lowerBound, start.nanoseconds)
    }
    return min(TimeSpan(nanoseconds: sum), DeafSpans.maximumCredit)
  }

  private mutating func joinClosest() {
    var place = 0
    var minimum = Int64.max
    for index in 0..<(spans.count - 1) {
      let gap = spans[index + 1].lowerBound - spans[index].upperBound
      guard gap < minimum else { continue }
      minimum = gap
      place = index
    }
    spans[place] = spans[place].lowerBound..<spans[place + 1].upperBound
    spans.remove(at: place + 1)
  }
}

extension Reception: FieldParts {
  /// Hands what the transmitters say about the radio to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&latest)
    try coder.code(&teachesFrom)
    try coder.code(&rejectedInsertions)
    try coder.code(parts: &spans)
    try coder.code(&deafness)
    var count = UInt8(places.count)
    try coder.code(&count)
    var used: UInt64 = 0
    for place in places.indices where places[place].tag != 0 { used |= 1 << UInt64(place) }
    try coder.code(&used)
    try coder.check(
      [0, 8, 16, 32, 64].contains(count) && (count == 64 || used >> UInt64(count) == 0),
      "a table of transmitters"
    )
    if Coder.isReader { places = count > 0 ? TransmitterTable(count: Int(count)) : TransmitterTable() }
    for place in places.indices where used >> UInt64(place) & 1 == 1 {
      var transmitter = Coder.isReader ? Transmitter() : places[place]
      try coder.code(parts: &transmitter)
      if Coder.isReader { places[place] = transmitter }
    }
  }
}

extension Transmitter: FieldParts {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&tag)
    try coder.code(&history)
    try coder.code(whole: &slot, "a slot")
    try coder.code(&age)
    try coder.code(amount: &usual, "a usual share")
    try coder.code(&count)
    try coder.code(small: &shift, through: 40, "the length of a slot")
    try coder.code(small: &rounds, through: 200, "rounds")
    try coder.code(&ownPauses)
    try coder.check(tag != 0 && isLearned && !isTooFar, "a transmitter")
  }

  private var isLearned: Bool { shift >= 20 || shift == 0 && count <= Transmitter.minimumSamples }
  /// Slots are shorter than times, so that a difference of two never leaves the range.
  private var isTooFar: Bool { slot.magnitude > 1 << (62 - UInt64(shift)) || age > 1 << 30 + 128 }
}

extension Deafness: FieldStruct {
  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&since)
    try coder.code(&witnesses)
    try coder.code(&askedAt)
    try coder.code(&thinnedAt)
    try coder.code(&fineSince)
    try coder.code(&taughtFrom)
  }
}

extension DeafSpans: FieldParts {
  /// Hands the spans to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&end)
    try coder.code(&total)
    try coder.code(list: &spans, ofAtLeast: 16, into: 0..<0) { (span, coder) throws(Coder.Failure) in
      var (start, end) = (span.lowerBound, span.upperBound)
      try coder.code(whole: &start, "the start of a span")
      try coder.code(whole: &end, "the end of a span")
      try coder.check(start < end, "a span")
      span = start..<end
    }
    try coder.check(spans.count <= DeafSpans.capacity, "spans")
  }
}
