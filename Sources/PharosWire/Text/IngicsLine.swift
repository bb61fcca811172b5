import PharosReports

/// What a line of an Ingics gateway is; the raw value is its four letters as a big-endian number.
enum IngicsLine: UInt32 {
  /// `GPRP`: a legacy advert of any kind.
  case legacyAdvert = 0x4750_5250
  /// `RSPR`: the answer to a scan request.
  case scanResponse = 0x5253_5052
  /// `LRAD`: an extended advert on the coded PHY.
  case codedAdvert = 0x4C52_4144
  /// `LRSR`: the answer to a scan request on the coded PHY.
  case codedScanResponse = 0x4C52_5352
  /// `1MAD`: an extended advert on the 1M PHY.
  case extendedAdvert = 0x314D_4144
  /// `1MSR`: the answer to an extended scan request on the 1M PHY.
  case extendedScanResponse = 0x314D_5352
  /// `HBRP`: the gateway lives.
  case heartbeat = 0x4842_5250
  /// `GPSR`: where the gateway is.
  case fix = 0x4750_5352

  /// The PDU that brought an advert of this line.
  var pdu: Advert.PDU {
    switch self {
    case .scanResponse: .scanResponse
    case .codedAdvert, .codedScanResponse, .extendedAdvert, .extendedScanResponse: .extended
    case .legacyAdvert, .heartbeat, .fix: .unknown
    }
  }
}

/// The lines of a text, or the fields of a line with commas between them.
struct IngicsFields {
  private var offset: Int
  private let end: Int

  init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  /// Whether no field is left.
  var isAtEnd: Bool { offset > end }

  /// The next field; an empty one counts.
  mutating func next(_ bytes: RawSpan) throws(DatagramRefusal) -> Range<Int> {
    guard offset <= end else { throw .tooShort }
    let start = offset
    while offset < end, bytes.byte(at: offset) != UInt8(ascii: ",") { offset += 1 }
    let field = start..<offset
    offset += 1
    return field
  }

  /// The next line that is not empty, without its end.
  mutating func nextLine(_ bytes: RawSpan) -> Range<Int>? {
    while offset < end, IngicsFields.endsLine(bytes.byte(at: offset)) { offset += 1 }
    guard offset < end else { return nil }
    let start = offset
    while offset < end, !IngicsFields.endsLine(bytes.byte(at: offset)) { offset += 1 }
    return start..<offset
  }

  private static func endsLine(_ ascii: UInt8) -> Bool {
    ascii == UInt8(ascii: "\n") || ascii == UInt8(ascii: "\r")
  }
}
