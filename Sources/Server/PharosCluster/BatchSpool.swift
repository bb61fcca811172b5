import Foundation
import PharosDocuments
import PharosPipeline
import Synchronization

/// The file in which batches wait while the broker is away and memory is full, and from a stop to the next start.
///
/// Records follow each other: "PHSP", the length of the identity and of the batch as u32, both, big-endian. When all are stored the
/// file is emptied. One that a crash cut off ends with its last whole record.
package final class BatchSpool: Sendable {
  /// The maximum length of the file.
  ///
  /// - Units: bytes; 1 GiB are five minutes at 50,000 adverts a second.
  package static let maximumLength: UInt64 = 1 << 30
  private static let magic: UInt32 = 0x5048_5350

  private struct State {
    var file: FileHandle?
    var end: UInt64 = 0
    /// The places of batches in the file, by identity.
    var places: [String: (offset: UInt64, length: Int)] = [:]
  }

  /// The path of the file; empty in memory, where nothing is kept.
  package let path: String
  private let state: Mutex<State>

  /// Opens the file in a folder, which is made with the first batch.
  package init(folder: String?) {
    path = folder.map { $0 + "/cluster-spool" } ?? ""
    state = Mutex(State())
  }

  /// Indicates whether no batch waits in it.
  var isEmpty: Bool { state.withLock { $0.places.isEmpty } }

  /// Returns what an earlier run has left, in order.
  func recovered() -> [(id: String, length: Int)] {
    guard !path.isEmpty, let bytes = FileManager.default.contents(atPath: path), !bytes.isEmpty else {
      return []
    }
    var reader = FieldReader([UInt8](bytes)[...])
    var found: [(id: String, length: Int)] = []
    var (offset, places): (UInt64, [String: (offset: UInt64, length: Int)]) = (0, [:])
    while reader.remaining > 0 {
      do {
        guard try reader.number(UInt32.self) == BatchSpool.magic else { break }
        let (nameLength, length) = (Int(try reader.number(UInt32.self)), Int(try reader.number(UInt32.self)))
        let name = String(decoding: try reader.raw(nameLength), as: UTF8.self)
        _ = try reader.raw(length)
        offset += UInt64(12 + nameLength)
        places[name] = (offset, length)
        offset += UInt64(length)
        found.append((name, length))
      } catch {
        break
      }
    }
    let end = offset
    let known = places
    state.withLock { state in
      (state.end, state.places) = (end, known)
      state.file = FileHandle(forUpdatingAtPath: path)
      try? state.file?.truncate(atOffset: end)
    }
    return found
  }

  /// Appends a batch; false if there is no room for it.
  func append(id: String, _ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      let name = Array(id.utf8)
      guard !path.isEmpty, state.end + UInt64(12 + name.count + bytes.count) <= BatchSpool.maximumLength
      else {
        return false
      }
      if state.file == nil {
        _ = FileManager.default.createFile(
          atPath: path,
          contents: nil,
          attributes: [.posixPermissions: 0o600]
        )
        state.file = FileHandle(forUpdatingAtPath: path)
      }
      guard let file = state.file else { return false }
      var writer = FieldWriter()
      writer.write(BatchSpool.magic)
      writer.write(UInt32(name.count))
      writer.write(UInt32(bytes.count))
      writer.write(raw: name)
      writer.write(raw: bytes)
      do {
        try file.seek(toOffset: state.end)
        try file.write(contentsOf: writer.bytes)
      } catch {
        try? file.truncate(atOffset: state.end)
        return false
      }
      state.places[id] = (state.end + UInt64(12 + name.count), bytes.count)
      state.end += UInt64(writer.bytes.count)
      return true
    }
  }

  /// Reads a batch; nil if the file does not have it.
  func bytes(of id: String) -> [UInt8]? {
    state.withLock { state in
      guard let file = state.file, let place = state.places[id] else { return nil }
      do {
        try file.seek(toOffset: place.offset)
        return try file.read(upToCount: place.length).map { [UInt8]($0) }
      } catch {
        return nil
      }
    }
  }

  /// Forgets a batch that was stored; the last one empties the file.
  func drop(_ id: String) {
    state.withLock { state in
      state.places[id] = nil
      guard state.places.isEmpty else { return }
      try? state.file?.truncate(atOffset: 0)
      state.end = 0
    }
  }

  /// Writes the file to the disk.
  func close() {
    state.withLock { state in
      try? state.file?.synchronize()
      try? state.file?.close()
      state.file = nil
    }
  }
}
