import CZlib

/// A file, or standard input, as chunks of bytes; gzip data is unpacked on the way.
///
/// The first two bytes of a file decide whether it is packed, not its name. Damage in packed data gives
/// the bytes before the damage and then one error. The byte order mark that some editors put before a text is left out, so
/// that no reader of a file meets it.
package struct FileChunks: ~Copyable, Sendable {
  /// The progress of reading a file.
  package struct Progress: Sendable, Equatable {
    /// The bytes of the file read so far, as they lie on the disk.
    package var read: UInt64
    /// The length of the file, or nil where it has none: pipes and terminals.
    package var total: UInt64?

    /// Makes a progress.
    package init(read: UInt64, total: UInt64?) {
      self.read = read
      self.total = total
    }
  }

  /// The length of a chunk; what a disk and a page cache deliver in one go.
  ///
  /// - Units: bytes.
  package static let chunkLength = 262_144

  /// The path as it was given.
  package let path: String
  /// The progress of reading the file.
  package private(set) var progress: Progress
  private let file: FileDescriptor
  private var raw: [UInt8] = []
  private var rawStart = 0
  private var isAtEnd = false
  private var mode = Mode.unknown
  private var inflater: Inflater?
  private var pendingError: FileError?
  private var isAtStart = true

  private enum Mode {
    case unknown
    case plain
    case gzip
    case ended
  }

  /// Opens a file to read; `-` is standard input.
  ///
  /// - Throws: an error if the file cannot be opened.
  package init(path: String) throws(FileError) {
    let file = try FileDescriptor(reading: path)
    self.path = path
    progress = Progress(read: 0, total: file.length)
    self.file = file
  }

  /// The next chunk of at most ``chunkLength`` bytes, never empty, or nil at the end.
  ///
  /// - Throws: Damage or a failure of the operating system, once; then the file counts as ended.
  package mutating func next() throws(FileError) -> [UInt8]? {
    if let error = pendingError {
      pendingError = nil
      mode = .ended
      throw error
    }
    do throws(FileError) {
      if mode == .unknown { try recognise() }
      var chunk: [UInt8]? =
        switch mode {
        case .plain: try nextPlain()
        case .gzip: try nextInflated()
        case .unknown, .ended: nil
        }
      guard isAtStart else { return chunk }
      isAtStart = false
      chunk = chunk.map(ByteOrderMark.removed)
      return chunk?.isEmpty == true ? try next() : chunk
    } catch {
      mode = .ended
      throw error
    }
  }

  /// Returns the one word that a small file holds, without the spaces and line ends around it.
  ///
  /// - Parameters:
  ///   - path: The file; `-` is standard input.
  ///   - limit: The number of bytes that are read at most.
  /// - Returns: The word; empty if the file is.
  /// - Throws: An error if the file cannot be opened or read.
  package static func word(in path: String, limit: Int) throws(FileError) -> String {
    var chunks = try FileChunks(path: path)
    let bytes = try chunks.next() ?? []
    return String(decoding: bytes.prefix(limit).filter { $0 > 32 }, as: UTF8.self)
  }

  /// Reads until the two bytes that tell gzip are there, or all that may be a byte order mark.
  private mutating func recognise() throws(FileError) {
    while raw.count < 2 || ByteOrderMark.isCut(raw), !isAtEnd { try fill() }
    guard raw.starts(with: [0x1F, 0x8B]) else {
      mode = .plain
      return
    }
    mode = .gzip
    inflater = Inflater()
    if inflater == nil { throw FileError(.outOfMemory, path: path) }
  }

  private mutating func nextPlain() throws(FileError) -> [UInt8]? {
    if raw.isEmpty { try fill() }
    guard !raw.isEmpty else { return nil }
    let chunk = raw
    raw = []
    return chunk
  }

  /// Unpacks until a chunk is full or the file ends.
  private mutating func nextInflated() throws(FileError) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: FileChunks.chunkLength)
    var produced = 0
    while produced < chunk.count {
      if rawStart == raw.count {
        raw.removeAll(keepingCapacity: true)
        rawStart = 0
        // What was unpacked already is given first, then the error.
        do throws(FileError) { try fill() } catch { pendingError = error }
        if pendingError != nil { break }
      }
      if raw.isEmpty {
        if inflater?.isBetweenMembers == false { record(.cutGzip(offset: progress.read)) }
        break
      }
      let outcome = inflate(into: &chunk, from: &produced)
      if outcome == .damaged { record(.damagedGzip(offset: offset)) }
      if outcome == .outOfMemory { record(.outOfMemory) }
      if pendingError != nil { break }
    }
    if produced > 0 {
      chunk.removeSubrange(produced...)
      return chunk
    }
    if let error = pendingError {
      pendingError = nil
      throw error
    }
    return nil
  }

  /// The offset in the compressed file of the first byte that was not decompressed yet.
  private var offset: UInt64 { progress.read - UInt64(raw.count - rawStart) }

  private mutating func record(_ problem: FileError.Problem) { pendingError = FileError(problem, path: path) }

  private mutating func inflate(into chunk: inout [UInt8], from produced: inout Int) -> Inflater.Outcome {
    let start = produced
    let result = raw.withUnsafeBytes { input in
      chunk.withUnsafeMutableBytes { output in
        inflater?.inflate(
          UnsafeRawBufferPointer(rebasing: input[rawStart...]),
          into: UnsafeMutableRawBufferPointer(rebasing: output[start...])
        )
      }
    }
    guard let result else { return .damaged }
    rawStart += result.consumed
    produced += result.produced
    return result.outcome
  }

  /// Reads once, behind what is there already: straight to where it stays.
  private mutating func fill() throws(FileError) {
    guard !isAtEnd else { return }
    var result = Result<Int, FileError>.success(0)
    let read = [UInt8](unsafeUninitializedCapacity: FileChunks.chunkLength) { buffer, count in
      result = file.read(into: UnsafeMutableRawBufferPointer(buffer))
      if case .success(let length) = result { count = length }
    }
    let count = try result.get()
    if raw.isEmpty { raw = read } else { raw.append(contentsOf: read) }
    progress.read += UInt64(count)
    isAtEnd = count == 0
  }
}

