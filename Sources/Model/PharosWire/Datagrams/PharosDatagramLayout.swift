public import PharosModel

/// The layout of the Pharos datagram, version 1: every number of the page that documents it, in one place.
///
/// - Source: the article "The Pharos datagram, version 1" of this module.
public enum PharosDatagramLayout {
  /// The first four bytes: `PHAR`.
  static let magic: UInt32 = 0x5048_4152
  /// The version that this program writes and reads.
  public static let version: UInt8 = 1
  /// The most bytes that ``PharosDatagramEncoder`` puts into a datagram, its tag included, so that no network
  /// between has to cut it: 1,500 less the heads of IPv6, UDP and a tunnel or two.
  public static let maximumLength = 1_400

  /// The flag that says that a tag ends the datagram; all other flags are reserved.
  static let signedFlag: UInt8 = 0x01
  /// The tag: an HMAC-SHA256 over all bytes before it, cut to its first 16 bytes.
  public static let tagLength = 16

  /// The offset of the total length.
  static let lengthOffset = 6
  /// The offset of the boot id.
  static let bootOffset = 12
  /// The offset of the sequence number.
  static let sequenceOffset = 16
  /// The offset of the sender's uptime.
  static let uptimeOffset = 20
  /// The offset of the kind of the observer's identity; its length follows, then the identity.
  static let observerOffset = 28

  /// The length of each record's head: its type and a length of two bytes.
  static let recordHeadLength = 3

  /// The age that every record but an observer begins with.
  static let ageLength = 4

  /// The type of a record.
  enum RecordType: UInt8 {
    case observer = 0x01
    case advert = 0x02
    case rangedBeacon = 0x03
    case scanState = 0x04
    case wifiScan = 0x05
    case motion = 0x06
    case outsideFix = 0x07
    case displayOn = 0x08
    case heartbeat = 0x09
    case relativePose = 0x0A
    case visualStatus = 0x0B
  }

  /// The kind of an observer's identity.
  enum ObserverKind: UInt8 {
    case eui48 = 1
    case eui64 = 2
    case uuid = 3
    case name = 4
  }

  /// The kind of an advert's address.
  enum AddressKind: UInt8 {
    case `public` = 0
    case random = 1
    case unknown = 2
    /// There is none; its six bytes are zero.
    case anonymous = 3
  }

  /// The level that means that there was none.
  static let noLevel: Int8 = 127
  /// The number of adverts heard that means that the sender does not count.
  static let notCounted = UInt32.max
  /// The bit of a ranged beacon's kind that says that the beacon's address follows its identity.
  static let keyedByAddressBit: UInt8 = 0x80
  /// The bytes of an advert between its age and its data.
  static let advertFieldsLength = 11
  /// The bytes of an advert's record without data.
  static let minimumAdvertLength = recordHeadLength + ageLength + advertFieldsLength
  /// The bytes of one access point.
  static let accessPointLength = 13
  /// The bytes of an outside fix's altitude and attitude, which the first senders do not write.
  static let fixPoseLength = 20
  /// The bytes of an outside fix's further accuracies, course and information, the third revision of the record.
  static let fixDetailsLength = 9
  /// The bytes of one motion sample.
  static let motionSampleLength = 17
}

/// The head of a Pharos datagram, and where its records and its tag lie.
///
/// Ingest reads it before the records: the key id says which key to verify the tag with, and the boot id and
/// sequence feed the replay window and the accounting of gaps.
public struct PharosDatagramHead: Equatable, Sendable {
  /// The sender of the datagram, and the observer of every record that names no other.
  public let observer: ObserverID
  /// The sender's key that made the tag; 0 in a datagram that is not signed.
  public let keyID: UInt32
  /// A number that increases with each start of the sender.
  public let bootID: UInt32
  /// Counts the sender's datagrams since it started.
  public let sequence: UInt32
  /// The time for which the sender has been up, to the millisecond.
  public let uptime: TimeSpan
  /// The range of the records.
  public let records: Range<Int>
  /// The range of the tag, or nil if the datagram is not signed.
  ///
  /// The signature covers every byte before it.
  public let tag: Range<Int>?

