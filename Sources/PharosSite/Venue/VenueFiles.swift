/// The files of a venue's folder, read by a function that the caller supplies.
package struct VenueFiles {
  /// Why a file cannot be had.
  package enum Failure: Error, Hashable, Sendable {
    /// There is no such file.
    case missing
    /// There is one, and this is why it cannot be read.
    case unreadable(String)
  }

  /// Reads the beginning of a file.
  ///
  /// Takes its name, counted from the folder, and how many bytes are wanted at most.
  package typealias Read = (_ name: String, _ limit: Int) throws(Failure) -> [UInt8]

  private let read: Read

  /// Makes the files of a folder.
  package init(_ read: @escaping Read) { self.read = read }

  /// The longest file that is read whole.
  ///
  /// - Units: bytes. The floor plan of the largest mall takes 0.6 MB as GeoJSON, that of an airport 30.
  package static let largest = 64 << 20

  /// A whole file.
  ///
  /// - Throws: that there is none, or why it cannot be read; one that is longer than ``largest`` is not.
  package func whole(_ name: String) throws(Failure) -> [UInt8] {
    let bytes = try read(name, VenueFiles.largest + 1)
    guard bytes.count <= VenueFiles.largest else { throw .unreadable(VenueFiles.tooLong) }
    return bytes
  }

  private static let tooLong = "longer than \(VenueFiles.largest >> 20) MiB, which no file of its sort is"

  /// The first bytes of a file.
  func head(_ name: String, _ count: Int) throws(Failure) -> [UInt8] { try read(name, count) }

  /// A whole file; nil, with a mistake noted, where it cannot be had.
  func bytes(_ name: String, problems: VenueProblems) -> [UInt8]? {
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

  /// Whether there is a file.
  func has(_ name: String) -> Bool {
    do throws(Failure) {
      _ = try read(name, 1)
      return true
    } catch {
      return false
    }
  }

  /// A failure in words.
  package static func prose(_ failure: Failure) -> String {
    switch failure {
    case .missing: "there is no such file"
    case .unreadable(let reason): reason
    }
  }

  /// Whether a name stays in the folder: no absolute path, no step upwards.
  ///
  /// A venue's folder is handed on whole, and must not point at what is beside it.
  static func isInside(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix("/") && !name.utf8.contains(0)
      && !name.split(separator: "/").contains("..")
  }
}
