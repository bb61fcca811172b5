import Foundation
import PharosFiles
import PharosTestSupport
import Testing

/// A folder of its own for each test, gone afterwards.
struct Scratch: ~Copyable {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "pharos-files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  func write(_ bytes: [UInt8], to name: String) throws -> String {
    try Data(bytes).write(to: folder.appending(path: name))
    return path(name)
  }

  func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }
}

/// Everything that a file gives, and the error that it ends with.
func readAll(_ path: String) throws -> (bytes: [UInt8], error: FileError?, progress: FileChunks.Progress) {
  var chunks = try FileChunks(path: path)
  var bytes: [UInt8] = []
  var failure: FileError?
  do throws(FileError) {
    while let chunk = try chunks.next() {
      #expect(!chunk.isEmpty)
      #expect(chunk.count <= FileChunks.chunkLength)
      bytes += chunk
    }
  } catch { failure = error }
  // An error is thrown once; after it there is nothing.
  #expect(try chunks.next() == nil)
  return (bytes, failure, chunks.progress)
}

/// Bytes that pack well, but not to nothing.
func sample(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var random = SeededGenerator(seed: seed)
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count {
    withUnsafeBytes(of: random.next() & 0x0F0F_0F0F_0F0F_0F0F) { bytes.append(contentsOf: $0) }
  }
  bytes.removeSubrange(count...)
  return bytes
}