  /// Reads the head of a datagram; the records are not examined.
  ///
  /// - Throws: the reason for which the datagram is refused.
  public static func head(of datagram: RawSpan) throws(DatagramRefusal) -> PharosDatagramHead {
    let outline = try PharosDatagramOutline(datagram)
    let observer = try PharosDatagramOutline.observer(
      datagram,
      kind: outline.observerKind,
      in: outline.identity
    )
    return PharosDatagramHead(outline, observer: observer)
  }

  private init(_ outline: PharosDatagramOutline, observer: ObserverID) {
    self.observer = observer
    keyID = outline.keyID
    bootID = outline.transmission.bootID
    sequence = outline.transmission.sequence
    uptime = outline.transmission.uptime
    records = outline.records
    tag = outline.tag
  }
}

/// The head of a Pharos datagram as numbers and places: what is read of each one on the way to its reports.
///
/// Free of references, so that it is passed on in registers; the sender's identity is looked at where it lies.
struct PharosDatagramOutline {
  /// The sender's key that made the tag; 0 in a datagram that is not signed.
  let keyID: UInt32
  /// The head of the datagram, as a report.
  let transmission: Transmission
  /// The kind of the sender's identity; see ``PharosDatagramLayout/ObserverKind``.
  let observerKind: UInt8
  /// The range of the sender's identity.
  let identity: Range<Int>
  /// The range of the records.
  let records: Range<Int>
  /// The range of the tag, or nil if the datagram is not signed.
  let tag: Range<Int>?
  /// Indicates whether its end is missing; one that is signed is refused then.
  let isCut: Bool

  /// Reads the head of a datagram; the sender's identity and the records are not looked at.
  init(_ bytes: RawSpan) throws(DatagramRefusal) {
    var cursor = ByteCursor(bytes.wholeRange)
    guard try cursor.u32(bytes) == PharosDatagramLayout.magic else { throw .unrecognised }
    guard try cursor.u8(bytes) == PharosDatagramLayout.version else { throw .unsupportedVersion }
    let flags = try cursor.u8(bytes)
    guard flags & ~PharosDatagramLayout.signedFlag == 0 else { throw .unsupportedVersion }
    let isSigned = flags & PharosDatagramLayout.signedFlag != 0
    let total = Int(try cursor.u16(bytes))
    isCut = total > bytes.byteCount
    guard total == bytes.byteCount || isCut && !isSigned else { throw .lengthMismatch }
    keyID = try cursor.u32(bytes)
    let bootID = try cursor.u32(bytes)
    let sequence = try cursor.u32(bytes)
    let milliseconds = try cursor.u64(bytes)
    guard milliseconds <= UInt64(WireLimits.maximumMilliseconds) else { throw .badField }
    transmission = Transmission(
      bootID: bootID,
      sequence: sequence,
      uptime: .milliseconds(Int64(milliseconds))
    )
    observerKind = try cursor.u8(bytes)
    let length = Int(try cursor.u8(bytes))
    identity = try cursor.advance(length)
    guard isSigned else {
      guard keyID == 0 else { throw .badField }
      records = cursor.offset..<cursor.end
      tag = nil
      return
    }
    guard cursor.remaining >= PharosDatagramLayout.tagLength else { throw .tooShort }
    records = cursor.offset..<cursor.end - PharosDatagramLayout.tagLength
    tag = records.upperBound..<cursor.end
  }

  /// Reads the identity of an observer.
  static func observer(
    _ bytes: RawSpan,
    kind: UInt8,
    in range: Range<Int>
  ) throws(DatagramRefusal) -> ObserverID {
    guard let kind = PharosDatagramLayout.ObserverKind(rawValue: kind) else { throw .badIdentity }
    switch kind {
    case .eui48:
      guard range.count == 6 else { throw .lengthMismatch }
      return .eui48(bytes.u48(at: range.lowerBound))
    case .eui64:
      guard range.count == 8 else { throw .lengthMismatch }
      return .eui64(bytes.u64(at: range.lowerBound))
    case .uuid:
      guard range.count == 16 else { throw .lengthMismatch }
      return .uuid(bytes.uuid(at: range.lowerBound))
    case .name:
      // A name that spells a MAC or a UUID is that identity: one observer never has two.
      return try WireText.observer(bytes, range)
    }
  }
}
