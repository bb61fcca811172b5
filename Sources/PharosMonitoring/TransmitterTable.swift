import PharosReports

/// Where the searches for transmitters begin.
struct TransmitterHomes {
  fileprivate let places: UnsafeMutablePointer<Transmitter>?
  fileprivate let mask: Int

  static var none: TransmitterHomes { TransmitterHomes(places: nil, mask: 0) }

  /// Where the search for one transmitter begins, or nil if there is no place.
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
  /// How many places are looked at for one transmitter.
  static let probes = 4

  /// What the places are freed with.
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
  /// How many places there are: none or a power of two.
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

  /// Where searches begin, for the processor to fetch that; good as long as the table is not changed.
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
