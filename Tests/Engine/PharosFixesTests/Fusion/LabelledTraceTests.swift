import Foundation
import PharosFixes
import PharosModel
import PharosSite
import PharosSpace
import PharosSurvey
import PharosTestSupport
import PharosWays
import Testing

/// Tags that were carried, driven or left lying among receivers of others, with where they were.
///
/// The limits are what was measured, and a tenth. They bound every walk of a set together, never one walk.
@Suite("Tags of labelled traces", .enabled(if: SharedData.isPresent))
struct LabelledTraceTests {
  /// A set of traces: whose receivers are numbered in the order of their names.
  struct Traces: CustomTestStringConvertible, Sendable {
    var folder: String
    var traces: String
    var addresses: String
    var mean: Double
    var p90: Double

    var testDescription: String { "\(folder)/\(traces)" }
  }

  static let sets = [
    Traces(folder: "hall", traces: "data", addresses: "ac:23:3f:00:0b:", mean: 2.1, p90: 3.8),
    Traces(folder: "hall", traces: "still", addresses: "ac:23:3f:00:0b:", mean: 4.3, p90: 8.9),
    Traces(folder: "flat", traces: "data", addresses: "ac:23:3f:00:0d:", mean: 1.6, p90: 2.7),
  ]

  @Test("They are followed, and no fix lies off the floor", arguments: sets)
  func follows(set: Traces) throws {
    let ground = LocatableVenue(venue: try Self.venue("traces/\(set.folder)/venue"))
    let floor = try #require(ground.venue.floors.first).floor
    let space = FloorSpace(floor)
    var errors: [Double] = []
    for file in SharedData.files(in: "traces/\(set.folder)/\(set.traces)", endingIn: [".csv.gz"]) {
      let heard = try Self.heard(file)
      let truths = try Self.truths(file.replacing(".csv.gz", with: ".truth.jsonl"), heard)
      for (tag, truth) in truths {
        let fixes = Self.fixes(heard.filter { $0.tag == tag }, set, ground)
        #expect(fixes.allSatisfy { space.isWalkable($0.point) })
        errors += Self.errors(fixes, truth)
      }
    }
    errors.sort()
    try #require(errors.count > 100)
    let mean = errors.reduce(0, +) / Double(errors.count)
    let p90 = errors[errors.count * 9 / 10]
    #expect(mean <= set.mean && p90 <= set.p90, "mean \(mean), p90 \(p90) m")
  }

  /// An advert of a tag that a receiver heard.
  private struct Heard {
    var seconds: Double
    var receiver: Substring
    var tag: Substring
    var level: Double
  }

  /// Where a tag was at a time.
  private struct Truth {
    var seconds: Double
    var point: Point
  }

  private static func venue(_ folder: String) throws -> Venue {
    let files = VenueFiles { name, limit throws(VenueFiles.Failure) in
      guard let bytes = try? SharedData.bytes("\(folder)/\(name)") else { throw .missing }
      return Array(bytes.prefix(limit))
    }
    return try VenueFolder.read(folder, files: files).venue
  }

