package import PharosDocuments
package import PharosModel

/// The row of a ``SubjectTable`` about one subject.
package protocol SubjectRow: Sendable {
  /// The identity of a subject.
  associatedtype Subject: Hashable & Comparable & Sendable
  /// The subject.
  var subject: Subject { get }
  /// The time of the last input about the subject.
  var touched: Timestamp { get }
  /// Indicates whether removing the subject would lose more than what its next inputs tell again.
  var isNeeded: Bool { get }
  /// The content of a place that no subject occupies.
  static var vacant: Self { get }
}

/// The subjects that one part of stage two knows, each at a fixed place, with the deadlines at which it is evaluated.
///
/// The table owns what all such parts need: finding a subject, reusing places, deadlines that survive the reuse of a
/// place, the choice of whom to evict, and finding whom to forget. Decisions belong to its owner.
///
/// Rows lie in pages, so that a copy of the engine shares all pages but those that change after the copy. A single array
/// would be copied as a whole at the first change after a checkpoint: at 65,536 beacons that blocks the engine for a
/// tenth of a second.
package struct SubjectTable<Row: SubjectRow>: Sendable {
  @usableFromInline
  struct Place: Sendable {
    @usableFromInline var row: Row
    /// Tells apart the subjects that have occupied the place.
    @usableFromInline var generation: UInt32
    @usableFromInline var isOccupied = true
    /// The time at which the queue returns the place; an entry of another time is obsolete.
    @usableFromInline var wake = Timestamp.distantFuture

    @usableFromInline
    init(row: Row, generation: UInt32, isOccupied: Bool = true) {
      self.row = row
      self.generation = generation
      self.isOccupied = isOccupied
    }
  }

  /// The number of places in a page.
  ///
  /// 256: a page is copied in some hundred microseconds.
  @usableFromInline static var page: Int { 256 }

  @usableFromInline var pages: [[Place]] = []
  @usableFromInline var end = 0
  @usableFromInline var places: [Row.Subject: Int] = [:]
  @usableFromInline var free: [Int] = []
  @usableFromInline var generation: UInt32 = 0
  @usableFromInline var deadlines = DeadlineQueue()

  /// Makes an empty table.
  @inlinable package init() {}

  /// The number of subjects.
  @inlinable
  package var count: Int { places.count }

  /// The places that subjects occupy, in ascending order.
  @inlinable
  package var occupied: [Int] { (0..<end).filter(isOccupied) }

  /// The rows of all subjects, in the order of their places.
  package var rows: some Sequence<Row> { pages.lazy.joined().filter(\.isOccupied).map(\.row) }

  /// Returns whether a subject occupies a place.
  @inlinable
  package func isOccupied(_ place: Int) -> Bool {
    place >= 0 && place < end && pages[place / Self.page][place % Self.page].isOccupied
  }

  /// Returns the place of a subject, or nil if it is unknown.
  @inlinable
  package func place(of subject: Row.Subject) -> Int? { places[subject] }

  /// The row at a place that is taken, changed where it lies.
  @inlinable
  package subscript(place: Int) -> Row {
    _read { yield pages[place / Self.page][place % Self.page].row }
    _modify { yield &pages[place / Self.page][place % Self.page].row }
  }

  /// Adds a subject that is not in the table.
  @inlinable
  package mutating func insert(_ row: Row) -> Int {
    generation &+= 1
    let entry = Place(row: row, generation: generation)
    let place = free.popLast() ?? end
    if place == end { append(entry) } else { pages[place / Self.page][place % Self.page] = entry }
    places[row.subject] = place
    return place
  }

  /// Removes a subject.
  @inlinable
  package mutating func remove(_ place: Int) {
    places[self[place].subject] = nil
    pages[place / Self.page][place % Self.page].isOccupied = false
    self[place] = .vacant
    free.append(place)
  }

  /// Returns the places to evict before one more subject is added: none below the limit, or else those of a sixteenth of
  /// the subjects, first those that are not needed, then those without an input for longest.
  @inlinable
  package func evictions(limit: Int) -> [Int] {
    guard count >= limit else { return [] }
    let ranked = occupied.map { place in
      (
        rank: self[place].isNeeded ? 1 : 0, touched: self[place].touched,
        subject: self[place].subject, place: place
      )
    }
    return ranked.sorted { ($0.rank, $0.touched, $0.subject) < ($1.rank, $1.touched, $1.subject) }
      .prefix(max(1, limit / 16)).map(\.place)
  }

  @inlinable
  mutating func append(_ place: Place) {
    if end % Self.page == 0 {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(Self.page)
    }
    pages[pages.count - 1].append(place)
    end += 1
  }
}

