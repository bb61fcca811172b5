/// The header of an extended advertising PDU's payload.
///
/// - Shape: 0 length in the low 6 bits, mode above; if the length is not 0: 1 flags, then where their bits
///   are set AdvA 6 bytes, TargetA 6, CTE 1, ADI 2, AuxPtr 3, SyncInfo 18, TX power 1; the rest of the header
///   is ACAD.
/// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 2.3.4.
struct ExtendedHeader {
  /// The advertiser's address as 48 bits.
  var address: UInt64?
  /// Advertising data information: the set (SID) in the top 4 bits, the number of its data (DID) below.
  var dataInfo: UInt16?
  /// Whether another PDU is announced.
  var hasPointer = false
  var transmitPower: Int8?
  /// The advertising data.
  var data: ArraySlice<UInt8>

  /// The advertising set, or 255 for none.
  var advertisingSet: UInt8 { dataInfo.map { UInt8($0 >> 12) } ?? 255 }

  /// Reads a payload, or nil if a field runs past the header or the header past the payload.
  init?(_ payload: ByteView) {
    guard payload.count >= 1 else { return nil }
    let length = Int(payload[0] & 0x3F)
    guard payload.count >= 1 + length else { return nil }
    data = payload.dropping(1 + length).bytes
    guard length > 0 else { return }
    let flags = payload[1]
    let end = 1 + length
    var at = 2
    /// Where a field of so many bytes stands, if its flag is set.
    func field(_ bit: UInt8, _ size: Int) -> Int? {
      guard flags & 1 << bit != 0 else { return nil }
      defer { at += size }
      return at
    }
    let addressAt = field(0, 6)
    _ = field(1, 6)
    _ = field(2, 1)
    let dataInfoAt = field(3, 2)
    let pointerAt = field(4, 3)
    _ = field(5, 18)
    let powerAt = field(6, 1)
    guard at <= end else { return nil }
    address = addressAt.map { payload.address($0) }
    dataInfo = dataInfoAt.map { payload.u16($0, .little) }
    hasPointer = pointerAt != nil
    transmitPower = powerAt.map { Int8(bitPattern: payload[$0]) }
  }
}
