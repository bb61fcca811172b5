package import PharosReports

/// The tracks of one observer, in pages that never move.
///
/// An array would copy all tracks when it grows, which takes milliseconds at tens of thousands; its elements would begin
/// in the middle of a cache line; and it would keep up to twice the room that it needs. A page begins
/// at a cache line and holds eight tracks, and beside them a cache line of their due times, so that one timer serves
/// them all: see `StageOne.arm(track:of:for:)`.
/// A copy of the store shares the pages until one of the two is changed.
package struct TrackStore: RandomAccessCollection, @unchecked Sendable {
  /// Tracks in a page as a power of two.
  ///
  /// Eight: a store of a hundred tracks wastes four places, and the due times of a page fill one cache line.
  static let shift = 3
  fileprivate static let mask = 1 << shift - 1
  /// Two cache lines, which processors load together.
  private static let alignment = 128
  /// The bytes of a page's tracks, to the end of a cache line.
  private static let tracksSize = (MemoryLayout<Track>.stride << shift + 63) & ~63
  /// The bytes of its due times: a cache line.
  private static let duesSize = MemoryLayout<Timestamp>.stride << shift

  /// One page, as the directory knows it.
  struct Page {
    /// Its tracks.
    fileprivate let tracks: UnsafeMutablePointer<Track>
    private let block: AlignedBlock
    /// When the wheel entry of the page is due; what fires at another time is stale.
    var armedAt = Timestamp.distantFuture
    /// Bits of the sorts of identity that lie on it or once did, so that a change of regions passes over most pages.
    fileprivate var scopes: UInt64 = 0

    /// Their due times, before or behind them: of the bytes that aligning a block costs, one side always has a cache line.
    fileprivate var dues: UnsafeMutablePointer<Timestamp> {
      duesAddress.assumingMemoryBound(to: Timestamp.self)
    }

    private var duesAddress: UnsafeMutableRawPointer {
      let start = UnsafeMutableRawPointer(tracks)
      return block.lead(of: start) >= TrackStore.duesSize
        ? start - TrackStore.duesSize : start + TrackStore.tracksSize
    }

    /// A page on which nothing lies and nothing is due.
    fileprivate init() {
      let start: UnsafeMutableRawPointer
      (start, block) = AlignedBlock.allocate(
        byteCount: TrackStore.tracksSize,
        alignment: TrackStore.alignment
      )
      tracks = start.bindMemory(to: Track.self, capacity: 1 << TrackStore.shift)
      duesAddress
        .initializeMemory(as: Timestamp.self, repeating: .distantFuture, count: 1 << TrackStore.shift)
    }

    /// A copy of a page on which so many tracks lie.
    fileprivate init(copying other: Page, count: Int) {
      self.init()
      armedAt = other.armedAt
      scopes = other.scopes
      dues.update(from: other.dues, count: 1 << TrackStore.shift)
      tracks.initialize(from: other.tracks, count: count)
    }

    fileprivate func free(count: Int) {
      tracks.deinitialize(count: count)
      block.free()
    }
  }

  /// What the pages and their directory are freed with.
  ///
  /// `@unchecked`: the memory is reached through one store alone, which copies it before a change if another store
  /// shares it. Its fields stand here as constants and behind a pointer, so that no access is checked at run time.
  private final class Owner {
    let contents: UnsafeMutablePointer<Contents>

    init() {
      contents = .allocate(capacity: 1)
      contents.initialize(to: Contents())
    }

    deinit {
      contents.pointee.free()
      contents.deallocate()
    }
  }

  /// The directory of the pages.
  private struct Contents {
    var pages: UnsafeMutablePointer<Page>?
    var capacity = 0
    var count = 0

    /// How many tracks lie on a page.
    private func used(_ number: Int) -> Int {
      Swift.min(count - number << TrackStore.shift, 1 << TrackStore.shift)
    }

    mutating func append(_ track: Track) {
      if count & TrackStore.mask == 0 { add(Page(), at: count >> TrackStore.shift) }
      guard let pages else { return }
      (pages[count >> TrackStore.shift].tracks + count & TrackStore.mask).initialize(to: track)
      count += 1
    }

    /// Adds copies of all tracks of another directory to this empty one, page by page.
    mutating func append(contentsOf other: Contents) {
      guard let others = other.pages else { return }
      for number in 0..<(other.count + TrackStore.mask) >> TrackStore.shift {
        add(Page(copying: others[number], count: other.used(number)), at: number)
      }
      count = other.count
    }

    /// Grows by a half, so that the room that is left over is small beside the pages.
    private mutating func add(_ page: Page, at number: Int) {
      if number == capacity {
        let room = Swift.max(4, capacity + capacity / 2)
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

    func free() {
      guard let pages else { return }
      for number in 0..<(count + TrackStore.mask) >> TrackStore.shift {
        pages[number].free(count: used(number))
      }
      pages.deallocate()
    }
  }

  private var owner = Owner()
  /// The owner's directory again, a step nearer.
  private var pages: UnsafeMutablePointer<Page>?

  package init() {}

  package var startIndex: Int { 0 }

  /// How many tracks there are, those that have been forgotten included.
  package var endIndex: Int { owner.contents.pointee.count }

  /// How many pages they fill.
  var pageCount: Int { (endIndex + TrackStore.mask) >> TrackStore.shift }

  /// The track at a place.
  package subscript(place: Int) -> Track {
    unsafeAddress { UnsafePointer(pointer(to: place)) }
    unsafeMutableAddress {
      makeUnique()
      return pointer(to: place)
    }
  }

  /// Reads a word of each cache line that an advert touches, so that they are at hand when its turn comes.
  func touch(_ place: Int) -> UInt64 {
    guard UInt(bitPattern: place) < UInt(bitPattern: endIndex) else { return 0 }
    let track = UnsafeRawPointer(pointer(to: place))
    return track.load(as: UInt64.self) ^ track.load(fromByteOffset: 64, as: UInt64.self)
  }

  /// Reads a word of each cache line of a track that a timer looks at.
  func touchWhole(_ place: Int) -> UInt64 {
    guard UInt(bitPattern: place) < UInt(bitPattern: endIndex) else { return 0 }
    let track = UnsafeRawPointer(pointer(to: place))
    var word: UInt64 = 0
    for line in stride(from: 0, to: MemoryLayout<Track>.stride - 7, by: 64) {
      word ^= track.load(fromByteOffset: line, as: UInt64.self)
    }
    return word
  }

  /// Adds a track behind the others.
  package mutating func append(_ track: Track) {
    makeUnique()
    owner.contents.pointee.append(track)
    pages = owner.contents.pointee.pages
  }

  /// Forgets them all.
  package mutating func removeAll() { self = TrackStore() }

  @inline(__always)
  private func pointer(to place: Int) -> UnsafeMutablePointer<Track> {
    precondition(UInt(bitPattern: place) < UInt(bitPattern: endIndex), "no track at \(place)")
    return page(place >> TrackStore.shift).pointee.tracks + place & TrackStore.mask
  }

  @inline(__always)
  private func page(_ number: Int) -> UnsafeMutablePointer<Page> {
    guard let pages else { preconditionFailure("a store that counts tracks has pages") }
    return pages + number
  }

  @inline(__always)
  private mutating func makeUnique() {
    guard !isKnownUniquelyReferenced(&owner) else { return }
    copy()
  }

  private mutating func copy() {
    let copy = Owner()
    copy.contents.pointee.append(contentsOf: owner.contents.pointee)
    owner = copy
    pages = copy.contents.pointee.pages
  }
}

// MARK: Sorts of identity

extension TrackStore {
  /// Takes note of the sort of a track that was put in a place.
  mutating func note(_ scope: IdentityScope, of place: Int) {
    precondition(UInt(bitPattern: place) < UInt(bitPattern: endIndex), "no track at \(place)")
    makeUnique()
    page(place >> TrackStore.shift).pointee.scopes |= scope.bit
  }
}

// MARK: Due times

extension TrackStore {
  /// When a track is due; the distant future if it waits for nothing.
  package func due(of place: Int) -> Timestamp {
    precondition(UInt(bitPattern: place) < UInt(bitPattern: endIndex), "no track at \(place)")
    return page(place >> TrackStore.shift).pointee.dues[place & TrackStore.mask]
  }

  /// Sets when a track is due; the page's timer is the caller's to set.
  package mutating func setDue(_ due: Timestamp, of place: Int) {
    precondition(UInt(bitPattern: place) < UInt(bitPattern: endIndex), "no track at \(place)")
    makeUnique()
    page(place >> TrackStore.shift).pointee.dues[place & TrackStore.mask] = due
  }

  /// When the wheel entry of a page is due.
  func armedAt(page number: Int) -> Timestamp {
    number < pageCount ? page(number).pointee.armedAt : .distantFuture
  }

  /// Takes note of a page's wheel entry.
  mutating func setArmedAt(_ due: Timestamp, page number: Int) {
    precondition(number < pageCount, "no page \(number)")
    makeUnique()
    page(number).pointee.armedAt = due
  }

  /// Nothing is due any more.
  mutating func disarm() {
    makeUnique()
    for number in 0..<pageCount {
      page(number).pointee.armedAt = .distantFuture
      page(number).pointee.dues.update(repeating: .distantFuture, count: 1 << TrackStore.shift)
    }
  }

  /// The track of a page that is due first, the foremost of several; nil if none waits for anything.
  package func firstDue(inPage number: Int) -> (place: Int, due: Timestamp)? {
    guard number < pageCount else { return nil }
    let dues = page(number).pointee.dues
    var (place, first) = (0, dues[0])
    for other in 1..<1 << TrackStore.shift where dues[other] < first { (place, first) = (other, dues[other]) }
    return first == .distantFuture ? nil : (number << TrackStore.shift + place, first)
  }
}

extension TrackStore {
  /// The tracks for a run of changes, so that it is looked only once whether another store shares them.
  ///
  /// Good until the store is copied, changed in another way, or gone.
  package mutating func borrowed() -> BorrowedTracks {
    makeUnique()
    return BorrowedTracks(pages: pages, count: endIndex)
  }
}

/// The tracks of a store while a run of adverts is heard.
package struct BorrowedTracks {
  fileprivate let pages: UnsafeMutablePointer<TrackStore.Page>?
  let count: Int

  /// The track at a place, or nil if there is none.
  @inline(__always)
  package subscript(place: Int32) -> UnsafeMutablePointer<Track>? {
    guard UInt(bitPattern: Int(place)) < UInt(bitPattern: count), let pages else { return nil }
    return pages[Int(place) >> TrackStore.shift].tracks + Int(place) & TrackStore.mask
  }

  /// The places of the live tracks of these sorts, added to others; gives at how many tracks it looked.
  func find(_ scopes: [IdentityScope], _ places: inout [Int32]) -> Int {
    guard let pages else { return 0 }
    let bits = scopes.reduce(0) { $0 | $1.bit }
    var looks = 0
    for number in 0..<(count + TrackStore.mask) >> TrackStore.shift where pages[number].scopes & bits != 0 {
      let first = number << TrackStore.shift
      let used = min(count - first, 1 << TrackStore.shift)
      looks += used
      for place in 0..<used {
        let track = pages[number].tracks + place
        guard track.pointee.isLive, scopes.contains(IdentityScope(track.pointee.beacon)) else { continue }
        places.append(Int32(first + place))
      }
    }
    return looks
  }
}
