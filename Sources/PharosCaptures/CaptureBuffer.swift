/// The bytes that a reader was given and has not read yet, and where in the file they stand.
///
/// Holds at most one record beyond the chunk that was appended last: what is read is dropped at the next
/// append, and what is skipped is never stored.
struct CaptureBuffer: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0
  private var toSkip: UInt64 = 0
  /// How far into the file the first unread byte stands.
  private(set) var offset: UInt64 = 0

  /// How many unread bytes there are.
  var count: Int { bytes.count - start }

  /// Whether a skip waits for bytes still to come.
  var isSkipping: Bool { toSkip > 0 }

  /// How many bytes must still come before `length` unread ones are here.
  func missing(for length: Int) -> UInt64 { toSkip + UInt64(max(0, length - count)) }

  /// The unread bytes.
  var view: ByteView { ByteView(bytes[start...]) }

  /// Appends bytes, having dropped those that were read.
  mutating func append(_ chunk: UnsafeRawBufferPointer) {
    if start > 0 {
      bytes.removeSubrange(0..<start)
      start = 0
    }
    let skipped = Int(min(toSkip, UInt64(chunk.count)))
    toSkip -= UInt64(skipped)
    offset += UInt64(skipped)
    unsafe bytes.append(contentsOf: chunk[skipped...])
  }

  /// Marks bytes as read.
  mutating func consume(_ length: Int) {
    start += length
    offset += UInt64(length)
  }

  /// Passes over bytes, those that are here and those still to come.
  mutating func skip(_ length: UInt64) {
    let present = min(length, UInt64(count))
    consume(Int(present))
    toSkip += length - present
  }

  /// Forgets everything: what a reader does that has met damage.
  mutating func removeAll() {
    bytes = []
    start = 0
    toSkip = 0
  }
}