/// The mark that some editors put before a text in UTF-8.
///
/// - Source: Unicode 16, 23.8; YAML 1.2.2, 5.2, and RFC 8259, 8.1, let a reader pass over it.
enum ByteOrderMark {
  private static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the beginning of a file without its mark.
  static func removed(from beginning: [UInt8]) -> [UInt8] {
    beginning.starts(with: bytes) ? Array(beginning.dropFirst(bytes.count)) : beginning
  }

  /// Returns whether the beginning of a file may be the first part of a mark.
  static func isCut(_ beginning: [UInt8]) -> Bool {
    beginning.count < bytes.count && bytes.starts(with: beginning)
  }
}

/// Unpacks gzip or raw deflated data as they come in, member after member.
///
/// The one place that touches zlib for reading.
struct Inflater: ~Copyable, @unchecked Sendable {
  // Sendable: the stream is reached through this value alone, which cannot be copied.

  /// The outcome of a piece of input.
  enum Outcome {
    /// All of it was used, or the output is full.
    case going
    /// It is damaged; what the output holds is good.
    case damaged
    case outOfMemory
  }

  private let stream: UnsafeMutablePointer<z_stream>
  /// Indicates whether the last member has ended and no other has begun.
  private(set) var isBetweenMembers = false

  /// What surrounds the deflated data, as zlib counts it: 15 bits of window; 16 more say that gzip headers are expected, and
  /// less than 0 that there are none.
  enum Framing: Int32 {
    case gzip = 31
    case raw = -15
  }

  init?(_ framing: Framing = .gzip) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let code = inflateInit2_(stream, framing.rawValue, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
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

  /// Unpacks data that are there as a whole, up to a number of bytes.
  ///
  /// - Returns: the unpacked bytes, and whether they are all; nil if the data are damaged or cut.
  static func unpacked(
    _ packed: ArraySlice<UInt8>,
    _ framing: Framing,
    limit: Int
  ) -> (bytes: [UInt8], isWhole: Bool)? {
    guard var inflater = Inflater(framing) else { return nil }
    var unpacked: [UInt8] = []
    var outcome = Outcome.going
    var used = packed.startIndex
    // A deflated stream ends by itself; further members may follow one of gzip.
    while unpacked.count < limit, used < packed.endIndex, framing == .gzip || !inflater.isBetweenMembers,
      outcome == .going
    {
      var chunk = [UInt8](repeating: 0, count: min(FileChunks.chunkLength, limit - unpacked.count))
      let result = packed[used...].withUnsafeBytes { input in
        chunk.withUnsafeMutableBytes { inflater.inflate(input, into: $0) }
      }
      outcome = result.outcome
      used += result.consumed
      unpacked += chunk.prefix(result.produced)
      if result.consumed == 0, result.produced == 0 { break }
    }
    guard outcome == .going, inflater.isBetweenMembers || unpacked.count == limit else { return nil }
    return (unpacked, inflater.isBetweenMembers)
  }
}

extension Gzip {
  /// The two bytes that begin each member.
  package static let signature: [UInt8] = [0x1F, 0x8B]

  /// Unpacks data of at most so many bytes; of longer ones, which may be very much longer, one more byte is unpacked.
  ///
  /// - Returns: the unpacked bytes; nil if the data are damaged or cut.
  package static func unpacked(_ packed: [UInt8], limit: Int) -> [UInt8]? {
    Inflater.unpacked(packed[...], .gzip, limit: limit + 1)?.bytes
  }
}
