import Foundation
import PharosReports
import PharosSite

/// A check of who may read a site file with identity keys: the holder of a tag's key can track the tag's carrier.
enum KeyExposure {
  /// The bit of a file's mode that lets everybody on the machine read it.
  private static let readableByAll = 0o004

  /// What to tell of a site file that holds keys and that everybody on the machine may read; nil if there is nothing to tell.
  static func warning(_ path: String, _ configuration: SiteConfiguration) -> String? {
    let keys = configuration.site.beacons.count { $0.identityKey != nil }
    guard keys > 0, let mode = mode(of: path), mode & readableByAll != 0 else { return nil }
    let count = CheckRunner.count(keys, "irk")
    return "\(path): it holds \(count) and every user of this machine may read it. Anyone who has the irk of "
      + "a tag can track the tag for ever. Restrict the file: chmod 640 \(path)"
  }

  private static func mode(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.posixPermissions] as? NSNumber)?.intValue
  }
}
