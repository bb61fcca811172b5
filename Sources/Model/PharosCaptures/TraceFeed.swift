package import PharosModel
import PharosWire

/// Turns the bytes of an indoor trace into the reports that the phone would have sent while it was recorded.
///
/// A stream in the order of the file, in push style: append a chunk, take batches until there are none, and so on; after
/// the last chunk call ``finish()`` and take what is left. Nothing is sorted and nothing looks ahead. The truth is not
/// read: lines that say where the surveyor stood, and all of the header, are passed over unread.
///
/// **R** is the greatest time of all lines so far, as if each line had arrived when the newest of them was written; a
/// record's event time is the time of its line. A batch is what one datagram holds: all its reports have the same R, they take
/// at most ``maximumBody`` bytes as records of a Pharos datagram, and its lines advance R by ``maximumSpan`` at most. So a
/// capture made of the batches, one datagram each, gives the very same reports.
///
/// - Beacons become adverts with the bytes of an iBeacon and the address that the trace states.
/// - Consecutive access points with one time become a scan. A scan of a mall has 280 entries in the median and 559 at most,
///   more than a datagram holds: it comes as several reports of the same event time.
/// - Consecutive motion lines become one report, whose event time is that of its newest sample.
package struct TraceFeed: Sendable {
  /// The observer that the reports name.
  package let observer: ObserverID
  /// The counts of lines read and of lines skipped.
  package internal(set) var counters = IndoorTrace.Counters()

  /// R: the greatest time of the lines read so far.
  var latest = Timestamp.distantPast
  /// The datagram that is being filled.
  var letter = TraceLetter()
  private var pending: [UInt8] = []
  private var start = 0
  private var fields = TraceFields()
  private var isSkipping = false
  private var isFinished = false

  /// The most bytes that the records of a batch take in a Pharos datagram.
  ///
  /// - Units: bytes. A datagram has 1,400, of which the head with the longest observer's name takes 94.
  package static let maximumBody = 1_300
  /// The maximum by which the lines of one batch may advance R.
  ///
  /// - Units: time. A phone that sends five times a second delays its newest sample by at most that long; sensors at
  ///   50 Hz fill a datagram in 0.38 s.
  package static let maximumSpan = TimeSpan.milliseconds(200)
  /// The longest line that is read.
  ///
  /// - Units: bytes. The longest of the data set, a line of the header, has 130.
  package static let maximumLine = 4_096
  /// The maximum by which a line may lie ahead of all lines before it.
  ///
  /// - Units: time. The widest gap found is 2.2 s. A damaged number that led further would make all that follows late.
  package static let farthestJump = TimeSpan.minutes(10)

  /// Starts with nothing read.
  ///
  /// - Parameter observer: the observer that the reports name.
  package init(observer: ObserverID) { self.observer = observer }

  /// R as it stands: the greatest time of the lines read so far; nil before the first.
  package var latestTime: Timestamp? { latest == .distantPast ? nil : latest }

  /// Takes the next bytes of the file, unpacked.
  package mutating func append(_ bytes: some Sequence<UInt8>) {
    pending.removeSubrange(..<start)
    start = 0
    pending.append(contentsOf: bytes)
  }

  /// Declares the end of the input: from now on ``next()`` also returns the last datagram.
  package mutating func finish() { isFinished = true }

  /// The reports of the next datagram, or nil when more bytes are needed.
  package mutating func next() -> ReportBatch? {
    while let line = nextLine() {
      if let batch = add(line) { return batch }
    }
    guard isFinished else { return nil }
    return letter.sealed(at: latest, from: observer)
  }

  /// The place of the next whole line in what was appended; at the end also that of a last one without an end.
  private mutating func nextLine() -> Range<Int>? {
    while start < pending.count {
      let end = unsafe TraceFields.endOfLine(in: pending.span.bytes, from: start)
      let isWhole = end < pending.count
      guard isWhole || isFinished else {
        // Without this limit, a line without an end would grow as long as the input does.
        if end - start > TraceFeed.maximumLine {
          isSkipping = true
          start = end
        }
        return nil
      }
      let line = start..<end
      start = min(end + 1, pending.count)
      let isTooLong = isSkipping || line.count > TraceFeed.maximumLine
      isSkipping = false
      if isTooLong || !isWhole {
        guard !line.isEmpty else { continue }
        counters.lines += 1
        if isTooLong { counters.wrongColumns += 1 } else { counters.cutShort += 1 }
        continue
      }
      return line
    }
    return nil
  }

  /// Takes a line; returns the datagram before it if the line no longer fits into that.
  private mutating func add(_ line: Range<Int>) -> ReportBatch? {
    guard let record = record(line) else { return nil }
    let advanced = max(latest, record.time)
    var sealed: ReportBatch?
    if !letter.fits(record, advancing: advanced) { sealed = letter.sealed(at: latest, from: observer) }
    if record.time < latest { counters.outOfOrder += 1 }
    latest = advanced
    letter.append(record, at: advanced)
    return sealed
  }

  /// Returns the sensor record of a line, or nil if the line has none or is damaged.
  private mutating func record(_ line: Range<Int>) -> TraceRecord? {
    let text = pending
    let bytes = unsafe text.span.bytes
    fields.split(bytes, line)
    guard fields.hasText else { return nil }
    counters.lines += 1
    if fields.startsWithHash(bytes) {
      counters.headerLines += 1
      return nil
    }
    do throws(TraceRecord.Damage) {
      guard fields.count >= 2 else { throw .columns }
      guard let kind = TraceRecord.Kind(fields.text(1, of: bytes)) else {
        counters.otherTypes += 1
        return nil
      }
      let record = try TraceRecord(kind, fields, bytes)
      guard latest == .distantPast || record.time - latest <= TraceFeed.farthestJump else { throw .number }
      return record
    } catch {
      counters.count(error)
      return nil
    }
  }
}

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

  /// The size of a record without its content: type, length and age.
  private static let headLength = 7
  /// The size of an advert's record: 11 bytes of level, kind and address, and an iBeacon's 30 bytes.
  private static let beaconLength = headLength + 41
  private static let accessPointLength = 13
  private static let motionLength = 17

  /// Returns whether a record still fits, with R at its line.
  func fits(_ record: TraceRecord, advancing latest: Timestamp) -> Bool {
    items.isEmpty
      || (length + added(record) <= TraceFeed.maximumBody && latest - opened <= TraceFeed.maximumSpan)
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