extension SubjectTable where Row.Subject == SubjectID {
  /// Returns the places of the subjects that are to be forgotten.
  @inlinable
  package func places(of traces: SubjectTraces) -> [Int] {
    occupied.filter { traces.contains(self[$0].subject) }
  }
}

// MARK: Deadlines

extension SubjectTable {
  /// Schedules a subject for an instant, unless it is scheduled earlier already.
  @inlinable
  package mutating func schedule(_ place: Int, at due: Timestamp) {
    guard due < pages[place / Self.page][place % Self.page].wake else { return }
    pages[place / Self.page][place % Self.page].wake = due
    let generation = pages[place / Self.page][place % Self.page].generation
    deadlines.insert(DeadlineQueue.Entry(due: due, slot: place, generation: generation))
  }

  /// Removes and returns the earliest deadline at or before an instant.
  @inlinable
  package mutating func popDue(through instant: Timestamp) -> (place: Int, due: Timestamp)? {
    while let entry = deadlines.pop(through: instant) {
      let (page, index) = (entry.slot / Self.page, entry.slot % Self.page)
      guard pages[page][index].isOccupied, pages[page][index].generation == entry.generation,
        pages[page][index].wake == entry.due
      else { continue }
      pages[page][index].wake = .distantFuture
      return (entry.slot, entry.due)
    }
    return nil
  }

  /// Cancels all deadlines.
  @inlinable
  package mutating func cancelDeadlines() {
    deadlines = DeadlineQueue()
    for place in occupied { pages[place / Self.page][place % Self.page].wake = .distantFuture }
  }
}

// MARK: Checkpoints

extension SubjectTable {
  /// Hands the places to a coder as they are, including the free ones, because the order in which subjects are evaluated at
  /// an instant depends on them.
  ///
  /// - Parameters:
  ///   - coder: the writer or the reader, which reads into an empty table.
  ///   - codeRow: hands a row to the coder, and returns the one that was written or read.
  /// - Throws: the error of a reader.
  @inlinable
  package mutating func visitRows<Coder: FieldCoder>(
    _ coder: inout Coder,
    _ codeRow: (_ row: () -> Row, inout Coder) throws(Coder.Failure) -> Row
  ) throws(Coder.Failure) {
    try coder.code(&generation)
    var count = end
    try coder.code(count: &count, ofAtLeast: 1)
    var isFree: [Bool] = []
    for place in 0..<count {
      let isAccepted = try coder.field(isOccupied(place))
      isFree.append(!isAccepted)
      if isAccepted {
        let generation = try coder.field(entry(place).generation)
        let wake = try coder.field(entry(place).wake)
        let row = try codeRow({ entry(place).row }, &coder)
        guard Coder.isReader else { continue }
        try coder.check(places[row.subject] == nil, "a subject")
        places[row.subject] = place
        append(Place(row: row, generation: generation))
        schedule(place, at: wake)
      } else if Coder.isReader {
        append(Place(row: .vacant, generation: 0, isOccupied: false))
      }
    }
    var unused = free.map { UInt32($0) }
    try coder.code(&unused)
    guard Coder.isReader else { return }
    free = unused.map { Int($0) }
    for place in free {
      try coder.check(place < end && isFree[place], "a free place")
      isFree[place] = false
    }
    // A place that is neither taken nor free would be lost for good.
    try coder.check(!isFree.contains(true), "a free place")
  }

  @inlinable
  func entry(_ place: Int) -> Place { pages[place / Self.page][place % Self.page] }
}
