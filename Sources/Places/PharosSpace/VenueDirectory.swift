/// The places of a venue, made ready to be searched by words and by position.
///
/// How a search works: every text of a place is folded and cut into words, each with the field that it stands in. All words of the
/// venue lie in one sorted list, so that those that begin with a word of the query are a run of it, found in O(log words). A place is
/// found if each word of the query begins one of its words. Where the best of them stand decides the order; see ``Match``.
package struct VenueDirectory: Sendable {
  /// A place of the venue.
  package struct Entry: Sendable {
    /// The place.
    package let place: PointOfInterest
    /// The floor that it is on.
    package let floor: FloorID
    /// Its position on the Earth; nil far from its floor's origin.
    package let coordinate: Coordinate?
    /// The words of its name, then those of its title, with spaces.
    fileprivate let headings: [String]
    /// The number of its floor among those of the directory.
    fileprivate let story: Int
  }

  /// How well a place matches a query, the best first.
  package enum Match: Int, Comparable, Sendable {
    /// The name or the title is the query.
    case whole
    /// The name or the title begins with the query.
    case beginning
    /// Each word of the query begins a word of the name or the title.
    case heading
    /// Some word is only in another name, the category or the identifier.
    case kind
    /// Some word is only in the description, the address or a property.
    case text

    /// Orders a better match first.
    package static func < (left: Match, right: Match) -> Bool { left.rawValue < right.rawValue }
  }

  /// A place that was found.
  package struct Found: Sendable {
    /// The place.
    package let entry: Entry
    /// How well it matches.
    package let match: Match
    /// The distance from the given position along the ground, floors aside; nil without one.
    ///
    /// - Units: metres.
    package let distance: Double?
  }

  /// What is at a position.
  package struct Spot: Sendable {
    /// The floor.
    package let floor: FloorID
    /// The position on the floor's plane.
    package let point: Point
    /// The room, by its name: the smallest that the venue draws there and that is not the whole floor.
    package let room: String?
    /// The smallest point of interest there.
    package let place: PointOfInterest?
    /// The postal address: that of the place, else of its building, else of the venue.
    package let address: String?
    /// The observers placed on the floor, those in the same room only, the nearest first; all that stand in no room where the
    /// position is in none.
    package let observers: [ObserverID]
  }

  /// The largest number of words of a query; further ones are ignored.
  package static let maximumWords = 16

  /// The places, floor by floor.
  package let entries: [Entry]
  /// The words with the places and fields that have them, sorted by their bytes.
  private let words: [Word]
  /// The rank of each place in the order of the names, then of the identifiers.
  private let ranks: [Int]
  private let floors: [Story]

  private struct Word {
    let text: String
    let entry: Int32
    let match: Match
  }

  private struct Story {
    let id: FloorID
    let floor: Floor
    let named: NamedPlaces
    let address: String?
  }

  /// Indexes a venue.
  ///
  /// - Complexity: O(n log n) of the words of all texts.
  package init(_ venue: Venue) {
    var entries: [Entry] = []
    var words: [Word] = []
    for (story, (id, floor)) in venue.floors.enumerated() {
      for place in floor.pointsOfInterest {
        let number = Int32(entries.count)
        let caption = place.caption
        func add(_ text: String?, _ match: Match) {
          guard let text else { return }
          for word in FoldedText.words(text) { words.append(Word(text: word, entry: number, match: match)) }
        }
        add(place.name, .heading)
        add(caption.title, .heading)
        add(place.category, .kind)
        add(place.identifier, .kind)
        for (name, text) in caption.properties { add(text, name == "altName" ? .kind : .text) }
        add(caption.description, .text)
        add(caption.address, .text)
        entries.append(
          Entry(
            place: place,
            floor: id,
            coordinate: floor.plane.coordinate(of: place.point),
            headings: [place.name, caption.title ?? ""].map { FoldedText.words($0).joined(separator: " ") }
              .filter { !$0.isEmpty },
            story: story
          )
        )
      }
    }
    words.sort { VenueDirectory.isBefore($0.text, $1.text) }
    self.entries = entries
    self.words = words
    let ordered = entries.indices.map { number in
      (name: entries[number].headings.first ?? "", id: entries[number].place.identifier, number: number)
    }
    .sorted { $0.name == $1.name ? $0.id < $1.id : VenueDirectory.isBefore($0.name, $1.name) }
    var ranks = Array(repeating: 0, count: entries.count)
    for (rank, entry) in ordered.enumerated() { ranks[entry.number] = rank }
    self.ranks = ranks
    floors = venue.buildings.flatMap { building in
      building.floors.map { floor in
        Story(
          id: FloorID(building: building.identifier, level: floor.level),
          floor: floor,
          named: NamedPlaces(floor),
          address: building.address ?? venue.address
        )
      }
    }
  }

  /// Compares texts by their bytes, in which all that begin with one text stand together.
  private static func isBefore(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  // MARK: By words

  /// Searches the places by words: the best matches first, then by distance, then by name.
  ///
  /// - Parameters:
  ///   - query: words, or their beginnings; without a letter or digit it finds nothing.
  ///   - position: the position from which distances are measured; nil for none.
  ///   - limit: the largest number of places.
  /// - Returns: the places that match.
  /// - Complexity: O(words that begin with one of the query's + places found).
  package func search(_ query: String, from position: Coordinate? = nil, limit: Int) -> [Found] {
    let asked = FoldedText.words(query).prefix(VenueDirectory.maximumWords)
    guard !asked.isEmpty, limit > 0 else { return [] }
    var best: [Int32: Match] = [:]
    for (number, word) in asked.enumerated() {
      var matches: [Int32: Match] = [:]
      for found in words[run(of: word)] where number == 0 || best[found.entry] != nil {
        matches[found.entry] = min(matches[found.entry] ?? .text, found.match)
      }
      if number > 0 {
        for (entry, match) in matches { matches[entry] = max(match, best[entry] ?? .text) }
      }
      best = matches
      guard !best.isEmpty else { return [] }
    }
    let whole = asked.joined(separator: " ")
    // Where the position is on the plane of each floor.
    let origins = floors.map { story in position.flatMap { story.floor.plane.point(of: $0) } }
    let found = best.map { number, match in
      let entry = entries[Int(number)]
      var candidate = Candidate(number: Int(number), match: match, distance: nil)
      if match == .heading {
        for heading in entry.headings where heading.utf8.starts(with: whole.utf8) {
          let isWhole = heading.utf8.count == whole.utf8.count
          candidate.match = min(candidate.match, isWhole ? .whole : .beginning)
        }
      }
      candidate.distance = origins[entry.story].map { (entry.place.point - $0).length }
      return candidate
    }
    return found.sorted(by: isBetter).prefix(limit).map { candidate in
      Found(entry: entries[candidate.number], match: candidate.match, distance: candidate.distance)
    }
  }

  /// A place that was found, by its number: small, since thousands of them may be put in order.
  private struct Candidate {
    let number: Int
    var match: Match
    var distance: Double?
  }

  private func isBetter(_ left: Candidate, _ right: Candidate) -> Bool {
    if left.match != right.match { return left.match < right.match }
    let (near, far) = (left.distance ?? .infinity, right.distance ?? .infinity)
    return near != far ? near < far : ranks[left.number] < ranks[right.number]
  }

  /// The run of the sorted words that begin with a text.
  private func run(of prefix: String) -> Range<Int> {
    let start = firstIndex { !VenueDirectory.isBefore($0, prefix) }
    let end = firstIndex { !VenueDirectory.isBefore($0, prefix) && !$0.utf8.starts(with: prefix.utf8) }
    return start..<end
  }

  /// The first word from which on a condition holds.
  private func firstIndex(where holds: (String) -> Bool) -> Int {
    var (low, high) = (0, words.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(words[middle].text) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  // MARK: By position

  /// The numbers of the venue's floors, each once, the lowest first.
  package var levels: [Int] { Set(floors.map(\.id.level)).sorted() }

  /// Returns what is at a position on the floor of a number; nil outside of all that is drawn of such floors.
  ///
  /// Of several buildings with such a floor, the one counts in which one can walk there, else the first whose floor lies around it.
  package func spot(at coordinate: Coordinate, level: Int) -> Spot? {
    let around = floors.compactMap { story -> (story: Story, point: Point)? in
      guard story.id.level == level, let point = story.floor.plane.point(of: coordinate),
        let extent = story.floor.extent, extent.contains(point)
      else { return nil }
      return (story, point)
    }
    let walkable = around.first { found in found.story.floor.walkable.contains { $0.contains(found.point) } }
    guard let (story, point) = walkable ?? around.first else { return nil }
    let room = story.named.room(at: point)
    let identifier = story.named.places.first { $0.isPointOfInterest && $0.contains(point) }?.identifier
    let place = identifier.flatMap { wanted in
      story.floor.pointsOfInterest.first { $0.identifier == wanted }
    }
    let observers = story.floor.observers.filter { story.named.room(at: $0.point) == room }
      .map { (observer: $0.observer, distance: ($0.point - point).length) }
      .sorted { $0.distance < $1.distance }
    return Spot(
      floor: story.id,
      point: point,
      room: room?.name,
      place: place,
      address: place?.caption.address ?? story.address,
      observers: observers.map(\.observer)
    )
  }
}
