package import PharosModel

/// The recent reception of one transmitter, as evidence about the radio that hears it.
///
/// Time is cut into slots about as long as the mean gap between its adverts; a bit for each of the last 64 slots says
/// whether it was heard. So a beacon of 100 ms and one of 10 s say as much, each at its own pace, and an advert costs a
/// shift and an or. Which of three it is (heard as usual, thinned out, gone) follows from the bits and from the share of
/// slots in which it is usually heard.
package struct Transmitter: Sendable {
  /// The adverts after which the length of its slots is known.
  static let minimumSamples: UInt8 = 8
  /// The number of slots that are evaluated together.
  static let round: Int64 = 16
  /// The time constant of the moving average ``usual``.
  ///
  /// - Units: seconds; ten minutes, so that one minute of a jammed channel changes the average by a tenth.
  static let memory = 600.0
  /// Reports closer together than this are of one transmission.
  private static let joined: Int64 = 15_000_000
  /// The value at which ``age`` is capped.
  private static let maximumAge: Int32 = 1 << 30
  /// The share of a working radio's adverts that a deaf one is taken to hear.
  static let deafShare = 0.2

  /// Bit n: heard in the slot n before ``slot``; while its slots are being learned, the first time in nanoseconds.
  package var history: UInt64 = 0
  /// The latest slot in which it was heard; while its slots are being learned, the latest time in nanoseconds.
  package var slot: Int64 = 0
  /// The number of slots from the start of its history to ``slot``; negative if the history starts after ``slot``.
  ///
  /// Capped at 2³⁰, about thirteen days of the shortest slots. The engine evaluates only the latest 64 slots.
  var age: Int32 = 0
  /// The tag of the transmitter (see ``Reception/tag(of:)``); zero in a free place.
  package var tag: UInt32 = 0
  /// The share of slots in which it is heard when all is well.
  var usual: Float = 0.7
  /// Adverts in this round, or since the sample began.
  var count: UInt8 = 0
  /// The length of a slot is two to this power, in nanoseconds; zero while it is being learned.
  package var shift: UInt8 = 0
  /// Rounds that went into the usual share.
  var rounds: UInt8 = 0
  /// The number of times in these rounds that it fell silent or slowed while others were heard as usual.
  package var ownPauses: UInt8 = 0

  /// A free place.
  init() {}

  /// A transmitter that is heard for the first time.
  package init(tag: UInt32, at time: Timestamp) {
    self.tag = tag
    slot = time.nanoseconds
    history = UInt64(bitPattern: time.nanoseconds)
    count = 1
  }

  /// The first slot of its history.
  private var since: Int64 {
    get { slot &- Int64(age) }
    set { age = Int32(clamping: slot &- newValue) }
  }

  /// Indicates whether it has been heard often enough to be a witness.
  package var isKnown: Bool { shift != 0 }

  /// It is heard: gives how many slots it was absent from or filled far less than usual, if that may be the radio's doing;
  /// zero if it says nothing beyond itself.
  ///
  /// At least eight slots of silence, or two rounds in which it was sparse.
  @inline(__always)
  package mutating func receive(at time: Timestamp) -> Int64 {
    guard shift != 0 else {
      learn(at: time.nanoseconds)
      return 0
    }
    let now = time.nanoseconds &>> Int64(shift)
    let step = now &- slot
    // The usual step is none or a few, and cannot be predicted: no branch decides it.
    guard UInt64(bitPattern: step) < 8 else { return leap(to: now, step: step) }
    let before = slot
    history = history &<< UInt64(step) | 1
    slot = now
    age = min(age, Transmitter.maximumAge) &+ Int32(truncatingIfNeeded: step)
    count &+= count < .max ? 1 : 0
    // Arithmetic shifts: slots before the epoch make rounds as well.
    guard before >> 4 != now >> 4 else { return 0 }
    return endRound(step: step) ? Transmitter.round * 2 : 0
  }

  /// It is heard in a slot that has gone by, or after a silence of eight slots or more.
  @inline(never)
  private mutating func leap(to now: Int64, step: Int64) -> Int64 {
    guard step > 0 else {
      if step > -64 { history |= 1 << UInt64(-step) }
      if count < .max { count += 1 }
      return 0
    }
    let before = slot
    let first = since
    history = step < 64 ? history << UInt64(step) | 1 : 1
    slot = now
    since = step >= 64 ? max(first, now - 63) : first
    count += count < .max ? 1 : 0
    if before >> 4 != now >> 4 { _ = endRound(step: step) }
    return step
  }

  /// Silence up to a time says nothing: its history begins there.
  package mutating func restart(at time: Timestamp) {
    guard shift != 0 else {
      relearn(at: time)
      return
    }
    let now = time.nanoseconds >> Int64(shift)
    guard now > since else { return }
    since = now
    let ahead = slot - now
    history &= ahead < 0 ? 0 : ahead < 63 ? (1 << UInt64(ahead + 1)) - 1 : .max
    count = 0
  }

  /// Its rate is learned from the beginning.
  mutating func relearn(at time: Timestamp) { self = Transmitter(tag: tag, at: time) }

  /// It fell silent or slowed by itself: the radio heard others as usual.
  mutating func pausedItself() { ownPauses += ownPauses < .max ? 1 : 0 }

  /// Returns the start of the span of slots up to a time.
  func start(of slots: Int64, before time: Timestamp) -> Timestamp {
    Timestamp(nanoseconds: time.nanoseconds - min(slots, 256) << Int64(shift))
  }

  /// Returns true if it has been silent for so long that another transmitter may take its place.
  func isStale(at time: Timestamp) -> Bool {
    guard shift != 0 else { return time.nanoseconds - slot > 30_000_000_000 }
    let silence = time.nanoseconds - slot << Int64(shift)
    return silence > 60_000_000_000 && silence >> Int64(shift) > 64
  }

  @inline(never)
  private mutating func learn(at now: Int64) {
    guard now &- slot > Transmitter.joined else { return }
    slot = now
    count += 1
    guard count > Transmitter.minimumSamples else { return }
    let mean = (now &- Int64(bitPattern: history)) / Int64(count - 1)
    // The power of two that is at least three quarters of the mean gap.
    let wanted = UInt64(max(1, mean - mean / 4))
    shift = UInt8(min(40, max(20, UInt64.bitWidth - (wanted - 1).leadingZeroBitCount)))
    slot = now >> Int64(shift)
    age = 0
    history = 1
    count = 0
  }

  /// A round of slots is over; true if it was filled far less than usual.
  @inline(never)
  private mutating func endRound(step: Int64) -> Bool {
    let over = count
    count = 0
    let offset = slot & (Transmitter.round - 1)
    // The round that ended just before this slot's own, if it was heard of in it and its history reaches back so far.
    let start = slot - offset - Transmitter.round
    let bits = (history >> UInt64(offset + 1)) & 0xFFFF
    let hits = bits.nonzeroBitCount
    guard start >= since, hits > 0, step < Transmitter.round else { return false }
    let seconds = Double(Transmitter.round << Int64(shift)) / 1e9
    let weight = min(0.5, max(seconds / Transmitter.memory, 1 / Double(rounds + 2)))
    let isSparse = rounds >= 1 && Float(hits * 4) < usual * Float(Transmitter.round)
    usual += (Float(hits) / Float(Transmitter.round) - usual) * Float(weight)
    rounds += 1
    if rounds >= 200 {
      // What was long ago counts half, so that the rate of its own pauses follows.
      rounds = 100
      ownPauses /= 2
    }
    if over > 48, shift > 20 {
      resize(by: -1)
    } else if usual < 0.25, shift < 40 {
      resize(by: 1)
    }
    return isSparse
  }

  /// Takes slots of half or twice the length, as its rate has changed for good.
  private mutating func resize(by step: Int) {
    slot = step < 0 ? slot << 1 : slot >> 1
    shift = UInt8(Int(shift) + step)
    age = 0
    history = 1
    usual = 0.7
    rounds = 0
  }
}

