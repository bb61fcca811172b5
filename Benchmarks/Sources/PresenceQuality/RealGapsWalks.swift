import Foundation
import PharosCaptures
import PharosFiles
import PharosModel

/// One walk of a surveyor through a floor: what the phone heard and where it was.
struct RealWalk: Sendable {
  /// The floor's name.
  var floor: String
  /// The trace without its sensors and its Wi-Fi, of which presence knows nothing.
  var beacons: [IndoorTrace.BeaconHeard]
  /// The span in which the truth is known.
  var span: ClosedRange<Timestamp>
  private var trace: IndoorTrace

  /// Takes a trace that says where it was; nil for one that does not.
  init?(_ trace: IndoorTrace, floor: String) {
    guard let span = trace.walk, span.lowerBound < span.upperBound else { return nil }
    self.floor = floor
    self.span = span
    beacons = trace.beacons
    self.trace = trace
  }

  /// Where the surveyor was.
  func position(at time: Timestamp) -> (x: Double, y: Double)? { trace.position(at: time) }
}

extension RealWalk {
  /// The site with fixed beacons, and its floors.
  static let floors = ["B1", "F1", "F2", "F3", "F4"].map { "site1/\($0)" }
  /// What its 337 beacons all advertise; their addresses tell them apart.
  static let uuid = UUID128(high: 0x9195_B3AD_A9D0_4500, low: 0x85FF_9FB0_F65A_5201)
  /// That identity.
  static let family = BeaconID.proximity(uuid, major: 0, minor: 0)

  /// Reads all walks of one part of the data, `survey` or `devtest`, in the order of their names.
  ///
  /// - Throws: the first file that cannot be read.
  static func all(of part: String, in directory: String) throws -> [RealWalk] {
    var walks: [RealWalk] = []
    for floor in floors {
      let folder = "\(directory)/\(part)/\(floor)"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      for name in names.sorted() where name.hasSuffix(".txt.gz") {
        var bytes: [UInt8] = []
        var chunks = try FileChunks(path: "\(folder)/\(name)")
        while let chunk = try chunks.next() { bytes += chunk }
        let walk = RealWalk(IndoorTrace(parsing: bytes), floor: floor)
        if let walk { walks.append(walk) }
      }
    }
    return walks
  }
}
