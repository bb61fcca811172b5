import PharosDocuments

// Features as GeoJSON has them.
//
// - Source: RFC 7946.

extension JSONText {
  /// The number of decimals of degrees: a hundred-millionth of a degree is a millimetre.
  static let degreeDecimals = 8

  /// Writes degrees as elements of an array.
  mutating func degrees(_ degrees: [Double]) {
    for degrees in degrees { element(degrees, decimals: JSONText.degreeDecimals) }
  }

  /// Writes a feature.
  ///
  /// - Parameters:
  ///   - geometry: the type of the geometry.
  ///   - coordinates: writes the elements of its coordinates.
  ///   - properties: writes the properties.
  mutating func feature(
    _ geometry: String,
    coordinates: (inout JSONText) -> Void,
    properties: (inout JSONText) -> Void
  ) {
    openObject()
    member("type", "Feature")
    openObject("geometry")
    member("type", geometry)
    openArray("coordinates")
    coordinates(&self)
    closeArray()
    closeObject()
    openObject("properties")
    properties(&self)
    closeObject()
    closeObject()
  }

  /// Writes a feature that is a point, or of unknown place.
  ///
  /// - Parameters:
  ///   - position: degrees east and north, and if it is known the height above the ellipsoid in metres; nil for a feature
  ///     without a geometry.
  ///   - properties: writes the properties.
  mutating func feature(at position: [Double]?, properties: (inout JSONText) -> Void) {
    guard let position else {
      openObject()
      member("type", "Feature")
      null("geometry")
      openObject("properties")
      properties(&self)
      closeObject()
      closeObject()
      return
    }
    feature("Point") { json in
      json.degrees(position)
    } properties: {
      properties(&$0)
    }
  }
}

extension Schema {
  /// A collection of points with properties.
  static func points(_ properties: Schema, beside others: [Member]) -> Schema {
    let position = list(number, 2...3)
    let geometry = object([.required("type", .constant("Point")), .required("coordinates", position)])
    let feature = object([
      .required("type", .constant("Feature")),
      .required("geometry", geometry.orNull, "Null where the place is not known, or is reduced."),
      .required("properties", properties),
    ])
    return object(
      [.required("type", .constant("FeatureCollection")), .required("features", .list(feature))] + others
    ).described("A feature collection (RFC 7946).")
  }
}
