import PharosDocuments

/// The files of a venue's folder, read by a function that the caller supplies.
package struct VenueFiles {
  /// The reason for which a file cannot be read.
  package enum Failure: Error, Hashable, Sendable {
    /// There is no such file.
    case missing
    /// The file exists but cannot be read for this reason.
    case unreadable(String)
  }

  /// Reads the beginning of a file.
  ///
  /// It takes the name, relative to the folder, and the maximum number of bytes.
  package typealias Read = (_ name: String, _ limit: Int) throws(Failure) -> [UInt8]

  private let read: Read

  /// Makes the files of a folder.
  package init(_ read: @escaping Read) { self.read = read }

  /// The maximum size of a file that is read whole.
  ///
  /// - Units: bytes. The floor plan of the largest mall takes 0.6 MB as GeoJSON, that of an airport 30.
  package static let largest = 64 << 20

  /// Returns a whole file.
  ///
  /// - Throws: ``Failure/missing``, or the reason why it cannot be read, such as a size above ``largest``.
  package func whole(_ name: String) throws(Failure) -> [UInt8] {
    let bytes = try read(name, VenueFiles.largest + 1)
    guard bytes.count <= VenueFiles.largest else { throw .unreadable(VenueFiles.tooLong) }
    return bytes
  }

  private static let tooLong = "longer than \(VenueFiles.largest >> 20) MiB, which no file of its sort is"

  /// Returns the first bytes of a file.
  func head(_ name: String, _ count: Int) throws(Failure) -> [UInt8] { try read(name, count) }

  /// Returns a whole file; nil, with a mistake noted, if it cannot be read.
  func bytes(_ name: String, problems: DocumentProblems) -> [UInt8]? {
    do throws(Failure) {
      return try whole(name)
    } catch .unreadable(VenueFiles.tooLong) {
      problems.mistake(name, VenueFiles.tooLong)
      return nil
    } catch {
      problems.mistake(name, VenueFiles.prose(error), expected: "a file in the venue's folder")
      return nil
    }
  }

  /// Returns whether there is such a file, whether it can be read or not.
  func has(_ name: String) -> Bool {
    do throws(Failure) {
      _ = try read(name, 1)
      return true
    } catch {
      return error != .missing
    }
  }

  /// Describes a failure.
  package static func prose(_ failure: Failure) -> String {
    switch failure {
    case .missing: "there is no such file"
    case .unreadable(let reason): reason
    }
  }
}
