package import PharosModel
import PharosWire

/// New observers, each of which enters a region with the first advert that it hears: the datagrams
/// whose way to a subscriber is timed.
package struct ProbeTraffic: Sendable {
  /// The application that asks about them.
  package static let application = "probes"
  /// Its region.
  package static let region = "door"
  /// The first of their identities, whose last four bytes are the number; those of the site's observers begin otherwise.
  private static let first: UInt64 = 0x5C23_0000_0000
  /// Where the last four bytes of the observer's identity stand (the article "The Pharos datagram, version 1").
  private static let numberOffset = 32
  private static let uuid = UUID128(high: 0x5051_5253_5455_5657, low: 0x5859_5A5B_5C5D_5E5F)

  /// A datagram of the first of them.
  private var datagram: [UInt8]

  /// Makes the datagram that all of them send.
  package init() {
    var batch = ReportBatch()
    let observer = ObserverID.eui48(ProbeTraffic.first)
    let place = batch.index(of: observer)
    let payload = SiteTraffic.payload(of: ProbeTraffic.uuid, major: 1, minor: 1)
    let advert = Advert(
      address: DeviceAddress(bits: 0x2000_0000_0000, kind: .public),
      rssi: RSSI(dBm: -60),
      pdu: .nonConnectable,
      payload: batch.append(payload: payload.span.bytes)
    )
    let now = Timestamp(seconds: 1_420_070_400)
    batch.append(Report(observer: place, received: now, timing: .age(.zero), body: .advert(advert)))
    var encoder = PharosDatagramEncoder(observer: observer, bootID: 1)
    for report in batch.reports {
      let fits = encoder.append(report, from: batch)
      precondition(fits, "one advert fits a datagram")
    }
    datagram = encoder.finish(uptime: .zero)
  }

  /// What the site's file says about them: one advert is enough to enter.
  package static var declaration: Application {
    var region = Region(identifier: region, constraint: .proximity(uuid))
    region.presence.enterSamples = 1
    return Application(identifier: application, regions: [region])
  }

  /// The datagram of one of them, by its number.
  package mutating func datagram(_ number: Int) -> [UInt8] {
    for byte in 0..<4 {
      datagram[ProbeTraffic.numberOffset + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * byte))
    }
    return datagram
  }

  /// Returns the number of the probe that a decision is about, or nil if it is about another subject.
  package static func number(of subject: SubjectID) -> Int? {
    guard case .observer(.eui48(let bits)) = subject, bits >= first, bits - first <= UInt64(UInt32.max) else {
      return nil
    }
    return Int(bits - first)
  }
}