extension Transmitter {
  /// The evidence of a transmitter about the radio in a window.
  enum ReceptionEvidence: Hashable {
    /// Nothing: it is not known well enough, or left long before.
    case none
    /// It is heard up to now as well as usual: the log of how much likelier that is of a radio that works.
    case fine(Double)
    /// It is there and its adverts are thinned out: the log of how much likelier that is of one that is deaf.
    case thinned(Double)
    /// It fell silent as the window began.
    case silent
    /// It was heard in it less than usual, too little to say why: the log of how much likelier that is of a radio that works.
    case unclear(Double)
  }

  /// Returns the surprise if it fell silent or slowed by itself within a span: the logarithm of one over the chance of
  /// that.
  ///
  /// Its own pauses are assumed to be as frequent as they were since it is known, with one more. So a newcomer, a
  /// visitor who comes and goes, and a tag that slows whenever it rests are weak evidence, and a beacon that kept its
  /// rate for an hour is strong evidence.
  func surprise(within seconds: Double) -> Double {
    guard seconds > 0 else { return 0 }
    let known = Double((Int64(rounds) * Transmitter.round) << Int64(shift)) / 1e9
    return max(
      0,
      RadioMath.binaryLog((known + seconds) / (seconds * (Double(ownPauses) + 1))) * RadioMath.naturalLogOfTwo
    )
  }

