package import PharosModel

/// The reports of one observer, split into batches that each fit a datagram.
package struct DatagramWriter: Sendable {
  /// The maximum size of the reports in one datagram.
  ///
  /// - Units: bytes. 1,400 less 150 for the head, an observer's name of 64 bytes and a signature among it.
  private static let capacity = 1_250
  /// The maximum size of a report without its payload.
  ///
  /// - Units: bytes. An identity of 24 with level, accuracy, age and the record's own head.
  private static let overhead = 40

  private let observer: ObserverID
  private var size = 0
  /// The batches so far, none of them empty.
  private(set) var batches: [ReportBatch] = []

  package init(observer: ObserverID) { self.observer = observer }

  /// Appends a report that happened so long before the datagram is sent.
  package mutating func append(_ body: ReportBody, age: TimeSpan) {
    append(bytes: 0, age: age) { _ in body }
  }

  /// Appends an advert with its AD structures.
  package mutating func append(_ advert: Advert, payload: [UInt8], age: TimeSpan) {
    append(bytes: payload.count, age: age) { batch in
      var copy = advert
      copy.payload = batch.append(payload: payload)
      return .advert(copy)
    }
  }

  /// Appends a report whose variable part takes so many bytes.
  package mutating func append(bytes: Int, age: TimeSpan, _ body: (inout ReportBatch) -> ReportBody) {
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

/// The sender of one observer, which numbers its datagrams and sends them through a network.
package struct SimulatedSender: Sendable {
  private let observer: ObserverID
  private let sourceAddress: String
  private let sourcePort: UInt16
  private let network: Network
  private let clockDrift: Double
  private let keepsOrder: Bool
  /// The boot id of its present run.
  private(set) var bootID: UInt32
  private var sequence: UInt32 = 0
  private var bootedAt = TimeSpan.zero

  /// Makes a sender that boots when the scene begins.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - sourceAddress: The host that its datagrams come from, as text.
  ///   - sourcePort: The UDP port that they come from.
  ///   - network: The network between it and the server.
  ///   - bootID: The boot id of its first run.
  ///   - clockDrift: The drift of its clock, in parts per million.
  ///   - keepsOrder: Indicates whether datagrams that are sent at the same time arrive in their order.
  package init(
    observer: ObserverID,
    sourceAddress: String,
    sourcePort: UInt16 = 50_001,
    network: Network,
    bootID: UInt32 = 1,
    clockDrift: Double = 0,
    keepsOrder: Bool = false
  ) {
    self.observer = observer
    self.sourceAddress = sourceAddress
    self.sourcePort = sourcePort
    self.network = network
    self.bootID = bootID
    self.clockDrift = clockDrift
    self.keepsOrder = keepsOrder
  }

  /// Begins the run with the next boot id.
  mutating func restart(at time: TimeSpan) {
    bootID &+= 1
    sequence = 0
    bootedAt = time
  }

  /// Numbers what is sent at a time, and returns the datagrams that arrive of it.
  ///
  /// - Parameters:
  ///   - writer: The reports that are sent.
  ///   - time: The time at which they are sent, since the scene began.
  ///   - start: The time at which the scene began.
  ///   - random: The source of randomness.
  /// - Returns: For each arrival the time since the scene began, and the datagram.
  package mutating func send(
    _ writer: DatagramWriter,
    at time: TimeSpan,
    since start: Timestamp,
    random: inout RandomStream
  ) -> [(arrival: TimeSpan, datagram: SimulatedDatagram)] {
    var sent: [(arrival: TimeSpan, datagram: SimulatedDatagram)] = []
    for reports in writer.batches {
      let uptime = (time - bootedAt).counted(drift: clockDrift)
      let head = Transmission(bootID: bootID, sequence: sequence, uptime: uptime)
      sequence &+= 1
      for var arrival in network.arrivals(sentAt: time, random: &random) {
        if keepsOrder, let last = sent.last { arrival = max(arrival, last.arrival) }
        let datagram = SimulatedDatagram(
          received: start + arrival,
          sourceAddress: sourceAddress,
          sourcePort: sourcePort,
          observer: observer,
          head: head,
          reports: reports.received(at: start + arrival)
        )
        sent.append((arrival, datagram))
      }
    }
    return sent
  }
}

/// The beacons that the platform of a handset ranges in a period, in the order first heard.
package struct RangingPeriod: Sendable {
  private var heard: [(number: Int, sum: Int, count: Int)] = []

  package init() {}

  /// Adds the level of an advert of the beacon with a number.
  package mutating func add(_ level: Int8, of number: Int) {
    if let known = heard.firstIndex(where: { $0.number == number }) {
      heard[known].sum += Int(level)
      heard[known].count += 1
    } else {
      heard.append((number, Int(level), 1))
    }
  }

  /// Writes a ranged beacon with the mean of its levels for each that was heard.
  ///
  /// Distances have the precision of the datagram format, so that the decoded distance equals the written one.
  ///
  /// - Parameters:
  ///   - writer: The reports that receive the ranged beacons.
  ///   - beacon: Returns the identity of a number and its level at one metre, or nil if the platform does not range it.
  package func write(
    to writer: inout DatagramWriter,
    _ beacon: (Int) -> (id: BeaconID, measuredPower: Double)?
  ) {
    for entry in heard {
      guard let (id, measuredPower) = beacon(entry.number) else { continue }
      let mean = Double(entry.sum) / Double(entry.count)
      let distance = Radio.ideal.distance(pathLoss: measuredPower - mean)
      let ranged = RangedBeacon(
        beacon: id,
        rssi: RSSI(dBm: Int8(mean.rounded())),
        accuracy: Meters(Double(Float(distance)))
      )
      writer.append(.rangedBeacon(ranged), age: .zero)
    }
  }
}

extension ReportBatch {
  /// The same reports as received at a time.
  fileprivate func received(at time: Timestamp) -> ReportBatch {
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
