import Foundation
import PharosCaptures
import PharosFiles
import PharosFixes
import PharosModel
import PharosTestSupport
import Testing

/// Ways from one tap of a surveyor to the next, by the map and by the motion sensors.
enum SurveyedWays {
  static let isPresent: Bool = {
    guard SharedData.isPresent else { return false }
    if !traces(of: "site1", atMost: 1).isEmpty { return true }
    print("skipped: surveyed walks need indoor/survey in the shared data, which is absent")
    return false
  }()

  static func traces(of site: String, atMost count: Int) -> [String] {
    let floors = site == "site1" ? ["B1", "F1", "F2", "F3", "F4"] : ["B1", "F7", "F8"]
    return floors.flatMap { floor in
      SharedData.files(in: "indoor/survey/\(site)/\(floor)", endingIn: [".txt.gz"]).prefix(count)
    }
  }

  /// A way between two taps: how long it was by the map and by the steps, and how far the steps' heading was off.
  struct Way {
    let meters: Double
    let stepped: Double
    let error: Double
  }

  static func ways(of path: String, without missing: Set<MotionSample.Kind> = []) throws -> [Way] {
    let trace = IndoorTrace(parsing: try unpacked(path))
    let samples = trace.motion.filter { !missing.contains($0.kind) }.map { read in
      (time: read.time, sample: MotionSample(kind: read.kind, age: .zero, x: read.x, y: read.y, z: read.z))
    }
    let steps = MotionTracker.movements(of: samples).steps
    return zip(trace.waypoints, trace.waypoints.dropFirst()).compactMap { from, to in
      let (x, y) = (to.x - from.x, to.y - from.y)
      let meters = (x * x + y * y).squareRoot()
      let speed = meters / (to.time - from.time).seconds
      // Shorter ways measure the taps; slower ones were interrupted.
      guard meters > 6, speed > 0.6, speed < 2.2 else { return nil }
      var (east, north) = (0.0, 0.0)
      for step in steps where step.time > from.time && step.time <= to.time {
        let way = Bearing.eastAndNorth(step.heading?.radians ?? 0)
        east += Double(step.length * way.east)
        north += Double(step.length * way.north)
      }
      let error = atan2(east, north) - atan2(x, y)
      return Way(
        meters: meters,
        stepped: (east * east + north * north).squareRoot(),
        error: Double(Bearing.wrapped(Float(error)))
      )
    }
  }

  static func quantiles(_ values: [Double], _ shares: [Double] = [0.05, 0.25, 0.5, 0.75, 0.95]) -> [Double] {
    let sorted = values.sorted()
    return shares.map { sorted[min(sorted.count - 1, Int($0 * Double(sorted.count)))] }
  }

  static func unpacked(_ path: String) throws -> [UInt8] {
    let folder = try #require(SharedData.folder)
    var chunks = try FileChunks(path: folder.appending(path: path).path)
    var bytes: [UInt8] = []
    while let chunk = try chunks.next() { bytes += chunk }
    return bytes
  }
}

/// The movements of surveyed walks against the map: whole ways from one tap to the next.
///
/// Only what was surveyed to learn from is looked at, and of it a part, for time.
@Suite("Motion on surveyed walks", .enabled(if: SurveyedWays.isPresent))
struct SurveyedMotionTests {
  @Test(
    "steps times length make the surveyed way, and headings the surveyed direction",
    arguments: [
      ("site1", []), ("site1", [.rotationVector]), ("site1", [.gyroscope, .magnetometer]), ("site2", []),
    ] as [(String, Set<MotionSample.Kind>)]
  )
  func lengthsAndHeadings(site: String, missing: Set<MotionSample.Kind>) throws {
    let ways = try SurveyedWays.traces(of: site, atMost: 6).flatMap {
      try SurveyedWays.ways(of: $0, without: missing)
    }
    try #require(ways.count > 40)
    let lengths = SurveyedWays.quantiles(ways.map { $0.stepped / $0.meters })
    let errors = SurveyedWays.quantiles(ways.map { $0.error * 180 / .pi })
    print(
      "\(site) without \(missing.count) kinds, \(ways.count) ways: stepped ÷ surveyed \(lengths), degrees \(errors)"
    )
    #expect(abs(lengths[2] - 1) < 0.05, "median length")
    #expect(lengths[3] - lengths[1] < 0.2, "half of all lengths")
    #expect(abs(errors[2]) < 5, "median heading")
    #expect(errors[3] - errors[1] < 30, "half of all headings")
    #expect(errors[4] - errors[0] < 90, "nine in ten headings")
  }

  @Test("cutting a surveyed walk changes no movement before the cut")
  func causality() throws {
    let path = try #require(SurveyedWays.traces(of: "site1", atMost: 1).first)
    let trace = IndoorTrace(parsing: try SurveyedWays.unpacked(path))
    let samples = trace.motion.map { read in
      (time: read.time, sample: MotionSample(kind: read.kind, age: .zero, x: read.x, y: read.y, z: read.z))
    }
    let whole = MotionTracker.movements(of: samples)
    for share in [0.1, 0.37, 0.5, 0.81] {
      let cut = samples[Int(Double(samples.count) * share)].time
      let part = MotionTracker.movements(of: samples.filter { $0.time <= cut })
      #expect(part == whole.filter { $0.time <= cut })
    }
  }
}
