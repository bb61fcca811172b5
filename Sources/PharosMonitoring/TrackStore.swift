/// The tracks of one observer, in pages that never move.
///
/// An array would copy all tracks when it grows, which takes milliseconds at tens of thousands; its elements would begin
/// in the middle of a cache line; and it would keep up to twice the room that it needs. A page holds sixteen tracks and
/// begins at a cache line. A copy of the store shares the pages until one of the two is changed.
struct TrackStore: RandomAccessCollection, @unchecked Sendable {
  typealias Page = UnsafeMutablePointer<Track>

  /// Tracks in a page as a power of two.
  static let shift = 4
  fileprivate static let mask = 1 << shift - 1
  /// Two cache lines, which processors load together.
  private static let alignment = 128

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

    mutating func append(_ track: Track) {
      let number = count >> TrackStore.shift
      if count & TrackStore.mask == 0 { addPage(number) }
      guard let pages else { return }
      (pages[number] + count & TrackStore.mask).initialize(to: track)
      count += 1
    }

    /// Adds copies of all tracks of another directory to this empty one, page by page.
    mutating func append(contentsOf other: Contents) {
      guard let others = other.pages else { return }
      for number in 0..<(other.count + TrackStore.mask) >> TrackStore.shift {
        addPage(number)
        let used = Swift.min(other.count - number << TrackStore.shift, 1 << TrackStore.shift)
        pages?[number].initialize(from: others[number], count: used)
      }
      count = other.count
    }

    private mutating func addPage(_ number: Int) {
      if number == capacity {
        let grown = UnsafeMutablePointer<Page>.allocate(capacity: Swift.max(8, capacity * 2))
        if let pages {
          grown.moveInitialize(from: pages, count: capacity)
          pages.deallocate()
        }
        pages = grown
        capacity = Swift.max(8, capacity * 2)
      }
      let page = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<Track>.stride << TrackStore.shift,
        alignment: TrackStore.alignment
      )
      pages?[number] = page.bindMemory(to: Track.self, capacity: 1 << TrackStore.shift)
    }

    func free() {
      guard let pages else { return }
      for number in 0..<(count + TrackStore.mask) >> TrackStore.shift {
        let used = Swift.min(count - number << TrackStore.shift, 1 << TrackStore.shift)
        UnsafeMutableRawPointer(pages[number].deinitialize(count: used)).deallocate()
      }
      pages.deallocate()
    }
  }

  private var owner = Owner()
  /// The owner's directory again, a step nearer.
  private var pages: UnsafeMutablePointer<Page>?

  var startIndex: Int { 0 }

  /// How many tracks there are, those that have been forgotten included.
  var endIndex: Int { owner.contents.pointee.count }

  /// The track at a place.
  subscript(place: Int) -> Track {
    unsafeAddress { UnsafePointer(pointer(to: place)) }
    unsafeMutableAddress {
      makeUnique()
      return pointer(to: place)
    }
  }

  /// Reads a word of each cache line that an advert touches, so that they are at hand when its turn comes.
  func touch(_ place: Int) -> UInt64 {
    guard let track = lines(of: place) else { return 0 }
    return track.load(as: UInt64.self) ^ track.load(fromByteOffset: 64, as: UInt64.self)
  }

  /// Reads a word of each cache line that a timer looks at.
  func touchDeadline(_ place: Int) -> UInt64 {
    guard let track = lines(of: place) else { return 0 }
    return track.load(as: UInt64.self) ^ track.load(fromByteOffset: 64, as: UInt64.self)
      ^ track.load(fromByteOffset: 128, as: UInt64.self) ^ track.load(fromByteOffset: 192, as: UInt64.self)
  }

  private func lines(of place: Int) -> UnsafeRawPointer? {
    guard UInt(bitPattern: place) < UInt(bitPattern: endIndex), let pages else { return nil }
    return UnsafeRawPointer(pages[place >> TrackStore.shift] + place & TrackStore.mask)
  }

  /// The tracks for a run of changes, so that it is looked only once whether another store shares them.
  ///
  /// Good until the store is copied, changed in another way, or gone.
  mutating func borrowed() -> BorrowedTracks {
    makeUnique()
    return BorrowedTracks(pages: pages, count: endIndex)
  }

  /// Adds a track behind the others.
  mutating func append(_ track: Track) {
    makeUnique()
    owner.contents.pointee.append(track)
    pages = owner.contents.pointee.pages
  }

  /// Forgets them all.
  mutating func removeAll() { self = TrackStore() }

  @inline(__always)
  private func pointer(to place: Int) -> Page {
    precondition(UInt(bitPattern: place) < UInt(bitPattern: endIndex), "no track at \(place)")
    guard let pages else { preconditionFailure("a store that counts tracks has pages") }
    return pages[place >> TrackStore.shift] + place & TrackStore.mask
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

/// The tracks of a store while a run of adverts is heard.
struct BorrowedTracks {
  fileprivate let pages: UnsafeMutablePointer<TrackStore.Page>?
  fileprivate let count: Int

  /// The track at a place, or nil if there is none.
  @inline(__always)
  subscript(place: Int32) -> UnsafeMutablePointer<Track>? {
    guard UInt(bitPattern: Int(place)) < UInt(bitPattern: count), let pages else { return nil }
    return pages[Int(place) >> TrackStore.shift] + Int(place) & TrackStore.mask
  }
}
