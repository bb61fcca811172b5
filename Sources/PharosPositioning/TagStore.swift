/// The beacons by place, in pages: who holds a copy of the engine has it share all pages but those that change since.
///
/// One array of all beacons would be copied as a whole at the first change behind a checkpoint, which at 65,536 beacons holds the
/// engine up for a tenth of a second.
struct TagStore: RandomAccessCollection, MutableCollection, Sendable {
  /// How many beacons a page has.
  ///
  /// 256: a page is copied in some hundred microseconds.
  private static let page = 256

  private var pages: [[Tag]] = []

  let startIndex = 0
  private(set) var endIndex = 0

  /// The beacon at a place, changed where it lies.
  subscript(place: Int) -> Tag {
    _read { yield pages[place / TagStore.page][place % TagStore.page] }
    _modify { yield &pages[place / TagStore.page][place % TagStore.page] }
  }

  /// Adds a place behind all others.
  mutating func append(_ tag: Tag) {
    if endIndex % TagStore.page == 0 {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(TagStore.page)
    }
    pages[pages.count - 1].append(tag)
    endIndex += 1
  }
}
