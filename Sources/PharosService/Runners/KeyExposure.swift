import Foundation
import PharosReports
import PharosSite

/// Whether others may read a file that holds identity keys: who has a tag's key can follow whoever carries it.
enum KeyExposure {
  /// The bit of a file's mode that lets everybody on the machine read it.
  private static let readableByAll = 0o004

  /// What to tell of a site file that holds keys and that everybody on the machine may read; nil if there is nothing to tell.
  static func warning(_ path: String, _ configuration: SiteConfiguration) -> String? {
    let keys = configuration.site.beacons.count { $0.identityKey != nil }
    guard keys > 0, let mode = mode(of: path), mode & readableByAll != 0 else { return nil }
    let count = CheckRunner.count(keys, "irk")
    return "\(path): it holds \(count) and everybody on this machine may read it. Whoever has the irk of a "
      + "tag can follow it for ever: chmod 640 \(path)"
  }

  private static func mode(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.posixPermissions] as? NSNumber)?.intValue
  }
}
