import PharosDocuments
import PharosModel

/// Reads captures as their bytes come in: pcap, pcapng, btsnoop and PacketLogger's, recognised from the first bytes.
///
/// A push parser, so that memory never grows with the file and no file is ever opened here: append a chunk,
/// take what ``next()`` gives until it gives nil, and so on; after the last chunk call ``finish()``. How the
/// bytes were cut into chunks never changes what comes out.
///
/// - Throws: One ``CaptureError`` at most, by `next()` at damage or by `finish()` at a cut; then nothing more
///   is given.
package struct CaptureReader: Sendable {
  /// The format of a capture file.
  package enum Format: Sendable, Equatable {
    /// Classic pcap, either byte order, microseconds or nanoseconds.
    case pcap
    /// pcapng.
    case pcapng
    /// btsnoop.
    case btsnoop
    /// Apple's PacketLogger.
    case packetLogger
  }

  /// The format, known once enough bytes came.
  package private(set) var format: Format?
  private var buffer = CaptureBuffer()
  private var pcap = PcapFormat()
  private var pcapng = PcapngFormat()
  private var btsnoop = BtsnoopFormat()
  private var packetLogger: PacketLoggerFormat?
  private var hasFailed = false
  private var isFresh = true
  private var unfinished: (part: String, missing: UInt64)?

  /// Makes a reader that has read nothing.
  package init() {}

  /// The interfaces described so far: those of the present section in pcapng, otherwise the one there is.
  package var interfaces: [CaptureInterface] {
    switch format {
    case .pcap: pcap.interface.map { [$0] } ?? []
    case .pcapng: pcapng.interfaces
    case .btsnoop: btsnoop.interface.map { [$0] } ?? []
    case .packetLogger: packetLogger.map { [$0.interface] } ?? []
    case nil: []
    }
  }

  /// The comment of the present pcapng section.
  package var comment: String? { pcapng.comment }

  /// The program that wrote the present pcapng section, as it names itself.
  package var application: String? { pcapng.application }

  /// The bytes between the records of a btsnoop file and the malformed packets of pcapng, which were passed over.
  package var foreign: ForeignBytes { format == .pcapng ? pcapng.foreign : btsnoop.foreign }

  /// The number of bytes of the capture that have been read.
  ///
  /// - Units: bytes.
  package var offset: UInt64 { buffer.offset }

  /// Takes the next bytes of the file.
  package mutating func append(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

  /// Takes the next bytes of the file.
  package mutating func append(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  /// Takes the next bytes of the file.
  package mutating func append(_ bytes: RawSpan) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard !hasFailed, unsafe !bytes.isEmpty else { return }
    isFresh = false
    unsafe buffer.append(bytes)
  }

  /// The next packet or local block, or nil when more bytes are needed.
  package mutating func next() throws(CaptureError) -> CaptureItem? {
    guard !hasFailed else { return nil }
    do throws(CaptureError) {
      while true {
        switch try step() {
        case .item(let item): return item
        case .passed: continue
        case .needsMore(let part, let missing):
          unfinished = (part, missing)
          return nil
        }
      }
    } catch {
      fail()
      throw error
    }
  }

  /// The next packet, or nil when more bytes are needed; local blocks are passed over.
  package mutating func nextPacket() throws(CaptureError) -> Packet? {
    while let item = try next() {
      if case .packet(let packet) = item { return packet }
    }
    return nil
  }

  /// Declares the end of the file, once `next()` has returned nil.
  ///
  /// - Throws: ``CaptureError`` if the file is empty or ends in the middle of something, unless damage was already
  ///   reported.
  package mutating func finish() throws(CaptureError) {
    guard !hasFailed else { return }
    if isFresh { throw CaptureError(.empty, at: 0) }
    if format == nil, buffer.count >= 4, !isBtsnoopBegun {
      defer { fail() }
      throw unrecognised
    }
    btsnoop.finish(&buffer)
    let isWhole = buffer.count == 0 && !buffer.isSkipping && isBetweenParts
    guard !isWhole else { return }
    let offset = pcapng.offsetOfSkipped ?? buffer.offset
    let part = unfinished
    fail()
    throw CaptureError(.cut(part: part?.part ?? "its first bytes", missing: part?.missing), at: offset)
  }

  /// Indicates whether the header has been read and no block is partly skipped.
  private var isBetweenParts: Bool {
    switch format {
    case .pcap: pcap.interface != nil
    case .pcapng: pcapng.section > 0 && pcapng.offsetOfSkipped == nil
    case .btsnoop: btsnoop.interface != nil
    case .packetLogger: true
    case nil: false
    }
  }

  private mutating func fail() {
    hasFailed = true
    buffer.removeAll()
  }

  private mutating func step() throws(CaptureError) -> CaptureStep {
    switch format {
    case .pcap: try pcap.step(&buffer)
    case .pcapng: try pcapng.step(&buffer)
    case .btsnoop: try btsnoop.step(&buffer)
    case .packetLogger: try packetLogger?.step(&buffer) ?? .passed
    case nil: try recognise()
    }
  }
}

extension CaptureReader {
  /// Detects the format from the first four bytes; btsnoop needs eight, PacketLogger's a header, and text is looked through
  /// for what it holds.
  private mutating func recognise() throws(CaptureError) -> CaptureStep {
    guard buffer.count >= 4 else {
      return .needsMore(part: "its first bytes", missing: UInt64(4 - buffer.count))
    }
    let view = buffer.view
    let magic = view.u32(0, .big)
    if PcapFormat.variant(ofMagic: magic) != nil {
      format = .pcap
    } else if magic == PcapngFormat.BlockType.section {
      format = .pcapng
    } else if PcapFormat.isModified(magic: magic) {
      throw CaptureError(.modifiedPcap, at: 0)
    } else if magic == 0x504B_0304 || magic == 0x504B_0506 {
      throw CaptureError(.zip, at: 0)
    } else if let program = CaptureReader.compressor(magic: magic) {
      throw CaptureError(.compressed(program: program), at: 0)
    } else if isBtsnoopBegun {
      guard view.count >= 8 else {
        return .needsMore(part: "its first bytes", missing: UInt64(8 - view.count))
      }
      format = .btsnoop
    } else {
      let needed = isText ? CaptureReader.maximumText : PacketLoggerFormat.header
      guard view.count >= needed else {
        return .needsMore(part: "its first bytes", missing: UInt64(needed - view.count))
      }
      packetLogger = PacketLoggerFormat(view)
      guard packetLogger != nil, !isText else { throw unrecognised }
      format = .packetLogger
    }
    return .passed
  }

  /// Indicates whether all bytes so far are the first ones of a btsnoop file.
  private var isBtsnoopBegun: Bool {
    buffer.view.bytes.starts(with: BtsnoopFormat.magic.prefix(buffer.count))
  }

  /// The most text that is looked through for the log of an Android phone.
  ///
  /// - Units: bytes.
  private static let maximumText = 1 << 16

  /// Indicates whether the file begins with text.
  private var isText: Bool { buffer.view.bytes.prefix(4).allSatisfy { MonitorChannelRecord.isText($0) } }

  /// The error of a file in no format that is read.
  private var unrecognised: CaptureError {
    let bytes = buffer.view.bytes
    let marker = "BTSNOOP_LOG_SUMMARY"
    let holdsLog =
      isText && String(decoding: bytes.prefix(CaptureReader.maximumText), as: UTF8.self).contains(marker)
    if holdsLog { return CaptureError(.androidText, at: 0) }
    return CaptureError(.notACapture(firstBytes: Hex.text(bytes.prefix(4))), at: 0)
  }

  /// Returns the program that made a compressed file, according to its first four bytes.
  private static func compressor(magic: UInt32) -> String? {
    switch magic {
    case 0x28B5_2FFD: "zstd"
    case 0xFD37_7A58: "xz"
    case 0x0422_4D18: "lz4"
    case 0x425A_6800...0x425A_68FF: "bzip2"
    case 0x1F8B_0000...0x1F8B_FFFF: "gzip"
    default: nil
    }
  }
}

/// The bytes that a reader has received and not read yet, with their offset in the file.
///
/// Holds at most one record beyond the chunk that was appended last: what is read is dropped at the next
/// append, and what is skipped is never stored.
struct CaptureBuffer: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0
  private var toSkip: UInt64 = 0
  /// The offset of the first unread byte in the file.
  private(set) var offset: UInt64 = 0

  /// The number of unread bytes.
  var count: Int { bytes.count - start }

  /// Indicates whether a skip waits for bytes still to come.
  var isSkipping: Bool { toSkip > 0 }

  /// Returns the number of bytes still missing until `length` unread bytes are available.
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

  /// Removes all bytes, for a reader that has found damage.
  mutating func removeAll() {
    bytes = []
    start = 0
    toSkip = 0
  }
}

/// The size limits that keep memory bounded for any file; no genuine capture exceeds them.
enum CaptureLimits {
  /// The longest packet unless a pcap header announces longer ones: the largest snap length that libpcap
  /// grants.
  ///
  /// - Units: bytes.
  static let packet = 262_144
  /// The longest packet even where a header announces longer ones.
  ///
  /// - Units: bytes.
  static let announcedPacket = 1 << 24
  /// The longest pcapng block that is looked into: a packet and its options.
  ///
  /// Longer ones for local use are skipped, longer ones of other types are damage.
  ///
  /// - Units: bytes.
  static let block = 1 << 20
  /// The maximum number of interfaces that one pcapng section may describe.
  static let interfaces = 4_096
  /// The longest comment or name that is kept.
  ///
  /// - Units: bytes.
  static let text = 4_096
}

/// The result of one step of a format's reader.
enum CaptureStep {
  /// Something for the caller.
  case item(CaptureItem)
  /// Something that concerns the reader alone; there may be more.
  case passed
  /// Too few bytes for the next part, which the text names: so many are missing.
  case needsMore(part: String, missing: UInt64)
}
