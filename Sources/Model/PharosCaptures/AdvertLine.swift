package import PharosDocuments
package import PharosModel
package import PharosWire

/// One advertising report as a line of JSON, printed by `inspect --adverts`.
///
/// - Shape: `frame`, `index`, `time` (text, nine decimals), `addr`, `addr_type`, `pdu`, `rssi` (null if the
///   radio had none, left out if the capture's framing has none), `data` (hex), and where present `ibeacon`,
///   `altbeacon`, `eddystone`, `observer`.
package struct AdvertLine: Sendable, Equatable {
  /// The level, or the reason that there is none.
  package enum Level: Sendable, Equatable {
    /// The framing has no place for one.
    case notRecorded
    /// The radio had none.
    case notAvailable
    /// The level as written.
    ///
    /// - Units: dBm.
    case dBm(Int8)
  }

  /// The number of the packet, from 1.
  package var frame: Int
  /// The place of the report within the packet.
  package var index: Int
  /// The capture time, or nil if the capture has none.
  package var time: Timestamp?
  /// The advertiser, or nil if it was anonymous.
  package var address: DeviceAddress?
  /// The PDU's name, or nil if it is unknown.
  package var pdu: String?
  /// The level, or the reason that there is none.
  package var level: Level
  /// The AD structures.
  package var data: ArraySlice<UInt8>
  /// Indicates whether the checksum is right; printed only if it is wrong.
  package var isCRCRight = true
  /// Indicates whether `data` is complete; printed only if it is not.
  package var isComplete = true
  /// The observer that received the advert, if a datagram names one.
  package var observer: ObserverID?

  /// The line of a report found by ``AdvertExtractor``.
  package init(_ report: AdvertisingReport) {
    frame = report.frame
    index = report.index
    time = report.time
    address = report.address
    pdu = report.pdu.rawValue
    level = !report.hasRSSI ? .notRecorded : report.level.map { .dBm($0) } ?? .notAvailable
    data = report.data
    isCRCRight = report.isCRCRight ?? true
    isComplete = report.isComplete
  }

  /// The line of an advert that a datagram brought, or nil if the report is of another sort.
  package init?(_ report: Report, in batch: borrowing ReportBatch, frame: Int, index: Int) {
    guard case .advert(let advert) = report.body else { return nil }
    self.frame = frame
    self.index = index
    time = report.received
    address = advert.address
    pdu = AdvertLine.name(of: advert.pdu)
    level = advert.rssi.map { .dBm($0.dBm) } ?? .notAvailable
    data = batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
    observer = batch.observers[Int(report.observer)]
  }

  private static func name(of pdu: Advert.PDU) -> String? {
    switch pdu {
    case .connectable: AdvertisingPDU.advInd.rawValue
    case .directed: AdvertisingPDU.advDirectInd.rawValue
    case .scannable: AdvertisingPDU.advScanInd.rawValue
    case .nonConnectable: AdvertisingPDU.advNonconnInd.rawValue
    case .scanResponse: AdvertisingPDU.scanRsp.rawValue
    case .extended: AdvertisingPDU.advExtInd.rawValue
    case .unknown: nil
    }
  }
}

extension AdvertLine {
  /// Appends the line with its line feed.
  package func append(to json: inout JSONText, decoder: FrameDecoder = FrameDecoder()) {
    json.openObject()
    json.member("frame", frame)
    json.member("index", index)
    json.member("time", orNull: time?.epochText)
    json.member("addr", orNull: address?.description)
    let kind = address.map { AdvertisingReport.AddressKind($0.kind) } ?? .anonymous
    json.member("addr_type", kind.rawValue)
    json.member("pdu", orNull: pdu)
    switch level {
    case .notRecorded: break
    case .notAvailable: json.null("rssi")
    case .dBm(let level): json.member("rssi", Int(level))
    }
    json.member("data", Hex.text(data))
    if !isCRCRight { json.member("crc_ok", false) }
    if !isComplete { json.member("complete", false) }
    appendFrames(to: &json, decoder)
    json.member("observer", ifPresent: observer?.description)
    json.closeObject()
    json.newLine()
  }

