package import PharosReports

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
  /// Extended advertising on a primary channel, or as a controller tells it.
  case advExtInd = "ADV_EXT_IND"
  /// Extended advertising on a secondary channel.
  case auxAdvInd = "AUX_ADV_IND"
  /// More data of extended advertising.
  case auxChainInd = "AUX_CHAIN_IND"
  /// The answer to a scan request on a secondary channel.
  case auxScanRsp = "AUX_SCAN_RSP"

  /// What a report calls it.
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
