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
  public static let longest = 1_400

  /// The flag that says that a tag ends the datagram; all other flags are reserved.
  static let signedFlag: UInt8 = 0x01
  /// The tag: an HMAC-SHA256 over all bytes before it, cut to its first 16 bytes.
  public static let tagLength = 16

  /// Where the flags stand.
  static let flagsOffset = 5
  /// Where the total length stands.
  static let lengthOffset = 6
  /// Where the number of the datagram stands.
  static let sequenceOffset = 16
  /// Where the sender's uptime stands.
  static let uptimeOffset = 20
  /// Where the kind of the observer's identity stands; its length follows, then the identity.
  static let observerOffset = 28

  /// What stands before each record's body: its type and a length of two bytes.
  static let recordHeadLength = 3

  /// The age that every record but an observer begins with.
  static let ageLength = 4

  /// What a record is.
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
  }

  /// What an observer's identity is.
  enum ObserverKind: UInt8 {
    case eui48 = 1
    case eui64 = 2
    case uuid = 3
    case name = 4
  }

  /// What an advert says of its address.
  enum AddressKind: UInt8 {
    case `public` = 0
    case random = 1
    case unknown = 2
    /// There is none; its six bytes are zero.
    case anonymous = 3
  }

  /// The level that means that there was none.
  static let noLevel: Int8 = 127
  /// The advertising set that means that there is none.
  static let noAdvertisingSet: UInt8 = 255
  /// The number of adverts heard that means that the sender does not count.
  static let notCounted = UInt32.max
  /// The bit of a ranged beacon's kind that says that the beacon's address follows its identity.
  static let keyedByAddressBit: UInt8 = 0x80
  /// The bytes of an advert between its age and its data.
  static let advertFieldsLength = 11
  /// The bytes of an advert's record without data.
  static let leastAdvertLength = recordHeadLength + ageLength + advertFieldsLength
  /// The bytes of one access point.
  static let accessPointLength = 13
  /// The bytes of one motion sample.
  static let motionSampleLength = 17
}
