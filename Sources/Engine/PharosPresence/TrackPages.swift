import CTrackTable
import PharosModel

/// The part of a track that every advert reads and writes: one cache line.
///
/// The counts here cover the time since the cold half was brought up to date: see ``TrackHandle/flush()``.
struct HotTrack {
  /// The number of the identity's scope in the ``ScopeTable``.
  var scope: UInt32
  /// A digest of the address and advertising set of the latest sample; the cold half has them in full.
  var sampleTag: UInt32
  /// The identity within its scope.
  var key: UInt64
  /// The event time of the latest report; never goes back.
  var lastHeard: Timestamp
  /// The learned advertising interval in seconds, or 0.
  var interval: Float = 0
  /// The usual level in dBm, or not a number, and its mean absolute deviation in dB.
  var usual = UsualLevel()
  /// The Kalman filter's estimate in dBm, or not a number, its variance, and the measured noise in dB².
  var estimate = Float.nan
  var spread = Float(KalmanLevel.noise)
  var noise = Float(KalmanLevel.noise)
  /// The time from the start of the latest sample to ``lastHeard``, in nanoseconds: 24 bits; below them ``Flags``.
  var sample: UInt32 = HotTrack.noSample << 8
  /// The number of samples, its low 16 bits.
  var samples: UInt16 = 0
  /// The observer's epoch when the match set was last looked up, its low 16 bits.
  var epoch: UInt16
  /// The common divisor and the counts of the last gaps.
  var counts = GapCounts()
  /// A code of the longest gap with losses that means nothing but those losses: see ``LossLimit``.
  var lossLimit: UInt8 = 0
  /// The number of runs of losses that may follow before one must be examined.
  var runsLeft: UInt8 = 0
  /// Adverts lost in the runs since the last flush.
  var lost: UInt8 = 0
  /// The level of the latest sample as it was received, in dBm, or ``HotTrack/noLevel``.
  var level: Int8 = HotTrack.noLevel
  /// The level at one metre that frames state, in dBm, or ``HotTrack/noLevel``.
  var power: Int8 = HotTrack.noLevel

  /// Stands for a sample that no gap can be counted from.
  static let noSample: UInt32 = 1 << 24 - 1
  /// Stands for no level.
  @inline(__always) static var noLevel: Int8 { ReportEntry.noLevel }

  /// The flags that decide which path an advert takes.
  struct Flags: OptionSet {
    let rawValue: UInt8
    /// An advert may take the fast path: the beacon is inside under one policy for sure, at its usual level, well known, and
    /// nothing but its silence matters.
    static let fast = Flags(rawValue: 1)
    /// The same, and its seconds are kept for ranging or a zone.
    static let fastWithSeconds = Flags(rawValue: 2)
    /// The latest innovation was far off: above, if ``pushedUp`` is set as well.
    static let pushed = Flags(rawValue: 4)
    static let pushedUp = Flags(rawValue: 8)
    /// The directory declares the level at one metre.
    static let declaredPower = Flags(rawValue: 16)
    /// The deadline is the time last heard and the allowed silence.
    static let simpleDeadline = Flags(rawValue: 32)
    /// The address is a part of the identity.
    static let keyed = Flags(rawValue: 64)
    /// It learns from the other tracks of its proximity UUID.
    static let ofFamily = Flags(rawValue: 128)
  }

  var flags: Flags {
    @inline(__always) get { Flags(rawValue: UInt8(truncatingIfNeeded: sample)) }
    @inline(__always) set { sample = sample & ~0xFF | UInt32(newValue.rawValue) }
  }

  /// The time from the start of the latest sample to ``lastHeard``, in nanoseconds, or ``noSample``.
  var sinceSample: UInt32 {
    @inline(__always) get { sample >> 8 }
    @inline(__always) set { sample = newValue << 8 | sample & 0xFF }
  }

  /// The filter of the level.
  var kalman: KalmanLevel {
    @inline(__always) get {
      let push: Int8 = !flags.contains(.pushed) ? 0 : flags.contains(.pushedUp) ? 1 : -1
      return KalmanLevel(estimate: estimate, spread: spread, measured: noise, push: push)
    }
    @inline(__always) set {
      estimate = newValue.estimate
      spread = newValue.spread
      noise = newValue.measured
      let bits: UInt32 = newValue.push == 0 ? 0 : newValue.push < 0 ? 4 : 12
      sample = sample & ~12 | bits
    }
  }

