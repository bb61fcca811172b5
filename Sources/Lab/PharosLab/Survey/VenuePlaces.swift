import PharosCaptures
import PharosSpace

/// The floors of a venue that traces were walked on, by their headers and their folders: truth, for learning and for
/// drawing alone.
struct VenuePlaces: Sendable {
  private let venue: Venue

  init(_ venue: Venue) { self.venue = venue }

  /// The reason why a trace has no floor in the venue.
  enum Mismatch: Error, Hashable {
    /// No building is called as the trace's site or one of its folders.
    case building(String)
    /// The building has no floor of that name.
    case floor(String, building: String)
  }

  /// The floor of a trace.
  ///
  /// The building is the one whose identifier or name is the header's SiteName or SiteID, else that of the nearest folder
  /// that is called as a building is, else the only one there is. The floor is the one with the header's FloorName among its
  /// names, else the one of the level that such a name stands for.
  func floor(of file: TraceFile, _ header: IndoorTrace.Header) -> Result<FloorID, Mismatch> {
    guard let building = building(of: file, header) else {
      return .failure(.building(header.siteName ?? header.site ?? ""))
    }
    let name = FloorWord.trimmed(header.floor ?? "")
    let named = building.floors.first { $0.names.contains(name) }
    guard let floor = named ?? FloorWord.level(name).flatMap({ building.floor($0) }) else {
      return .failure(.floor(name, building: building.identifier))
    }
    return .success(FloorID(building: building.identifier, level: floor.level))
  }

  private func building(of file: TraceFile, _ header: IndoorTrace.Header) -> Building? {
    for name in [header.siteName, header.site].compactMap({ $0 }) + file.folders {
      if let found = venue.buildings.first(where: { $0.identifier == name || $0.name == name }) {
        return found
      }
    }
    return venue.buildings.count == 1 ? venue.buildings[0] : nil
  }
}

extension VenuePlaces.Mismatch: CustomStringConvertible {
  /// The name that the trace gives and the venue lacks, in words.
  var description: String {
    switch self {
    case .building(let site):
      "the venue has no building with the id or the name \"\(site)\", nor one named as a folder above the trace"
    case .floor(let name, let building):
      "building \"\(building)\" of the venue has no floor called \"\(name)\""
    }
  }
}

/// Floors as surveyors call them: `F1` is the ground floor, `B1` the one below it.
package enum FloorWord {
  /// The number that a name stands for, 0 for the ground floor; nil if it is no such name.
  ///
  /// - Parameters:
  ///   - name: the name: a whole number, which counts from 0, or a word of `meaning(of:)`.
  ///   - isGroundNamed: indicates whether another floor is called the ground floor. `F1` and `L1` are the ground floor if
  ///     not, and the floor above it otherwise.
  /// - Returns: the number.
  package static func level(_ name: String, isGroundNamed: Bool = false) -> Int? {
    switch meaning(of: name) {
    case .level(let level), .uncertain(let level?): level
    case .counted(let number): isGroundNamed ? number : number - 1
    case .uncertain(nil), nil: nil
    }
  }

  /// Returns the numbers of the floors of a building, and the reason for each name that has none.
  package static func levels(of names: [String]) -> [String: Result<Int, Refusal>] {
    let meanings = names.map { (name: $0, meaning: meaning(of: $0)) }
    let isGroundNamed = meanings.contains { [.level(0), .counted(0)].contains($0.meaning) }
    var accepted: Set<Int> = []
    var levels: [String: Result<Int, Refusal>] = [:]
    for (name, meaning) in meanings {
      if case .uncertain = meaning { continue }
      let level = level(name, isGroundNamed: isGroundNamed)
      accepted.formUnion(level.map { [$0] } ?? [])
      levels[name] = level.map { .success($0) } ?? .failure(.unknown)
    }
    for case (let name, .uncertain(let level)?) in meanings {
      if let level, Floor.levels.contains(level), accepted.insert(level).inserted {
        levels[name] = .success(level)
      } else {
        levels[name] = .failure(level.map { .occupied($0) } ?? .ambiguous)
      }
    }
    return levels
  }

  /// The reason why a name has no number.
  package enum Refusal: Error, Hashable, CustomStringConvertible {
    /// It is no name of a floor.
    case unknown
    /// It is a floor between two others, and its number is that of another one.
    case occupied(Int)
    /// It may lie above or below the ground.
    case ambiguous

    package var description: String {
      switch self {
      case .unknown: "no name of a floor that is known here, as F1, L1, G, LG1 or B1"
      case .occupied(let level): "a floor between others, and level \(level) is another one already"
      case .ambiguous: "it may lie above or below the ground floor"
      }
    }
  }

  /// The name of a floor.
  package static func name(_ level: Int) -> String { level < 0 ? "B\(-level)" : "F\(level + 1)" }

  /// What a name says.
  private enum Meaning: Hashable {
    /// A number, 0 for the ground floor.
    case level(Int)
    /// A number that counts from 1 at the ground floor or at the one above it.
    case counted(Int)
    /// A mezzanine, at this level if no other floor is; or a deck whose place the name does not tell.
    case uncertain(Int?)
  }

  /// Reads whole numbers; `F1`, `1F`, `L1` and `1L`; `G`, `GF`, `EG`, `UG` (upper ground), `LG1`, `B`, `B1`, `BF`; `OG1`
  /// and `UG1` as German numbers them; `M` and `BM` (mezzanines), and `P1` (parking).
  private static func meaning(of name: String) -> Meaning? {
    let word = trimmed(name).uppercased()
    if let level = Int(word.hasSuffix(".0") ? String(word.dropLast(2)) : word) { return .level(level) }
    let letters = word.filter(\.isLetter)
    let digits = word.filter { ("0"..."9").contains($0) }
    guard letters.count + digits.count == word.count, word == letters + digits || word == digits + letters
    else { return nil }
    let number = Int(digits)
    guard digits.isEmpty || number != nil else { return nil }
    switch (letters, number) {
    case ("F", let number?), ("L", let number?): return .counted(number)
    case ("G", nil), ("GF", nil), ("EG", nil), ("UG", nil), ("G", 0): return .level(0)
    case ("LG", let number), ("B", let number), ("BF", let number): return .level(-(number ?? 1))
    case ("UG", let number?): return .level(-number)
    case ("OG", let number): return .level(number ?? 1)
    case ("M", nil), ("MF", nil): return .uncertain(1)
    case ("BM", nil), ("LM", nil): return .uncertain(-1)
    case ("P", _), ("M", _): return .uncertain(nil)
    default: return nil
    }
  }

  /// A text without the blanks around it.
  static func trimmed(_ text: some StringProtocol) -> String {
    var text = text[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
