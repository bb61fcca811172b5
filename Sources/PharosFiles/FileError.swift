import Glibc

/// Why a file could not be read or written.
package struct FileError: Error, Equatable, Sendable {
  /// What was being done.
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

  /// What went wrong.
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

  /// What went wrong.
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
      "cannot \(operation.rawValue) \(name): \(FileError.reason(code)).\(FileError.advice(code))"
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

  private static func reason(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    let reason = String(cString: text)
    return reason.prefix(1).lowercased() + reason.dropFirst()
  }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case ENOENT: " Check the path."
    case EACCES, EPERM: " Check who may read and write there."
    case ENOSPC, EDQUOT: " Free some space or choose another folder; what was written before is whole."
    case EISDIR: " Name a file in it."
    case EROFS: " Choose a folder that can be written to."
    default: ""
    }
  }
}
