public import PharosDocuments

/// The wish to be guided to a place, which is assigned to a subject while the server runs.
public struct GuidanceRequest: Hashable, Sendable {
  /// A destination.
  public enum Destination: Hashable, Sendable {
    /// A place of interest or an entrance, by identifier or name.
    case place(String)
    /// A position on a floor.
    case position(Itinerary.Waypoint)
  }

  /// The destination.
  public var destination: Destination
  /// Indicates whether to avoid steps.
  public var isAccessible: Bool
  /// The language of instructions, as a code of ISO 639-1; English if it is not known.
  public var language: String

  /// The longest name of a destination in bytes of UTF-8.
  public static let longestName = 200

  /// Makes a request.
  public init(to destination: Destination, isAccessible: Bool = false, language: String = "en") {
    self.destination = destination
    self.isAccessible = isAccessible
    self.language = language
  }

  /// Indicates whether the name has a length, or the position lies on the Earth.
  public var isValid: Bool {
    switch destination {
    case .place(let name):
      (1...GuidanceRequest.longestName).contains(name.utf8.count) && language.utf8.count <= 8
    case .position(let waypoint): waypoint.isValid && language.utf8.count <= 8
    }
  }
}

extension GuidanceRequest: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch destination {
    case .place(let name): writer.write(tag: 0, name)
    case .position(let waypoint): writer.write(tag: 1, waypoint)
    }
    writer.write(isAccessible)
    writer.write(language)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let destination: Destination
    switch try reader.byte() {
    case 0: destination = .place(try reader.read())
    case 1: destination = .position(try reader.read())
    case let tag: throw reader.failure(.unknownTag(field: "a destination", tag: tag))
    }
    self.init(to: destination, isAccessible: try reader.read(), language: try reader.read())
    guard isValid else { throw reader.failure(.outOfRange(field: "a request for guidance")) }
  }
}

extension GuidanceRequest.Destination: CustomStringConvertible {
  /// The name of the place, or latitude, longitude and level.
  public var description: String {
    switch self {
    case .place(let name): name
    case .position(let waypoint): "\(waypoint.latitude),\(waypoint.longitude),\(waypoint.level)"
    }
  }
}
