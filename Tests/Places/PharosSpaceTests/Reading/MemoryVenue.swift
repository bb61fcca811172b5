import PharosDocuments
import PharosModel
import PharosSite
import PharosSpace

/// A venue's folder that is written down in a test.
struct MemoryVenue {
  /// The files by name.
  var files: [String: [UInt8]]

  init(_ texts: [String: String]) { files = texts.mapValues { Array($0.utf8) } }

  /// The files as the reader takes them.
  var venueFiles: VenueFiles {
    let files = files
    return VenueFiles { name, limit throws(VenueFiles.Failure) in
      guard let bytes = files[name] else { throw .missing }
      return Array(bytes.prefix(limit))
    }
  }

  /// What reading gives.
  func read() throws -> Venue { try VenueFolder.read("v", files: venueFiles).venue }

  /// The lines that `check` would print.
  func problems() -> [String] {
    do {
      return try VenueFolder.read("v", files: venueFiles).warnings.map { $0.text(in: "v") }
    } catch {
      return error.problems.map { $0.text(in: "v") }
    }
  }

  /// The first bytes of a PNG of a size.
  static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
    func bytes(_ number: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + bytes(13) + Array("IHDR".utf8) + bytes(width)
      + bytes(height) + [8, 6, 0, 0, 0]
  }

  /// A GeoJSON file of features that are written as properties and geometry.
  static func collection(_ features: [String]) -> String {
    "{\"type\": \"FeatureCollection\", \"features\": [\(features.joined(separator: ",\n"))]}"
  }

  /// A feature of IMDF.
  static func feature(_ id: String, _ properties: String, _ type: String, _ coordinates: String) -> String {
    """
    {"type": "Feature", "id": "\(id)", "feature_type": "unit", "properties": {\(properties)},
     "geometry": {"type": "\(type)", "coordinates": \(coordinates)}}
    """
  }

  /// The rectangle between two places in degrees as a polygon's coordinates.
  static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> String {
    "[[[\(west),\(south)],[\(east),\(south)],[\(east),\(north)],[\(west),\(north)],[\(west),\(south)]]]"
  }
}
