import PharosCaptures
import PharosService
import PharosVenues

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
  /// Read are `F1`, `1F`, `L1`, `1L`, `B1`, `1B` and plain whole numbers, which count from 0.
  package static func level(_ name: String) -> Int? {
    let word = trimmed(name).uppercased()
    if let level = Int(word.hasSuffix(".0") ? String(word.dropLast(2)) : word) { return level }
    guard let first = word.first, let last = word.last, word.count > 1 else { return nil }
    if let number = digits(word.dropFirst()) { return level(first, number) }
    return digits(word.dropLast()).flatMap { level(last, $0) }
  }

  /// The name of a floor.
  package static func name(_ level: Int) -> String { level < 0 ? "B\(-level)" : "F\(level + 1)" }

  private static func level(_ letter: Character, _ number: Int) -> Int? {
    switch letter {
    case "F", "L": number - 1
    case "B": -number
    default: nil
    }
  }

  private static func digits(_ text: Substring) -> Int? {
    text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
  }

  /// A text without the blanks around it.
  static func trimmed(_ text: some StringProtocol) -> String {
    var text = text[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
