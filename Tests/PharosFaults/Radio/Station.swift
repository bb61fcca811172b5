import PharosEncoders
import PharosModel
import PharosSecurity
import PharosSimulation
import PharosWire

/// An observer: hears what is in the air, and sends it, by a clock of its own.
final class Station {
  /// What it has heard and not sent yet.
  private struct Heard {
    /// The number of the transmitter; nil for an identity of a flood.
    var number: Int?
    var transmitter: Transmitter
    var time: TrueTime
    var localTime: TrueTime
    var level: Int8

    var address: DeviceAddress { transmitter.address(at: time) }
  }

  /// That an advert of a transmitter was heard.
  struct Hearing: Hashable {
    var transmitter: Int
    var time: TrueTime
  }

  /// A datagram, and which adverts are in it.
  struct Datagram {
    var bytes: [UInt8]
    var hearings: Set<Hearing>
  }

  let plan: StationPlan
  /// Whether it will never be heard again.
  private(set) var isDead = false
  /// The time until which it is out, restarting.
  private(set) var outUntil: TrueTime = 0
  /// By how much its clock runs fast.
  var drift = 0.0
  /// Indicates whether it has stopped sleeping.
  var isSleepless = false
  /// When its clock was set, and by how much, in order.
  private var settings: [(time: TrueTime, step: TrueTime)] = []
  /// How far its clock is ahead, drift apart.
  private(set) var ahead: TrueTime = 0

  private let index: Int
  private let transmitters: [Transmitter]
  private let truth: Truth
  private var random: RandomStream
  private var heard: [Heard] = []
  private var heardThrough: TrueTime = 0
  private(set) var bootID: UInt32 = 1
  private var bootedAt: TrueTime = 0
  private var encoder: PharosDatagramEncoder
  private let signer: DatagramSigner?
  /// The level of the topic that names the observer, as the site file gives it.
  private let topicLevel: UInt8
  private var nextHeartbeat: TrueTime = 0
  private var advertsHeard: UInt32 = 0
  private var sequence: UInt32 = 0

  /// The level beside a station, and that far from it.
  private static let levels = (near: -60, far: -85)
  /// The share of adverts that a radio misses beside a beacon.
  private static let missed = 0.03
  /// How often a gateway says that it lives.
  private static let heartbeatPeriod = TrueTime.seconds(10)
  /// How much a station keeps while its network is gone, as a gateway's ring does.
  private static let maximumBacklog = TrueTime.seconds(40)
  /// The age up to which an upload tells of an advert.
  private static let maximumAge = TrueTime.seconds(65)
  /// The number of adverts in the body of an upload.
  private static let maximumUpload = 5_000
  /// Where its clock's times begin, so that they are times of day.
  private static let epoch: Int64 = 1_800_000_000_000_000_000

  init(_ index: Int, _ faultPlan: FaultPlan, _ plant: Plant?) {
    self.index = index
    topicLevel = plant == .readsWrongLevel ? 1 : 2
    plan = faultPlan.stations[index]
    transmitters = faultPlan.transmitters
    truth = faultPlan.truth
    random = RandomStream(seed: faultPlan.seed, 2, UInt64(index))
    signer = plan.key.map { DatagramSigner(key: $0) }
    encoder = PharosDatagramEncoder(observer: plan.id, bootID: 1, signingKeyID: plan.key?.id)
  }

  /// Whether it can keep what it hears while its network is gone: each raddec is sent as it is heard, into nothing, and who tells no
  /// ages has nothing to say later.
  var canKeep: Bool { !plan.speaksRaddec && plan.givesAges }

  /// Whether it hears anything at a time.
  func isUp(_ now: TrueTime) -> Bool { !isDead && now >= outUntil && !isSleeping(now) }

  private func isSleeping(_ now: TrueTime) -> Bool {
    guard let sleep = plan.sleep, !isSleepless else { return false }
    return now % sleep.period < sleep.duration
  }

  /// Dies for good.
  func die() {
    isDead = true
    heard = []
  }

  /// Restarts, which takes a while; what it had not sent is lost.
  func restart(at now: TrueTime, for duration: TrueTime) {
    heard = []
    outUntil = now + duration
    heardThrough = outUntil
    bootID += 1
    bootedAt = outUntil
    encoder = PharosDatagramEncoder(observer: plan.id, bootID: bootID, signingKeyID: plan.key?.id)
    nextHeartbeat = outUntil
    advertsHeard = 0
  }

  /// Its clock is set by so much.
  func setClock(by step: TrueTime, at now: TrueTime) {
    ahead += step
    settings.append((now, step))
  }

  /// By how much its clock stood lower than before at most, as it was set within a time.
  func setBack(in span: Range<TrueTime>) -> TrueTime {
    var (fall, maximum): (TrueTime, TrueTime) = (0, 0)
    for setting in settings where span.contains(setting.time) {
      fall = max(0, fall - setting.step)
      maximum = max(maximum, fall)
    }
    return maximum
  }

