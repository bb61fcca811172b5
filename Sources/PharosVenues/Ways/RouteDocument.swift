package import PharosModel

/// The form of the lines in a route's document.
package enum RouteGeometry: String, CaseIterable, Sendable {
  /// A LineString of GeoJSON.
  case geojson
  /// An encoded polyline with five decimals.
  case polyline
  /// An encoded polyline with six decimals.
  case polyline6
}

/// The document of a route, in the shape of OSRM's answers, with the level and an instruction at each step.
///
/// - Source: OSRM HTTP API 5.x, route service.
extension WalkingRoute {
  /// The decimals of degrees: a hundred-millionth of a degree is a millimetre.
  private static let degreeDecimals = 8

  /// Writes the members of an open object.
  ///
  /// - Parameters:
  ///   - json: the text.
  ///   - languages: the languages of instructions. One makes the member `instruction` of a step, several `instructions`.
  ///   - geometry: the form of lines.
  package func write(to json: inout JSONText, languages: [RouteLanguage], geometry: RouteGeometry = .geojson)
  {
    json.member("distance", distance, decimals: 2)
    json.member("duration", duration, decimals: 1)
    json.member("weight", duration, decimals: 1)
    json.member("weight_name", "duration")
    WalkingRoute.write(steps.flatMap(\.geometry), geometry, to: &json)
    json.objects("legs", [self]) { json, route in
      json.member("distance", route.distance, decimals: 2)
      json.member("duration", route.duration, decimals: 1)
      json.member("weight", route.duration, decimals: 1)
      json.member("summary", "")
      json.objects("steps", route.steps) { WalkingRoute.write($1, languages, geometry, to: &$0) }
    }
  }

  private static func write(
    _ step: RouteStep,
    _ languages: [RouteLanguage],
    _ geometry: RouteGeometry,
    to json: inout JSONText
  ) {
    let maneuver = step.maneuver
    json.member("distance", step.distance, decimals: 2)
    json.member("duration", step.duration, decimals: 1)
    json.member("weight", step.duration, decimals: 1)
    json.member("mode", "walking")
    json.member("name", maneuver.name)
    json.member("floor", step.floor.description)
    json.member("level", maneuver.level)
    if languages.count == 1 {
      json.member("instruction", step.instruction(in: languages[0]))
    } else {
      json.openObject("instructions")
      for language in languages { json.member(named: language.rawValue, step.instruction(in: language)) }
      json.closeObject()
    }
    write(step.geometry, geometry, to: &json)
    json.openObject("maneuver")
    json.member("type", maneuver.kind.rawValue)
    json.member("modifier", ifPresent: maneuver.modifier?.rawValue)
    json.member("bearing_before", maneuver.bearingBefore)
    json.member("bearing_after", maneuver.bearingAfter)
    json.openArray("location")
    write(maneuver.coordinate, to: &json)
    json.closeArray()
    if let level = maneuver.targetLevel { json.member("level", level) }
    json.closeObject()
  }

  private static func write(_ coordinate: Coordinate, to json: inout JSONText) {
    json.element(coordinate.longitude, decimals: degreeDecimals)
    json.element(coordinate.latitude, decimals: degreeDecimals)
  }

  private static func write(_ line: [Coordinate], _ form: RouteGeometry, to json: inout JSONText) {
    switch form {
    case .geojson:
      // A line needs two positions.
      let line = line.count == 1 ? line + line : line
      json.openObject("geometry")
      json.member("type", "LineString")
      json.openArray("coordinates")
      for coordinate in line {
        json.openArray()
        write(coordinate, to: &json)
        json.closeArray()
      }
      json.closeArray()
      json.closeObject()
    case .polyline: json.member("geometry", polyline(line, factor: 1e5))
    case .polyline6: json.member("geometry", polyline(line, factor: 1e6))
    }
  }

  /// Encodes a line.
  ///
  /// - Source: Google, "Encoded polyline algorithm format".
  private static func polyline(_ line: [Coordinate], factor: Double) -> String {
    var text: [UInt8] = []
    var before = (latitude: 0, longitude: 0)
    func append(_ difference: Int) {
      var bits = difference < 0 ? ~(difference << 1) : difference << 1
      while bits >= 0x20 {
        text.append(UInt8(bits & 0x1F | 0x20) + 63)
        bits >>= 5
      }
      text.append(UInt8(bits) + 63)
    }
    for coordinate in line {
      let here = (
        latitude: Int((coordinate.latitude * factor).rounded()),
        longitude: Int((coordinate.longitude * factor).rounded())
      )
      append(here.latitude - before.latitude)
      append(here.longitude - before.longitude)
      before = here
    }
    return String(decoding: text, as: UTF8.self)
  }
}
