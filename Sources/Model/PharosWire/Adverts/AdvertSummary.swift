/// The contents of an advert beside its frames: for tables that people read.
///
/// Not for the fast path of every advert, since the name is allocated.
public struct AdvertSummary: Equatable, Sendable {
  /// The device's name, or nil if it gives none.
  ///
  /// A whole name goes before a shortened one. Zeros that pad it are taken off; control characters and bytes that
  /// are no UTF-8 become U+FFFD, so that no advert can write control characters to a terminal.
  public var localName: String?
  /// Indicates whether the name is the beginning of a longer one.
  public var isNameShortened = false
  /// The flags, or nil if there are none.
  public var flags: UInt8?
  /// The transmit power that the advert states apart from its frames, or nil if it states none.
  ///
  /// - Units: dBm.
  public var transmitPower: Int8?
  /// The company of the first manufacturer data, or nil if there are none.
  public var company: UInt16?
  /// The number of structures.
  public var structureCount = 0
  /// Indicates whether a length runs past the end of the payload.
  public var isMalformed = false

  /// Summarises a payload.
  public init(of payload: RawSpan) {
    var structures = ADStructures()
    while let structure = structures.next(in: payload) {
      structureCount += 1
      record(structure.type, payload.extracting(structure.payload))
    }
    isMalformed = structures.isMalformed
  }

  /// Records one structure; where one comes twice, the first counts.
  private mutating func record(_ type: ADType, _ data: RawSpan) {
    switch type {
    case .completeName where localName == nil || isNameShortened:
      guard let name = AdvertSummary.text(data) else { return }
      localName = name
      isNameShortened = false
    case .shortenedName where localName == nil:
      localName = AdvertSummary.text(data)
      isNameShortened = localName != nil
    case .flags where flags == nil && data.byteCount >= 1:
      flags = data.byte(at: 0)
    case .transmitPower where transmitPower == nil && data.byteCount >= 1:
      transmitPower = Int8(bitPattern: data.byte(at: 0))
    case .manufacturerData where company == nil && data.byteCount >= 2:
      company = data.littleEndian(UInt16.self, at: 0)
    default:
      break
    }
  }

  /// The text of some bytes, or nil if nothing is left of it.
  private static func text(_ data: RawSpan) -> String? {
    var end = data.byteCount
    while end > 0, data.byte(at: end - 1) == 0 { end -= 1 }
    guard end > 0 else { return nil }
    let bytes = (0..<end).map { data.byte(at: $0) }
    var text = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      text.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    return String(text)
  }
}
