import PharosReports

/// A link-layer advertising PDU as raddec carries it: two bytes of header, then addresses and data; no CRC.
///
/// - Shape: byte 0: low nibble the type, bit 6 whether the advertiser's address is random; byte 1: the length
///   of the rest.
/// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 2.3.
struct AdvertisingPDU {
  /// Which PDU it is.
  let pdu: Advert.PDU
  /// Whose it is, or nil for an extended one that leaves the address out.
  let address: DeviceAddress?
  /// The advertising set of an extended one, otherwise 255.
  let advertisingSet: UInt8
  /// Where the AD structures lie.
  let data: Range<Int>

  /// Reads the PDU that fills a range exactly.
  ///
  /// - Throws: ``DatagramRefusal/tooShort`` or ``DatagramRefusal/lengthMismatch``.
  init(_ bytes: RawSpan, in range: Range<Int>) throws(DatagramRefusal) {
    guard range.count >= 2 else { throw .tooShort }
    let header = bytes.byte(at: range.lowerBound)
    guard Int(bytes.byte(at: range.lowerBound + 1)) == range.count - 2 else { throw .lengthMismatch }
    let body = range.lowerBound + 2..<range.upperBound
    if header & 0x0F == 7 {
      try self.init(extended: bytes, in: body, random: header & 0x40 != 0)
    } else {
      try self.init(legacy: bytes, in: body, type: header & 0x0F, random: header & 0x40 != 0)
    }
  }

  private init(
    legacy bytes: RawSpan,
    in body: Range<Int>,
    type: UInt8,
    random: Bool
  ) throws(DatagramRefusal) {
    guard body.count >= 6 else { throw .tooShort }
    address = DeviceAddress(bits: bytes.u48Reversed(at: body.lowerBound), kind: random ? .random : .public)
    advertisingSet = 255
    let rest = body.lowerBound + 6..<body.upperBound
    let none = body.upperBound..<body.upperBound
    switch type {
    case 0: (pdu, data) = (.connectable, rest)
    case 1: (pdu, data) = (.directed, none)
    case 2: (pdu, data) = (.nonConnectable, rest)
    case 4: (pdu, data) = (.scanResponse, rest)
    case 6: (pdu, data) = (.scannable, rest)
    // Scan and connection requests, and reserved types: their sender was heard, but what follows is no AD.
    default: (pdu, data) = (.unknown, none)
    }
  }

  private init(extended bytes: RawSpan, in body: Range<Int>, random: Bool) throws(DatagramRefusal) {
    pdu = .extended
    var cursor = ByteCursor(body)
    let headerLength = Int(try cursor.u8(bytes) & 0x3F)
    var header = ByteCursor(try cursor.take(headerLength))
    data = cursor.offset..<body.upperBound
    guard headerLength > 0 else {
      address = nil
      advertisingSet = 255
      return
    }
    let flags = try header.u8(bytes)
    if flags & 0x01 != 0 {
      let place = try header.take(6).lowerBound
      address = DeviceAddress(bits: bytes.u48Reversed(at: place), kind: random ? .random : .public)
    } else {
      address = nil
    }
    // TargetA and CTEInfo stand between the address and the advertising set.
    _ = try header.take((flags & 0x02 != 0 ? 6 : 0) + (flags & 0x04 != 0 ? 1 : 0))
    guard flags & 0x08 != 0 else {
      advertisingSet = 255
      return
    }
    let place = try header.take(2).lowerBound
    advertisingSet = bytes.byte(at: place + 1) >> 4
  }
}
