import PharosCaptures
package import PharosModel
package import PharosWire

/// The datagram processing of one loop: sorts reports by the shard they belong to, and keeps counters and the tables
/// for people.
///
/// A value without sockets, rings or clocks; the loop passes it datagrams and ships the reports that it has gathered.
package struct Intake {
  /// The facts about a datagram other than its bytes.
  package struct Call {
    /// R.
    var received: Timestamp
    /// The socket that received them.
    var destination: Endpoint
    /// Indicates whether the recorder is to get them.
    var isRecorded: Bool
    /// Indicates whether their sender is known.
    var isNamed = true
    /// The policy of the socket.
    var policy = ListenPolicy.open

    package init(
      received: Timestamp,
      destination: Endpoint,
      isRecorded: Bool,
      isNamed: Bool = true,
      policy: ListenPolicy = ListenPolicy.open
    ) {
      self.received = received
      self.destination = destination
      self.isRecorded = isRecorded
      self.isNamed = isNamed
      self.policy = policy
    }
  }

  /// The time after a refusal during which the loop asks the kernel for source addresses, whatever the load.
  static let suspicion = TimeSpan.seconds(1)

  private let shard: Int
  private let shards: Int
  /// Decodes and counts.
  package private(set) var decoder = DatagramDecoder()
  /// Reports for the own shard.
  package var incoming = ReportBatch()
  /// Reports for the other shards; the own shard's place stays empty.
  package var outgoing: [ReportBatch]
  /// The own shard's reports of a datagram that also has others'.
  private var mixed = ReportBatch()
  /// The datagrams for the recorder.
  package var log = DatagramLog()
  /// Lines for the log about datagrams that were refused.
  package var lines: [RefusalTable.Line] = []

  /// The counters.
  package private(set) var counters = IntakeCounters()
  /// All that is heard.
  package private(set) var heard: HeardTable
  /// The senders of refused datagrams.
  package private(set) var refusals = RefusalTable()
  private var sampler = HeardSampler()
  /// The admission check.
  var gate = AdmissionCheck()
  /// The datagrams that wait for a write to the disk.
  private(set) var held = HeldDatagrams()
  /// The time until which more refused datagrams are expected.
  private var suspiciousUntil = Timestamp.distantPast

  /// Makes the intake of one loop.
  package init(shard: Int, shards: Int, iBeaconCompanies: [UInt16]) {
    self.shard = shard
    self.shards = shards
    outgoing = Array(repeating: ReportBatch(), count: shards)
    heard = HeardTable(iBeaconCompanies: iBeaconCompanies)
  }

  /// Returns whether the source addresses of the next datagrams are needed.
  ///
  /// Only the tables for people and the recorder use them. Asking the kernel for one costs a twelfth of what a datagram
  /// costs it, so a loop that cannot keep up asks only when one of the two needs it. The first refusals after a second
  /// without any may then have no source; their reasons are counted as always.
  func wantsNames(at time: Timestamp) -> Bool { time <= suspiciousUntil || sampler.isDue(at: time) }

  /// Takes what a drain has received in one call, each datagram with an R of its own.
  mutating func receive(_ count: Int, from drain: borrowing DatagramDrain, of call: Call) {
    var call = call
    for slot in 0..<count {
      let (bytes, isTruncated) = drain.datagram(slot)
      receive(bytes, isTruncated: isTruncated, of: call) { drain.source(slot) }
      call.received = call.received + .oneNanosecond
    }
  }

  /// Takes one datagram: decodes it, or counts why it cannot be.
  ///
  /// - Parameters:
  ///   - bytes: the received bytes.
  ///   - isTruncated: indicates whether the datagram was longer than that.
  ///   - call: its R, its socket, and whether it is recorded.
  ///   - source: returns the sender; called only if the address is needed.
  /// - Returns: its format, or the reason why it was refused.
  @discardableResult
  package mutating func receive(
    _ bytes: UnsafeRawBufferPointer,
    isTruncated: Bool,
    of call: Call,
    source: () -> Endpoint
  ) -> Result<WireFormat, DatagramRefusal> {
    counters.datagrams &+= 1
    counters.bytes &+= UInt64(bytes.count)
    guard !isTruncated else {
      // Its beginning may well decode, to something that was never said; so the recording does not get it either.
      counters.truncated &+= 1
      let refusal = decoder.refuseTruncated(bytes.bytes)
      refuse(refusal, from: source(), at: call.received)
      return .failure(refusal)
    }
    return judge(bytes, of: call, source: source)
  }

  /// Judges again the datagrams that waited for a write to the disk, each with an R of its own; a hundred at most, for
  /// which the reading of the clock has room.
  ///
  /// - Parameters:
  ///   - received: the first R.
  ///   - isRecorded: indicates whether the recorder is to get them.
  mutating func judgeHeld(at received: Timestamp, isRecorded: Bool) {
    var received = received
    let entries = held.removeAll()
    for (position, entry) in entries.enumerated() {
      guard position < Intake.maximumHeldAtOnce else {
        _ = held.hold(entry)
        continue
      }
      var call = entry.call
      // A recording may have begun or ended since.
      call.isRecorded = isRecorded
      call.received = received
      entry.bytes.withUnsafeBytes { _ = judge($0, of: call) { entry.source } }
      received = received + .oneNanosecond
    }
  }

  /// The maximum number of held datagrams that are judged again in one turn.
  static let maximumHeldAtOnce = 100

  /// Refuses what still waits for the disk, at the end.
  mutating func refuseHeld() {
    for entry in held.removeAll() { _ = refuse(unread: .pharos, .notKept, of: entry.call) { entry.source } }
  }

  /// Takes, holds or refuses a datagram that has been counted as received.
  ///
  /// - Returns: its format, also if it is held, or the reason why it was refused.
  private mutating func judge(
    _ bytes: UnsafeRawBufferPointer,
    of call: Call,
    source: () -> Endpoint
  ) -> Result<WireFormat, DatagramRefusal> {
    var signer: ObserverID?
    if call.policy != .open {
      switch gate.admit(bytes.bytes, at: call.received, under: call.policy) {
      case .admitted(signer: let observer): signer = observer
      case .refused(let format, let reason): return refuse(unread: format, reason, of: call, source: source)
      case .held(by: let sender):
        let entry = HeldDatagrams.Entry(bytes: Array(bytes), call: call, source: source(), sender: sender)
        guard held.hold(entry) else { return refuse(unread: .pharos, .notKept, of: call, source: source) }
        return .success(.pharos)
      }
    }
    let mark = incoming.mark
    let first = incoming.count
    var outcome = decoder.decode(bytes.bytes, received: call.received, into: &incoming)
    if call.policy != .open, case .success(let format) = outcome,
      let reason = refusal(ofReportsFrom: first, signedBy: signer, under: call.policy)
    {
      decoder.refuse(decoded: format, reason, reports: incoming.count - first)
      incoming.removeAll(behind: mark)
      outcome = .failure(reason)
    } else if call.isRecorded {
      // What the policy refuses is not recorded, so that running the recording needs no keys; what is no datagram at all is, for
      // who looks at it later, and is refused there as here.
      log.append(bytes, received: call.received, from: source(), to: call.destination)
    }
    switch outcome {
    case .failure(let refusal):
      refuse(refusal, from: source(), at: call.received)
    case .success(let format):
      if decoder.notes.firstReason != nil { recordSkipped(from: source(), at: call.received) }
      if let weight = sampler.look(at: call.received, isNamed: call.isNamed) {
        let part = sampler.part(of: first..<incoming.count)
        heard.record(
          part.reports,
          of: incoming,
          from: source(),
          format: format,
          weight: weight * part.weight,
          budget: &sampler.budget
        )
        sampler.isCrowded = heard.isCrowded(at: call.received)
      }
      if shards > 1 { forward(from: first, mark: mark) }
    }
    return outcome
  }

  /// Returns the reason to refuse the reports from a position on, judged by the observers that they name; nil to accept
  /// them.
  private func refusal(
    ofReportsFrom first: Int,
    signedBy signer: ObserverID?,
    under policy: ListenPolicy
  ) -> DatagramRefusal? {
    var known: UInt32?
    for position in first..<incoming.count {
      let observer = incoming.entries[position].observer
      guard observer != known else { continue }
      known = observer
      let id = incoming.observers[Int(observer)]
      if let reason = gate.refusal(of: id, signedBy: signer, under: policy) { return reason }
    }
    return nil
  }

  private mutating func refuse(
    unread format: WireFormat?,
    _ reason: DatagramRefusal,
    of call: Call,
    source: () -> Endpoint
  ) -> Result<WireFormat, DatagramRefusal> {
    decoder.refuse(unread: format, reason)
    refuse(reason, from: source(), at: call.received)
    return .failure(reason)
  }

  /// Takes over the registered devices.
  mutating func recognise(_ known: KnownDevices, showsUnregistered: Bool) {
    heard.recognise(known, showsUnregistered: showsUnregistered)
  }

  /// Forgets the unregistered devices that were not heard for ten minutes.
  mutating func forget(at time: Timestamp) { heard.forget(at: time) }

  /// Removes every trace of an erased subject from the table of what is heard.
  mutating func forget(_ traces: SubjectTraces) { heard.forget(traces) }

  /// Moves the reports behind a mark that belong to other shards into the batches for those.
  private mutating func forward(from first: Int, mark: ReportBatch.Mark) {
    var isMixed = false
    var known: (observer: UInt32, shard: Int)?
    for position in first..<incoming.count {
      let observer = incoming.entries[position].observer
      let destination: Int
      if let known, known.observer == observer {
        destination = known.shard
      } else {
        destination = incoming.observers[Int(observer)].shard(of: shards)
        known = (observer, destination)
      }
      guard destination != shard else {
        if isMixed { mixed.append(incoming.reports[position], from: incoming) }
        continue
      }
      if !isMixed {
        isMixed = true
        for own in first..<position { mixed.append(incoming.reports[own], from: incoming) }
      }
      outgoing[destination].append(incoming.reports[position], from: incoming)
      counters.forwarded &+= 1
    }
    guard isMixed else { return }
    incoming.removeAll(behind: mark)
    for report in mixed.reports { incoming.append(report, from: mixed) }
    mixed.removeAll()
  }

  /// Notes the elements of the last datagram that were skipped.
  private mutating func recordSkipped(from source: Endpoint, at time: Timestamp) {
    for (reason, count) in decoder.notes.skipped.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let line = refusals.record(reason, elements: count, from: source.address, at: time) else {
        continue
      }
      lines.append(line)
    }
  }

  private mutating func refuse(_ reason: DatagramRefusal, from source: Endpoint, at time: Timestamp) {
    suspiciousUntil = time + Intake.suspicion
    guard let line = refusals.record(reason, from: source.address, at: time) else { return }
    lines.append(line)
  }
}

