import Foundation
package import PharosCaptures
import PharosDocuments
import PharosFiles
package import PharosModel
import PharosRooms
import PharosSpace
import PharosSurvey
package import PharosTerminal
import PharosWays

/// A trace on the disk: one walk of a surveyor.
package struct TraceFile: Hashable, Sendable {
  /// The path of the file.
  package let path: String
  /// The name of the trace in a table of fixes: the file's name without its endings.
  let identifier: String

  /// The endings that make a file a trace.
  static let endings = [".txt", ".txt.gz"]
  /// The maximum depth at which folders are searched.
  private static let deepest = 16
  /// The longest trace that is read as a whole.
  ///
  /// - Units: bytes, unpacked. The longest of the data set, nine minutes, has 24 MB.
  static let maximumLength = 512 << 20

  package init(path: String) {
    self.path = path
    let file = path.split(separator: "/").last.map(String.init) ?? path
    identifier = file.split(separator: ".", maxSplits: 1).first.map(String.init) ?? file
  }

  /// The names of the folders above it, the nearest first.
  var folders: [String] { path.split(separator: "/").dropLast().reversed().map(String.init) }

  /// The traces that paths lead to: files as they are named, folders searched to the bottom, in the order of their paths.
  ///
  /// A trace that is found twice by its name is taken once.
  ///
  /// - Throws: `CommandFailure` that names a path that leads to no trace.
  static func find(_ paths: [String]) throws(CommandFailure) -> [TraceFile] {
    var seen: Set<String> = []
    var found: [TraceFile] = []
    for path in paths {
      var files: [String] = []
      if let names = entries(of: path) {
        search(path.hasSuffix("/") ? String(path.dropLast()) : path, names, depth: 0, into: &files)
        guard !files.isEmpty else {
          throw CommandFailure(
            "\(path) holds no trace (expected files that end in .txt or .txt.gz). Check the path.",
            status: .usage
          )
        }
      } else {
        files = [path]
      }
      for file in files.sorted().map(TraceFile.init) where seen.insert(file.identifier).inserted {
        found.append(file)
      }
    }
    return found
  }

  private static func search(_ folder: String, _ names: [String], depth: Int, into files: inout [String]) {
    for name in names where !name.hasPrefix(".") {
      let path = "\(folder)/\(name)"
      if endings.contains(where: name.hasSuffix) {
        files.append(path)
      } else if depth < deepest, let inner = entries(of: path) {
        search(path, inner, depth: depth + 1, into: &files)
      }
    }
  }

  /// Returns the sorted names of the entries of a folder; nil if the path is no folder.
  static func entries(of path: String) -> [String]? {
    try? FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  /// Its bytes, unpacked.
  ///
  /// - Throws: `CommandFailure` if the file cannot be read, or is longer than any trace.
  func bytes() throws(CommandFailure) -> [UInt8] {
    do throws(CommandFailure) {
      return try WholeFile.read(path, limit: TraceFile.maximumLength)
    } catch {
      throw CommandFailure(error.message)
    }
  }

  /// All of it, truth included.
  package func trace() throws(CommandFailure) -> IndoorTrace { IndoorTrace(parsing: try bytes()) }

  /// Its header and its waypoints.
  func truth() throws(CommandFailure) -> IndoorTrace { IndoorTrace(truthIn: try bytes()) }
}

/// A trace as it streams from the disk: the reports of one datagram after the other, in the order of the file.
///
/// Only one task at a time may use a stream. At damage in the file, the stream ends after the reports before the damage
/// and keeps the reason.
package final class TraceStream {
  /// The file of the trace.
  let file: TraceFile
  /// The damage of the file, once it was found.
  private(set) var damage: String?

  private var chunks: FileChunks
  private var feed: TraceFeed

  /// Opens a trace.
  ///
  /// - Throws: `CommandFailure` if the file cannot be opened.
  package init(_ file: TraceFile) throws(CommandFailure) {
    self.file = file
    feed = TraceFeed(observer: ObserverID.ofCapture(at: file.path))
    chunks = try FileChunks(named: file.path)
  }

  /// The counters of the lines that were read and passed over.
  var counters: IndoorTrace.Counters { feed.counters }
  /// R: the greatest time of the lines read so far.
  var latestTime: Timestamp? { feed.latestTime }

  /// The next datagram's reports; nil at the end.
  package func next() -> ReportBatch? {
    while true {
      if let batch = feed.next() { return batch }
      guard !isAtEnd else { return nil }
      do throws(FileError) {
        if let chunk = try chunks.next() { feed.append(chunk) } else { end() }
      } catch {
        damage = "\(error)"
        end()
      }
    }
  }

  private var isAtEnd = false

  private func end() {
    isAtEnd = true
    feed.finish()
  }

  /// The problem of the trace, in a sentence, if there was one.
  var complaint: String? {
    if let damage { return damage }
    guard counters.damaged > 0 else { return nil }
    let lines = Wording.count(counters.damaged, "line")
    return "\(file.path): \(lines) of \(counters.lines) could not be read, and counted for nothing."
  }
}

extension SurveyWalk {
  /// A walk as a trace recorded it, on a floor whose plane is the trace's.
  init(_ trace: IndoorTrace, name: String, floor: FloorID) {
    self.init(
      name: name,
      floor: floor,
      waypoints: trace.waypoints.map { Waypoint(time: $0.time, point: Point(x: $0.x, y: $0.y)) },
      accessPoints: trace.accessPoints.compactMap { heard in
        heard.rssi.map { rssi in
          AccessPointReading(
            time: heard.time,
            heard: min(heard.lastHeard, heard.time),
            bssid: heard.bssid,
            rssi: rssi,
            frequency: heard.frequency
          )
        }
      },
      beacons: trace.beacons.compactMap { heard in
        heard.rssi.map { rssi in
          BeaconReading(time: heard.time, beacon: heard.beacon, address: heard.address, rssi: rssi)
        }
      },
      motion: trace.motion.map { read in
        let sample = MotionSample(kind: read.kind, age: .zero, x: read.x, y: read.y, z: read.z)
        return MotionReading(time: read.time, sample: sample)
      }
    )
  }
}