  /// Appends the first beacon frame of each family that the payload holds.
  private func appendFrames(to json: inout JSONText, _ decoder: FrameDecoder) {
    let payload = unsafe data.span.bytes
    var structures = ADStructures()
    var seen = (iBeacon: false, altBeacon: false, eddystone: false)
    while let structure = structures.next(in: payload) {
      switch decoder.frame(of: structure, in: payload) {
      case .iBeacon(let frame) where !seen.iBeacon:
        seen.iBeacon = true
        frame.append(to: &json)
      case .altBeacon(let frame) where !seen.altBeacon:
        seen.altBeacon = true
        frame.append(to: &json)
      case .some(let frame) where frame.isEddystone && !seen.eddystone:
        seen.eddystone = true
        let uuid = structure.type.serviceUUIDLength ?? 0
        let serviceData = data.dropFirst(structure.payload.lowerBound + uuid).prefix(
          structure.payload.count - uuid
        )
        frame.appendEddystone(serviceData: serviceData, to: &json)
      default: break
      }
    }
  }
}

/// Beacon frames as members of an advert's line.
extension IBeacon {
  /// - Shape: `ibeacon` {`uuid` in lower case, `major`, `minor`, `tx_power`}.
  func append(to json: inout JSONText) {
    json.openObject("ibeacon")
    json.member("uuid", uuid.description.lowercased())
    json.member("major", major)
    json.member("minor", minor)
    json.member("tx_power", measuredPower)
    json.closeObject()
  }
}

extension AltBeacon {
  /// - Shape: `altbeacon` {`company`, `id` of 20 bytes in hex, `ref_rssi`, `mfg_reserved`}.
  func append(to json: inout JSONText) {
    json.openObject("altbeacon")
    json.member("company", company)
    let id = Hex.text(uuid.high, bytes: 8) + Hex.text(uuid.low, bytes: 8)
    json.member("id", id + Hex.text(UInt64(major), bytes: 2) + Hex.text(UInt64(minor), bytes: 2))
    json.member("ref_rssi", measuredPower)
    json.member("mfg_reserved", manufacturerByte)
    json.closeObject()
  }
}

extension Frame {
  /// - Shape: `eddystone` {`frame`, `service_data` in hex, then what the frame's type has}.
  func appendEddystone(serviceData: some Sequence<UInt8>, to json: inout JSONText) {
    guard let name = eddystoneName else { return }
    json.openObject("eddystone")
    json.member("frame", name)
    json.member("service_data", Hex.text(serviceData))
    switch self {
    case .eddystoneUID(let frame):
      json.member("tx_power_0m", frame.transmitPower)
      json.member("namespace", frame.namespace.description)
      json.member("instance", Hex.text(frame.instance, bytes: 6))
    case .eddystoneURL(let frame):
      json.member("tx_power_0m", frame.transmitPower)
      json.member("url", frame.url)
    case .eddystoneTLM(let frame):
      if let battery = frame.batteryMillivolts { json.member("battery_mv", battery) }
      if let temperature = frame.temperature { json.member("temperature", temperature, decimals: 3) }
      json.member("adv_count", frame.advertCount)
      json.member("uptime", frame.uptime.seconds, decimals: 1)
    case .eddystoneEID(let frame):
      json.member("tx_power_0m", frame.transmitPower)
      json.member("eid", Hex.text(frame.identifier, bytes: 8))
    case .eddystoneEncryptedTLM(let frame):
      json.member("salt", Hex.text(UInt64(frame.salt), bytes: 2))
    case .iBeacon, .altBeacon: break
    }
    json.closeObject()
  }

  private var eddystoneName: String? {
    switch self {
    case .eddystoneUID: "UID"
    case .eddystoneURL: "URL"
    case .eddystoneTLM, .eddystoneEncryptedTLM: "TLM"
    case .eddystoneEID: "EID"
    case .iBeacon, .altBeacon: nil
    }
  }
}
