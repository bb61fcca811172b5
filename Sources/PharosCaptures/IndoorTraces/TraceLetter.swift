import PharosAdvertising
import PharosReports

/// The records of one datagram while it is filled, as they lie in the file.
struct TraceLetter: Sendable {
  /// A report: one beacon, or neighbours in the lists of access points and motion.
  private enum Item: Sendable {
    case beacon(IndoorTrace.BeaconHeard)
    case scan(Timestamp, Range<Int>)
    case motion(Range<Int>)
  }

  private var items: [Item] = []
  private var points: [IndoorTrace.AccessPointHeard] = []
  private var reads: [IndoorTrace.MotionRead] = []
  private var length = 0
  private var opened = Timestamp.distantPast

  /// What a record takes beside its content: type, length and age.
  private static let headLength = 7
  /// What an advert takes: 11 bytes of level, kind and address, and an iBeacon's 30 bytes.
  private static let beaconLength = headLength + 41
  private static let accessPointLength = 13
  private static let motionLength = 17

  /// Whether a record still fits, with R at its line.
  func fits(_ record: TraceRecord, advancing latest: Timestamp) -> Bool {
    items.isEmpty
      || (length + added(record) <= TraceFeed.longestBody && latest - opened <= TraceFeed.longestSpan)
  }

  /// Appends a record that fits.
  mutating func append(_ record: TraceRecord, at latest: Timestamp) {
    if items.isEmpty { opened = latest }
    length += added(record)
    switch record {
    case .beacon(let heard): items.append(.beacon(heard))
    case .accessPoint(let heard):
      points.append(heard)
      if case .scan(let time, let range)? = items.last, time == heard.time {
        items[items.count - 1] = .scan(time, range.lowerBound..<points.count)
      } else {
        items.append(.scan(heard.time, points.count - 1..<points.count))
      }
    case .motion(let read):
      reads.append(read)
      if case .motion(let range)? = items.last {
        items[items.count - 1] = .motion(range.lowerBound..<reads.count)
      } else {
        items.append(.motion(reads.count - 1..<reads.count))
      }
    }
  }

  /// Ends the datagram and begins the next one; nil if there is nothing in it.
  mutating func sealed(at received: Timestamp, from observer: ObserverID) -> ReportBatch? {
    guard !items.isEmpty else { return nil }
    var batch = ReportBatch()
    let index = batch.index(of: observer)
    for item in items {
      let (time, body) = report(item, into: &batch)
      // No line is later than R; the ages of what is older than 49 days would not fit a datagram.
      let age = min(received - time, .milliseconds(Int64(UInt32.max)))
      batch.append(Report(observer: index, received: received, timing: .age(age), body: body))
    }
    items.removeAll(keepingCapacity: true)
    points.removeAll(keepingCapacity: true)
    reads.removeAll(keepingCapacity: true)
    length = 0
    return batch
  }

  private func added(_ record: TraceRecord) -> Int {
    switch (record, items.last) {
    case (.beacon, _): TraceLetter.beaconLength
    case (.accessPoint(let heard), .scan(let time, _)?) where time == heard.time:
      TraceLetter.accessPointLength
    case (.accessPoint, _): TraceLetter.headLength + TraceLetter.accessPointLength
    case (.motion, .motion?): TraceLetter.motionLength
    case (.motion, _): TraceLetter.headLength + TraceLetter.motionLength
    }
  }

  private func report(_ item: Item, into batch: inout ReportBatch) -> (Timestamp, ReportBody) {
    switch item {
    case .beacon(let heard):
      return (heard.time, .advert(TraceLetter.advert(heard, into: &batch)))
    case .scan(let time, let range):
      let scan = points[range].map { heard in
        AccessPoint(
          bssid: heard.bssid,
          rssi: heard.rssi,
          frequency: heard.frequency,
          lastHeard: min(max(.zero, time - heard.lastHeard), .milliseconds(Int64(UInt32.max)))
        )
      }
      return (time, .wifiScan(batch.append(accessPoints: scan)))
    case .motion(let range):
      let reads = reads[range]
      let time = reads.reduce(Timestamp.distantPast) { max($0, $1.time) }
      let samples = reads.map { read in
        // Ages travel as 32 bits of microseconds.
        let age = min(time - read.time, .microseconds(Int64(UInt32.max)))
        return MotionSample(kind: read.kind, age: age, x: read.x, y: read.y, z: read.z)
      }
      return (time, .motion(batch.append(motionSamples: samples)))
    }
  }

  /// The advert that the phone must have heard.
  private static func advert(_ heard: IndoorTrace.BeaconHeard, into batch: inout ReportBatch) -> Advert {
    let beacon = IBeacon(
      uuid: heard.beacon.uuid ?? UUID128(high: 0, low: 0),
      major: heard.beacon.major ?? 0,
      minor: heard.beacon.minor ?? 0,
      measuredPower: heard.txPower
    )
    let payload = batch.append(payload: Frame.iBeacon(beacon).legacyPayload)
    return Advert(address: heard.address, rssi: heard.rssi, payload: payload)
  }
}
