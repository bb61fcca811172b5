import FuzzSupport
import PharosDocuments
import PharosFixes
import PharosModel
import PharosSite
import PharosSpace
import PharosWays

/// A venue's folder in which one file is the input: the main file, a floor's GeoJSON, a picture, a layer of an IMDF archive.
///
/// - Shape: 0 which file, then its content.
final class VenueTarget: FuzzTarget {
  static let name = "venue"
  static let maximumLength = 2_048

  private let house = SampleVenue.house()
  private let archive = SampleVenue.archive()

  func run(_ input: RawSpan) {
    guard input.byteCount > 0 else { return }
    let place = Int(input[0]) % (house.count + archive.count)
    var files = place < house.count ? house : archive
    let names = files.keys.sorted()
    let name = names[place < house.count ? place : place - house.count]
    files[name] = input.extracting(1..<input.byteCount).array
    let fixed = files
    do {
      let read = try VenueFolder.read(
        "v",
        files: VenueFiles { name, limit throws(VenueFiles.Failure) in
          guard let bytes = fixed[name] else { throw .missing }
          return Array(bytes.prefix(limit))
        }
      )
      for finding in VenueCheck(read.venue).findings { _ = "\(finding)" }
      for floor in read.venue.floors { look(at: floor.floor) }
      if read.venue.floors.allSatisfy({ isSmall($0.floor) }) { _ = LocatableVenue(venue: read.venue) }
    } catch {
      demand(error.problems.contains { $0.severity == .mistake }, "a refused venue has a mistake")
      for problem in error.problems {
        demand(!problem.text(in: "v").contains("\n"), "a mistake is reported on one line")
      }
    }
  }

  /// Whether making a floor ready takes a moment only: a picture of it is drawn.
  private func isSmall(_ floor: Floor) -> Bool {
    guard let extent = floor.extent else { return true }
    return extent.width * extent.height < 5_000
  }

  private func look(at floor: Floor) {
    for beacon in floor.beacons {
      demand(beacon.point.x.isFinite && beacon.point.y.isFinite, "a beacon hangs somewhere")
    }
    for area in floor.walkable + floor.obstacles { demand(!area.name.contains("\n"), "a name is one line") }
  }

  static var words: [[UInt8]] {
    [
      "\"type\":\"FeatureCollection\",\"features\":[", "\"type\":\"Feature\"", "\"Polygon\"",
      "\"MultiPolygon\"", "\"LineString\"",
      "\"Point\"", "\"coordinates\":[[[", "\"properties\":{", "\"as\":\"room\"", "\"as\":\"door\"",
      "\"as\":\"wall\"",
      "\"level_id\":\"g\"", "\"category\":\"walkway\"", "\"ordinal\":", "id:", "origin:", "latitude:",
      "longitude:", "buildings:",
      "floors:", "level:", "plan:", "image:", "anchors:", "pixel:", "map:", "file:", "walls:", "from:", "to:",
      "attenuation:",
      "entrances:", "beacons:", "connectors:", "kind: stairs", "stops:", "at: [", "imdf:", "IHDR", "8.54",
      "47.37",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    let (house, archive) = (SampleVenue.house(), SampleVenue.archive())
    let whole = house.keys.sorted().map { house[$0] ?? [] } + archive.keys.sorted().map { archive[$0] ?? [] }
    return whole.enumerated().map { [UInt8($0.offset)] + Array($0.element.prefix(maximumLength - 1)) }
  }
}
