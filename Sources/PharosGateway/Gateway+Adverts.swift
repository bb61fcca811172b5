import PharosAdvertising
package import PharosReports
import PharosWire

/// How adverts get into parcels and parcels into the ring.
extension Gateway {
  /// Puts an advert of a batch into the parcel that is being filled.
  package mutating func add(_ report: Report, from batch: borrowing ReportBatch) {
    guard case .advert(var advert) = report.body else { return }
    counters.heard += 1
    tally.hear()
    let room = PharosDatagramLayout.longest - lengths.empty - lengths.advert
    if advert.payload.count > room {
      counters.shortened += 1
      advert.payload = Gateway.shortened(advert.payload, to: room, in: batch)
    }
    let length = lengths.advert + advert.payload.count
    if filling.length + length > PharosDatagramLayout.longest { close() }
    var report = report
    report.body = .advert(advert)
    filling.append(report, from: batch, length: length)
    makeRoom()
  }

  /// Puts a heartbeat behind everything that was heard, and lets no more into its datagram.
  mutating func addHeartbeat(at now: Timestamp) {
    if filling.length + lengths.heartbeat > PharosDatagramLayout.longest { close() }
    let heartbeat = tally.take(scanDuty: takeScanDuty(at: now))
    filling.append(heartbeat, of: identity.observer, at: now, length: lengths.heartbeat)
    heartbeatAt = now + limits.heartbeatPeriod
    close()
  }

  /// Ends the parcel that is being filled: it waits to be sent.
  mutating func close() {
    guard !filling.isEmpty else { return }
    waiting.append(filling)
    filling = Parcel(start: filling.start, length: lengths.empty)
  }

  /// Drops the oldest of what is kept until it is no more than the ring may hold.
  ///
  /// What was sent so long ago that it will hardly come back goes first: nothing is lost with it as far as anybody knows.
  private mutating func makeRoom() {
    while recent.memory + waiting.memory + filling.memory > limits.ring {
      if let sentAt = recent.first?.sentAt, let lastSentAt, lastSentAt - sentAt > limits.refusalDelay {
        _ = recent.popFirst()
      } else if let oldest = waiting.popFirst() {
        drop(oldest)
      } else if recent.popFirst() == nil {
        return
      }
    }
  }

  private mutating func drop(_ parcel: Parcel) {
    counters.dropped += parcel.adverts
    tally.drop(parcel.adverts)
    if let heartbeat = parcel.heartbeat { tally.restore(heartbeat) }
    guard outage?.isDropping == false else { return }
    outage?.isDropping = true
    notices.append(.dropping)
  }

  /// The AD structures from the first one on that fit whole.
  private static func shortened(
    _ payload: Range<UInt32>,
    to room: Int,
    in batch: borrowing ReportBatch
  ) -> Range<UInt32> {
    let bytes = batch.payloads[Int(payload.lowerBound)..<Int(payload.upperBound)]
    var structures = ADStructures()
    var end = 0
    while let structure = structures.next(in: bytes.span.bytes), structure.payload.upperBound <= room {
      end = structure.payload.upperBound
    }
    return payload.lowerBound..<payload.lowerBound + UInt32(end)
  }
}

/// How many bytes things take in the datagrams of a gateway, found out by encoding each of them once.
struct RecordLengths: Sendable {
  /// A datagram without records, its tag included.
  let empty: Int
  /// An advert without data.
  let advert: Int
  /// A heartbeat.
  let heartbeat: Int

  init(of identity: GatewayIdentity) {
    var batch = ReportBatch()
    let time = Timestamp(nanoseconds: 0)
    let observer = batch.index(of: identity.observer)
    let bodies: [ReportBody] = [
      .advert(Advert(address: nil, rssi: nil, payload: 0..<0)),
      .heartbeat(Heartbeat(advertsHeard: 0, scanDuty: nil, dropped: 0)),
    ]
    for body in bodies {
      batch.append(Report(observer: observer, received: time, timing: .received, body: body))
    }
    var encoder = PharosDatagramEncoder(
      observer: identity.observer,
      bootID: 0,
      signingKeyID: identity.signingKeyID
    )
    empty = encoder.byteCount
    let lengths = batch.reports.map { report in
      let before = encoder.byteCount
      _ = encoder.append(report, from: batch)
      return encoder.byteCount - before
    }
    advert = lengths[0]
    heartbeat = lengths[1]
  }
}
