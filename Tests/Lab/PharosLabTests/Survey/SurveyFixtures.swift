import Foundation
import PharosModel
import PharosTestSupport

/// A building of one floor, 40 m by 20 m, and walks through it, written as surveyors' phones write them.
enum SurveyFixtures {
  /// The outline, and a shop in its north-eastern quarter.
  private static let map = """
    {"type":"FeatureCollection","features":[
    {"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[
      [11.0,48.0],[11.00054,48.0],[11.00054,48.00018],[11.0,48.00018],[11.0,48.0]]]}},
    {"type":"Feature","properties":{"name":"shop"},"geometry":{"type":"Polygon","coordinates":[[
      [11.00035,48.00012],[11.00054,48.00012],[11.00054,48.00018],[11.00035,48.00018],[11.00035,48.00012]]]}}
    ]}
    """
  private static let info = #"{"map_info":{"height":20,"width":40}}"#
  /// The first bytes of a PNG of 400 by 200 pixels: what tells its size.
  private static let image: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0x90, 0, 0,
    0, 0xC8, 8, 6, 0, 0, 0,
  ]

  /// Writes a file of a survey, and the folders above it.
  static func write(_ bytes: some Sequence<UInt8>, to name: String, in folder: TemporaryFolder) throws {
    let url = URL(filePath: folder.path(name))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(bytes).write(to: url)
  }

  /// Writes the floors of a site: its ground floor, and one below it.
  static func writeFloors(_ floors: [String] = ["F1", "B1"], in folder: TemporaryFolder) throws {
    for floor in floors {
      try write(map.utf8, to: "floors/house/\(floor)/geojson_map.json", in: folder)
      try write(info.utf8, to: "floors/house/\(floor)/floor_info.json", in: folder)
      try write(image, to: "floors/house/\(floor)/floor_image.png", in: folder)
    }
  }

  /// Access points along both long sides.
  private static let accessPoints: [(x: Double, y: Double)] = (0..<12).map { index in
    (x: 2 + Double(index / 2) * 7.2, y: index.isMultiple(of: 2) ? 1 : 19)
  }

  /// A walk along the corners of a rectangle at 1.2 m/s, with a Wi-Fi scan every two seconds and, where asked for, a beacon.
  ///
  /// The plan may be turned clockwise from the compass by some radians.
  static func walk(
    seed: UInt64,
    start: Int64 = 1_574_559_000_000,
    corners: [(x: Double, y: Double)] = [(3, 4), (33, 4), (33, 9), (5, 9), (3, 4)],
    floor: String = "F1",
    turned: Double = 0
  ) -> String {
    var random = SeededGenerator(seed: seed)
    var text = "#\tstartTime:\(start)\n#\tSiteID:5d\tSiteName:The house\tFloorId:5e\tFloorName:\(floor)\n"
    var time = start + 100
    var step = 0
    var heading = 0.0
    func tick(x: Double, y: Double, turning: Double, isWalking: Bool) {
      text += motion(at: time, step: isWalking ? step : 0, heading: heading - turned, turning: turning)
      if step.isMultiple(of: 100) { text += scan(at: time, x: x, y: y, &random) }
      if step.isMultiple(of: 20) { text += beacon(at: time - 300, x: x, y: y, &random) }
      time += 20
      step += 1
    }
    text += "\(time)\tTYPE_WAYPOINT\t\(corners[0].x)\t\(corners[0].y)\n"
    for (index, (from, to)) in zip(corners, corners.dropFirst()).enumerated() {
      let (dx, dy) = (to.x - from.x, to.y - from.y)
      let length = (dx * dx + dy * dy).squareRoot()
      // A surveyor stands for a second at a corner and turns; the first direction is known from the start.
      var turn = atan2(dx, dy) - heading
      if turn > .pi { turn -= 2 * .pi }
      if turn <= -.pi { turn += 2 * .pi }
      if index == 0 { heading = atan2(dx, dy) }
      for _ in 0..<50 {
        if index > 0 { heading += turn / 50 }
        tick(x: from.x, y: from.y, turning: index > 0 ? turn : 0, isWalking: false)
      }
      let ticks = Int((length / 1.2 * 50).rounded())
      for tickNumber in 0..<ticks {
        let share = Double(tickNumber) / Double(ticks)
        tick(x: from.x + dx * share, y: from.y + dy * share, turning: 0, isWalking: true)
      }
      text += "\(time)\tTYPE_WAYPOINT\t\(to.x)\t\(to.y)\n"
    }
    return text + "#\tendTime:\(time)\n"
  }

  /// What a phone held flat senses on a walk of 1.8 steps a second, and on a turn of so many radians a second.
  private static func motion(at time: Int64, step: Int, heading: Double, turning: Double) -> String {
    // A quaternion of a heading beyond half a turn would have a negative real part, which traces do not tell.
    let heading = atan2(sin(heading), cos(heading))
    let bounce = 9.8 + 2.4 * sin(2 * .pi * 1.8 * Double(step) / 50)
    let (north, east) = (22 * cos(heading), 22 * sin(heading))
    return "\(time)\tTYPE_ACCELEROMETER\t0.1\t0.2\t\(bounce)\t3\n"
      + "\(time)\tTYPE_MAGNETIC_FIELD\t\(-east)\t\(north)\t-40.0\t3\n"
      + "\(time)\tTYPE_GYROSCOPE\t0.001\t0.001\t\(0.001 - turning)\t3\n"
      + "\(time)\tTYPE_ROTATION_VECTOR\t0.0\t0.0\t\(-sin(heading / 2))\t3\n"
  }

  /// A scan of all access points in reach; a third of its entries are repeated from before.
  private static func scan(at time: Int64, x: Double, y: Double, _ random: inout SeededGenerator) -> String {
    accessPoints.enumerated().map { index, place in
      let level = level(from: place, x: x, y: y, &random)
      let heard = time - (index.isMultiple(of: 3) ? 150 : 40)
      let octet = String(format: "%02x", index)
      return "\(time)\tTYPE_WIFI\t\t02:00:5e:00:00:\(octet)\t\(level)\t2437\t\(heard)\n"
    }
    .joined()
  }

  private static func beacon(at time: Int64, x: Double, y: Double, _ random: inout SeededGenerator) -> String
  {
    let level = level(from: (18, 6), x: x, y: y, &random) - 10
    return
      "\(time)\tTYPE_BEACON\tE2C56DB5-DFFB-48D2-B060-D0F5A71096E0\t1\t7\t-59\t\(level)\t3.5\t02:00:5E:10:00:01\t\(time)\n"
  }

  /// A level by the distance, 35 dBm weaker at one metre than none and 25 dB a decade, with 3 dB of noise.
  private static func level(
    from place: (x: Double, y: Double),
    x: Double,
    y: Double,
    _ random: inout SeededGenerator
  ) -> Int {
    let (dx, dy) = (x - place.x, y - place.y)
    let distance = max(1, (dx * dx + dy * dy + 4).squareRoot())
    let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
    return Int((-35 - 25 * log10(distance) + 3 * noise).rounded())
  }
}
