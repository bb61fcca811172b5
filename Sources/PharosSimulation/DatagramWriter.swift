import PharosModel

/// The reports of one observer, split into batches that each fit a datagram.
struct DatagramWriter: Sendable {
  /// The maximum size of the reports in one datagram.
  ///
  /// - Units: bytes. 1,400 less 150 for the head, an observer's name of 64 bytes and a signature among it.
  static let capacity = 1_250
  /// The maximum size of a report without its payload.
  ///
  /// - Units: bytes. An identity of 24 with level, accuracy, age and the record's own head.
  static let overhead = 40

  private let observer: ObserverID
  private var size = 0
  /// The batches so far, none of them empty.
  private(set) var batches: [ReportBatch] = []

  init(observer: ObserverID) { self.observer = observer }

  /// Appends a report that happened so long before the datagram is sent.
  mutating func append(_ body: ReportBody, age: TimeSpan) {
    open(for: DatagramWriter.overhead)
    let last = batches.count - 1
    let index = batches[last].index(of: observer)
    batches[last].append(
      Report(observer: index, received: .distantPast, timing: .age(age), body: body)
    )
  }

  /// Appends an advert with its AD structures.
  mutating func append(_ advert: Advert, payload: [UInt8], age: TimeSpan) {
    open(for: DatagramWriter.overhead + payload.count)
    let last = batches.count - 1
    var copy = advert
    copy.payload = batches[last].append(payload: payload)
    let index = batches[last].index(of: observer)
    batches[last].append(
      Report(observer: index, received: .distantPast, timing: .age(age), body: .advert(copy))
    )
  }

  /// Appends a report whose variable part takes so many bytes.
  mutating func append(bytes: Int, age: TimeSpan, _ body: (inout ReportBatch) -> ReportBody) {
    open(for: DatagramWriter.overhead + bytes)
    let last = batches.count - 1
    let body = body(&batches[last])
    let index = batches[last].index(of: observer)
    batches[last].append(Report(observer: index, received: .distantPast, timing: .age(age), body: body))
  }

  /// Begins a new batch unless the last one has room for a report.
  private mutating func open(for bytes: Int) {
    if batches.isEmpty || size + bytes > DatagramWriter.capacity {
      batches.append(ReportBatch())
      size = 0
    }
    size += bytes
  }
}

extension ReportBatch {
  /// The same reports as received at a time.
  func received(at time: Timestamp) -> ReportBatch {
    var copy = ReportBatch()
    for var report in reports {
      report.received = time
      copy.append(report, from: self)
    }
    return copy
  }
}

extension TimeSpan {
  /// The span as a stop-watch counts it that runs fast by so many parts in a million, in whole milliseconds.
  func counted(drift: Double) -> TimeSpan {
    let counted = Double(nanoseconds) * (1 + drift / 1e6)
    return .milliseconds(Int64(max(0, min(counted, 9e18) / 1e6)))
  }
}

extension DatagramWriter {
  /// The maximum number of motion samples in one report: 17 bytes each, so that one report fits a datagram.
  static let samplesAtOnce = 48
  /// The maximum number of access points in one report: 13 bytes each, so that one report fits a datagram.
  static let accessPointsAtOnce = 90

  /// Appends motion samples, whose ages are relative to the report.
  mutating func append(motion samples: [MotionSample], age: TimeSpan) {
    var first = 0
    while first < samples.count {
      let part = samples[first..<min(samples.count, first + DatagramWriter.samplesAtOnce)]
      append(bytes: part.count * 17, age: age) { .motion($0.append(motionSamples: part)) }
      first += DatagramWriter.samplesAtOnce
    }
  }

  /// Appends a Wi-Fi scan, even if it found no access point.
  mutating func append(scan: [AccessPoint], age: TimeSpan) {
    var first = 0
    repeat {
      let part = scan[first..<min(scan.count, first + DatagramWriter.accessPointsAtOnce)]
      append(bytes: part.count * 13, age: age) { .wifiScan($0.append(accessPoints: part)) }
      first += DatagramWriter.accessPointsAtOnce
    } while first < scan.count
  }
}