  /// The digest of an address and advertising set.
  @inline(__always)
  static func tag(of sampleKey: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: (sampleKey &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }
}

/// The part of a track that a sample in a hundred looks at: one cache line.
struct ColdTrack {
  /// The address and advertising set of the latest sample; the address is a part of a keyed identity.
  var sampleKey: UInt64
  /// While the first presence is outside the sample that counted last, otherwise when the visit began.
  var moment = Timestamp.distantPast
  /// The fields that few tracks need.
  var box: ExtrasBox?
  /// The hash of the identity.
  var hash: UInt32
  /// The number of the match set.
  var matchSet: Int32
  /// The number of samples.
  var samples: UInt32 = 0
  /// Adverts received after one that was received before.
  var received: Float = 0
  /// Runs of losses, and the adverts lost in them.
  var runs: Float = 0
  var lost: Float = 0
  /// The level at one metre in dBm, or not a number.
  var power = Float.nan
  /// The first policy.
  var policy: UInt16
  var marks: Marks
  /// Losses since the recent window began.
  var recentLost: UInt16 = 0
  var recentRuns: UInt8 = 0
  /// The value of ``HotTrack/runsLeft`` after the last flush.
  var runsLeft: UInt8 = 0
  /// The value of ``HotTrack/samples`` then.
  var flushed: UInt16 = 0

  /// The facts about a track that its decisions depend on.
  struct Marks: OptionSet {
    let rawValue: UInt16
    /// The place is in use.
    static let live = Marks(rawValue: 1)
    /// So many addresses share the identity that they are not distinguished.
    static let crowd = Marks(rawValue: 2)
    /// The level is low, or far below the usual.
    static let low = Marks(rawValue: 4)
    static let far = Marks(rawValue: 8)
    /// It is in the observer's list of tracks that are due for a second.
    static let listed = Marks(rawValue: 16)
    /// A policy looks at levels to leave.
    static let levels = Marks(rawValue: 32)
    /// Its seconds are kept.
    static let seconds = Marks(rawValue: 64)
    /// A deadline of the first presence has passed and only proof of life is missing.
    static let waiting = Marks(rawValue: 128)
    /// The presences are in the extras.
    static let detailed = Marks(rawValue: 256)
    /// There are several of them.
    static let several = Marks(rawValue: 512)
    /// Further addresses of the identity are in the extras.
    static let shared = Marks(rawValue: 1_024)
    /// The policies have changed since the allowed silence was computed.
    static let unallowed = Marks(rawValue: 2_048)
    /// The level is hardly more than what the observer can receive.
    static let weak = Marks(rawValue: 4_096)
    /// The shift of the phase of the first presence.
    static let phaseShift: UInt16 = 14
  }
}

/// The longest gap with losses that the fast path may take, as one byte: sixteen steps to a doubling, from 1 ms to a minute.
///
/// The code is the exponent of the gap in milliseconds and four bits behind the point, so that larger codes are longer gaps.
enum LossLimit {
  /// The bits of a gap of 1 ms.
  private static let first = Float(1).bitPattern >> 19

  /// The code of the longest gap that is no longer than so many seconds; 0 for less than a millisecond.
  @inline(__always)
  static func code(_ limit: Float) -> UInt8 {
    // A little less, so that rounding makes no gap longer.
    let milliseconds = limit * 999.9
    guard milliseconds > 1 else { return 0 }
    return UInt8(min(milliseconds.bitPattern >> 19 - first, 255))
  }

  /// The gap of a code, in seconds.
  @inline(__always)
  static func seconds(_ code: UInt8) -> Float {
    code == 0 ? 0 : Float(bitPattern: (UInt32(code) + first) << 19) * 0.001
  }
}

/// The tracks of one observer, in pages of eight that never move.
///
/// A page is a cache line for each track's hot half, one for when the page is due and the silences that its tracks are
/// allowed, and one for each track's cold half. A copy shares the pages until one of the two is changed.
struct TrackPages: @unchecked Sendable {
  static let shift = 3
  static let mask = 7
  fileprivate static let lineOffset = 512
  fileprivate static let coldOffset = 576
  private static let size = 1_088

