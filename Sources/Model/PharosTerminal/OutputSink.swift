import Glibc
import PharosDocuments
package import PharosFiles
import PharosModel
import Synchronization

/// A destination of a command's output: standard output, a file, or an array in a test.
package protocol OutputSink: Sendable {
  /// Takes some bytes; they may be kept until the next ``flush()``.
  func write(_ bytes: [UInt8]) throws(OutputError)
  /// Hands on all that was kept.
  func flush() throws(OutputError)
}

/// The reason why nothing more can be written.
package enum OutputError: Error, Equatable, Sendable {
  /// The reader has closed the pipe, as `head` does. This is not an error, and a command reports nothing.
  case closed
  /// The system refused, as this sentence says.
  case failed(String)
}

/// A file descriptor with a buffer before it.
///
/// Writing to a pipe without a reader throws an error and raises no signal, because ``Console/standard()`` turns
/// SIGPIPE off.
package final class DescriptorSink: OutputSink {
  private let descriptor: Int32
  private let threshold: Int
  private let buffer = Mutex<[UInt8]>([])

  /// The amount of data that is gathered before it is written.
  ///
  /// - Units: bytes. 64 KiB is the size of a Linux pipe: a larger write would only block halfway.
  package static let usualThreshold = 65_536

  /// Wraps a descriptor that the caller closes; with a threshold of 0 nothing is kept back.
  package init(descriptor: Int32, threshold: Int = DescriptorSink.usualThreshold) {
    self.descriptor = descriptor
    self.threshold = threshold
  }

  /// Takes bytes, and writes them out once the threshold is reached.
  package func write(_ bytes: [UInt8]) throws(OutputError) {
    try buffer.withLock { (buffer) throws(OutputError) in
      buffer.append(contentsOf: bytes)
      guard buffer.count >= threshold else { return }
      try DescriptorSink.drain(&buffer, to: descriptor)
    }
  }

  /// Writes out all that was gathered.
  package func flush() throws(OutputError) {
    try buffer.withLock { (buffer) throws(OutputError) in
      try DescriptorSink.drain(&buffer, to: descriptor)
    }
  }

  private static func drain(_ buffer: inout [UInt8], to descriptor: Int32) throws(OutputError) {
    var start = 0
    var failure: OutputError?
    while start < buffer.count, failure == nil {
      let wrote = buffer.withUnsafeBytes { bytes in
        systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[start...]))
      }
      if wrote >= 0 {
        start += wrote
      } else if errno == EPIPE {
        failure = .closed
      } else if errno == EAGAIN {
        waitUntilWritable(descriptor)
      } else if errno != EINTR {
        failure = .failed("cannot write: \(String(cString: strerror(errno))). What came before is complete.")
      }
    }
    buffer.removeAll(keepingCapacity: true)
    if let failure { throw failure }
  }

  private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    Glibc.write(descriptor, bytes.baseAddress, bytes.count)
  }

  /// A terminal shared with another program may have been made non-blocking by it.
  private static func waitUntilWritable(_ descriptor: Int32) {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&request, 1, -1)
  }
}

/// A sink that keeps its bytes in memory, for tests and for programs that embed a command.
package final class MemorySink: OutputSink {
  private let kept = Mutex<[UInt8]>([])

  /// Starts empty.
  package init() {}

  /// The bytes that were written so far.
  package var bytes: [UInt8] { kept.withLock { $0 } }

  /// The text that was written so far.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Keeps the bytes.
  package func write(_ bytes: [UInt8]) throws(OutputError) {
    kept.withLock { $0.append(contentsOf: bytes) }
  }

  /// Does nothing: there is nowhere to hand them on to.
  package func flush() throws(OutputError) {}
}

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
  package init(_ error: FileError) {
    if case .system(_, code: EPIPE) = error.problem { self = .closed } else { self = .failed("\(error)") }
  }
}

extension FileChunks {
  /// Opens a file that a user has named.
  package init(named path: String) throws(CommandFailure) {
    do {
      try self.init(path: path)
    } catch {
      throw CommandFailure("\(error)")
    }
  }
}

/// Small files that are read as a whole.
package enum WholeFile {
  /// The bytes of a file of at most `limit` bytes.
  package static func read(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
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
  /// Writes a whole file.
  package static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
    let file = try FileOutput(path: path)
    try file.write(Array(bytes))
    try file.close()
  }

  /// Returns whether there is a file that can be read.
  package static func exists(_ path: String) -> Bool { (try? FileChunks(path: path)) != nil }

  /// Returns whether a path leads to a folder.
  package static func isFolder(_ path: String) -> Bool {
    guard let folder = opendir(path) else { return false }
    closedir(folder)
    return true
  }

  /// Returns the reason why nothing can be made in a folder, or in the nearest one above it that is there; nil if it can.
  ///
  /// It makes a folder there and removes it: permissions alone do not tell of a medium that is read only.
  package static func reasonAgainst(writingTo folder: String) -> String? {
    var path = folder
    while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      path = String(path[..<slash])
    }
    if access(path, F_OK) != 0 { path = path.hasPrefix("/") ? "/" : "." }
    var name = Array("\(path)/.pharos-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { return String(cString: strerror(errno)) }
    rmdir(name)
    return nil
  }

  /// Makes a folder, and those above it, unless they are there.
  package static func makeFolder(_ folder: String) throws(CommandFailure) {
    var path = folder.hasPrefix("/") ? "/" : ""
    for part in folder.split(separator: "/") {
      path += path.isEmpty || path.hasSuffix("/") ? String(part) : "/\(part)"
      guard mkdir(path, 0o755) != 0, errno != EEXIST else { continue }
      let reason = String(cString: strerror(errno))
      guard !isFolder(path) else { continue }
      throw CommandFailure(
        "cannot make the folder \(path): \(Wording.clause(reason)). Choose one that can be made."
      )
    }
  }
}

/// A file that keeps its lines across restarts of the program: new lines are appended.
package final class AppendedFile: OutputSink {
  private let descriptor: Int32
  private let sink: DescriptorSink

  /// Opens a file, or makes it.
  ///
  /// - Throws: ``CommandFailure`` that names the file and the reason.
  package init(path: String) throws(CommandFailure) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    sink = DescriptorSink(descriptor: descriptor)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw CommandFailure(
        "cannot write \(path): \(Wording.clause(reason)). Choose a folder that can be written to."
      )
    }
  }

  deinit {
    guard descriptor >= 0 else { return }
    try? sink.flush()
    close(descriptor)
  }

  /// Takes bytes.
  package func write(_ bytes: [UInt8]) throws(OutputError) { try sink.write(bytes) }

  /// Hands everything to the system.
  package func flush() throws(OutputError) { try sink.flush() }
}
