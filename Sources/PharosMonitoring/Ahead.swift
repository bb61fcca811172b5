import PharosReports

/// What is known of a report before its turn comes: all that the usual case asks for, side by side.
///
/// A hint: what it says about tracks is checked again then, since a report before it may have made or ended one.
struct Ahead {
  /// Which way a report goes.
  enum Way: UInt8 {
    /// The ordinary way: it says more than fits here, or its observer is new.
    case long
    /// An advert with one identity that may have a track.
    case known
    /// An advert that nobody asks about.
    case stranger
    /// The head of a datagram.
    case head
  }

  /// The identity that its advert carries.
  var beacon: BeaconID
  /// Its hash.
  var hash: UInt64
  /// What stands for its transmitter when the observer's traffic is judged.
  var key: UInt64
  /// The reception's tag of that key.
  var tag: UInt32
  /// What reports of one transmission share: see ``Hearing/sampleKey``.
  var sampleKey: UInt64
  /// When it was received.
  var received: Timestamp
  /// How long before that it happened, if ``isSent`` is false.
  var age: TimeSpan
  /// The observer's place, if the way is not the long one.
  var observer: Int32
  /// The place of a track that may be its beacon's, or −1.
  var track: Int32
  /// The level at one metre that it states, in dBm.
  var power: Int8
  /// Whether it states that level.
  var hasPower: Bool
  /// The level, in dBm.
  var level: Int8
  /// Whether it has a level.
  var hasLevel: Bool
  /// Whether its sender told when it happened, by the sender's own clock; the age then holds that time.
  var isSent: Bool
  /// Which way it goes.
  var way: Way

  /// When it happened by its sender's clock, if ``isSent`` is true.
  var sent: Timestamp { Timestamp(nanoseconds: age.nanoseconds) }

  /// A report of which nothing is known.
  static let unknown = Ahead()

  /// A report that must go the long way.
  private init() {
    beacon = BeaconID(proximityHigh: 0, low: 0, majorAndMinor: 0)
    hash = 0
    key = 0
    tag = 0
    sampleKey = 0
    received = .distantPast
    age = .zero
    observer = -1
    track = -1
    power = 0
    hasPower = false
    level = 0
    hasLevel = false
    isSent = false
    way = .long
  }
}
