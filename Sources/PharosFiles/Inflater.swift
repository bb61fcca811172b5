import CZlib

/// Unpacks gzip data as they come in, member after member.
///
/// The one place that touches zlib for reading.
struct Inflater: ~Copyable, @unchecked Sendable {
  // Sendable: the stream is reached through this value alone, which cannot be copied.

  /// What became of a piece of input.
  enum Outcome {
    /// All of it was used, or the output is full.
    case going
    /// It is damaged; what the output holds is good.
    case damaged
    case outOfMemory
  }

  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether the last member has ended and no other has begun.
  private(set) var isBetweenMembers = false

  init?() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15 bits of window; 16 more say that gzip headers are expected.
    let code = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard code == Z_OK else { return nil }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Unpacks from `input` into `output`, saying how many bytes of each were used.
  mutating func inflate(
    _ input: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> (outcome: Outcome, consumed: Int, produced: Int) {
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    )
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
    let outcome = run()
    return (
      outcome, input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out)
    )
  }

  private mutating func run() -> Outcome {
    while stream.pointee.avail_in > 0, stream.pointee.avail_out > 0 {
      if isBetweenMembers {
        // Tapes and some tools fill up the last block with zeros; anything else has to be a further member.
        if stream.pointee.next_in.pointee == 0 {
          stream.pointee.next_in += 1
          stream.pointee.avail_in -= 1
          continue
        }
        inflateReset(stream)
        isBetweenMembers = false
      }
      switch CZlib.inflate(stream, Z_NO_FLUSH) {
      case Z_OK, Z_BUF_ERROR: continue
      case Z_STREAM_END: isBetweenMembers = true
      case Z_MEM_ERROR: return .outOfMemory
      default: return .damaged
      }
    }
    return .going
  }
}