  private static func heard(_ file: String) throws -> [Heard] {
    let text = String(decoding: try SurveyedWays.unpacked(file), as: UTF8.self)
    return text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: ",")
      guard fields.count == 4, let seconds = Double(fields[0]), let level = Double(fields[3]) else {
        return nil
      }
      return Heard(seconds: seconds, receiver: fields[1], tag: fields[2], level: level)
    }
  }

  /// The truth for each tag; one without a time holds as long as anything was heard.
  private static func truths(_ file: String, _ heard: [Heard]) throws -> [Substring: [Truth]] {
    let first = try #require(heard.first).seconds
    let last = try #require(heard.last).seconds
    var found: [Substring: [Truth]] = [:]
    for line in try SharedData.jsonLines(file) {
      let (x, y) = (try #require(line["x"] as? Double), try #require(line["y"] as? Double))
      let tag = Substring(try #require(line["tag"] as? String))
      let times = (line["t"] as? Double).map { [$0] } ?? Array(stride(from: first, to: last, by: 1))
      found[tag, default: []] += times.map { Truth(seconds: $0, point: Point(x: x, y: y)) }
    }
    return found
  }

  private static func time(_ seconds: Double) -> Timestamp { Timestamp(seconds: 0) + .seconds(seconds) }

  /// The fixes of a tag whose receivers report the mean of each second, half a second after it.
  private static func fixes(_ heard: [Heard], _ set: Traces, _ ground: LocatableVenue) -> [FixEstimate] {
    var rules = ground.rules
    rules.lag = .seconds(1.5)
    var locator = Locator(ground: ground, rules: rules, seed: 7)
    var fixes: [FixEstimate] = []
    let names = Set(heard.map(\.receiver)).sorted()
    for (second, adverts) in Dictionary(grouping: heard, by: { Int($0.seconds) }).sorted(by: {
      $0.key < $1.key
    }) {
      let end = time(Double(second) + 1.5)
      for (number, name) in names.enumerated() {
        let own = adverts.filter { $0.receiver == name }
        let digits = String(number + 1, radix: 16)
        let address = set.addresses + (digits.count < 2 ? "0" : "") + digits
        guard let newest = own.last, let observer = ObserverID(address) else { continue }
        let mean = own.reduce(0) { $0 + $1.level } / Double(own.count)
        locator.receive(observer, level: mean, heard: time(newest.seconds), decidedAt: end)
      }
      while let fix = locator.nextFix() { fixes.append(fix) }
    }
    return fixes
  }

  /// How far the newest fix was off, once a second from five seconds on.
  private static func errors(_ fixes: [FixEstimate], _ truths: [Truth]) -> [Double] {
    var errors: [Double] = []
    var last = (truths.first?.seconds ?? 0) + 4
    var rest = fixes[...]
    for truth in truths where truth.seconds - last >= 1 {
      let time = time(truth.seconds)
      while rest.count > 1, rest[rest.startIndex + 1].time <= time { rest.removeFirst() }
      guard let fix = rest.first, fix.time <= time else { continue }
      last = truth.seconds
      errors.append(fix.point.distance(to: truth.point))
    }
    return errors
  }
}

/// Phones whose Wi-Fi scans, one every six seconds, are all that is known of them, on three floors of others.
@Suite("Scans of labelled traces", .enabled(if: SharedData.isPresent))
struct LabelledScanTests {
  /// A scan and where it was made.
  private struct Scan {
    var walk: Substring
    var seconds: Double
    var point: Point
    var level: Int
    var points: [AccessPoint]

    var floor: FloorID { FloorID(building: "campus", level: level) }
    var time: Timestamp { Timestamp(seconds: 1_600_000_000) + .seconds(seconds) }
  }

  private static func scans(_ file: String) throws -> [Scan] {
    let text = String(decoding: try SurveyedWays.unpacked("traces/campus/\(file).csv.gz"), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ",")
      guard fields.count == 6, let seconds = Double(fields[1]), let x = Double(fields[2]),
        let y = Double(fields[3]), let level = Int(fields[4])
      else { return nil }
      let points = fields[5].split(separator: " ").compactMap { entry -> AccessPoint? in
        let parts = entry.split(separator: "=")
        guard parts.count == 2, let number = UInt64(parts[0]), let loss = Int8(parts[1]) else { return nil }
        // Networks are of boxes of their own, because the set does not say which belong together.
        let bssid = DeviceAddress(bits: 0x0200_0000_0000 | number << 8, kind: .unknown)
        return AccessPoint(bssid: bssid, rssi: RSSI(dBm: -loss), frequency: 2_437, lastHeard: .zero)
      }
      return Scan(walk: fields[0], seconds: seconds, point: Point(x: x, y: y), level: level, points: points)
    }
  }

  /// The floors, each as the rectangle around its survey.
  private static func venue(_ survey: [Scan]) throws -> Venue {
    let origin = try #require(Coordinate(latitude: 51, longitude: 71))
    let floors = try Dictionary(grouping: survey, by: \.level).sorted { $0.key < $1.key }.map {
      level,
      scans in
      let extent = try #require(Extent(around: scans.map(\.point)))
      let margin = Point(x: 2, y: 2)
      let outline = Polygon(rectangleFrom: extent.southWest - margin, to: extent.northEast + margin)
      return Floor(
        level: level,
        plane: .ground(GroundPlane(origin: origin)),
        walkable: [Area(outline: outline)]
      )
    }
    return Venue(identifier: "campus", buildings: [Building(identifier: "campus", floors: floors)])
  }

  /// The radio map of walks, each cut where it changes floors.
  private static func map(_ survey: [Scan], _ venue: Venue) -> RadioMap {
    var learner = SurveyLearner(venue: venue)
    var walk: SurveyWalk?
    for (number, scan) in survey.enumerated() {
      if number == 0 || survey[number - 1].walk != scan.walk || survey[number - 1].level != scan.level {
        if let walk { learner.add(walk) }
        walk = SurveyWalk(name: "\(number)", floor: scan.floor, waypoints: [])
      }
      walk?.waypoints.append(SurveyWalk.Waypoint(time: scan.time, point: scan.point))
      for point in scan.points {
        guard let rssi = point.rssi else { continue }
        walk?.accessPoints.append(
          SurveyWalk.AccessPointReading(
            time: scan.time,
            heard: scan.time,
            bssid: point.bssid,
            rssi: rssi,
            frequency: point.frequency
          )
        )
      }
    }
    if let walk { learner.add(walk) }
    return learner.learned().map
  }

  /// The newest fix up to a second after each scan of a walk.
  private static func fixes(_ walk: [Scan], _ ground: LocatableVenue) -> [FixEstimate?] {
    var locator = Locator(ground: ground, seed: 7)
    var made: [FixEstimate] = []
    for scan in walk {
      let body = Sensing.Body.accessPoints(scan.points)
      let observer = ObserverID.name("phone")
      locator.receive(
        Sensing(observer: observer, time: scan.time, decidedAt: scan.time, ordinal: 0, body: body)
      )
      while let fix = locator.nextFix() { made.append(fix) }
    }
    if let last = walk.last { locator.advance(to: last.time + .seconds(3)) }
    while let fix = locator.nextFix() { made.append(fix) }
    return walk.map { scan in made.last { $0.time <= scan.time + .milliseconds(1_100) } }
  }

  @Test("They are placed as the survey allows, on their floor, and stated radii and certainties hold")
  func follows() throws {
    let survey = try Self.scans("train")
    let venue = try Self.venue(survey)
    let ground = LocatableVenue(venue: venue, radio: Self.map(survey, venue))
    var (errors, right, held): ([Double], Int, Int) = ([], 0, 0)
    var sure: [Bool] = []
    for walk in Dictionary(grouping: try Self.scans("val"), by: \.walk).values {
      for (scan, fix) in zip(walk, Self.fixes(walk, ground)) {
        guard let fix else { continue }
        let error = fix.point.distance(to: scan.point)
        errors.append(error)
        right += fix.floor == scan.floor ? 1 : 0
        if let certainty = fix.floorCertainty, certainty >= 0.95 { sure.append(fix.floor == scan.floor) }
        held += error <= fix.horizontalAccuracy ? 1 : 0
      }
    }
    errors.sort()
    try #require(errors.count > 3_000)
    let count = Double(errors.count)
    let mean = errors.reduce(0, +) / count
    let (median, p90) = (errors[errors.count / 2], errors[errors.count * 9 / 10])
    #expect(mean <= 3.3 && median <= 1.8 && p90 <= 5.1, "mean \(mean), median \(median), p90 \(p90) m")
    #expect(Double(right) >= 0.97 * count, "\(right) of \(count)")
    #expect((0.55...0.8).contains(Double(held) / count), "\(held) of \(count)")
    let surelyRight = sure.count { $0 }
    print("campus: \(sure.count) of \(errors.count) fixes are sure of the floor, \(surelyRight) rightly")
    try #require(sure.count > 1_000)
    #expect(Double(surelyRight) >= 0.95 * Double(sure.count), "\(surelyRight) of \(sure.count)")
  }
}
