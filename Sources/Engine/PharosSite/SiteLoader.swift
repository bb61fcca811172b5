import Foundation
import PharosDocuments
import PharosModel
package import PharosTerminal

/// A reader of site files on the disk.
package enum SiteLoader {
  /// Reads a site file from the disk, or returns the defaults if `path` is nil.
  ///
  /// Prints warnings on the console. Resolves relative paths in the file against the folder of the file.
  ///
  /// - Throws: `CommandFailure` with exit status 78 and every mistake.
  package static func load(
    _ path: String?,
    console: Console
  ) throws(CommandFailure) -> SiteConfiguration {
    guard let path else { return SiteConfiguration() }
    let bytes = try WholeFile.read(path, limit: SiteFile.largest)
    do throws(DocumentError) {
      let configuration = try SiteFile.parse(bytes: bytes, path: path, files: files(beside: path))
        .resolved(against: path)
      for warning in configuration.warnings { console.say(warning.text(in: path), .warning) }
      if let warning = KeyExposure.warning(path, configuration) { console.say(warning, .warning) }
      return configuration
    } catch {
      throw CommandFailure(error.description, status: .configuration)
    }
  }

  /// Returns a reader of the files that a site file names, which lie in its folder or below it.
  package static func files(beside path: String) -> (String) throws -> [UInt8] {
    let folder = URL(filePath: path).deletingLastPathComponent()
    return { name in
      guard RelativePath.isInside(name) else {
        throw CommandFailure("it is not beside the site file", status: .configuration)
      }
      return try WholeFile.read(
        folder.appending(path: name).path(percentEncoded: false),
        limit: SiteFile.largest
      )
    }
  }
}

/// A check of who may read a site file with identity keys: the holder of a tag's key can track the tag's carrier.
package enum KeyExposure {
  /// The bit of a file's mode that lets every user of the machine read it.
  private static let readableByAll = 0o004

  /// Returns a warning about a site file that holds keys and that every user of the machine may read; nil if there is
  /// no reason to warn.
  package static func warning(_ path: String, _ configuration: SiteConfiguration) -> String? {
    let keys = configuration.site.beacons.count { $0.identityKey != nil }
    guard keys > 0, let mode = mode(of: path), mode & readableByAll != 0 else { return nil }
    let count = Wording.count(keys, "irk")
    return "\(path): it holds \(count) and every user of this machine may read it. Anyone who has the irk of "
      + "a tag can track the tag forever. Restrict the file: chmod 640 \(path)"
  }

  private static func mode(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.posixPermissions] as? NSNumber)?.intValue
  }
}
