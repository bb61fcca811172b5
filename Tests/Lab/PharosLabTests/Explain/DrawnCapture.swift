import Foundation
import PharosCaptures
import PharosModel
import PharosWire

/// A capture made by hand: one gateway, a heartbeat a second, and beacons at stated seconds.
struct DrawnCapture {
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let gateway = ObserverID.eui48(0xAC23_3FA0_0001)
  /// 2026-01-05T12:00:00Z.
  static let origin = Timestamp(seconds: 1_767_614_400)

  private var items: [(time: Double, body: ReportBody)] = []

  static func beacon(_ major: UInt16, _ minor: UInt16) -> BeaconID {
    .proximity(uuid, major: major, minor: minor)
  }

  /// A beacon is heard once a second from one time to another, the last one included.
  mutating func receive(
    _ major: UInt16,
    _ minor: UInt16,
    from first: Double,
    to last: Double,
    dBm: Int8 = -60
  ) {
    for time in stride(from: first, through: last, by: 1) {
      let ranged = RangedBeacon(
        beacon: DrawnCapture.beacon(major, minor),
        rssi: RSSI(dBm: dBm),
        accuracy: nil
      )
      items.append((time, .rangedBeacon(ranged)))
    }
  }

  /// The gateway gives a sign of life once a second from one time to another.
  mutating func beat(from first: Double, to last: Double) {
    for time in stride(from: first, through: last, by: 1) { items.append((time, .heartbeat(Heartbeat()))) }
  }

  /// The capture as a file's bytes: a datagram for each report.
  func bytes() throws -> [UInt8] {
    var writer = CaptureWriter()
    var encoder = PharosDatagramEncoder(observer: DrawnCapture.gateway, bootID: 1)
    let source = Endpoint(IPAddress(v4: 0x0A00_0001), port: 40_000)
    let destination = Endpoint(IPAddress(v4: 0x0A00_0002), port: 50_001)
    for item in items.sorted(by: { $0.time < $1.time }) {
      let time = DrawnCapture.origin + .seconds(item.time)
      var batch = ReportBatch()
      let report = Report(
        observer: batch.index(of: DrawnCapture.gateway),
        received: time,
        timing: .received,
        body: item.body
      )
      batch.append(report)
      _ = encoder.append(report, from: batch)
      let datagram = encoder.finish(uptime: .seconds(item.time + 1))
      try writer.write(payload: datagram.span.bytes, from: source, to: destination, at: time)
    }
    return writer.drainBytes()
  }

  /// The site that goes with it: a region by a fixed time-out, one by an adaptive one, one by level.
  static let site = """
    applications:
      - id: shop
        regions:
          - { id: fixed, subject: beacon, uuid: \(uuid), major: 1, exit: { silence: 12s } }
          - { id: learned, subject: beacon, uuid: \(uuid), major: 2 }
          - { id: close, subject: beacon, uuid: \(uuid), major: 3,
              enter: { rssi: -70 }, exit: { rssi: -80, dwell: 4s, silence: never } }
          - { id: quiet, subject: beacon, uuid: \(uuid), major: 1, notifyOnExit: false, exit: { silence: 12s } }
    observers:
      - { id: "ac:23:3f:a0:00:01", name: door, liveness: heartbeat, lag: 500ms }
    beacons:
      - { uuid: \(uuid), major: 1, minor: 1, name: pump }
    """

  /// A pump that is silent for eleven seconds once and leaves later; a tag that stays and leaves; one that becomes weak; a
  /// lone advert; and at the end a gateway that dies for a minute while a tag stays.
  static var story: DrawnCapture {
    var capture = DrawnCapture()
    capture.beat(from: 0.5, to: 240)
    capture.beat(from: 330.5, to: 400)
    capture.receive(1, 1, from: 1, to: 20)
    capture.receive(1, 1, from: 31, to: 40)
    capture.receive(2, 1, from: 2.25, to: 90.25)
    capture.receive(3, 1, from: 3.125, to: 60.125, dBm: -60)
    capture.receive(3, 1, from: 61.125, to: 120.125, dBm: -95)
    capture.receive(2, 2, from: 150.75, to: 150.75)
    capture.receive(2, 3, from: 180.375, to: 239.375)
    capture.receive(2, 3, from: 331.375, to: 399.375)
    return capture
  }
}
