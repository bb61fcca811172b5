import Foundation
import PharosModel
import PharosPositioning
import PharosSite
import PharosTestSupport
import PharosVenues
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
    rules.lag = Locators.leastTagLag
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
        locator.hear(observer, level: mean, heard: time(newest.seconds), decidedAt: end)
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
