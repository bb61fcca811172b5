import Glibc

/// An open file that is closed when it goes out of use.
struct FileDescriptor: ~Copyable, Sendable {
  let number: Int32
  let path: String
  private var isOwned: Bool

  /// Opens a file to read, or takes standard input for `-`.
  init(reading path: String) throws(FileError) {
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
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, FileError> {
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

  /// Closes the file, telling what only now turns out to have failed, as on a network's disk.
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
