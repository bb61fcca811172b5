import FuzzSupport
package import PharosModel
import PharosWire

/// Decodes datagrams into a batch that is used again and again, and checks what every format promises.
package struct DatagramCheck {
  private(set) var batch = ReportBatch()
  private let start: ReportBatch.Mark
  private static let sentinel = ObserverID.eui48(0xFE_DCBA_9876)

  /// When all datagrams are received.
  package static let received = Timestamp(seconds: 1_700_000_000)

  /// Begins with a batch that holds a report already, which must stay as it is.
  init() {
    let observer = batch.index(of: Self.sentinel)
    let payload = batch.append(payload: [0x02, 0x01, 0x06])
    let advert = Advert(address: nil, rssi: nil, payload: payload)
    batch.append(
      Report(observer: observer, received: Self.received, timing: .received, body: .advert(advert))
    )
    start = batch.mark
  }

  /// Decodes by one format; gives whether it was taken.
  ///
  /// The reports stand behind the first one until ``forget()``.
  mutating func decode<Format: DatagramFormat>(
    _ datagram: RawSpan,
    as format: Format.Type,
    of observer: ObserverID? = nil
  ) -> Bool {
    var notes = DecodingNotes()
    do {
      let context = MessageContext(received: Self.received, observer: observer)
      try Format.decode(datagram, within: context, into: &batch, notes: &notes)
    } catch {
      checkUntouched()
      return false
    }
    checkReports()
    return true
  }

  /// Decodes by whatever format recognises it.
  mutating func decode(_ datagram: RawSpan, by decoder: inout DatagramDecoder) -> Bool {
    switch decoder.decode(datagram, received: Self.received, into: &batch) {
    case .failure: checkUntouched()
    case .success:
      checkReports()
      return true
    }
    return false
  }

  /// Forgets what was decoded.
  mutating func forget() { batch.removeAll(behind: start) }

  private func checkUntouched() {
    demand(
      batch.observers.count == 1 && batch.reports.count == 1 && batch.payloads.count == 3
        && batch.accessPoints.isEmpty && batch.motionSamples.isEmpty,
      "a refused datagram leaves the batch as it was"
    )
  }

  private func checkReports() {
    for report in batch.reports {
      demand(Int(report.observer) < batch.observers.count, "a report names an observer of its batch")
      demand(report.received == Self.received, "a report has the time of receipt that was given")
      switch report.body {
      case .advert(let advert):
        demand(Int(advert.payload.upperBound) <= batch.payloads.count, "a payload lies within the batch")
      case .wifiScan(let range):
        demand(Int(range.upperBound) <= batch.accessPoints.count, "a scan lies within the batch")
      case .motion(let range):
        demand(Int(range.upperBound) <= batch.motionSamples.count, "samples lie within the batch")
      case .outsideFix(let fix):
        demand((-90...90).contains(fix.latitude) && (-180...180).contains(fix.longitude), "a fix is on Earth")
        demand(fix.attitude?.isUnit != false, "an attitude is a rotation")
      case .relativePose(let pose):
        demand(pose.rotation?.isUnit != false, "a pose turns by a rotation")
        demand(pose.x.isFinite && pose.y.isFinite && pose.z.isFinite, "a pose moves by numbers")
      case .rangedBeacon, .scanState, .visualStatus, .displayOn, .heartbeat, .transmission: break
      }
    }
    for sample in batch.motionSamples {
      demand(sample.x.isFinite && sample.y.isFinite && sample.z.isFinite, "samples are numbers")
    }
  }
}
