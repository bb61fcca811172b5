package import PharosReports

/// Whether an observer's radio hears what it usually hears, judged by the transmitters themselves.
///
/// A beacon that left and a radio that went deaf look the same in that beacon's silence, and differ in everybody else's: while
/// a group leaves, those who stay keep their own rates; when the radio, the channel or the way to us is jammed, all are
/// thinned out, or fall silent together. So up to 64 transmitters, registered or not, are kept with their recent
/// history (``Transmitter``), and are asked when an exit is due.
package struct Reception: Sendable {
  /// How many transmitters are kept at most: a room full.
  static let most = 64
  /// The log of a likelihood ratio that settles a question: ten to one.
  static let settled = 2.3

  /// The event time of the latest advert.
  package var latest = Timestamp.distantPast
  /// That the radio is deaf, if it is.
  var deafness: Deafness?
  /// When it was deaf.
  package var spans = DeafSpans()
  /// Gaps that began before it teach nothing; the far future while the radio is deaf.
  package var teachesFrom = Timestamp.distantPast
  package var places = TransmitterTable()
  /// How often a newcomer found no place.
  var knocks: UInt8 = 0

  package init() {}

  /// Since when the radio is deaf, if it is.
  package var deafSince: Timestamp? { deafness?.since }

  /// An advert came from the transmitter that the key stands for.
  package mutating func hear(_ key: UInt64, at time: Timestamp) {
    places.makeUnique()
    hearUnshared(Reception.tag(of: key), at: time)
  }

  /// The same with the tag of the key, after the places have been made the observer's own.
  @inline(__always)
  mutating func hearUnshared(_ tag: UInt32, at time: Timestamp) {
    latest = max(latest, time)
    if let found = places.find(tag) {
      let absent = found.pointee.hear(at: time)
      if absent > 0 { reconsider(places.place(of: found), slots: absent, at: time) }
    } else {
      knocks &+= 1
      // At an observer that keeps as many as it may only every eighth newcomer is let in to look, since it would have to look
      // at four others.
      if places.count < Reception.most || knocks & 7 == 0 { admit(tag, at: time) }
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
    if places.count < Reception.most { grow() }
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
