/// Why a capture could not be read further, or a packet not be written.
///
/// Everything before the offset was given. The sentence for people is ``description``; this is the data
/// behind it.
package struct CaptureError: Error, Equatable, Sendable {
  /// What was found.
  package enum Problem: Equatable, Sendable {
    /// There was not a single byte.
    case empty
    /// The first bytes, given here as hexadecimal text, are those of no format that is read.
    case notACapture(firstBytes: String)
    /// The file is compressed by the program named.
    case compressed(program: String)
    /// The old "modified" pcap of patched kernels, whose records have eight extra bytes.
    case modifiedPcap
    /// A version of the format that is not known.
    case unsupportedVersion(format: String, major: UInt32, minor: UInt32)
    /// A btsnoop datalink that is not read.
    case unsupportedDatalink(UInt32)
    /// The file ends inside the part named: so many bytes of it are missing, where that is known.
    case cut(part: String, missing: UInt64?)
    /// A part says that it is longer than any can be.
    case tooLong(part: String, length: UInt64, limit: UInt64)
    /// A pcapng block says an impossible total length.
    case blockLength(UInt32)
    /// The two total lengths of a pcapng block differ.
    case blockTrailer(head: UInt32, trailer: UInt32)
    /// A pcapng section begins with no byte-order magic.
    case byteOrderMagic(UInt32)
    /// A pcapng packet names an interface that its section has not described.
    case unknownInterface(id: UInt32, described: Int)
    /// A pcapng section describes more interfaces than are kept.
    case tooManyInterfaces(limit: Int)
    /// A pcapng packet says that it holds more bytes than its block has room for.
    case packetLength(captured: UInt32, room: Int)
    /// A payload to be written fits into no UDP datagram.
    case payloadTooLong(length: Int, limit: Int)
    /// A packet or local block to be written is longer than is read back.
    case blockTooLong(length: Int, limit: Int)
  }

  /// What was found.
  package let problem: Problem
  /// Where the damaged or unreadable part begins.
  ///
  /// - Units: bytes from the start of the (uncompressed) file.
  package let offset: UInt64

  /// Makes an error.
  package init(_ problem: Problem, at offset: UInt64) {
    self.problem = problem
    self.offset = offset
  }
}
