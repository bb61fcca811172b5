import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The mark that one process uses a journal; it goes when the process does, however that ends.
final class JournalLock: Sendable {
  /// The locked file, until the lock is given up.
  private let held: Mutex<Int32?>

  /// Locks a folder's journal.
  ///
  /// - Throws: ``JournalError`` with the number of the process that holds the lock, which it wrote into the file.
  init(folder: String) throws(JournalError) {
    let path = folder + "/journal.lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw JournalError(.folder(reason: reason), at: path)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      var text = [UInt8](repeating: 0, count: 32)
      let count = pread(descriptor, &text, text.count, 0)
      close(descriptor)
      let process = Int(String(decoding: text.prefix(max(0, count)), as: UTF8.self).prefix { $0.isNumber })
      throw JournalError(.inUse(process: process), at: folder)
    }
    let text = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
    held = Mutex(descriptor)
  }

  deinit { release() }

  /// Gives the lock up; a second time does nothing.
  func release() {
    if let descriptor = held.withLock({ $0.take() }) { close(descriptor) }
  }
}
