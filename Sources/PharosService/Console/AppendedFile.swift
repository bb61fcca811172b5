#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
      throw CommandFailure("cannot write \(path): \(reason). Choose a folder that can be written to.")
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
