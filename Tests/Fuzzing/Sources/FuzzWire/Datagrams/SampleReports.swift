package import PharosModel
import PharosWire

/// Reports of every kind, for the seeds of many targets.
package enum SampleReports {
  /// Why there are none.
  struct Unreadable: Error {}

  /// One report of every kind and more adverts than one, by two observers.
  package static func everyKind() throws -> ReportBatch {
    var batch = ReportBatch()
    var decoder = DatagramDecoder()
    for datagram in Samples.json {
      guard
        case .success = decoder.decode(datagram.span.bytes, received: DatagramCheck.received, into: &batch)
      else {
        throw Unreadable()
      }
    }
    let observer = batch.index(of: .name("door"))
    for frame in try AdvertsTarget.sampleFrames() {
      let payload = batch.append(payload: frame.legacyPayload)
      let advert = Advert(
        address: DeviceAddress(bits: 0xC4BE_84E7_EC3E, kind: .random),
        rssi: RSSI(dBm: -60),
        pdu: .nonConnectable,
        channel: 38,
        payload: payload
      )
      batch.append(
        Report(
          observer: observer,
          received: DatagramCheck.received,
          timing: .age(.milliseconds(120)),
          body: .advert(advert)
        )
      )
    }
    for body in [
      ReportBody.relativePose(RelativePose(session: 3, interval: .milliseconds(100), x: 0.1, y: 0, z: 0)),
      .visualStatus(VisualStatus(state: .degradedPositioning, reasons: .lowLight, backgroundScan: .failed)),
    ] {
      batch.append(
        Report(observer: observer, received: DatagramCheck.received, timing: .age(.zero), body: body)
      )
    }
    return batch
  }
}
