import FuzzDecoders
import FuzzSupport
import PharosCaptures
import PharosModel
import PharosPipeline
import PharosWire

/// A short history of a small site: two gateways hear two beacons come, stay and go.
enum SampleTraffic {
  static let site = SampleSite.site
  static let start = Timestamp(seconds: 1_700_000_000)

  /// The datagram of the gateways at a step: one in three is heard by both.
  static func datagram(_ step: Int) throws -> [UInt8] {
    let gateway = SampleSite.gateways[step % 2]
    var encoder = PharosDatagramEncoder(observer: gateway, bootID: 1, sequence: UInt32(step))
    var batch = ReportBatch()
    let observer = batch.index(of: gateway)
    for minor in 1...3 as ClosedRange<UInt16> where minor != 3 || step % 3 == 0 {
      let frame = IBeacon(uuid: SampleSite.uuid, major: 1, minor: minor, measuredPower: -59)
      let payload = batch.append(payload: Frame.iBeacon(frame).legacyPayload)
      let advert = Advert(
        address: DeviceAddress(bits: 0xC4BE_84E7_EC00 + UInt64(minor), kind: .random),
        rssi: RSSI(dBm: -50 - Int8(step % 4) * 6),
        payload: payload
      )
      batch.append(
        Report(observer: observer, received: start, timing: .age(.milliseconds(50)), body: .advert(advert))
      )
    }
    if step % 5 == 0 {
      batch.append(
        Report(observer: observer, received: start, timing: .received, body: .heartbeat(Heartbeat()))
      )
    }
    for report in batch.reports { _ = encoder.append(report, from: batch) }
    return encoder.finish(uptime: .milliseconds(Int64(step) * 400 + 1_000))
  }

  /// The pipeline after some steps, and its inputs.
  static func pipeline(steps: Int) throws -> Pipeline {
    var pipeline = try Pipeline(site: site)
    var decoder = DatagramDecoder()
    for step in 0..<steps {
      var batch = ReportBatch()
      let now = start + .milliseconds(Int64(step) * 400)
      // Named: Swift 6.3.1 gives up on a span of what a call that may throw has just made.
      let bytes = try datagram(step)
      _ = decoder.decode(bytes.span.bytes, received: now, into: &batch)
      _ = pipeline.ingest(batch)
    }
    _ = pipeline.advance(to: start + .milliseconds(Int64(steps) * 400))
    return pipeline
  }

  /// Changes of the regions, an edited site, a clock that is set.
  static func otherInputs(at instant: Timestamp) -> [RecordedInput] {
    let region = Region(identifier: "r", constraint: .proximity(SampleSite.uuid, major: 1, minor: 2))
    var edited = site
    edited.applications[0].regions.removeLast()
    edited.zones[0].adjacent = ["zone1"]
    let beacon = BeaconID.proximity(SampleSite.uuid, major: 1, minor: 1)
    return [
      .change(.startMonitoring(application: "depot", region), at: instant),
      .change(
        .requestState(application: "gallery", identifier: "tags", subject: .beacon(beacon)),
        at: instant
      ),
      .change(.setRotation(application: "depot", [RegionNode(region: region)]), at: instant),
      .change(.stopMonitoring(application: "depot", identifier: "r"), at: instant),
      .change(.declare(edited), at: instant),
      .clockStep(.seconds(-3_600), at: instant),
      .tick(through: instant),
    ]
  }

  /// A whole recording, from the beginning or going on from a checkpoint.
  static func recording(steps: Int, restoring: Bool = false) throws -> [UInt8] {
    var writer = try RecordingWriter(site: site)
    if restoring {
      let restoration = Restoration(checkpoint: try pipeline(steps: 4).checkpoint())
      try writer.write(restoration, at: start)
    }
    for step in 0..<steps { try write(step, to: &writer) }
    try writer.finish(through: start + .seconds(60))
    return writer.drainBytes()
  }

  /// Writes what is received at a step.
  private static func write(_ step: Int, to writer: inout RecordingWriter) throws {
    let end = Endpoint(IPAddress(v4: 0x7F00_0001), port: 50_001)
    let now = start + .milliseconds(Int64(step) * 400)
    let bytes = try datagram(step)
    try writer.write(datagram: bytes.span.bytes, from: end, to: end, received: now)
    guard step == 2 else { return }
    for input in otherInputs(at: now) { try writer.write(input) }
  }
}
