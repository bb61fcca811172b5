import CZlib

/// Packs bytes into one gzip member.
///
/// The one place that touches zlib for writing.
struct Deflater: ~Copyable, @unchecked Sendable {
  // Sendable: the stream is reached through this value alone, which cannot be copied.
  private let stream: UnsafeMutablePointer<z_stream>
  private var output: [UInt8]

  /// How far a call has to go.
  enum Flush {
    /// As far as packs well.
    case none
    /// So that all bytes given can be unpacked.
    case sync
    /// To the end of the member.
    case finish
  }

  init?() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    output = [UInt8](repeating: 0, count: 65_536)
    let code = deflateInit2_(
      stream,
      Z_DEFAULT_COMPRESSION,
      Z_DEFLATED,
      15 + 16,
      8,
      Z_DEFAULT_STRATEGY,
      ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size)
    )
    guard code == Z_OK else { return nil }
  }

  deinit {
    deflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Packs bytes and appends what comes out.
  mutating func deflate(_ input: RawSpan, _ flush: Flush, into packed: inout [UInt8]) {
    let mode =
      switch flush {
      case .none: Z_NO_FLUSH
      case .sync: Z_SYNC_FLUSH
      case .finish: Z_FINISH
      }
    input.withUnsafeBytes { bytes in
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      )
      stream.pointee.avail_in = UInt32(bytes.count)
      var produced: Int
      repeat {
        produced = step(mode)
        packed.append(contentsOf: output[..<produced])
      } while produced == output.count
    }
  }

  /// One call into zlib, giving how many bytes came out.
  private mutating func step(_ mode: Int32) -> Int {
    let stream = stream
    return output.withUnsafeMutableBytes { space in
      stream.pointee.next_out = space.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(space.count)
      // With room to write there is no failure but a stream misused, which this type rules out.
      _ = CZlib.deflate(stream, mode)
      return space.count - Int(stream.pointee.avail_out)
    }
  }
}
