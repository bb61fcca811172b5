import PharosModel
import PharosPipeline

/// What a pipeline said, and between what it said the changes that it took.
enum WorldEntry {
  case events([Event])
  case change(RegionChange, Timestamp)
}

extension World {
  /// Plays all inputs and lets so much time run on; gives what was said, and who is inside at the end.
  func play(tail: TimeSpan = .seconds(400)) throws -> (log: [WorldEntry], inside: [Standing]) {
    var pipeline = try Pipeline(site: site)
    var log: [WorldEntry] = []
    var batch = ReportBatch()
    for input in inputs {
      guard case .change(let change, let instant) = input else {
        World.append(input, to: &batch)
        continue
      }
      log.append(.events(pipeline.ingest(batch)))
      batch.removeAll()
      let isAccepted = (try? pipeline.check(change)) != nil
      log.append(.events(pipeline.apply(change, at: instant)))
      if isAccepted { log.append(.change(change, instant)) }
    }
    log.append(.events(pipeline.ingest(batch)))
    log.append(.events(pipeline.finish(tail: tail)))
    return (log, pipeline.insideNow())
  }

  static func append(_ input: WorldInput, to batch: inout ReportBatch) {
    guard case .report(let observer, let received, let timing, let body) = input else { return }
    let reportBody: ReportBody
    switch body {
    case .advert(let tag, let level, let isRanged):
      let rssi = level.map { RSSI(dBm: $0) }
      if isRanged {
        let beacon = BeaconID.proximity(uuid, major: tag.major, minor: tag.minor)
        reportBody = .rangedBeacon(RangedBeacon(beacon: beacon, rssi: rssi, accuracy: nil))
      } else {
        let payload = batch.append(payload: iBeacon(tag))
        reportBody = .advert(Advert(address: tag.address, rssi: rssi, payload: payload))
      }
    case .heartbeat(let count): reportBody = .heartbeat(Heartbeat(advertsHeard: count))
    case .displayOn: reportBody = .displayOn
    case .transmission(let bootID, let sequence):
      reportBody = .transmission(Transmission(bootID: bootID, sequence: sequence, uptime: .zero))
    case .scanState(let state): reportBody = .scanState(state)
    }
    let index = batch.index(of: observers[observer])
    batch.append(Report(observer: index, received: received, timing: timing, body: reportBody))
  }

  /// The AD structures of a tag's iBeacon.
  private static func iBeacon(_ tag: Tag) -> [UInt8] {
    var bytes: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    for word in [uuid.high, uuid.low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return bytes + [0, UInt8(tag.major), 0, UInt8(tag.minor), 0xC5]
  }
}
