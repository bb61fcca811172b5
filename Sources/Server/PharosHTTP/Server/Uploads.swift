import Foundation
import Glibc
import Hummingbird
import NIOCore
import NIOPosix
import PharosDelivery
import PharosModel
import Synchronization

/// Takes the body of a request into a file, one at a time: a capture is larger than what a request may hold in memory.
final class Uploads: Sendable {
  /// The path to which captures are sent.
  static let path = "/v1/comparisons"
  /// The largest capture that is taken.
  ///
  /// - Units: bytes.
  static let largest = 256 << 20
  /// The maximum time for sending one; 256 MiB take it at 3.6 Mbit/s.
  static let time = TimeAmount.minutes(10)

  private let isBusy = Mutex(false)

  /// Receives a body into a file, lets a handler read it, and removes it.
  ///
  /// - Throws: a ``Problem`` if another one is being received, or if it is too long; otherwise what the handler throws.
  func receive<Value>(
    _ body: RequestBody,
    then handle: (_ path: String) async throws -> Value
  ) async throws -> Value {
    let wasBusy = isBusy.withLock { isBusy in
      defer { isBusy = true }
      return isBusy
    }
    guard !wasBusy else {
      throw Problem.unavailable("Another capture is being compared. Try again when it is done.")
    }
    defer { isBusy.withLock { $0 = false } }
    let file = URL(filePath: TemporaryFiles.path("capture"))
    guard
      FileManager.default.createFile(
        atPath: file.path(),
        contents: nil,
        attributes: [.posixPermissions: 0o600]
      )
    else {
      throw Problem.unavailable("No file can be made in \(FileManager.default.temporaryDirectory.path()).")
    }
    defer { try? FileManager.default.removeItem(at: file) }
    try await write(body, to: try FileHandle(forWritingTo: file))
    return try await handle(file.path())
  }

  private func write(_ body: RequestBody, to file: FileHandle) async throws {
    defer { try? file.close() }
    var length = 0
    do {
      for try await buffer in body {
        length += buffer.readableBytes
        guard length <= Uploads.largest else { throw Problem.tooLarge(limit: Uploads.largest) }
        let data = Data(Array(buffer: buffer))
        try await BackgroundExecutor.requests.run { try file.write(contentsOf: data) }
      }
    } catch let problem as Problem {
      throw problem
    } catch let error as CocoaError {
      throw Problem.unavailable("The capture cannot be written to a file: \(error.localizedDescription)")
    } catch {
      throw Problem.badRequest("The connection ended before the body did.")
    }
  }
}

/// The files and folders that a server makes in the folder of temporary files, named after its process, so that a later one can
/// tell which were left by a process that was killed.
package enum TemporaryFiles {
  private static let prefix = "pharos-"
  /// The names that this process has given.
  private static let given = Mutex<Set<String>>([])

  /// Returns the path of a file or folder that does not exist yet.
  static func path(_ kind: String) -> String {
    let name = "\(prefix)\(getpid())-\(UUID().uuidString).\(kind)"
    _ = given.withLock { $0.insert(name) }
    return FileManager.default.temporaryDirectory.appending(path: name).path
  }

  /// Removes what killed processes have left, and unfinished bundles; call it before any is made.
  ///
  /// - Parameter dataFolder: the folder of the server's data, which no other process uses; nil if there is none.
  package static func removeLeftovers(dataFolder: String?) {
    let manager = FileManager.default
    let temporary = manager.temporaryDirectory.path
    for name in (try? manager.contentsOfDirectory(atPath: temporary)) ?? [] where isLeftover(name) {
      try? manager.removeItem(atPath: "\(temporary)/\(name)")
    }
    guard let folder = dataFolder.map({ "\($0)/bundles" }) else { return }
    for name in (try? manager.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasSuffix(".new") || name.hasSuffix(".part") {
      try? manager.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  /// Returns whether a name is that of a process that has ended; an earlier one may have had the number of this one.
  private static func isLeftover(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(".capture") || name.hasSuffix(".bundles") else {
      return false
    }
    let number = name.dropFirst(prefix.count).prefix { $0 != "-" }
    guard let process = pid_t(number), process > 0 else { return false }
    if process == getpid() { return !given.withLock { $0.contains(name) } }
    return kill(process, 0) != 0 && errno == ESRCH
  }
}
