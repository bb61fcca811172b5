import PharosFiles
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file as a sink, packed with gzip if its name ends in `.gz`.
package final class FileOutput: OutputSink {
  private let file: Mutex<FileSink?>

  /// Creates a file, or empties an existing one; `-` is standard output.
  ///
  /// - Throws: ``CommandFailure`` that names the file and says what to do.
  package init(path: String) throws(CommandFailure) {
    do {
      file = Mutex(try FileSink(path: path))
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  /// Takes bytes.
  package func write(_ bytes: [UInt8]) throws(OutputError) {
    try file.withLock { (file) throws(OutputError) in
      do throws(FileError) {
        try file?.write(bytes)
      } catch {
        throw OutputError(error)
      }
    }
  }

  /// Hands everything to the system.
  package func flush() throws(OutputError) {
    try file.withLock { (file) throws(OutputError) in
      do throws(FileError) {
        try file?.flush()
      } catch {
        throw OutputError(error)
      }
    }
  }

  /// Ends the file; what is written later goes nowhere.
  package func close() throws(OutputError) {
    let file = file.withLock { $0.take() }
    guard let file else { return }
    do throws(FileError) {
      try file.close()
    } catch {
      throw OutputError(error)
    }
  }
}

extension OutputError {
  /// Creates the output error that a file error stands for.
  init(_ error: FileError) {
    if case .system(_, code: EPIPE) = error.problem { self = .closed } else { self = .failed("\(error)") }
  }
}

/// Small files that are read as a whole.
enum WholeFile {
  /// The bytes of a file of at most `limit` bytes.
  static func read(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(FileError) {
      var chunks = try FileChunks(path: path)
      while let chunk = try chunks.next() {
        bytes.append(contentsOf: chunk)
        guard bytes.count <= limit else { break }
      }
    } catch {
      throw CommandFailure("\(error)", status: .configuration)
    }
    guard bytes.count <= limit else {
      throw CommandFailure(
        "\(path) is longer than \(limit) bytes, which no file of its sort is. Check the path.",
        status: .configuration
      )
    }
    return bytes
  }
}

extension FileOutput {
  /// Makes a folder, and those above it, unless they are there.
  static func makeFolder(_ folder: String) throws(CommandFailure) {
    var path = folder.hasPrefix("/") ? "/" : ""
    for part in folder.split(separator: "/") {
      path += path.isEmpty || path.hasSuffix("/") ? String(part) : "/\(part)"
      guard mkdir(path, 0o755) != 0, errno != EEXIST else { continue }
      let reason = String(cString: strerror(errno))
      guard !VenueFiles.isFolder(path) else { continue }
      throw CommandFailure("cannot make the folder \(path): \(reason). Choose one that can be made.")
    }
  }
}