/// The counters of an intake.
package struct IntakeCounters: Equatable, Sendable {
  /// Datagrams that were received.
  package var datagrams: UInt64 = 0
  /// Their bytes.
  var bytes: UInt64 = 0
  /// Datagrams that were longer than a slot.
  package var truncated: UInt64 = 0
  /// Reports that went to another loop's shard.
  var forwarded: UInt64 = 0
}

/// The sampler of the adverts that the table of all that is heard examines.
///
/// A millisecond brings a budget of 8 adverts, saved up to ten datagrams' worth: with little traffic it covers all
/// adverts, with much it covers a sample, and an examined datagram represents those before it that were not examined.
/// Gateways send at a regular rhythm, second after second: the moments, and the part of a datagram, are chosen at
/// random, as otherwise the same beacons would be examined each time and the others hardly ever.
package struct HeardSampler {
  /// The mean time after which there is a new budget.
  static let interval = TimeSpan.milliseconds(1)
  /// The same while more is heard than the table holds: each new entry then evicts another one, at ten times the cost.
  static let crowdedInterval = TimeSpan.milliseconds(8)
  /// The budget of each such interval, in adverts: a microsecond's work, a thousandth of the loop.
  package static let adverts = 8
  /// The maximum budget that can be saved up: ten datagrams of a gateway that sends what it heard in a second.
  package static let maximumBudget = 256
  /// The same while more is heard than the table holds: one datagram.
  static let maximumCrowdedBudget = 32

  private var last = Timestamp.distantPast
  private var next = Timestamp.distantPast
  private var skipped = 0
  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15
  /// The number of adverts that may still be examined.
  package var budget = 0
  /// Indicates whether more is heard than the table holds.
  package var isCrowded = false

  package init() {}

  /// Returns whether there is a budget at a time.
  func isDue(at time: Timestamp) -> Bool { budget > 0 || time >= next }

  /// Decides about one datagram.
  ///
  /// - Parameters:
  ///   - time: its R.
  ///   - isNamed: indicates whether its sender is known; otherwise it is not examined.
  /// - Returns: the number of datagrams that this one represents, or nil if it is not to be examined.
  package mutating func look(at time: Timestamp, isNamed: Bool = true) -> Double? {
    if time >= next { save(until: time) }
    skipped += 1
    guard budget > 0, isNamed else { return nil }
    defer { skipped = 0 }
    return Double(skipped)
  }

  /// Adds what the time since the last budget brought, and draws the moment of the next one.
  private mutating func save(until time: Timestamp) {
    let interval = (isCrowded ? HeardSampler.crowdedInterval : HeardSampler.interval).nanoseconds
    let maximum = Int64(isCrowded ? HeardSampler.maximumCrowdedBudget : HeardSampler.maximumBudget)
    let saved = min((time - last).nanoseconds / (interval / Int64(HeardSampler.adverts)), maximum)
    budget = Int(min(Int64(budget) + max(0, saved), maximum))
    last = time
    next = time + TimeSpan(nanoseconds: interval / 2 + draw(below: interval))
  }

  /// Returns the reports of a datagram that the budget allows: each part of it is equally probable.
  ///
  /// - Returns: the reports, and the number of the datagram's reports that each of them represents.
  package mutating func part(of reports: Range<Int>) -> (reports: Range<Int>, weight: Double) {
    guard reports.count > budget, budget > 0 else { return (reports, 1) }
    let parts = (reports.count + budget - 1) / budget
    let first = reports.lowerBound + Int(draw(below: Int64(parts))) * budget
    return (first..<min(first + budget, reports.upperBound), Double(parts))
  }

  /// Returns a random number.
  ///
  /// - Source: Knuth's MMIX generator (The Art of Computer Programming, volume 2, section 3.3.4), of which the upper
  ///   half is used.
  private mutating func draw(below bound: Int64) -> Int64 {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int64(random >> 33) % bound
  }
}
