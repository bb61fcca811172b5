/// A link-layer packet with what its framing says about how it was heard.
struct AirPacket {
  /// What the framing says about the checksum.
  enum Verdict {
    case passed
    case failed
    /// Nothing: it has to be computed.
    case unchecked
  }

  /// What the framing says about the kind of a PDU of extended advertising.
  enum Role {
    case primary
    case auxAdv
    case auxChain
    case auxSync
    case auxScanRsp

    /// The kind that the two bits of LE_LL_WITH_PHDR and of Nordic's header stand for.
    init(auxiliaryBits bits: UInt16) {
      switch bits & 3 {
      case 0: self = .auxAdv
      case 1: self = .auxChain
      case 2: self = .auxSync
      default: self = .auxScanRsp
      }
    }
  }

  /// The packet from its access address on.
  var bytes: ByteView
  var hasRSSI = false
  /// - Units: dBm.
  var level: Int8?
  var channel: UInt8?
  var phy: AdvertisingReport.PHY?
  var verdict = Verdict.unchecked
  var role: Role?

  init(_ bytes: ByteView) { self.bytes = bytes }

  /// The channel index of a physical channel, counted in steps of 2 MHz from 2402 MHz.
  static func channelIndex(physical: UInt8) -> UInt8? {
    switch physical {
    case 0: 37
    case 12: 38
    case 39: 39
    case 1...11: physical - 1
    case 13...38: physical - 2
    default: nil
    }
  }

  /// The channel of a legacy PDU, which comes on 37, 38 and 39 alone.
  ///
  /// whad writes indices where physical channels belong: 37 and 38 were then read as 35 and 36.
  static func legacyChannel(_ index: UInt8?) -> UInt8? {
    switch index {
    case 35: 37
    case 36: 38
    case 37, 38, 39: index
    default: nil
    }
  }
}
