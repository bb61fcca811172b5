import PharosPlaces
import PharosPositioning
import PharosSite

/// The radio map in a venue's folder.
enum RadioMapFile {
  /// What it is called.
  static let name = "radio-map.pharos"
  /// The longest that is read.
  ///
  /// - Units: bytes. That of two malls with eight floors has some 20 MB.
  static let longest = 1 << 30

  /// The venue of a folder made ready for locating, with its radio map if there is one.
  ///
  /// - Throws: that the folder or the map is wrong, the mistakes of the folder having been printed.
  static func ground(_ folder: String, rules: FusionRules = FusionRules(), console: Console) throws -> Ground
  {
    let venue = try SurveyVenue.read(folder, console: console)
    return Ground(venue: venue, radio: try map(in: folder, of: venue), rules: rules)
  }

  /// The map in a folder; nil if there is none.
  ///
  /// - Throws: that it is damaged, or tells of none of the venue's floors.
  static func map(in folder: String, of venue: Venue) throws -> RadioMap? {
    guard TraceFile.entries(of: folder)?.contains(name) == true else { return nil }
    let path = SurveyPictures.path(name, in: folder)
    let bytes = try WholeFile.read(path, limit: longest)
    let map: RadioMap
    do {
      map = try RadioMap(decoding: bytes)
    } catch {
      throw CommandFailure(
        "\(path): \(error) Make it anew with `pharos survey learn`.",
        status: .configuration
      )
    }
    guard map.floors.contains(where: { venue.floor($0) != nil }) else {
      throw CommandFailure(
        "\(path) tells of \(map.floors.prefix(3).map(\.description).joined(separator: ", ")), and the venue has none of "
          + "these floors. Make it anew with `pharos survey learn`.",
        status: .configuration
      )
    }
    return map
  }
}
