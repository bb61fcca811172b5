import Glibc

/// An open file that is closed when it goes out of use.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The number by which the operating system knows it.
  package let number: Int32
  let path: String
  private var isOwned: Bool

  /// Opens a file to read, or takes standard input for `-`.
  package init(reading path: String) throws(FileError) {
    self.path = path
    isOwned = path != "-"
    guard isOwned else {
      number = STDIN_FILENO
      return
    }
    number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw FileError(.system(.open, code: errno), path: path) }
  }

  /// Creates a file, or truncates an existing one; takes standard output for `-`.
  init(writing path: String) throws(FileError) {
    self.path = path
    isOwned = path != "-"
    guard isOwned else {
      number = STDOUT_FILENO
      return
    }
    number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw FileError(.system(.create, code: errno), path: path) }
  }

  deinit {
    if isOwned, number >= 0 { _ = Glibc.close(number) }
  }

  /// The length of a regular file, or nil for pipes, terminals and devices.
  var length: UInt64? {
    var status = stat()
    guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt64(status.st_size)
  }

  /// Reads up to the buffer's length, less at the end of the file or as a pipe delivers it; nothing at the
  /// end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, FileError> {
    while true {
      let count = Glibc.read(number, buffer.baseAddress, buffer.count)
      if count >= 0 { return .success(count) }
      guard errno == EINTR else { return .failure(FileError(.system(.read, code: errno), path: path)) }
    }
  }

  /// Writes all bytes.
  func write(_ bytes: RawSpan) throws(FileError) {
    let failure = bytes.withUnsafeBytes { bytes -> Int32? in
      var rest = bytes
      while !rest.isEmpty {
        let count = Glibc.write(number, rest.baseAddress, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
    if let failure { throw FileError(.system(.write, code: failure), path: path) }
  }

  /// Closes the file and reports an error that only occurs now, as on a network's disk.
  consuming func close() throws(FileError) {
    guard isOwned else { return }
    isOwned = false
    guard Glibc.close(number) != 0 else { return }
    throw FileError(.system(.close, code: errno), path: path)
  }

  /// Waits until what was written is on the disk; pipes and terminals have none.
  func sync() throws(FileError) {
    guard fsync(number) != 0, errno != EINVAL, errno != EROFS, errno != ENOTSUP else { return }
    throw FileError(.system(.sync, code: errno), path: path)
  }
}

/// An error in reading or writing a file.
package struct FileError: Error, Equatable, Sendable {
  /// The operation that failed.
  package enum Operation: String, Sendable, Equatable {
    /// Opening it to read.
    case open
    /// Making it.
    case create
    /// Reading from it.
    case read
    /// Writing to it.
    case write
    /// Making sure that what was written is on the disk.
    case sync
    /// Closing it.
    case close
  }

  /// The problem.
  package enum Problem: Sendable, Equatable {
    /// The operating system refused, with this `errno`.
    case system(Operation, code: Int32)
    /// Compressed data are damaged at this offset of the compressed file.
    case damagedGzip(offset: UInt64)
    /// Compressed data end in their middle, at this offset of the compressed file.
    case cutGzip(offset: UInt64)
    /// zlib failed for want of memory.
    case outOfMemory
  }

  /// The problem.
  package let problem: Problem
  /// The path as it was given, or `-`.
  package let path: String

  /// Makes an error.
  package init(_ problem: Problem, path: String) {
    self.problem = problem
    self.path = path
  }
}

extension FileError: CustomStringConvertible {
  /// One or two sentences for an operator: what, where, why, what to do.
  package var description: String {
    switch problem {
    case .system(let operation, let code):
      "cannot \(operation.rawValue) \(name): \(SystemError.text(code)).\(FileError.advice(code))"
    case .damagedGzip(let offset):
      "\(name): the gzip data are damaged at byte \(offset). Everything before was read; "
        + "check the copy with `gzip -t`."
    case .cutGzip(let offset):
      "\(name): the gzip data end too early, at byte \(offset). Everything before was read: "
        + "the file was cut off, or is still being written."
    case .outOfMemory:
      "\(name): no memory for compressing or inflating. Free some, or unpack the file on the way in."
    }
  }

  private var name: String { path == "-" ? "the standard stream" : path }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case ENOENT: " Check the path."
    case EACCES, EPERM: " Check the permissions."
    case ENOSPC, EDQUOT: " Free some space or choose another folder; what was written before is whole."
    case EISDIR: " Name a file in it."
    case EROFS: " Choose a folder that can be written to."
    default: ""
    }
  }
}

/// The operating system's words for its error numbers.
package enum SystemError {
  /// Returns the words for an error number, beginning as within a sentence.
  package static func text(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    let words = String(cString: text)
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
