import Glibc
import PharosFiles
import PharosSite

extension VenueFiles {
  /// The files of a folder on the disk.
  package static func disk(_ folder: String) -> VenueFiles {
    let prefix = folder.hasSuffix("/") ? folder : folder + "/"
    return VenueFiles { name, limit throws(Failure) in
      var bytes: [UInt8] = []
      do throws(FileError) {
        var chunks = try FileChunks(path: prefix + name)
        while bytes.count < limit, let chunk = try chunks.next() { bytes.append(contentsOf: chunk) }
      } catch {
        if case .system(_, code: ENOENT) = error.problem { throw .missing }
        throw .unreadable("\(error)")
      }
      return Array(bytes.prefix(limit))
    }
  }

  /// Whether a path leads to a folder.
  static func isFolder(_ path: String) -> Bool {
    guard let folder = opendir(path) else { return false }
    closedir(folder)
    return true
  }
}