  fileprivate struct Page {
    let start: UnsafeMutableRawPointer
    let block: AlignedBlock

    init() {
      precondition(MemoryLayout<HotTrack>.stride == 64 && MemoryLayout<ColdTrack>.stride == 64)
      precondition(MemoryLayout<PageLine>.stride <= TrackPages.coldOffset - TrackPages.lineOffset)
      (start, block) = AlignedBlock.allocate(byteCount: TrackPages.size, alignment: 64)
      let line = (start + TrackPages.lineOffset).bindMemory(to: PageLine.self, capacity: 1)
      line.initialize(to: PageLine())
    }

    init(copying other: Page, count: Int) {
      self.init()
      start.copyMemory(from: other.start, byteCount: TrackPages.coldOffset)
      (start + TrackPages.coldOffset).bindMemory(to: ColdTrack.self, capacity: 8)
        .initialize(
          from: (other.start + TrackPages.coldOffset).assumingMemoryBound(to: ColdTrack.self),
          count: count
        )
    }

    func free(count: Int) {
      (start + TrackPages.coldOffset).assumingMemoryBound(to: ColdTrack.self).deinitialize(count: count)
      block.free()
    }
  }

  /// `@unchecked`: the memory is reached through one value alone, which copies it before a change if another one shares it.
  private final class Owner {
    var pages: UnsafeMutablePointer<Page>?
    var capacity = 0
    var count = 0

    func used(_ number: Int) -> Int { min(count - number << TrackPages.shift, 1 << TrackPages.shift) }

    func add(_ page: Page, at number: Int) {
      if number == capacity {
        let room = max(4, capacity + capacity / 2)
        let grown = UnsafeMutablePointer<Page>.allocate(capacity: room)
        if let pages {
          grown.moveInitialize(from: pages, count: capacity)
          pages.deallocate()
        }
        pages = grown
        capacity = room
      }
      pages.map { ($0 + number).initialize(to: page) }
    }

    func copy() -> Owner {
      let copy = Owner()
      guard let pages else { return copy }
      for number in 0..<(count + TrackPages.mask) >> TrackPages.shift {
        copy.add(Page(copying: pages[number], count: used(number)), at: number)
      }
      copy.count = count
      return copy
    }

    deinit {
      guard let pages else { return }
      for number in 0..<(count + TrackPages.mask) >> TrackPages.shift {
        pages[number].free(count: used(number))
      }
      pages.deallocate()
    }
  }

  private var owner = Owner()
  private var pages: UnsafeMutablePointer<Page>?
  /// The number of places, free ones included.
  private(set) var count = 0

  /// The number of pages that they fill.
  var pageCount: Int { (count + TrackPages.mask) >> TrackPages.shift }

  /// Makes sure that no copy shares the tracks: before a track is changed.
  @inline(__always)
  mutating func makeUnique() {
    guard !isKnownUniquelyReferenced(&owner) else { return }
    owner = owner.copy()
    pages = owner.pages
  }

  /// The track at a place; it may be changed after ``makeUnique()``.
  @inline(__always)
  subscript(place: Int) -> TrackHandle {
    guard UInt(bitPattern: place) < UInt(bitPattern: count), let pages else {
      preconditionFailure("no track at \(place)")
    }
    return TrackHandle(page: pages[place >> TrackPages.shift].start, slot: place & TrackPages.mask)
  }

  /// The tracks for a run of adverts, in which none is added; good as long as this value is not changed otherwise.
  @inline(__always)
  var borrowed: TrackRun { TrackRun(pages: pages, count: count) }

  /// The line of a page.
  @inline(__always)
  func line(_ page: Int) -> UnsafeMutablePointer<PageLine> {
    guard UInt(bitPattern: page) < UInt(bitPattern: pageCount), let pages else {
      preconditionFailure("no page \(page)")
    }
    return (pages[page].start + TrackPages.lineOffset).assumingMemoryBound(to: PageLine.self)
  }

