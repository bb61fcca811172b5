package import PharosReports

/// A level that waits to be weighed.
package struct RadioReading: Sendable, Hashable {
  /// When the emitter was really heard.
  var heard: Timestamp
  /// The level in dBm, before any offset.
  var level: Float
  /// The emitter, and in the two upper bits the kind: hundreds of readings are kept for each subject.
  private var code: UInt32

  /// What kind of evidence a reading is.
  package enum Kind: UInt32, Sendable {
    case accessPoint, beacon, observer
  }

  /// Makes a reading.
  package init(heard: Timestamp, emitter: Int32, level: Float, kind: Kind) {
    self.heard = heard
    self.level = level
    code = UInt32(bitPattern: emitter) & 0x3FFF_FFFF | kind.rawValue << 30
  }

  /// The emitter, as its place in the radio map.
  var emitter: Int32 { Int32(bitPattern: code & 0x3FFF_FFFF) }
  /// What kind of evidence it is.
  var kind: Kind { Kind(rawValue: code >> 30) ?? .accessPoint }
}

/// When each emitter was last heard, so that a scan's repetitions are not taken for news.
///
/// - Shape: open addressing in 1,024 places of 12 bytes; when it is three quarters full, what is oldest goes.
struct HeardTable: Sendable, Hashable {
  private static let places = 1_024
  private static let most = 768

  private var emitters: [Int32] = []
  private var times: [Int64] = []
  private var count = 0

  /// How many bytes it takes.
  var bytes: Int { emitters.count * 12 }

  /// Notes that an emitter was heard.
  ///
  /// - Returns: whether that is news: later than all that was noted of it by more than a millisecond, the grain of some
  ///   platforms' clocks.
  mutating func note(_ emitter: Int32, at time: Timestamp) -> Bool {
    if emitters.isEmpty {
      emitters = [Int32](repeating: -1, count: HeardTable.places)
      times = [Int64](repeating: 0, count: HeardTable.places)
    }
    var place = Int((UInt32(bitPattern: emitter) &* 2_654_435_769) >> 22)
    while emitters[place] >= 0, emitters[place] != emitter { place = (place + 1) & (HeardTable.places - 1) }
    if emitters[place] == emitter {
      guard time.nanoseconds > times[place] + 1_000_000 else { return false }
      times[place] = time.nanoseconds
      return true
    }
    emitters[place] = emitter
    times[place] = time.nanoseconds
    count += 1
    if count > HeardTable.most { shrink() }
    return true
  }

  /// The emitters that were heard after a time.
  func emitters(since time: Timestamp) -> [Int32] {
    emitters.indices.compactMap { place in
      emitters[place] >= 0 && times[place] > time.nanoseconds ? emitters[place] : nil
    }
  }

  /// Forgets the older half.
  private mutating func shrink() {
    let kept = zip(emitters, times).filter { $0.0 >= 0 }.sorted { ($0.1, $0.0) > ($1.1, $1.0) }
    emitters = []
    count = 0
    for (emitter, time) in kept.prefix(HeardTable.most / 2) {
      _ = note(emitter, at: Timestamp(nanoseconds: time))
    }
  }
}
