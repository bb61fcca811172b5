import CPharos
import Glibc
package import PharosFiles
package import PharosModel

/// A file that holds the number of a gateway's last start, as digits: see ``BootID``.
package struct BootFile: Sendable {
  /// An error in keeping the number.
  package enum Failure: Error, Equatable, Sendable {
    /// The file cannot be read or written.
    case file(FileError)
    /// It holds something else than a number.
    case notANumber(path: String)
  }

  /// The longest that a number can be, with its line's end.
  private static let maximumLength = 16

  private let path: String

  /// Names a file, which need not be there yet.
  package init(path: String) { self.path = path }

  /// The number of a start that happens now, higher than the one before; it is on the disk when this returns.
  ///
  /// - Throws: ``Failure``, and then nothing was changed: starting with a number that may be too low would have all refused.
  package func next() throws(Failure) -> UInt32 {
    let number = BootID.next(wall: Timestamp(nanoseconds: pharos_clock_wall()), last: try read())
    try write(number)
    return number
  }

  private func read() throws(Failure) -> UInt32? {
    guard access(path, F_OK) == 0 else { return nil }
    let text: String
    do throws(FileError) {
      text = try FileChunks.word(in: path, limit: BootFile.maximumLength)
    } catch {
      throw .file(error)
    }
    guard let number = UInt32(text) else { throw .notANumber(path: path) }
    return number
  }

  /// Writes beside the file and renames, so that it holds one number or the other even when the power fails.
  private func write(_ number: UInt32) throws(Failure) {
    let draft = path + ".new"
    do throws(FileError) {
      var sink = try FileSink(path: draft)
      try sink.write("\(number)\n")
      try sink.sync()
      try sink.close()
      guard rename(draft, path) == 0 else { throw FileError(.system(.write, code: errno), path: path) }
    } catch {
      throw .file(error)
    }
  }
}

extension BootFile.Failure: CustomStringConvertible {
  /// The problem and the remedy.
  package var description: String {
    switch self {
    case .file(let error): "the number of this start cannot be kept: \(error)"
    case .notANumber(let path):
      "\(path) should hold the number of the last start and nothing else. Remove it to go by the clock again."
    }
  }
}

/// The number by which a receiver tells a gateway's present start from its earlier ones: it has to grow.
///
/// The seconds of the wall clock do that for as long as the clock is right at every start: they grow by themselves, need no
/// storage, and fit into 32 bits until the year 2106. A clock that is behind at a start gives a number that is too low.
/// Receivers of signed datagrams then refuse everything as older than what they know, and must, since a copy of old
/// traffic looks the same. A Raspberry Pi has no clock of its own and may come up an hour behind. So a gateway with a
/// place to write keeps the last number there, and the next one is always higher: see ``BootFile``.
package enum BootID {
  /// The number of a start.
  ///
  /// - Parameters:
  ///   - wall: the wall clock, right or wrong.
  ///   - last: the number of the start before, if it was kept.
  /// - Returns: the seconds of the clock, or one more than the last number where that is higher.
  package static func next(wall: Timestamp, last: UInt32?) -> UInt32 {
    let seconds = UInt32(clamping: wall.nanoseconds / 1_000_000_000)
    guard let last else { return seconds }
    return max(seconds, last == .max ? .max : last + 1)
  }
}
