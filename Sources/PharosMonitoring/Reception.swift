import PharosReports

/// Whether an observer's radio hears what it usually hears, judged by the transmitters themselves.
///
/// A beacon that left and a radio that went deaf look the same in that beacon's silence, and differ in everybody else's: while
/// a group leaves, those who stay keep their own rates; when the radio, the channel or the way to us is jammed, all are
/// thinned out, or fall silent together. So up to 64 transmitters, registered or not, are kept with their recent
/// history (``Transmitter``), and are asked when an exit is due.
struct Reception: Sendable {
  /// How many transmitters are kept at most: a room full.
  static let most = 64
  /// The log of a likelihood ratio that settles a question: ten to one.
  static let settled = 2.3

  /// The event time of the latest advert.
  var latest = Timestamp.distantPast
  /// That the radio is deaf, if it is.
  var deafness: Deafness?
  /// When it was deaf.
  var spans = DeafSpans()
  /// Gaps that began before it teach nothing; the far future while the radio is deaf.
  var teachesFrom = Timestamp.distantPast
  var places: [Transmitter] = []
  /// Their keys side by side, where one is looked for.
  var keys: [UInt64] = []
  /// How often a newcomer found no place.
  var knocks: UInt8 = 0

  /// Since when the radio is deaf, if it is.
  var deafSince: Timestamp? { deafness?.since }

  /// An advert came from the transmitter that the key stands for.
  mutating func hear(_ key: UInt64, at time: Timestamp) {
    latest = max(latest, time)
    // Zero stands for a free place.
    let place = place(of: key == 0 ? 1 : key, at: time)
    if place >= 0, case .sparse(let slots) = places[place].hear(at: time) {
      reconsider(place, slots: slots, at: time)
    }
    guard let deafness, time - deafness.askedAt >= Deafness.pause else { return }
    reassess(at: time)
  }

  /// The place of a transmitter: its own, a free or a stale one near where its key points, or −1.
  private mutating func place(of key: UInt64, at time: Timestamp) -> Int {
    guard !keys.isEmpty else {
      places = Array(repeating: Transmitter(), count: 8)
      keys = Array(repeating: 0, count: 8)
      return place(of: key, at: time)
    }
    let start = Reception.start(of: key)
    let mask = keys.count - 1
    for step in 0..<4 where keys.span[unchecked: (start &+ step) & mask] == key {
      return (start &+ step) & mask
    }
    return admit(key, from: start, at: time)
  }

  /// Reads where a transmitter's history lies, so that it is at hand when it is heard.
  func touch(_ key: UInt64) -> UInt64 {
    guard !keys.isEmpty else { return 0 }
    let start = Reception.start(of: key)
    let mask = keys.count - 1
    for step in 0..<4 where keys.span[unchecked: (start &+ step) & mask] == key {
      return places.span[unchecked: (start &+ step) & mask].key
    }
    return 1
  }

  /// Where the search for a key begins.
  private static func start(of key: UInt64) -> Int {
    Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }

  /// Gives a newcomer a place, if there is one; at an observer that keeps as many as it may only every eighth is let in to
  /// look, since it would have to look at four others.
  private mutating func admit(_ key: UInt64, from start: Int, at time: Timestamp) -> Int {
    knocks &+= 1
    if keys.count >= Reception.most, knocks & 7 != 0 { return -1 }
    for step in 0..<4 {
      let place = (start &+ step) & (places.count - 1)
      guard places[place].key == 0 || places[place].isStale(at: time) else { continue }
      places[place] = Transmitter(key: key, at: time)
      keys[place] = key
      deafness?.witnesses &= ~(1 << UInt64(place))
      return -1
    }
    if places.count < Reception.most { grow() }
    return -1
  }

  private mutating func grow() {
    let old = places
    let witnesses = deafness?.witnesses ?? 0
    deafness?.witnesses = 0
    places = Array(repeating: Transmitter(), count: old.count * 2)
    keys = Array(repeating: 0, count: places.count)
    for (former, transmitter) in old.enumerated() where transmitter.key != 0 {
      let start = Reception.start(of: transmitter.key)
      for step in 0..<4 where places[(start &+ step) & (places.count - 1)].key == 0 {
        let place = (start &+ step) & (places.count - 1)
        places[place] = transmitter
        keys[place] = transmitter.key
        deafness?.witnesses |= (witnesses >> UInt64(former) & 1) << UInt64(place)
        break
      }
    }
  }
}