  /// Returns how surprising its silence is if it fell silent by itself, by losses and by leaving: each the logarithm of one
  /// over the chance; nil if it is not silent, or was silent long before a time.
  func silence(since start: Timestamp, through time: Timestamp) -> (byLosses: Double, byLeaving: Double)? {
    guard shift != 0 else { return nil }
    // What it missed before that time, others were heard in: it says nothing about the radio.
    let open = start.nanoseconds >> Int64(shift)
    let missed = (time.nanoseconds >> Int64(shift)) - max(slot, open) - 1
    guard missed > 0, slot >= open - 4 else { return nil }
    let share = min(0.9, max(0.1, Double(usual)))
    let loss = -RadioMath.binaryLog(1 - share) * RadioMath.naturalLogOfTwo
    return (loss * Double(min(missed, 64)), surprise(within: slack))
  }

  /// Within how many seconds two fell silent together at most when both are silent: four slots.
  var slack: Double { Double(4 << Int64(shift)) / 1e9 }

  /// Returns its evidence about the window from a time up to now, as far as its slots reach back.
  ///
  /// Hits and misses are weighed as of a radio that works against one that hears a fifth: ln 5 for a hit, and for a miss
  /// ln((1 − q) ÷ (1 − q÷5)), q being the usual share and at most 0.9.
  func evidence(from start: Timestamp, through time: Timestamp) -> ReceptionEvidence {
    guard shift != 0, time > start else { return .none }
    let now = max(slot, time.nanoseconds >> Int64(shift))
    let open = start.nanoseconds >> Int64(shift)
    let first = max(open + 1, max(since, now - 63))
    let isNow = slot == now
    let total = now - first + (isNow ? 1 : 0)
    guard total > 0 else { return .none }
    let reach = slot - first + 1
    let share = min(0.9, max(0.1, Double(usual)))
    guard reach > 0 else {
      // Not heard in the window: is that strange, and did it fall silent as the window began, or long before?
      let odds = RadioMath.binaryLog(1 - share) * RadioMath.naturalLogOfTwo * Double(total)
      return odds <= -4 && slot >= open - 4 ? .silent : .none
    }
    let mask: UInt64 = reach < 64 ? (1 << UInt64(reach)) - 1 : .max
    let hits = (history & mask).nonzeroBitCount
    let miss =
      RadioMath.binaryLog((1 - share) / (1 - share * Transmitter.deafShare)) * RadioMath.naturalLogOfTwo
    let hit = -RadioMath.binaryLog(Transmitter.deafShare) * RadioMath.naturalLogOfTwo
    let gain = hit * Double(hits) + miss * Double(Int(total) - hits)
    if gain > 0 { return .fine(min(gain, 4)) }
    // Up to when it was last heard it was there: what was missed before was missed by the radio.
    let loss = hit * Double(hits) + miss * Double(Int(reach) - hits)
    if hits >= 2, loss < 0 { return .thinned(min(-loss, 4)) }
    return .unclear(gain)
  }
}

