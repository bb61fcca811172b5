import PharosDocuments
package import PharosModel
package import PharosTerminal

/// Stays of beacons whose zone is known, as a file holds them.
///
/// The file has comma-separated values with the columns `transmitter`, `zone`, `from` and `to`, in any order, or JSON lines
/// with these keys. Times are dates of RFC 3339, or seconds since 1970. A line without a zone says that the beacon is in none.
package struct LabelledStays: Sendable {
  /// One stay.
  package struct Stay: Hashable, Sendable {
    /// The beacon.
    package var beacon: BeaconID
    /// The zone; nil if the beacon is known to be in none.
    package var zone: String?
    /// The beginning, and the end, which is no part of it.
    package var from: Timestamp
    package var to: Timestamp
  }

  /// The stays in the order of the file.
  package let stays: [Stay]

  private static let columns = ["transmitter", "zone", "from", "to"]
  /// The longest file that is read, in bytes: a year of stays of a minute.
  private static let maximumLength = 1 << 26

  /// Reads a file.
  ///
  /// - Throws: the first line that is none, by its number.
  init(path: String) throws(CommandFailure) {
    try self.init(text: try WholeFile.read(path, limit: LabelledStays.maximumLength), path: path)
  }

  /// Reads the bytes of a file.
  package init(text: [UInt8], path: String) throws(CommandFailure) {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let isJSON = text.first { !JSONReader.isSpace($0) } == UInt8(ascii: "{")
    var places: [Int] = []
    if !isJSON {
      let header = EscapedText.csvFields(lines.first ?? []).map(\.trimmingSpaces)
      for name in LabelledStays.columns {
        guard let place = header.firstIndex(of: name) else {
          let expected = LabelledStays.columns.joined(separator: ", ")
          throw CommandFailure("\(path):1: there is no column \(name) (expected \(expected)).")
        }
        places.append(place)
      }
    }
    var stays: [Stay] = []
    for (index, line) in lines.enumerated() where isJSON || index > 0 {
      guard line.contains(where: { !JSONReader.isSpace($0) }) else { continue }
      let cells = isJSON ? LabelledStays.members(Array(line)) : LabelledStays.cells(line, at: places)
      guard let cells, let stay = LabelledStays.stay(cells) else {
        throw CommandFailure("\(path):\(index + 1): no stay (expected a beacon, a zone and two times)")
      }
      stays.append(stay)
    }
    self.stays = stays
  }

  /// Returns the stays of the zones that a site has, and the names of those that it lacks.
  func known(to site: Site) -> (stays: [Stay], missing: Set<String>) {
    let names = Set(site.zones.map(\.identifier))
    let missing = Set(stays.compactMap(\.zone)).subtracting(names)
    return (stays.filter { stay in stay.zone.map { !missing.contains($0) } ?? true }, missing)
  }

  private static func cells(_ line: ArraySlice<UInt8>, at places: [Int]) -> [String]? {
    let cells = EscapedText.csvFields(line).map(\.trimmingSpaces)
    return places.allSatisfy(cells.indices.contains) ? places.map { cells[$0] } : nil
  }

  private static func members(_ line: [UInt8]) -> [String]? {
    guard case .object(let members)? = try? JSONValue(parsing: line) else { return nil }
    return columns.map { name in
      switch members.first(where: { $0.name == name })?.value {
      case .string(let text)?: text
      case .integer(let number)?: "\(number)"
      case .number(let number)?: Wording.decimal(number, places: 9)
      default: ""
      }
    }
  }

  private static func stay(_ cells: [String]) -> Stay? {
    guard let beacon = BeaconID(cells[0]), let from = Timestamp(text: cells[2]),
      let to = Timestamp(text: cells[3]),
      from < to
    else { return nil }
    return Stay(beacon: beacon, zone: cells[1].isEmpty ? nil : cells[1], from: from, to: to)
  }
}
