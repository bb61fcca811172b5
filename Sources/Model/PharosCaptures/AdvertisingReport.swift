package import PharosModel

/// One advertising report found in a capture, received by a radio or reported by a controller.
package struct AdvertisingReport: Sendable, Equatable {
  /// The kind of address that a device advertises with.
  package enum AddressKind: String, Sendable, Equatable {
    /// Registered with the IEEE.
    case `public`
    /// Made by the device.
    case random
    /// No address at all.
    case anonymous
    /// Of a type that no specification names.
    case unknown

    /// Creates the kind that corresponds to that of a device address.
    init(_ kind: DeviceAddress.Kind) {
      switch kind {
      case .public: self = .public
      case .random: self = .random
      case .unknown: self = .unknown
      }
    }
  }

  /// The modulation.
  package enum PHY: UInt8, Sendable, Equatable {
    /// One megabit a second, all that legacy advertising uses.
    case oneMegabit = 1
    /// Two megabits a second, on secondary channels only.
    case twoMegabit = 2
    /// Coded, for long range.
    case coded = 3
  }

  /// The number of the packet that brought it, of the last where data came in several.
  package var frame: Int
  /// Its place within that packet, from 0.
  package var index: Int
  /// The capture time of the packet, or nil if the capture has none.
  package var time: Timestamp?
  /// The advertiser, or nil if it was anonymous.
  package var address: DeviceAddress?
  /// The PDU that brought it.
  package var pdu: AdvertisingPDU
  /// Indicates whether the capture's framing has a field for the level.
  package var hasRSSI: Bool
  /// The level as written, or nil for none: the framing has none, marks it invalid, or says 127.
  ///
  /// - Units: dBm.
  package var level: Int8?
  /// The AD structures.
  package var data: ArraySlice<UInt8>
  /// The channel index 0 to 39, if the framing records it.
  ///
  /// A hint only: tools differ in whether they write indices or frequencies.
  package var channel: UInt8?
  /// The advertising set (SID), or 255 if there is none.
  package var advertisingSet: UInt8
  /// The modulation, on the primary channel if a controller reports it; nil if unknown.
  package var primaryPHY: PHY?
  /// The transmit power that the PDU states, or nil for none.
  ///
  /// - Units: dBm.
  package var transmitPower: Int8?
  /// Indicates whether the link-layer checksum is right; nil if a controller has already checked it.
  package var isCRCRight: Bool?
  /// Indicates whether `data` is all that the advertiser sent; if not, more follows in a chain, or was lost.
  package var isComplete: Bool

  /// The level, or nil if there is none; 0 too means that there is none.
  package var rssi: RSSI? { level.flatMap { RSSI(reported: $0) } }

  /// The kind of the address, or ``AddressKind/anonymous`` if there is none.
  package var addressKind: AddressKind {
    guard let address else { return .anonymous }
    return AddressKind(address.kind)
  }

  /// Makes a report.
  package init(
    frame: Int,
    index: Int = 0,
    time: Timestamp?,
    address: DeviceAddress?,
    pdu: AdvertisingPDU,
    hasRSSI: Bool = true,
    level: Int8? = nil,
    data: ArraySlice<UInt8>,
    channel: UInt8? = nil,
    advertisingSet: UInt8 = 255,
    primaryPHY: PHY? = nil,
    transmitPower: Int8? = nil,
    isCRCRight: Bool? = nil,
    isComplete: Bool = true
  ) {
    self.frame = frame
    self.index = index
    self.time = time
    self.address = address
    self.pdu = pdu
    self.hasRSSI = hasRSSI
    self.level = level == 127 ? nil : level
    self.data = data
    self.channel = channel
    self.advertisingSet = advertisingSet
    self.primaryPHY = primaryPHY
    self.transmitPower = transmitPower == 127 ? nil : transmitPower
    self.isCRCRight = isCRCRight
    self.isComplete = isComplete
  }
}

extension AdvertisingReport {
  /// Appends the report to a batch as an advert that an observer heard at the given time.
  ///
  /// The caller supplies the time, since a packet may lack one: usually `time`, otherwise that of the packet before.
  package func append(to batch: inout ReportBatch, observer: ObserverID, received: Timestamp) {
    let payload = unsafe batch.append(payload: data.span.bytes)
    let advert = Advert(
      address: address,
      rssi: rssi,
      pdu: pdu.kind,
      channel: channel.flatMap { (37...39).contains($0) ? $0 : nil } ?? 0,
      advertisingSet: advertisingSet,
      payload: payload
    )
    batch.append(
      Report(
        observer: batch.index(of: observer),
        received: received,
        timing: .received,
        body: .advert(advert)
      )
    )
  }
}

/// The advertising PDU that brought a report, with the names of the Bluetooth specification.
package enum AdvertisingPDU: String, Sendable, Equatable, CaseIterable {
  /// Connectable and scannable.
  case advInd = "ADV_IND"
  /// Connectable, for one device; without data.
  case advDirectInd = "ADV_DIRECT_IND"
  /// Scannable.
  case advScanInd = "ADV_SCAN_IND"
  /// Neither.
  case advNonconnInd = "ADV_NONCONN_IND"
  /// The answer to a scan request.
  case scanRsp = "SCAN_RSP"
  /// Extended advertising on a primary channel, or as a controller reports it.
  case advExtInd = "ADV_EXT_IND"
  /// Extended advertising on a secondary channel.
  case auxAdvInd = "AUX_ADV_IND"
  /// More data of extended advertising.
  case auxChainInd = "AUX_CHAIN_IND"
  /// The answer to a scan request on a secondary channel.
  case auxScanRsp = "AUX_SCAN_RSP"

  /// The corresponding PDU kind of a report.
  package var kind: Advert.PDU {
    switch self {
    case .advInd: .connectable
    case .advDirectInd: .directed
    case .advScanInd: .scannable
    case .advNonconnInd: .nonConnectable
    case .scanRsp: .scanResponse
    case .advExtInd, .auxAdvInd, .auxChainInd, .auxScanRsp: .extended
    }
  }

  /// The PDU of an event type in HCI's LE Advertising Report; these are not the link layer's numbers.
  init?(hciEventType type: UInt8) {
    switch type {
    case 0: self = .advInd
    case 1: self = .advDirectInd
    case 2: self = .advScanInd
    case 3: self = .advNonconnInd
    case 4: self = .scanRsp
    default: return nil
    }
  }

  /// The PDU of an event type in HCI's LE Extended Advertising Report.
  ///
  /// - Shape: bit 0 connectable, 1 scannable, 2 directed, 3 scan response, 4 legacy.
  init(hciExtendedEventType type: UInt16) {
    let isLegacy = type & 0x10 != 0
    if type & 0x08 != 0 {
      self = isLegacy ? .scanRsp : .auxScanRsp
    } else if !isLegacy {
      self = .advExtInd
    } else if type & 0x04 != 0 {
      self = .advDirectInd
    } else {
      self = type & 0x01 != 0 ? .advInd : type & 0x02 != 0 ? .advScanInd : .advNonconnInd
    }
  }

  /// The legacy advertising PDU of a link-layer type, or nil for requests and extended ones.
  init?(linkLayerType type: UInt8) {
    switch type {
    case 0: self = .advInd
    case 1: self = .advDirectInd
    case 2: self = .advNonconnInd
    case 4: self = .scanRsp
    case 6: self = .advScanInd
    default: return nil
    }
  }
}
