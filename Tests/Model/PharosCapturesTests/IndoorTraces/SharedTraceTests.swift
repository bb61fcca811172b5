import Foundation
import PharosCaptures
import PharosModel
import PharosTestSupport
import Testing

/// A few traces of the public data, counted line by line independently, only by splitting at tabs.
@Suite("Indoor traces of the shared data", .enabled(if: SharedData.isPresent))
struct SharedTraceTests {
  static let traces = ["devtest/site1/F2", "devtest/site2/F7", "survey/site1/B1"].flatMap {
    SharedData.files(in: "indoor/\($0)", endingIn: [".txt.gz"]).prefix(2)
  }

  @Test("every line becomes a record of its type", arguments: traces)
  func counts(path: String) throws {
    let bytes = try Self.unpacked(path)
    let trace = IndoorTrace(parsing: bytes)
    #expect(trace.counters.damaged == 0)
    #expect(trace.counters.otherTypes == 0)

    var types: [Substring: Int] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
      types[line.split(separator: "\t", omittingEmptySubsequences: false)[1], default: 0] += 1
    }
    #expect(trace.waypoints.count == types["TYPE_WAYPOINT", default: 0])
    #expect(trace.beacons.count == types["TYPE_BEACON", default: 0])
    #expect(trace.accessPoints.count == types["TYPE_WIFI", default: 0])
    for (name, kind) in [
      ("TYPE_ACCELEROMETER", MotionSample.Kind.accelerometer), ("TYPE_GYROSCOPE", .gyroscope),
      ("TYPE_MAGNETIC_FIELD", .magnetometer), ("TYPE_ROTATION_VECTOR", .rotationVector),
    ] {
      #expect(trace.motion.count { $0.kind == kind } == types[Substring(name), default: 0], "\(name)")
    }
    #expect(trace.waypoints.count >= 2)
    #expect(trace.motion.count > 100)
  }

  @Test("the header matches the folder and the records", arguments: traces)
  func header(path: String) throws {
    let trace = IndoorTrace(parsing: try Self.unpacked(path))
    let floor = path.split(separator: "/").dropLast().last.map(String.init)
    #expect(trace.header.floor == floor)
    let start = try #require(trace.header.start)
    let end = try #require(trace.header.end)
    let walk = try #require(trace.walk)
    #expect(start <= walk.lowerBound && walk.upperBound <= end)
    for read in trace.motion {
      #expect(read.time >= start - .seconds(10) && read.time <= end + .seconds(10))
    }
    #expect(zip(trace.beacons, trace.beacons.dropFirst()).allSatisfy { $0.time <= $1.time })
  }

  private static func unpacked(_ path: String) throws -> [UInt8] {
    let folder = try #require(SharedData.folder)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", folder.appending(path: path).path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Array(data)
  }
}
