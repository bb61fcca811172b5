import Foundation
import Hummingbird
import NIOCore
import NIOPosix
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
    let file = FileManager.default.temporaryDirectory.appending(path: "pharos-\(UUID().uuidString).capture")
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
        try await Blocking.run { try file.write(contentsOf: data) }
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