  /// The time by the clock that its times or ages are taken from: raddecs tell times of the clock that is set, while ages are
  /// differences of one that never is, as the format demands, so that no clock of a gateway matters.
  private func localTime(_ time: TrueTime) -> TrueTime {
    time + (plan.speaksRaddec ? ahead : 0) + TrueTime(Double(time) * drift)
  }

  // MARK: Hearing

  /// Hears what was in the air since the last call.
  private func listen(until now: TrueTime) {
    defer { heardThrough = max(heardThrough, now) }
    guard heardThrough < now else { return }
    for (number, transmitter) in transmitters.enumerated() {
      let first = max(0, (heardThrough - transmitter.phase + transmitter.interval - 1) / transmitter.interval)
      var time = transmitter.phase + first * transmitter.interval
      while time < now {
        if time >= heardThrough, let stay = truth.stay(of: number, at: index, time), sends(number, time),
          !random.chance(Station.missed)
        {
          let level = (stay.isFar ? Station.levels.far : Station.levels.near) + Int(random.uniform(-4, 4))
          receive(transmitter, number, at: time, level: Int8(level))
        }
        time += transmitter.interval
      }
      for time in truth.reflections(of: number, at: index, in: heardThrough..<now)
      where truth.stay(of: number, at: index, time) == nil {
        receive(transmitter, number, at: time, level: Int8(Station.levels.far))
      }
    }
    heard.sort { $0.time < $1.time }
  }

  /// Whether a transmitter sends its advert of a time: at rest it leaves out most of them.
  private func sends(_ number: Int, _ time: TrueTime) -> Bool {
    let transmitter = transmitters[number]
    guard transmitter.restRatio > 1, !truth.isMoving(number, at: time) else { return true }
    return (time - transmitter.phase) / transmitter.interval % Int64(transmitter.restRatio) == 0
  }

  private func receive(_ transmitter: Transmitter, _ number: Int?, at time: TrueTime, level: Int8) {
    heard.append(
      Heard(
        number: number,
        transmitter: transmitter,
        time: time,
        localTime: localTime(time),
        level: level
      )
    )
    advertsHeard += 1
  }

  /// The datagrams that it sends at a time.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - isConnected: whether there is a network; without one it keeps what it has heard for a while, if it can.
  ///   - keeps: whether it can.
  /// - Returns: the datagrams, which go nowhere without a network.
  func send(at now: TrueTime, isConnected: Bool, keeps: Bool) -> [Datagram] {
    if isSleeping(now) {
      heard = []
      heardThrough = now
    }
    guard isUp(now) else { return [] }
    listen(until: now)
    // The Pharos datagram states ages up to 65 s.
    if plan.uploads { heard.removeAll { $0.time < now - Station.maximumAge } }
    if !isConnected, keeps, canKeep {
      heard.removeAll { $0.time < now - Station.maximumBacklog }
      return []
    }
    // Without a network and without a ring it sends all the same, into nothing.
    if plan.speaksRaddec { return raddecs() }
    return plan.speaksJSON ? json(at: now) : pharos(at: now)
  }

  /// JSON objects, with at most 50 adverts each unless they are the body of an upload, and a heartbeat in the last one when it is
  /// due.
  private func json(at now: TrueTime) -> [Datagram] {
    let sources = heard
    heard = []
    var datagrams: [Datagram] = []
    func finish(_ heard: ArraySlice<Heard>, _ more: String) {
      sequence += 1
      let adverts = heard.map { heard in
        let data = heard.transmitter.payload.map { byte in
          String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
        }
        let kind = heard.transmitter.addressPeriod == nil ? "public" : "random"
        let age = (localTime(now) - heard.localTime) / 1_000_000
        let member = plan.givesAges ? #""age":\#(age),"# : ""
        return
          #"{"address":"\#(heard.address)","addressType":"\#(kind)","rssi":\#(heard.level),\#(member)"#
          + #""data":"\#(data.joined())"}"#
      }
      let name = plan.envelope == .topic ? "" : #""observer":"\#(plan.id)","#
      let head = #"{\#(name)"bootId":\#(bootID),"sequence":\#(sequence),"#
      let uptime = max(0, now - bootedAt) / 1_000_000
      let text =
        head + #""uptime":\#(uptime),"adverts":[\#(adverts.joined(separator: ","))]\#(more)}"#
      datagrams.append(Datagram(bytes: enveloped(text), hearings: Station.hearings(heard)))
    }
    var first = 0
    let limit = plan.uploads ? Station.maximumUpload : 50
    while sources.count - first > limit {
      finish(sources[first..<first + limit], "")
      first += limit
    }
    var heartbeat = ""
    if now >= nextHeartbeat {
      nextHeartbeat = now + Station.heartbeatPeriod
      heartbeat = #","heartbeat":{"advertsHeard":\#(advertsHeard),"scanDuty":1,"dropped":0}"#
      advertsHeard = 0
    }
    if first < sources.count || !heartbeat.isEmpty { finish(sources[first...], heartbeat) }
    return datagrams
  }

