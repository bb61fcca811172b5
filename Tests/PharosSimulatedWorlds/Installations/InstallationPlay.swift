import PharosModel
import PharosPipeline
import PharosSimulation
import PharosWire

/// What Pharos decides about an installation, held against its truth.
package struct InstallationResult: Sendable {
  /// Exits from a room in which the tag is, and enters into one in which it is not.
  package var falseChanges = 0
  /// First rooms that are wrong, and all first rooms.
  package var wrongFirst = 0
  package var firstRooms = 0
  /// The delays of first rooms of tags that send once a second or more often, in seconds.
  package var firstDelays: [Double] = []
  /// Exits from the region of all tags while the tag is there.
  package var falseExits = 0
  /// Tags that were in no room, or in a wrong one, at the end.
  package var misplaced = 0
  /// Outages of 40 s and more of gateways that are not noticed in time, and all of them.
  package var missedOutages = 0
  package var outages = 0
  /// The delays of true changes of room, in seconds; infinite if the change was never found.
  package var changeDelays: [Double] = []
  /// The time that tags were there, in hours.
  package var tagHours = 0.0
  /// The faults in words.
  package var faults: [String] = []

  package init() {}

  /// Adds the result of another installation.
  package mutating func add(_ other: InstallationResult) {
    falseChanges += other.falseChanges
    wrongFirst += other.wrongFirst
    firstRooms += other.firstRooms
    firstDelays += other.firstDelays
    falseExits += other.falseExits
    misplaced += other.misplaced
    missedOutages += other.missedOutages
    outages += other.outages
    changeDelays += other.changeDelays
    tagHours += other.tagHours
    faults += other.faults
  }

  /// The delay of first rooms that a share of them stays within.
  package func firstDelay(_ share: Double) -> Double { InstallationResult.quantile(share, of: firstDelays) }

  /// The delay of true changes of room that a share of them stays within.
  package func changeDelay(_ share: Double) -> Double { InstallationResult.quantile(share, of: changeDelays) }

  private static func quantile(_ share: Double, of values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  /// All of it in a line.
  package var summary: String {
    "\(tagHours) tag-hours: \(falseChanges) false changes of room, \(falseExits) false exits, "
      + "\(wrongFirst) of \(firstRooms) first rooms wrong (p95 \(firstDelay(0.95)) s), \(misplaced) misplaced, "
      + "\(missedOutages) of \(outages) outages missed, \(changeDelays.count) true changes "
      + "(p50 \(changeDelay(0.5)), p95 \(changeDelay(0.95)) s)"
  }
}

extension Installation {
  private static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  /// Plays the installation through both stages.
  ///
  /// - Parameter trace: receives each event and each fact of the truth, if given.
  /// - Returns: what was decided, held against the truth.
  /// - Throws: the refusal of the site, or what an advert has no room for.
  package func play(trace: ((String) -> Void)? = nil) throws -> InstallationResult {
    var traffic = try InstallationTraffic(self)
    let rooms = (0..<roomCount).map { room in
      Zone(
        identifier: String(room),
        observers: gateways.filter { $0.room == room }.map(\.id),
        adjacent: []
      )
    }
    let region = Region(
      identifier: "tags",
      constraint: .proximity(Installation.uuid),
      subject: .beacon(observers: nil)
    )
    let site = Site(
      applications: [Application(identifier: "site", regions: [region])],
      observers: gateways.map { ObserverEntry(id: $0.id) },
      zones: rooms
    )
    var pipeline = try Pipeline(site: site)
    var judge = InstallationJudge(self, trace: trace)
    for step in 1...(length / Installation.second) {
      let now = step * Installation.second
      let batch = traffic.advance(to: now)
      if !batch.isEmpty { judge.receive(pipeline.ingest(batch)) }
      judge.receive(pipeline.advance(to: Installation.start + TimeSpan(nanoseconds: now)))
    }
    return judge.finish()
  }
}

/// What the gateways of an installation send.
private struct InstallationTraffic {
  private struct Heard {
    var time: Int64
    var device: Int
    var level: Double
  }

  private struct Pending {
    var received: Int64
    var gateway: Int
    var body: ReportBody
    var heard: Int64
  }

  private let plan: Installation
  private var random: RandomStream
  private var next: [Int64]
  private var nextPasser: [[Int64]]
  private var buffers: [[Heard]]
  private var nextUpload: [Int64]
  private var nextHeartbeat: [Int64]
  private var counts: [UInt32]
  private var payloads: [[UInt8]] = []
  private var offsets: [Int64]

  init(_ plan: Installation) throws {
    self.plan = plan
    random = RandomStream(seed: plan.seed, 78)
    var draw = RandomStream(seed: plan.seed, 79)
    next = plan.tags.map { $0.rooms[0].from }
    nextPasser = plan.gateways.map { $0.passersBy.map { Int64(draw.uniform() * Double($0)) } }
    buffers = plan.gateways.map { _ in [] }
    nextUpload = plan.gateways.map { Int64(draw.uniform() * Double($0.upload ?? 1)) }
    nextHeartbeat = plan.gateways.map { Int64(draw.uniform() * Double($0.heartbeat ?? 1)) }
    counts = plan.gateways.map { _ in 0 }
    offsets = plan.gateways.map { _ in Int64(draw.uniform(-1e6, 1e6)) * Installation.second }
    for number in plan.tags.indices { payloads.append(try InstallationTraffic.payload(number, isTag: true)) }
    payloads.append(try InstallationTraffic.payload(0, isTag: false))
  }

  private static func payload(_ number: Int, isTag: Bool) throws -> [UInt8] {
    var builder = AdvertBuilder()
    let uuid = UUID128(high: isTag ? 0xE2C5_6DB5_DFFB_48D2 : 0x5A4B, low: 0xB060_D0F5_A710_96E0)
    try builder.append(.iBeacon(IBeacon(uuid: uuid, major: 1, minor: UInt16(number), measuredPower: -59)))
    return builder.payload
  }

  /// The reports that arrive up to a time.
  mutating func advance(to now: Int64) -> ReportBatch {
    var pending: [Pending] = []
    for number in plan.tags.indices { send(number, until: now, &pending) }
    for gateway in plan.gateways.indices {
      pass(gateway, until: now, &pending)
      upload(gateway, until: now, &pending)
      beat(gateway, until: now, &pending)
    }
    pending.sort { ($0.received, $0.gateway) < ($1.received, $1.gateway) }
    return batch(of: pending)
  }

  private mutating func send(_ number: Int, until now: Int64, _ pending: inout [Pending]) {
    let tag = plan.tags[number]
    while next[number] < now {
      let time = next[number]
      let interval = tag.isCarried(at: time) ? tag.carriedInterval : tag.interval
      next[number] = time + interval + Int64(random.uniform() * 1e7)
      guard let room = tag.room(at: time) else { continue }
      for (place, gateway) in plan.gateways.enumerated() {
        guard let level = plan.level(of: tag, in: room, at: gateway), !random.chance(tag.losses[place]),
          !gateway.isOut(time)
        else { continue }
        receive(Heard(time: time, device: number, level: level + 3 * random.normal()), at: place, &pending)
      }
    }
  }

  private mutating func pass(_ place: Int, until now: Int64, _ pending: inout [Pending]) {
    for passer in plan.gateways[place].passersBy.indices {
      while nextPasser[place][passer] < now {
        let time = nextPasser[place][passer]
        nextPasser[place][passer] += plan.gateways[place].passersBy[passer] + Int64(random.uniform() * 1e7)
        guard !plan.gateways[place].isOut(time), !random.chance(0.1) else { continue }
        receive(Heard(time: time, device: -1 - passer, level: -75 + 3 * random.normal()), at: place, &pending)
      }
    }
  }

  private mutating func receive(_ heard: Heard, at place: Int, _ pending: inout [Pending]) {
    counts[place] &+= 1
    guard plan.gateways[place].upload == nil else { return buffers[place].append(heard) }
    let delay = Int64(5e6 + random.uniform() * 1.5e7)
    pending.append(
      Pending(received: heard.time + delay, gateway: place, body: body(of: heard, place), heard: heard.time)
    )
  }

  private func body(of heard: Heard, _ place: Int) -> ReportBody {
    let isTag = heard.device >= 0
    let address =
      isTag ? 0xC0_0000_0000 + UInt64(heard.device) : 0xD0_0000_0000 + UInt64(place * 16 - heard.device)
    return .advert(
      Advert(
        address: DeviceAddress(bits: address, kind: .public),
        rssi: RSSI(dBm: Int8(max(-99, min(-20, heard.level.rounded())))),
        pdu: .nonConnectable,
        payload: UInt32(isTag ? heard.device : plan.tags.count)..<0xFFFF_FFFF
      )
    )
  }

  private mutating func upload(_ place: Int, until now: Int64, _ pending: inout [Pending]) {
    guard let period = plan.gateways[place].upload else { return }
    while nextUpload[place] < now {
      let time = nextUpload[place]
      nextUpload[place] += period
      if plan.gateways[place].isOut(time) {
        // Without power nothing is kept.
        buffers[place].removeAll { $0.time <= time }
        continue
      }
      buffers[place].sort { $0.time < $1.time }
      let split = buffers[place].firstIndex { $0.time > time } ?? buffers[place].count
      for heard in buffers[place][..<split] {
        pending.append(
          Pending(received: time, gateway: place, body: body(of: heard, place), heard: heard.time)
        )
      }
      buffers[place].removeFirst(split)
    }
  }

  private mutating func beat(_ place: Int, until now: Int64, _ pending: inout [Pending]) {
    guard let period = plan.gateways[place].heartbeat else { return }
    while nextHeartbeat[place] < now {
      let time = nextHeartbeat[place]
      nextHeartbeat[place] += period
      guard !plan.gateways[place].isOut(time) else { continue }
      let heartbeat = Heartbeat(advertsHeard: counts[place], scanDuty: 1)
      counts[place] = 0
      pending.append(Pending(received: time, gateway: place, body: .heartbeat(heartbeat), heard: time))
    }
  }

  private func timing(_ pending: Pending) -> ReportTiming {
    let gateway = plan.gateways[pending.gateway]
    if case .heartbeat = pending.body { return .received }
    switch gateway.timing {
    case .none: return .received
    case .age: return .age(TimeSpan(nanoseconds: max(0, pending.received - pending.heard)))
    case .clock:
      let steps = gateway.steps.reduce(0) { $0 + ($1.time <= pending.heard ? $1.by : 0) }
      return .sent(
        Installation.start + TimeSpan(nanoseconds: pending.heard + offsets[pending.gateway] + steps)
      )
    }
  }

  private func batch(of pending: [Pending]) -> ReportBatch {
    var batch = ReportBatch()
    let indices = plan.gateways.map { batch.index(of: $0.id) }
    let ranges = payloads.map { batch.append(payload: $0) }
    for report in pending {
      var body = report.body
      if case .advert(var advert) = body {
        advert.payload = ranges[Int(advert.payload.lowerBound)]
        body = .advert(advert)
      }
      let received = Installation.start + TimeSpan(nanoseconds: report.received)
      batch.append(
        Report(observer: indices[report.gateway], received: received, timing: timing(report), body: body)
      )
    }
    return batch
  }
}

/// Holds events against the truth of an installation.
private struct InstallationJudge {
  private let plan: Installation
  private let trace: ((String) -> Void)?
  private var result = InstallationResult()
  private var present: [Int?]
  private var hasBeenPlaced: [Bool]
  private var offline: [[Double]]
  /// Of each tag, its changes of room that have not been found yet.
  private var changes: [[(time: Int64, room: Int)]]

  init(_ plan: Installation, trace: ((String) -> Void)?) {
    self.plan = plan
    self.trace = trace
    present = plan.tags.map { _ in nil }
    hasBeenPlaced = plan.tags.map { _ in false }
    offline = plan.gateways.map { _ in [] }
    changes = plan.tags.map { tag in
      tag.rooms.dropFirst().compactMap { change in change.room.map { (change.from, $0) } }
    }
  }

  mutating func receive(_ events: [Event]) {
    for event in events { receive(event) }
  }

  private func seconds(_ time: Timestamp) -> Double { (time - Installation.start).seconds }

  /// How late what a gateway hears of a tag may be known: the longest upload and three intervals of the tag.
  private func slack(_ tag: Int) -> Int64 {
    let upload = plan.gateways.compactMap(\.upload).max() ?? 0
    return 3 * upload + 10 * plan.tags[tag].interval + 30 * Installation.second
  }

  private func wasIn(_ tag: Int, _ room: Int?, at time: Int64) -> Bool {
    let rooms = plan.tags[tag].rooms
    let from = time - slack(tag)
    for (index, stay) in rooms.enumerated() {
      let end = index + 1 < rooms.count ? rooms[index + 1].from : .max
      if stay.room == room, stay.from <= time, end > from { return true }
    }
    return false
  }

  private mutating func receive(_ event: Event) {
    if let trace, event.kind != .regionState {
      var reason = ""
      if case .zone(let transition) = event.detail {
        let hearings = transition.hearings.map { "\($0.observer) \(Int($0.level))" }
        reason = "\(transition.reason) \(hearings.joined(separator: ", "))"
      }
      let decided = "\(seconds(event.decidedAt)) \(event.kind.type) \(event.region) \(event.subject)"
      trace("\(decided) at \(seconds(event.time)) \(reason)")
    }
    switch (event.kind, event.subject) {
    case (.observerOffline, .observer(let id)):
      guard let place = plan.gateways.firstIndex(where: { $0.id == id }) else { return }
      offline[place].append(seconds(event.decidedAt))
    case (.zoneEnter, .beacon(let beacon)):
      guard let tag = beacon.minor.map({ Int($0) }), let room = Int(event.region) else { return }
      enter(tag, room, event)
    case (.zoneExit, .beacon(let beacon)):
      guard let tag = beacon.minor.map({ Int($0) }), let room = Int(event.region) else { return }
      let time = Int64(seconds(event.decidedAt) * 1e9)
      present[tag] = nil
      let isGone = (plan.tags[tag].rooms.last.map { $0.room == nil && $0.from < time }) ?? false
      let hasMoved = plan.tags[tag].room(at: time) != room || wasMoving(tag, at: time)
      if !isGone, !hasMoved {
        result.falseChanges += 1
        fault("tag \(tag) (\(plan.tags[tag].interval / 1_000_000) ms) leaves room \(room) falsely", event)
      }
    case (.regionExit, .beacon(let beacon)):
      guard let tag = beacon.minor.map({ Int($0) }) else { return }
      let time = Int64(seconds(event.decidedAt) * 1e9)
      if plan.tags[tag].room(at: time) != nil {
        result.falseExits += 1
        fault("tag \(tag) (\(plan.tags[tag].interval / 1_000_000) ms) exits falsely", event)
      }
    default: break
    }
  }

  private func wasMoving(_ tag: Int, at time: Int64) -> Bool {
    plan.tags[tag].rooms.dropFirst().contains { $0.from <= time && time < $0.from + slack(tag) }
  }

  private mutating func enter(_ tag: Int, _ room: Int, _ event: Event) {
    let time = Int64(seconds(event.decidedAt) * 1e9)
    let isRight = wasIn(tag, room, at: time)
    if !hasBeenPlaced[tag] {
      hasBeenPlaced[tag] = true
      result.firstRooms += 1
      if plan.tags[tag].interval <= Installation.second {
        result.firstDelays.append(seconds(event.decidedAt) - Double(plan.tags[tag].rooms[0].from) / 1e9)
      }
      if !isRight {
        result.wrongFirst += 1
        fault("tag \(tag) (\(plan.tags[tag].interval / 1_000_000) ms) is first in room \(room)", event)
      }
    } else if !isRight {
      result.falseChanges += 1
      fault("tag \(tag) (\(plan.tags[tag].interval / 1_000_000) ms) is in room \(room) falsely", event)
    }
    present[tag] = room
    while let change = changes[tag].first, change.time <= time, change.room == room {
      result.changeDelays.append(Double(time - change.time) / 1e9)
      changes[tag].removeFirst()
    }
  }

  private mutating func fault(_ text: String, _ event: Event) {
    result.faults.append("seed \(plan.seed), \(seconds(event.decidedAt)) s: \(text)")
  }

  mutating func finish() -> InstallationResult {
    for (place, gateway) in plan.gateways.enumerated() {
      for outage in gateway.outages where outage.upperBound - outage.lowerBound >= 90 * Installation.second {
        result.outages += 1
        let start = Double(outage.lowerBound) / 1e9
        let limit = start + 60 + 2 * Double(gateway.upload ?? 0) / 1e9
        if !offline[place].contains(where: { $0 > start && $0 <= limit }) {
          result.missedOutages += 1
          result.faults.append("seed \(plan.seed): outage of \(gateway.id) at \(start) s is not noticed")
        }
      }
    }
    for (number, tag) in plan.tags.enumerated() {
      let gone = tag.rooms.last?.room == nil ? tag.rooms.last?.from ?? plan.length : plan.length
      result.tagHours += Double(gone - tag.rooms[0].from) / 3.6e12
      guard tag.room(at: plan.length) != nil else { continue }
      if present[number] != tag.room(at: plan.length) {
        result.misplaced += 1
        let room = present[number].map(String.init) ?? "none"
        result.faults.append(
          "seed \(plan.seed): tag \(number) (\(tag.interval / 1_000_000) ms) ends in room \(room)"
        )
      }
    }
    return result
  }
}
