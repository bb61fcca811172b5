/// Two venues in memory: a folder with a bit of everything, and an IMDF archive.
enum SampleVenue {
  /// A house of two floors.
  static func house() -> [String: [UInt8]] {
    [
      "ground.geojson": collection([
        feature("hall", #""as": "room", "name": "Hall""#, "Polygon", box(13.29, 52.52, 13.2905, 52.5202)),
        feature("door", #""as": "door""#, "LineString", "[[13.2901,52.52],[13.2902,52.52]]"),
        feature("kiosk", #""as": "obstacle""#, "Polygon", box(13.2902, 52.52005, 13.2903, 52.5201)),
      ]),
      "ground.png": [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        + [0, 0, 3, 0x20, 0, 0, 1, 0xF4, 8, 6, 0, 0, 0],
      "venue.yaml": Array(
        """
        id: museum
        origin: { latitude: 52.52, longitude: 13.29 }
        buildings:
          - id: old
            floors:
              - level: 0
                names: [EG]
                plan:
                  image: ground.png
                  anchors:
                    - { pixel: [100, 400], latitude: 52.52, longitude: 13.29 }
                    - { pixel: [700, 100], latitude: 52.5205, longitude: 13.291 }
                map: [ { file: ground.geojson } ]
                walls: [ { from: [1, 1], to: [1, 9], attenuation: 8 } ]
                entrances: [ { id: north door, at: [30, 20] } ]
                beacons:
                  - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 7, at: [3, 4] }
                  - { mac: "c0:00:00:00:00:08", latitude: 52.5201, longitude: 13.2901 }
                observers: [ { id: "ac:23:3f:a0:00:01", at: [7, 8] } ]
                accessPoints: [ { bssid: "c0:ff:ee:00:00:01", pixel: [100, 400] } ]
              - { level: -1, name: Cellar, origin: { latitude: 52.521, longitude: 13.29 } }
        connectors:
          - { id: stairs, kind: stairs, stops: [ { level: 0, at: [10, 10] }, { building: old, level: -1, at: [10, 11] } ] }
        """.utf8
      ),
    ]
  }

  /// A station of two levels.
  static func archive() -> [String: [UInt8]] {
    func unit(_ id: String, _ level: String, _ category: String, _ box: String) -> String {
      feature(id, #""level_id": "\#(level)", "category": "\#(category)""#, "Polygon", box)
    }
    func level(_ id: String, _ ordinal: Int) -> String {
      let properties =
        #""ordinal": \#(ordinal), "name": {"en": "L"}, "short_name": {"en": "L\#(ordinal)"}, "building_ids": ["b"]"#
      return feature(id, properties, "Polygon", box(8.54, 47.37, 8.541, 47.3705))
    }
    let units = ["g", "u"].flatMap { floor in
      [
        unit("\(floor)-walkway", floor, "walkway", box(8.54, 47.37, 8.541, 47.3702)),
        unit("\(floor)-void", floor, "opentobelow", box(8.5402, 47.37005, 8.5403, 47.3701)),
        unit("\(floor)-lift", floor, "elevator", box(8.5406, 47.3702, 8.5407, 47.3703)),
      ]
    }
    let venue =
      #""name": {"en": "Station"}, "display_point": {"type": "Point", "coordinates": [8.54, 47.37]}"#
    return [
      "venue.geojson": collection([feature("v", venue, "Polygon", box(8.54, 47.37, 8.541, 47.3705))]),
      "building.geojson": Array(
        #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"b","geometry":null,"properties":{"name":{"en":"Hall"}}}]}"#
          .utf8
      ),
      "level.geojson": collection([level("u", 1), level("g", 0)]),
      "unit.geojson": collection(units),
      "opening.geojson": collection([
        feature(
          "door",
          #""level_id": "g", "category": "pedestrian.principal""#,
          "LineString",
          "[[8.5401,47.3702],[8.54012,47.3702]]"
        )
      ]),
    ]
  }

  private static func collection(_ features: [String]) -> [UInt8] {
    Array("{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ",\n"))]}".utf8)
  }

  private static func feature(
    _ id: String,
    _ properties: String,
    _ type: String,
    _ coordinates: String
  ) -> String {
    """
    {"type":"Feature","id":"\(id)","feature_type":"unit","properties":{\(properties)},\
    "geometry":{"type":"\(type)","coordinates":\(coordinates)}}
    """
  }

  private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> String {
    "[[[\(west),\(south)],[\(east),\(south)],[\(east),\(north)],[\(west),\(north)],[\(west),\(south)]]]"
  }
}