  /// Asks the processor for all that a timer of a page looks at.
  func prefetch(page: Int) {
    guard page < pageCount, let pages else { return }
    for line in 0...8 { pharos_prefetch(pages[page].start + line << 6) }
  }

  /// Adds a track behind the others.
  mutating func append(_ hot: HotTrack, _ cold: ColdTrack) {
    makeUnique()
    let number = count >> TrackPages.shift
    if count & TrackPages.mask == 0 { owner.add(Page(), at: number) }
    pages = owner.pages
    guard let start = pages?[number].start else { return }
    let slot = count & TrackPages.mask
    (start + slot << 6).bindMemory(to: HotTrack.self, capacity: 1).initialize(to: hot)
    (start + TrackPages.coldOffset + slot << 6).bindMemory(to: ColdTrack.self, capacity: 1).initialize(
      to: cold
    )
    owner.count += 1
    count += 1
  }

  /// Removes all.
  mutating func removeAll() { self = TrackPages() }
}

/// The tracks of an observer while a run of adverts is heard: an address and nothing to count references of.
struct TrackRun {
  fileprivate let pages: UnsafeMutablePointer<TrackPages.Page>?
  let count: Int

  /// The tracks of no observer.
  nonisolated(unsafe) static let none = TrackRun(pages: nil, count: 0)

  fileprivate init(pages: UnsafeMutablePointer<TrackPages.Page>?, count: Int) {
    self.pages = pages
    self.count = count
  }

  /// The track at a place; there must be one.
  @inline(__always)
  subscript(place: Int32) -> TrackHandle {
    guard UInt(bitPattern: Int(place)) < UInt(bitPattern: count), let pages else {
      preconditionFailure("no track at \(place)")
    }
    return TrackHandle(page: pages[Int(place) >> TrackPages.shift].start, slot: Int(place) & TrackPages.mask)
  }

  /// Asks the processor for the hot half of a track, if there is one.
  @inline(__always)
  func prefetch(_ place: Int32) {
    guard UInt(bitPattern: Int(place)) < UInt(bitPattern: count), let pages else { return }
    pharos_prefetch(pages[Int(place) >> TrackPages.shift].start + (Int(place) & TrackPages.mask) << 6)
  }
}

/// The part of a page that its timer needs.
struct PageLine {
  /// The due time of the page's timer; a timer that fires at another time is stale.
  var armedAt = Timestamp.distantFuture
  /// Bits of the scopes of all tracks that are or were on the page.
  var scopes: UInt64 = 0
  /// The silence that the first policy of each track allows, in milliseconds: see ``TrackHandle/allowedForever``.
  fileprivate var allowed: SIMD8<UInt32> = .init(repeating: .max)
}

/// One track, by where it is: copies of the handle are of the same track.
struct TrackHandle {
  fileprivate let page: UnsafeMutableRawPointer
  let slot: Int

  @inline(__always)
  fileprivate init(page: UnsafeMutableRawPointer, slot: Int) {
    self.page = page
    self.slot = slot
  }

  /// The hot half.
  var hot: HotTrack {
    @inline(__always) unsafeAddress {
      UnsafePointer((page + slot << 6).assumingMemoryBound(to: HotTrack.self))
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      (page + slot << 6).assumingMemoryBound(to: HotTrack.self)
    }
  }

  /// The cold half.
  var cold: ColdTrack {
    @inline(__always) unsafeAddress {
      UnsafePointer((page + TrackPages.coldOffset + slot << 6).assumingMemoryBound(to: ColdTrack.self))
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      (page + TrackPages.coldOffset + slot << 6).assumingMemoryBound(to: ColdTrack.self)
    }
  }

  /// The silence that the first policy allows, in milliseconds, or what stands for another one.
  var allowedMilliseconds: UInt32 {
    @inline(__always) get { line.pointee.allowed[slot] }
    nonmutating set { line.pointee.allowed[slot] = newValue }
  }

  /// Records a scope on the page.
  func record(scope: UInt32) { line.pointee.scopes |= 1 << UInt64(scope & 63) }

  private var line: UnsafeMutablePointer<PageLine> {
    @inline(__always) get { (page + TrackPages.lineOffset).assumingMemoryBound(to: PageLine.self) }
  }
}
