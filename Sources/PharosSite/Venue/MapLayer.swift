import PharosPlaces
import PharosReports

/// Draws the features of a GeoJSON file on a floor.
struct MapLayer {
  let file: String
  /// What features are that do not say so themselves.
  let use: FloorDraft.Use?
  /// What their walls take from a signal, in dB.
  let attenuation: Double
  let problems: VenueProblems

  /// Draws features; those that cannot be drawn are mistakes.
  func draw(_ features: [GeoJSON.Feature], on draft: inout FloorDraft) {
    for feature in features where !problems.isFull {
      guard let geometry = feature.geometry else {
        note(feature, "geometry", "no geometry", expected: "a shape")
        continue
      }
      guard let use = use(of: feature) else { continue }
      let isRight: Bool
      switch (use, geometry) {
      case (.walkable, .polygons), (.room, .polygons), (.obstacle, .polygons): isRight = true
      case (.wall, .polygons), (.wall, .lines), (.door, .lines): isRight = true
      default: isRight = false
      }
      guard isRight else {
        let expected = use == .door ? "a line" : use == .wall ? "a line or a polygon" : "a polygon"
        note(feature, "geometry.type", "\(geometry.kind) cannot be a \(use.rawValue)", expected: expected)
        continue
      }
      guard draw(feature, geometry, as: use, on: &draft) else { return }
    }
  }

  /// Draws a shape whose use is known.
  ///
  /// - Returns: whether there is room for more.
  func draw(
    _ feature: GeoJSON.Feature,
    _ geometry: GeoJSON.Geometry,
    as use: FloorDraft.Use,
    on draft: inout FloorDraft
  ) -> Bool {
    guard let shape = Shape(geometry, on: draft.floor.plane) else {
      note(feature, "geometry.coordinates", "far from its floor", expected: "places in the venue")
      return true
    }
    guard draft.corners + shape.cornerCount <= FloorDraft.mostCorners else {
      note(
        feature,
        "geometry.coordinates",
        "the floor has more than \(FloorDraft.mostCorners) corners",
        expected: "a simpler drawing"
      )
      return false
    }
    draft.add(shape, as: use, name: feature.name, attenuation: attenuation)
    return true
  }

  private func use(of feature: GeoJSON.Feature) -> FloorDraft.Use? {
    guard let text = feature.text("as") else {
      if use == nil {
        note(feature, "properties.as", "nothing says what it is", expected: FloorDraft.Use.expected)
      }
      return use
    }
    guard let own = FloorDraft.Use(rawValue: text) else {
      note(feature, "properties.as", "\"\(PlainText.cut(text, to: 40))\"", expected: FloorDraft.Use.expected)
      return nil
    }
    return own
  }

  /// Notes a mistake in a feature.
  func note(_ feature: GeoJSON.Feature, _ field: String, _ message: String, expected: String) {
    problems.add(
      VenueProblem(
        file: file,
        place: .feature(feature.number, id: feature.id),
        field: field,
        severity: .mistake,
        message: message,
        expected: expected
      )
    )
  }
}

extension GeoJSON.Feature {
  /// What people call it: its name, in English where there are several languages; empty if it has none.
  var name: String { label("name") }
}
