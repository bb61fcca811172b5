package import PharosModel
import PharosWire

/// The traffic of a site at work: a hundred gateways that each hear a hundred and more beacons once a second.
package struct SiteLoad: Sendable {
  /// How many gateways there are; each sends its second's adverts in a slot of its own.
  package static let gateways = 100
  /// The most adverts in a datagram: 24 of an iBeacon's 30 bytes stay within 1,400 bytes.
  private static let perDatagram = 24
  /// The beacons' UUID, as a site file names it.
  package static let uuid = "A0A0A0A0-0000-4000-8000-00000000BBBB"

  private let beacons: Int
  private var encoders: [PharosDatagramEncoder]
  private var batch = ReportBatch()
  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// Begins the traffic.
  ///
  /// - Parameter adverts: how many adverts a second, all gateways together.
  package init(adverts: Int) {
    beacons = max(1, adverts / SiteLoad.gateways)
    encoders = (0..<SiteLoad.gateways).map {
      PharosDatagramEncoder(observer: .eui48(0xAC23_3F00_0000 | UInt64($0)), bootID: 1)
    }
  }

  /// The datagrams of a gateway's next second.
  package mutating func datagrams(of gateway: Int, second: Int64) -> [[UInt8]] {
    batch.removeAll()
    let observer = batch.index(of: encoders[gateway].observer)
    for beacon in 0..<beacons {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let level = -60 - (gateway + beacon) % 25 - Int(random >> 60) % 4
      batch.append(
        AdvertMaker.report(
          AdvertMaker.iBeacon(SiteLoad.uuid, major: UInt16(gateway), minor: UInt16(beacon)),
          address: 0x1000_0000_0000 | UInt64(gateway) << 16 | UInt64(beacon),
          level: Int8(level),
          age: .milliseconds(Int64(random >> 33) % 20),
          observer: observer,
          in: &batch
        )
      )
    }
    var datagrams: [[UInt8]] = []
    var held = 0
    for report in batch.reports {
      if held == SiteLoad.perDatagram {
        datagrams.append(encoders[gateway].finish(uptime: .milliseconds(second * 1_000)))
        held = 0
      }
      _ = encoders[gateway].append(report, from: batch)
      held += 1
    }
    datagrams.append(encoders[gateway].finish(uptime: .milliseconds(second * 1_000)))
    return datagrams
  }
}

/// Makes adverts.
package enum AdvertMaker {
  /// The AD structures of an iBeacon.
  package static func iBeacon(_ uuid: String, major: UInt16, minor: UInt16) -> [UInt8] {
    let digits = uuid.filter { $0 != "-" }.utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
    let bytes = stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    return [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + bytes
      + [UInt8(major >> 8), UInt8(major & 0xFF), UInt8(minor >> 8), UInt8(minor & 0xFF), 0xC5]
  }

  /// The report of an advert.
  package static func report(
    _ payload: [UInt8],
    address: UInt64,
    level: Int8,
    age: TimeSpan,
    observer: UInt32,
    in batch: inout ReportBatch
  ) -> Report {
    let advert = Advert(
      address: DeviceAddress(bits: address, kind: .public),
      rssi: RSSI(dBm: level),
      pdu: .nonConnectable,
      payload: batch.append(payload: payload)
    )
    return Report(
      observer: observer,
      received: Timestamp(seconds: 1_700_000_000),
      timing: .age(age),
      body: .advert(advert)
    )
  }
}
