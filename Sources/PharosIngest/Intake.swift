import PharosCaptures
package import PharosReports
package import PharosWire

/// What one loop makes of datagrams: reports sorted by the shard they belong to, counters, and the tables for people.
///
/// A value without sockets, rings or clocks; the loop hands it datagrams and ships what has gathered.
package struct Intake {
  /// What there is to know of a datagram beside its bytes.
  package struct Call {
    /// R.
    var received: Timestamp
    /// The socket that received them.
    var destination: Endpoint
    /// Whether the recorder is to get them.
    var isRecorded: Bool
    /// Whether it is known who sent them.
    var isNamed = true
    /// Whose datagrams the socket takes.
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

  /// For how long after a refusal the kernel is asked who sends, however much there is to do.
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
  /// What the recorder is to get.
  package var log = DatagramLog()
  /// Lines for the log about datagrams that were refused.
  package var lines: [RefusalTable.Line] = []

  /// What has been counted.
  package private(set) var counters = IntakeCounters()
  /// All that is heard.
  package private(set) var heard: HeardTable
  /// Who sends what is refused.
  package private(set) var refusals = RefusalTable()
  private var sampler = HeardSampler()
  /// Who may bring what.
  var gate = Gate()
  /// What waits for a write to the disk.
  private(set) var held = HeldDatagrams()
  /// Until when there may be more of what was refused.
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
  mutating func take(_ count: Int, from drain: borrowing DatagramDrain, of call: Call) {
    var call = call
    for slot in 0..<count {
      let (bytes, isTruncated) = drain.datagram(slot)
      take(bytes, isTruncated: isTruncated, of: call) { drain.source(slot) }
      call.received = call.received + .oneNanosecond
    }
  }

  /// Takes one datagram: decodes it, or counts why it cannot be.
  ///
  /// - Parameters:
  ///   - bytes: what was received of it.
  ///   - isTruncated: whether it was longer than that.
  ///   - call: its R, its socket, and whether it is recorded.
  ///   - source: who sent it, asked only where somebody wants to know.
  /// - Returns: its format, or why it was refused.
  @discardableResult
  package mutating func take(
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
    return settle(bytes, of: call, source: source)
  }

  /// Asks again about what waited for a write to the disk, each with an R of its own; a hundred at most, for which the reading
  /// of the clock has room.
  ///
  /// - Parameter received: the first R.
  mutating func takeHeld(at received: Timestamp) {
    var received = received
    let entries = held.take()
    for (position, entry) in entries.enumerated() {
      guard position < Intake.mostHeldAtOnce else {
        _ = held.hold(entry)
        continue
      }
      var call = entry.call
      call.received = received
      entry.bytes.withUnsafeBytes { _ = settle($0, of: call) { entry.source } }
      received = received + .oneNanosecond
    }
  }

  /// How many of the datagrams that waited are asked about in one turn.
  static let mostHeldAtOnce = 100

  /// Refuses what still waits for the disk, since nothing is waited for any more.
  mutating func refuseHeld() {
    for entry in held.take() { _ = refuse(unread: .pharos, .notKept, of: entry.call) { entry.source } }
  }

  /// Takes, holds or refuses a datagram that has been counted as received.
  ///
  /// - Returns: its format, or why it was refused; the format too of what is held.
  private mutating func settle(
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
      if let weight = sampler.look(at: call.received, isNamed: call.isNamed) {
        let part = sampler.part(of: first..<incoming.count)
        heard.note(
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

  /// Why the reports behind a place may not be taken, judged by whom they name; nil if they may.
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

  /// Takes over what a site asks about, and which companies' frames it reads as iBeacons.
  mutating func recognise(_ site: Site, applications: [Application], showsStrangers: Bool) {
    heard.recognise(site, applications: applications, showsStrangers: showsStrangers)
  }

  /// Takes over what a change of regions asks about.
  mutating func recognise(_ change: RegionChange) { heard.recognise(change) }

  /// Forgets the unregistered devices that were not heard for ten minutes.
  mutating func forget(at time: Timestamp) { heard.forget(at: time) }

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

  private mutating func refuse(_ reason: DatagramRefusal, from source: Endpoint, at time: Timestamp) {
    suspiciousUntil = time + Intake.suspicion
    guard let line = refusals.note(reason, from: source.address, at: time) else { return }
    lines.append(line)
  }
}

/// What an intake has counted.
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

/// Chooses what the table of all that is heard looks at.
///
/// A millisecond brings a budget of 8 adverts, saved up to ten datagrams' worth: with little traffic that is all of it, with much it
/// is a sample, and what is looked at stands for what came before it and was not. Gateways send in a rhythm of their own, second
/// after second: the moments, and the part of a datagram, are drawn by chance, as otherwise the same beacons would be looked at each
/// time and the others hardly ever.
package struct HeardSampler {
  /// The mean time after which there is a new budget.
  static let interval = TimeSpan.milliseconds(1)
  /// The same while more is heard than the table holds: whatever is new then throws out what was, at ten times the cost.
  static let crowdedInterval = TimeSpan.milliseconds(8)
  /// How many adverts may be looked at for each such time: a microsecond's work, a thousandth of the loop.
  package static let adverts = 8
  /// How many may be saved up: ten datagrams of a gateway that sends what it heard in a second.
  package static let most = 256
  /// The same while more is heard than the table holds: one datagram.
  static let crowdedMost = 32

  private var last = Timestamp.distantPast
  private var next = Timestamp.distantPast
  private var skipped = 0
  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15
  /// How many adverts may still be looked at.
  package var budget = 0
  /// Whether more is heard than the table holds.
  package var isCrowded = false

  package init() {}

  /// Whether there is a budget at some time.
  func isDue(at time: Timestamp) -> Bool { budget > 0 || time >= next }

  /// Decides about one datagram.
  ///
  /// - Parameters:
  ///   - time: its R.
  ///   - isNamed: whether it is known who sent it; otherwise it is not looked at.
  /// - Returns: how many datagrams this one stands for, or nil if it is not to be looked at.
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
    let most = Int64(isCrowded ? HeardSampler.crowdedMost : HeardSampler.most)
    let saved = min((time - last).nanoseconds / (interval / Int64(HeardSampler.adverts)), most)
    budget = Int(min(Int64(budget) + max(0, saved), most))
    last = time
    next = time + TimeSpan(nanoseconds: interval / 2 + draw(below: interval))
  }

  /// The reports of a datagram that there is a budget for: each part of it as probable as any other.
  ///
  /// - Returns: which, and how many of the datagram's reports each of them stands for.
  package mutating func part(of reports: Range<Int>) -> (reports: Range<Int>, weight: Double) {
    guard reports.count > budget, budget > 0 else { return (reports, 1) }
    let parts = (reports.count + budget - 1) / budget
    let first = reports.lowerBound + Int(draw(below: Int64(parts))) * budget
    return (first..<min(first + budget, reports.upperBound), Double(parts))
  }

  /// A number by chance.
  ///
  /// - Source: Knuth's MMIX generator (The Art of Computer Programming, volume 2, section 3.3.4), of which the upper half is used.
  private mutating func draw(below bound: Int64) -> Int64 {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int64(random >> 33) % bound
  }
}