  /// Puts a JSON object into what it is sent in.
  private func enveloped(_ text: String) -> [UInt8] {
    switch plan.envelope {
    case .object: Array(text.utf8)
    case .array: Array("[\(text)]".utf8)
    case .topic:
      MQTTFormat.datagram(topic: "site/\(plan.id)/heard".utf8, observerLevel: topicLevel, payload: text.utf8)
        ?? []
    }
  }

  private func raddecs() -> [Datagram] {
    defer { heard = [] }
    return heard.compactMap { heard in
      let transmitter = heard.transmitter
      let time = Timestamp(nanoseconds: Station.epoch + heard.localTime)
      let sighting = RaddecSighting(
        transmitter: heard.address,
        receivers: [.init(observer: plan.id, rssi: RSSI(dBm: heard.level))],
        time: plan.givesTime ? time : nil,
        packets: [.init(pdu: .nonConnectable, data: transmitter.payload)]
      )
      return RaddecEncoder.encode(sighting).map { Datagram(bytes: $0, hearings: Station.hearings([heard])) }
    }
  }

  private func pharos(at now: TrueTime) -> [Datagram] {
    var batch = ReportBatch()
    let sent = Timestamp(nanoseconds: Station.epoch + localTime(now))
    let observer = batch.index(of: plan.id)
    for heard in heard {
      let advert = Advert(
        address: heard.address,
        rssi: RSSI(dBm: heard.level),
        pdu: .nonConnectable,
        payload: batch.append(payload: heard.transmitter.payload)
      )
      let time = Timestamp(nanoseconds: Station.epoch + heard.localTime)
      batch.append(
        Report(observer: observer, received: sent, timing: .age(sent - time), body: .advert(advert))
      )
    }
    let sources = heard
    heard = []
    if now >= nextHeartbeat {
      nextHeartbeat = now + Station.heartbeatPeriod
      let heartbeat = Heartbeat(advertsHeard: advertsHeard, scanDuty: 1, dropped: 0)
      advertsHeard = 0
      batch.append(
        Report(observer: observer, received: sent, timing: .age(.zero), body: .heartbeat(heartbeat))
      )
    }
    return encode(batch, of: sources, sent: sent, uptime: TimeSpan(nanoseconds: max(0, now - bootedAt)))
  }

  /// Encodes the reports of a batch, the first of which are the adverts that were heard.
  private func encode(
    _ batch: ReportBatch,
    of heard: [Heard],
    sent: Timestamp,
    uptime: TimeSpan
  ) -> [Datagram] {
    var datagrams: [Datagram] = []
    var first = 0
    func finish(before next: Int) {
      let hearings = Station.hearings(heard[min(first, heard.count)..<min(next, heard.count)])
      var bytes = encoder.finish(uptime: uptime)
      signer?.sign(&bytes)
      datagrams.append(Datagram(bytes: bytes, hearings: hearings))
      first = next
    }
    for (index, report) in batch.reports.enumerated()
    where !encoder.append(report, from: batch, sent: sent) {
      finish(before: index)
      _ = encoder.append(report, from: batch, sent: sent)
    }
    if !encoder.isEmpty { finish(before: batch.count) }
    return datagrams
  }

  private static func hearings(_ heard: some Sequence<Heard>) -> Set<Hearing> {
    Set(heard.compactMap { heard in heard.number.map { Hearing(transmitter: $0, time: heard.time) } })
  }

  /// Hears adverts of invented identities, as a sender transmits them that wants memory to run out.
  ///
  /// They are sent with all else that is heard: where the network is gone they are lost or kept with it.
  func flood(_ count: Int, at now: TrueTime) {
    listen(until: now)
    for _ in 0..<count { receive(minor: UInt16(1_000 + random.next() % 60_000), at: now) }
  }

  /// Hears an advert of each tag of a crowd that comes in by one door.
  func crowd(_ minors: Range<UInt16>, at now: TrueTime) {
    guard isUp(now) else { return }
    listen(until: now)
    for minor in minors { receive(minor: minor, at: now) }
  }

  private func receive(minor: UInt16, at now: TrueTime) {
    let made = Transmitter.beacon(
      FaultPlan.uuid,
      major: FaultPlan.tagMajor,
      minor: minor,
      interval: 1,
      phase: 0
    )
    receive(made, nil, at: now, level: -70)
  }
}
