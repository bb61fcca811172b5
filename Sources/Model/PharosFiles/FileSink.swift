import CZlib

/// A file, or standard output, that is written through a buffer and packed with gzip if its name ends in
/// `.gz`.
///
/// Finish it with ``close()``: a sink that just goes out of use loses what was not flushed, as a process does
/// that is killed.
package struct FileSink: ~Copyable, Sendable {
  /// The size of the write buffer.
  ///
  /// - Units: bytes.
  private static let bufferLength = 262_144

  /// The path as it was given.
  package let path: String
  /// The number of bytes taken, before compression.
  package private(set) var count: UInt64 = 0
  private let file: FileDescriptor
  private var buffer: [UInt8] = []
  private var deflater: Deflater?

  /// Creates a file, or truncates an existing one; `-` is standard output.
  ///
  /// - Throws: ``FileError`` if it cannot be created.
  package init(path: String) throws(FileError) {
    var deflater: Deflater?
    if path.hasSuffix(".gz") {
      deflater = Deflater()
      if deflater == nil { throw FileError(.outOfMemory, path: path) }
    }
    let file = try FileDescriptor(writing: path)
    self.path = path
    self.file = file
    self.deflater = deflater
    buffer.reserveCapacity(FileSink.bufferLength)
  }

  /// Takes bytes, writing them out when enough have gathered.
  package mutating func write(_ bytes: [UInt8]) throws(FileError) { try write(bytes.span.bytes) }

  /// Takes bytes, writing them out when enough have gathered.
  package mutating func write(_ bytes: RawSpan) throws(FileError) {
    bytes.withUnsafeBytes { buffer.append(contentsOf: $0) }
    count += UInt64(bytes.byteCount)
    if buffer.count >= FileSink.bufferLength { try pass(.none) }
  }

  /// Takes the UTF-8 of a text.
  package mutating func write(_ text: String) throws(FileError) {
    buffer.append(contentsOf: text.utf8)
    count += UInt64(text.utf8.count)
    if buffer.count >= FileSink.bufferLength { try pass(.none) }
  }

  /// Hands everything to the operating system, so that another process can read it.
  package mutating func flush() throws(FileError) { try pass(.sync) }

  /// Waits until everything is on the disk.
  package mutating func sync() throws(FileError) {
    try flush()
    try file.sync()
  }

  /// Writes what is left, ends the compressed data and closes the file.
  ///
  /// - Throws: The failed write: the file is then not complete.
  package consuming func close() throws(FileError) {
    try pass(.finish)
    try file.close()
  }

  private mutating func pass(_ flush: Deflater.Flush) throws(FileError) {
    // What could not be written is not tried again: after a failure the file is not whole anyhow.
    var gathered: [UInt8] = []
    swap(&gathered, &buffer)
    if deflater == nil {
      try file.write(gathered.span.bytes)
    } else {
      var packed: [UInt8] = []
      deflater?.deflate(gathered.span.bytes, flush, into: &packed)
      try file.write(packed.span.bytes)
    }
    gathered.removeAll(keepingCapacity: true)
    swap(&gathered, &buffer)
  }
}

/// Packing of bytes that are all at hand.
package enum Gzip {
  /// The bytes as one gzip member; nil where there is no memory for it.
  package static func packed(_ bytes: [UInt8]) -> [UInt8]? {
    guard var deflater = Deflater() else { return nil }
    var packed: [UInt8] = []
    deflater.deflate(bytes.span.bytes, .finish, into: &packed)
    return packed
  }
}

/// Packs bytes into one gzip member.
///
/// The one place that touches zlib for writing.
struct Deflater: ~Copyable, @unchecked Sendable {
  // Sendable: the stream is reached through this value alone, which cannot be copied.
  private let stream: UnsafeMutablePointer<z_stream>
  private var output: [UInt8]

  /// The extent of a flush.
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
