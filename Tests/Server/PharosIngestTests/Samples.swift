import PharosEncoders
import PharosModel
import PharosWire

/// Bytes and batches that the tests send.
enum Samples {
  /// The proximity UUID of all beacons here.
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  /// The AD structures of an iBeacon with major 1.
  static func iBeacon(minor: UInt16) -> [UInt8] {
    let identity = [uuid.high, uuid.low].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
    return [2, 1, 6, 26, 0xFF, 0x4C, 0, 2, 21] + identity + [
      0, 1, UInt8(minor >> 8), UInt8(minor & 255), 0xC5,
    ]
  }

  /// A raddec datagram in which one observer heard one iBeacon.
  static func raddec(observer: UInt64, minor: UInt16, rssi: Int8 = -60) -> [UInt8] {
    let sighting = RaddecSighting(
      transmitter: DeviceAddress(bits: 0xC0DE_0000_0000 | UInt64(minor), kind: .public),
      receivers: [RaddecSighting.Receiver(observer: .eui48(observer), rssi: RSSI(reported: rssi))],
      time: nil,
      packets: [RaddecSighting.Packet(pdu: .nonConnectable, data: iBeacon(minor: minor))]
    )
    return RaddecEncoder.encode(sighting) ?? []
  }

  /// A site with regions about observers and about beacons, ranging and zones over the first observers.
  static let site = Site(
    stream: "test",
    applications: [
      Application(
        identifier: "app",
        regions: [
          Region(
            identifier: "any",
            constraint: .proximity(uuid),
            presence: PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(2)))
          ),
          Region(
            identifier: "tag",
            constraint: .proximity(uuid, major: 1),
            subject: .beacon(observers: nil),
            presence: PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(2)))
          ),
        ],
        ranging: [RangingRequest(constraint: .proximity(uuid))]
      )
    ]
  )
}

extension ReportBatch {
  /// Appends an advert.
  mutating func appendAdvert(
    by observer: ObserverID,
    address: UInt64?,
    kind: DeviceAddress.Kind = .public,
    rssi: Int8,
    data: [UInt8],
    pdu: Advert.PDU = .nonConnectable,
    at received: Timestamp
  ) {
    let advert = Advert(
      address: address.map { DeviceAddress(bits: $0, kind: kind) },
      rssi: RSSI(reported: rssi),
      pdu: pdu,
      payload: append(payload: data)
    )
    append(
      Report(observer: index(of: observer), received: received, timing: .received, body: .advert(advert))
    )
  }
}
