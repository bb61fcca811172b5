/// The reason that a capture could not be read further, or that a packet could not be written.
///
/// The reader has returned everything before the offset. ``description`` is the text for people; the properties
/// hold the data behind it.
public struct CaptureError: Error, Equatable, Sendable {
  /// The kind of problem.
  package enum Problem: Equatable, Sendable {
    /// There was not a single byte.
    case empty
    /// The first bytes, given here as hexadecimal text, are those of no format that is read.
    case notACapture(firstBytes: String)
    /// The file is compressed by the program named.
    case compressed(program: String)
    /// A zip archive, as a phone's bug report is one.
    case zip
    /// Text of an Android phone that holds its Bluetooth log in a form of its own.
    case androidText
    /// The old "modified" pcap of patched kernels, whose records have eight extra bytes.
    case modifiedPcap
    /// A version of the format that is not known.
    case unsupportedVersion(format: String, major: UInt32, minor: UInt32)
    /// A btsnoop datalink that is not read.
    case unsupportedDatalink(UInt32)
    /// The file ends inside the part named: so many bytes of it are missing, where that is known.
    case cut(part: String, missing: UInt64?)
    /// A part states a length above the limit.
    case tooLong(part: String, length: UInt64, limit: UInt64)
    /// A pcapng block states an impossible total length.
    case blockLength(UInt32)
    /// The two total lengths of a pcapng block differ.
    case blockTrailer(head: UInt32, trailer: UInt32)
    /// A pcapng section begins with no byte-order magic.
    case byteOrderMagic(UInt32)
    /// A pcapng section describes more interfaces than are kept.
    case tooManyInterfaces(limit: Int)
    /// A payload to be written fits into no UDP datagram.
    case payloadTooLong(length: Int, limit: Int)
    /// A packet or local block to be written is longer than is read back.
    case blockTooLong(length: Int, limit: Int)
  }

  /// The problem.
  package let problem: Problem
  /// The offset of the damaged or unreadable part.
  ///
  /// - Units: bytes from the start of the (uncompressed) file.
  package let offset: UInt64

  /// Makes an error.
  package init(_ problem: Problem, at offset: UInt64) {
    self.problem = problem
    self.offset = offset
  }
}

extension CaptureError: CustomStringConvertible {
  /// One or two sentences for an operator: where, what, what was expected, what to do.
  public var description: String {
    switch problem {
    case .empty:
      "the capture is empty: not one byte. Was the program that writes it still starting?"
    case .notACapture(let firstBytes):
      "not a capture: it begins with the bytes \(firstBytes), and pcap, pcapng, btsnoop or pklg was "
        + "expected. Save it as pcapng (in Wireshark: File, Save As)."
    case .compressed(let program):
      "the capture is compressed with \(program). Unpack it on the way in: "
        + "`\(program) -dc FILE | pharos … -`."
    case .zip:
      "a zip archive: unpack it. In the bug report of an Android phone the log is "
        + "FS/data/misc/bluetooth/logs/btsnoop_hci.log."
    case .androidText:
      "text of an Android phone with its Bluetooth log in btsnooz, which on most phones holds no advertising reports. "
        + "Turn on the Bluetooth HCI snoop log in the phone's developer options and take "
        + "FS/data/misc/bluetooth/logs/btsnoop_hci.log from a bug report; btsnooz.py of Android turns this text into btsnoop."
    case .modifiedPcap:
      "an old \"modified\" pcap of a patched libpcap, whose records are laid out differently. "
        + "Convert it first: `editcap -F pcap OLD NEW`."
    case .unsupportedVersion(let format, let major, let minor):
      "\(at)\(format) version \(major).\(minor) is not known; \(CaptureError.expectedVersion(of: format)) "
        + "was expected. Convert it first: `editcap -F pcapng OLD NEW`."
    case .unsupportedDatalink(let number):
      "\(at)btsnoop datalink \(number)\(CaptureError.datalinkName(number)) is not read; 1001 (HCI), "
        + "1002 (H4) or 2001 (monitor) was expected. Record again with H4 logging, as phones and btmon do."
    case .cut(let part, let missing):
      "\(at)the file ends inside \(part)\(CaptureError.missingText(missing)). Everything before was read: "
        + "the capture was cut off, or is still being written."
    case .payloadTooLong(let length, let limit):
      "a payload of \(length) bytes fits into no UDP datagram: \(limit) is the most. Split it."
    case .blockTooLong(let length, let limit):
      "a packet or block of \(length) bytes is not written: \(limit) is the most that is read back. Split it."
    case .tooLong, .blockLength, .blockTrailer, .byteOrderMagic, .tooManyInterfaces:
      "\(at)\(damage). Everything before was read; the file is damaged from here on. "
        + "`editcap -F pcapng OLD NEW` saves what can be saved."
    }
  }

  private var at: String { "at byte \(offset): " }

  /// A description of the damage: the value found and the value expected.
  private var damage: String {
    switch problem {
    case .tooLong(let part, let length, let limit):
      "\(part) says \(length) bytes, and \(limit) is the most there can be"
    case .blockLength(let length):
      "a block says a total length of \(length); a multiple of 4, at least 12, was expected"
    case .blockTrailer(let head, let trailer):
      "a block begins with total length \(head) and ends with \(trailer); the two should be equal"
    case .byteOrderMagic(let magic):
      "a section begins with 0x\(String(magic, radix: 16)) in place of the byte-order magic 0x1a2b3c4d"
    case .tooManyInterfaces(let limit):
      "a section describes more than \(limit) interfaces"
    case .empty, .notACapture, .compressed, .zip, .androidText, .modifiedPcap, .unsupportedVersion,
      .unsupportedDatalink, .cut,
      .payloadTooLong, .blockTooLong:
      "the file is not as expected"
    }
  }

  private static func expectedVersion(of format: String) -> String {
    switch format {
    case "pcap": "2.4"
    case "pcapng": "1.0"
    default: "1"
    }
  }

  private static func datalinkName(_ number: UInt32) -> String {
    switch number {
    case 1003: " (BCSP)"
    case 1004: " (three-wire)"
    default: ""
    }
  }

  private static func missingText(_ missing: UInt64?) -> String {
    missing.map { ": \($0) of its bytes \($0 == 1 ? "is" : "are") missing" } ?? ""
  }
}