/// The places where the searches for transmitters begin.
struct TransmitterHomes {
  fileprivate let places: UnsafeMutablePointer<Transmitter>?
  fileprivate let mask: Int

  static var none: TransmitterHomes { TransmitterHomes(places: nil, mask: 0) }

  /// Returns the place where the search for one transmitter begins, or nil if there is no place.
  @inline(__always)
  func home(of tag: UInt32) -> UnsafeMutablePointer<Transmitter>? {
    places.map { $0 + Int(tag) & mask }
  }
}

/// The places of the transmitters that an observer hears: none, 8, 16, 32 or 64 of 32 bytes each.
///
/// One allocation, and an address that stays while no place is added: a run of adverts asks only once whether a copy of the
/// engine shares it (``makeUnique()``). A copy shares the places until one of the two is changed.
package struct TransmitterTable: @unchecked Sendable {
  /// Half a cache line a place: a search begins at a line or in its middle.
  private static let alignment = 64
  /// The number of places that are examined for one transmitter.
  static let probes = 4

  /// The owner of the places, which frees them.
  ///
  /// `@unchecked`: the memory is reached through one table alone, which copies it before a change if another one shares it.
  private final class Owner {
    let places: UnsafeMutablePointer<Transmitter>
    private let block: AlignedBlock

    init(count: Int) {
      let start: UnsafeMutableRawPointer
      (start, block) = AlignedBlock.allocate(
        byteCount: MemoryLayout<Transmitter>.stride * count,
        alignment: TransmitterTable.alignment
      )
      places = start.bindMemory(to: Transmitter.self, capacity: count)
      places.initialize(repeating: Transmitter(), count: count)
    }

    deinit { block.free() }
  }

  private var owner: Owner?
  /// The owner's memory again, a step nearer.
  private var places: UnsafeMutablePointer<Transmitter>?
  /// The number of places: zero or a power of two.
  package let count: Int

  /// No place at all.
  package init() { count = 0 }

  /// So many free places, a power of two.
  package init(count: Int) {
    let owner = Owner(count: count)
    self.owner = owner
    places = owner.places
    self.count = count
  }

  /// The places, free ones among them.
  package var indices: Range<Int> { 0..<count }

  /// The transmitter at a place.
  package subscript(place: Int) -> Transmitter {
    unsafeAddress { UnsafePointer(pointer(to: place)) }
    unsafeMutableAddress {
      makeUnique()
      return pointer(to: place)
    }
  }

  /// The place of the transmitter with a tag, or nil.
  @inline(__always)
  package func find(_ tag: UInt32) -> UnsafeMutablePointer<Transmitter>? {
    guard let places else { return nil }
    let mask = count &- 1
    let start = Int(tag)
    for step in 0..<TransmitterTable.probes {
      let place = places + (start &+ step) & mask
      if place.pointee.tag == tag { return place }
    }
    return nil
  }

  /// The number of a place that was found.
  func place(of transmitter: UnsafeMutablePointer<Transmitter>) -> Int {
    places.map { transmitter - $0 } ?? 0
  }

  /// The places where searches begin, for prefetching; valid as long as the table is not changed.
  @inline(__always)
  var homes: TransmitterHomes { TransmitterHomes(places: places, mask: count &- 1) }

  /// Makes sure that no other table shares the places: before what ``find(_:)`` gave is changed.
  @inline(__always)
  package mutating func makeUnique() {
    guard owner != nil, !isKnownUniquelyReferenced(&owner) else { return }
    copy()
  }

  private mutating func copy() {
    let copy = Owner(count: count)
    if let places { copy.places.update(from: places, count: count) }
    owner = copy
    places = copy.places
  }

  private func pointer(to place: Int) -> UnsafeMutablePointer<Transmitter> {
    guard let places, UInt(bitPattern: place) < UInt(bitPattern: count) else {
      preconditionFailure("no transmitter at \(place) of \(count)")
    }
    return places + place
  }
}
