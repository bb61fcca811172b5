import FuzzDecoders
import FuzzSupport
import FuzzWire
import PharosFixes
import PharosModel
import PharosPipeline
import PharosSite
import PharosSpace
import PharosWire

/// What handsets sense in a venue, and where they are taken to be: motion, Wi-Fi, beacons, satellites.
///
/// - Shape: for each datagram: 0 how long after the one before as a power of two of milliseconds, 1 length u16 big-endian, then
///   a Pharos datagram of so many bytes or what is left, its magic, version and length put right.
final class HandsetsTarget: FuzzTarget {
  static let name = "handsets"
  static let maximumLength = 2_048

  private let start: Pipeline?

  init() {
    let files = SampleVenue.house()
    let read = try? VenueFolder.read(
      "v",
      files: VenueFiles { name, limit throws(VenueFiles.Failure) in
        guard let bytes = files[name] else { throw .missing }
        return Array(bytes.prefix(limit))
      }
    )
    start = read.flatMap { try? Pipeline(site: SampleSite.site, venues: [LocatableVenue(venue: $0.venue)]) }
  }

  func run(_ input: RawSpan) {
    guard var pipeline = start else { return demand(false, "the sample venue can be located in") }
    var bytes = input.array
    var now = SampleTraffic.start
    var place = 0
    var datagrams = 0
    while place + 3 <= bytes.count, datagrams < 16 {
      now = now + .milliseconds(1 << Int64(bytes[place] % 18))
      let end = min(bytes.count, place + 3 + Int(bytes[place + 1]) << 8 + Int(bytes[place + 2]))
      if end - place >= 11 {
        let length = end - place - 3
        bytes.replaceSubrange(place + 3..<place + 8, with: [0x50, 0x48, 0x41, 0x52, 1])
        bytes[place + 9] = UInt8(truncatingIfNeeded: length >> 8)
        bytes[place + 10] = UInt8(truncatingIfNeeded: length)
      }
      var batch = ReportBatch()
      if (try? PharosFormat.decode(bytes.span.bytes.extracting(place + 3..<end), received: now, into: &batch))
        != nil
      {
        check(pipeline.ingest(batch))
      }
      place = end
      datagrams += 1
    }
    check(pipeline.finish(tail: .seconds(5)))
  }

  private func check(_ events: [Event]) {
    for event in events {
      guard case .fix(let fix) = event.detail else { continue }
      demand(fix.x.isFinite && fix.y.isFinite, "a fix is somewhere: \(fix)")
      demand(fix.horizontalAccuracy >= 0 && fix.horizontalAccuracy.isFinite, "a fix has an accuracy: \(fix)")
      demand(fix.speed?.isFinite ?? true, "a speed is a number: \(fix)")
      demand(fix.course?.isFinite ?? true, "a course is a number: \(fix)")
    }
  }

  static func seeds() throws -> [[UInt8]] {
    let batch = try SampleReports.everyKind()
    var walk = ReportBatch()
    let handset = walk.index(of: .uuid(UUID128(high: 5, low: 6)))
    func record(_ body: ReportBody) {
      walk.append(
        Report(observer: handset, received: DatagramCheck.received, timing: .age(.zero), body: body)
      )
    }
    record(
      .outsideFix(
        OutsideFix(
          latitude: 52.5201,
          longitude: 13.2902,
          horizontalAccuracy: Meters(8),
          speed: 1,
          source: .gnss
        )
      )
    )
    record(
      .outsideFix(
        OutsideFix(
          latitude: 52.5201,
          longitude: 13.2902,
          horizontalAccuracy: Meters(0.4),
          speed: nil,
          source: .vps,
          attitude: Rotation(w: 0.6, x: 0, y: 0, z: 0.8)
        )
      )
    )
    record(.relativePose(RelativePose(session: 3, interval: .milliseconds(200), x: 0.2, y: 0.1, z: 0)))
    record(
      .visualStatus(VisualStatus(state: .degradedPositioning, reasons: .lowLight, backgroundScan: .failed))
    )
    let beacon = BeaconID.proximity(SampleSite.uuid, major: 1, minor: 7)
    record(.rangedBeacon(RangedBeacon(beacon: beacon, rssi: RSSI(dBm: -60), accuracy: Meters(2))))
    for kind in 0...5 as ClosedRange<UInt8> {
      guard let kind = MotionSample.Kind(rawValue: kind) else { continue }
      let samples = (0..<4).map { index in
        MotionSample(kind: kind, age: .milliseconds(Int64(index) * 20), x: 0.7, y: 0.1, z: 0.5)
      }
      record(.motion(walk.append(motionSamples: samples)))
    }
    let point = AccessPoint(
      bssid: DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .unknown),
      rssi: RSSI(dBm: -50),
      frequency: 2_437,
      lastHeard: .zero
    )
    record(.wifiScan(walk.append(accessPoints: [point])))
    func datagram(_ reports: [Report], _ batch: ReportBatch, _ sequence: UInt32) -> [UInt8] {
      let observer = ObserverID.uuid(UUID128(high: 5, low: 6))
      var encoder = PharosDatagramEncoder(observer: observer, bootID: 1, sequence: sequence)
      for report in reports { _ = encoder.append(report, from: batch) }
      let bytes = encoder.finish(uptime: .milliseconds(1_000 + Int64(sequence) * 256))
      return [8, UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
    var seeds = walk.reports.map { datagram([$0], walk, 0) }
    seeds.append(datagram(Array(walk.reports), walk, 0) + datagram(Array(walk.reports.prefix(6)), walk, 1))
    seeds.append(datagram(Array(batch.reports.prefix(6)), batch, 0))
    return seeds
  }
}
