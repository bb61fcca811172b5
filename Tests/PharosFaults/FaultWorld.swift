import PharosDelivery
import PharosJournal
import PharosModel
import PharosPipeline
import PharosSimulation
import PharosWire

/// The world of one seed while it is played: stations, network, disk, server, subscribers, and what is known of the truth.
final class FaultWorld {
  let plan: FaultPlan
  let plant: Plant?
  let folder: String
  let clockwork = Clockwork()
  let disk = SimulatedDisk()
  var clock = ServerClock()
  var tally = FaultTally()
  var ledger = Ledger()
  /// What the server can know of who is where.
  var arrivals = Arrivals()
  var network: Network
  let stations: [Station]
  /// The run of the server that is under way.
  private(set) var life: Life?
  /// How many runs there were.
  private(set) var lives = 0
  /// Whether things go wrong at present.
  private(set) var isTroubled = true
  var clients: [FeedClient] = []
  private(set) var webhook: WebhookClient?
  private(set) var broker: BrokerClient?
  private var leakWatch: LeakWatch?
  /// What the operator has decided.
  var consents = Consents()
  var signatures = SignatureBook()
  private(set) var machine = Machine()
  /// Signed datagrams that were taken, the latest last.
  private var recorded: [(bytes: [UInt8], station: Int)] = []
  private(set) var violations: [Violation] = []
  /// Receives the trace line by line, if it is recorded.
  var onTrace: ((String) -> Void)?

  /// What holds decisions against the truth; nil where datagrams lie.
  var truthCheck: TruthCheck?
  private var streams: [StreamClient] = []
  private var random: RandomStream
  /// Draws for what wide plans add, so that those of the others stay as they are.
  private var wideRandom: RandomStream
  /// Draws for what the third generation of plans adds.
  private var readersRandom: RandomStream
  /// The site file as it was edited last.
  private var editedSite: Site
  /// A datagram that waits in the socket.
  private struct Unread {
    var delivery: Network.Delivery
    var station: Int
    var hearings: Set<Station.Hearing>
    /// When it was sent.
    var sent: TrueTime
    /// Indicates whether an attacker sent it.
    var isReplay: Bool
  }

  /// Until when a station's network is gone, and whether it keeps what it hears.
  private var outages: [(until: TrueTime, keeps: Bool)]
  /// When a machine that stands still goes on, and what came meanwhile.
  private var unread: [Unread] = []
  /// The number of datagrams that a socket holds while the queue of decisions is full.
  private static let socketRoom = 1_000
  /// When the machine stood still.
  private(set) var pauses: [Range<TrueTime>] = []
  private var killsAfterCommit = false
  private var losesPower = false
  /// What the wall clock's steps come to, as the events of the present run tell them.
  private var publishedOffset = TimeSpan.zero
  private(set) var received: UInt64 = 0
  /// The subjects that were erased.
  private(set) var erased: Set<SubjectID> = []
  /// Which of them are judged again.
  var erasures = Erasures()

  init(_ plan: FaultPlan, plant: Plant?, folder: String) {
    self.plan = plan
    self.plant = plant
    self.folder = folder
    network = Network(seed: plan.seed)
    ledger.allowsRepeats = plan.kinds.contains(.clockStep)
    random = RandomStream(seed: plan.seed, 6)
    wideRandom = RandomStream(seed: plan.seed, 9)
    readersRandom = RandomStream(seed: plan.seed, 13)
    editedSite = plan.site
    stations = plan.stations.indices.map { Station($0, plan, plant) }
    outages = Array(repeating: (0, false), count: plan.stations.count)
    if plan.hasWebhook { webhook = WebhookClient(in: self) }
    if plan.hasBroker { broker = BrokerClient(in: self) }
    disk.onKill = { [unowned self] in
      tally.count(.killInWrite)
      kill()
    }
  }

  /// The site as the server is given it.
  var site: Site {
    var site = editedSite
    if plant == .exitsWithoutProofOfLife {
      site.observers = plan.stations.map { ObserverEntry(id: $0.id, liveness: .assumed) }
    }
    return site
  }

  /// How many loops a run has.
  func shards(_ life: Int) -> Int { 1 + (plan.shards + life) % 3 }

  /// Tells what happens, the same in every run of the seed: errors name the folder, which has another name each time.
  func trace(_ text: @autoclosure () -> String) {
    guard let onTrace else { return }
    onTrace("\(seconds(clockwork.now)) \(text().replacing(folder, with: "(data)"))")
  }

  func violate(_ rule: Violation.Rule, _ text: String) {
    violations.append(Violation(rule: rule, time: Double(clockwork.now) / 1e9, text: text))
    trace("VIOLATION \(rule.rawValue): \(text)")
  }

  /// Says what was drawn.
  func describe() {
    guard onTrace != nil else { return }
    trace("faults \(plan.kinds.map(\.rawValue).sorted().joined(separator: " "))")
    for station in plan.stations {
      let format =
        station.speaksJSON
        ? "JSON"
        : station.speaksRaddec ? station.givesTime ? "raddec with times" : "raddec" : "pharos"
      let signs = station.key == nil ? "" : ", signed"
      trace(
        "station \(station.id) speaks \(format)\(signs)\(station.isHandset ? ", a handset" : "")"
      )
    }
    for region in plan.site.applications.flatMap(\.regions) {
      trace("region \(region.identifier) silence \(region.presence.silence)")
    }
    for stay in plan.truth.stays {
      guard let beacon = plan.transmitters[stay.transmitter].beacon else { continue }
      let span = "\(seconds(stay.span.lowerBound)) to\(seconds(stay.span.upperBound))"
      trace("stay \(beacon.major ?? 0)/\(beacon.minor ?? 0) at \(plan.stations[stay.station].id) \(span)")
    }
    for (number, transmitter) in plan.transmitters.enumerated() {
      guard let beacon = transmitter.beacon else { continue }
      for (index, station) in plan.stations.enumerated() {
        for time in plan.truth.reflections(of: number, at: index, in: 0..<plan.active) {
          trace("reflection \(beacon.major ?? 0)/\(beacon.minor ?? 0) at \(station.id) \(seconds(time))")
        }
      }
    }
  }

  /// Everything that was found wrong.
  var allViolations: [Violation] { violations + ledger.violations }

  func seconds(_ time: TrueTime) -> String {
    let text = String(time / 1_000_000)
    return String(repeating: " ", count: max(0, 7 - text.count)) + text
  }

  // MARK: The server's runs

  /// Starts the server; where it cannot start it is tried again, as a supervisor does.
  func start() {
    lives += 1
    do {
      let life = try Life(lives, in: self)
      self.life = life
      try life.begin()
      guard self.life === life else { return }
      streams = (0..<plan.streams).map { StreamClient($0, of: life, in: self) }
      beginReaders(of: life)
      trace("run \(lives) begins, the wall clock is \(clock.wallOffset / 1_000_000) ms ahead")
    } catch {
      trace("run \(lives) cannot begin: \(error)")
      if !isTroubled { violate(.start, "the server does not start: \(error)") }
      end()
      clockwork.after(.seconds(1)) { [weak self] in self?.startIfDown() }
    }
  }

  private func beginReaders(of life: Life) {
    for subject in consents.beginRun(with: life.authorisations.view) {
      violate(.leak, "the decision about \(subject) is another one than was stored")
    }
    webhook?.begin(life)
    broker?.begin(life)
    leakWatch = LeakWatch(of: life, in: self)
  }

  private func startIfDown() { if life == nil { start() } }

  /// The offset that times of events have at the beginning of a run.
  func beginRun(behind offset: TimeSpan) { publishedOffset = offset }

  /// Notes what was decided, with the world's times.
  func record(_ events: [Event], decidedBy life: Life) {
    for event in events {
      if case .clockStep(let step) = event.detail { publishedOffset = publishedOffset + step }
      let offset = publishedOffset
      let clock = clock
      ledger.record([event], life: life.number, now: clockwork.now) { clock.trueTime($0.time - offset) }
      let decided = clock.trueTime(event.decidedAt - offset)
      if let time = ledger.time(of: event) { truthCheck?.check(event, at: time, decided: decided) }
      if case .clockStep(let step) = event.detail { trace("the wall clock went by \(step.seconds) s") }
      trace("run \(life.number) \(event.kind) \(event.region) \(event.subject) \(describe(event))")
    }
  }

  private func describe(_ event: Event) -> String {
    guard case .region(let transition) = event.detail else { return "" }
    let rule = transition.evidence.rule.rawValue
    let decided = clock.trueTime(event.decidedAt - publishedOffset)
    let committed =
      "\(transition.from) to \(transition.to) by \(rule) at \(seconds(ledger.time(of: event) ?? 0))"
    var text = "\(committed), decided at \(seconds(decided))"
    let evidence = transition.evidence
    if let observer = transition.observer { text += ", by \(observer)" }
    if let heard = evidence.lastHeard {
      text += ", heard at \(seconds(clock.trueTime(heard - publishedOffset)))"
    }
    if let gap = evidence.allowedGap { text += ", allowed \(gap.seconds) s" }
    if let interval = evidence.interval { text += ", interval \(interval.seconds) s" }
    if let silence = evidence.silence {
      text += ", chance \(silence.runChance), continued \(silence.continued), ended \(silence.ended)"
    }
    return text
  }

  /// Whether the process is to be killed behind the commit that has just succeeded.
  func isKillDueAfterCommit() -> Bool {
    guard killsAfterCommit else { return false }
    killsAfterCommit = false
    tally.count(.killAfterCommit)
    return true
  }

  /// The process is gone from one step to the next, and is started again after a while.
  func kill() {
    guard let life else { return cutDisk() }
    trace("run \(life.number) is killed")
    check(life, isOrderly: false)
    end()
    cutDisk()
    restartSoon()
  }

  private func cutDisk() {
    guard losesPower else { return disk.kill() }
    losesPower = false
    machine.restart(at: clockwork.now)
    tally.count(.power)
    let tears = plan.kinds.contains(.tornWrite)
    let torn = tears ? disk.losePower(&wideRandom, tears: true) : disk.losePower(&random, tears: false)
    if torn > 0 { tally.count(.tornWrite, torn) }
  }

  private func end() {
    guard let life else { return disk.kill() }
    endPause()
    clockwork.callOff(life.number)
    arrivals.endRun()
    erasures.endRun()
    for client in clients { client.disconnect() }
    for stream in streams { stream.end() }
    webhook?.endRun()
    broker?.endRun()
    leakWatch = nil
    streams = []
    unread = []
    life.journal.leave()
    self.life = nil
  }

  private func restartSoon() {
    let down = random.chance(0.5) ? random.uniform(0.1, 3) : random.uniform(3, 90)
    clockwork.after(.seconds(down)) { [weak self] in self?.startIfDown() }
  }

  /// Stops the server in an orderly way, and starts it again.
  func stop() {
    guard let life else { return }
    life.stop { [weak self, weak life] in
      guard let self, let life, self.life === life else { return }
      trace("run \(life.number) stops")
      check(life, isOrderly: true)
      end()
      disk.kill()
      restartSoon()
    }
  }

  /// Ends everything, at the end of the seed.
  func shutDown() { end() }

  /// Holds a run that ends against its own counts.
  func check(_ life: Life, isOrderly: Bool) {
    for stream in streams { stream.check() }
    RunCheck(life: life, world: self, isOrderly: isOrderly).run()
  }

  // MARK: Faults

  /// Many tags come to a station at once, each with as many adverts as it takes to enter, and are not heard again.
  func crowd(_ count: Int, at station: Int) {
    let first = UInt16(2_000 + 500 * (tally[.rows] % 100))
    trace("\(count) tags come to \(plan.stations[station].id)")
    for number in 0..<3 {
      clockwork.after(.seconds(0.7 * Double(number))) { [weak self] in
        guard let self else { return }
        arrivals.recordFlood(of: station, at: clockwork.now)
        stations[station].crowd(first..<first + UInt16(count), at: clockwork.now)
      }
    }
  }

  /// Those of some clients whose tokens have expired.
  func ended(_ clients: Set<String>) -> Set<String> {
    clients.filter { client in self.clients.contains { $0.hasEnded(client) } }
  }

  /// How long the disk takes for a commit.
  func diskDelay() -> TrueTime {
    guard isTroubled, plan.kinds.contains(.diskSlow), random.chance(0.1) else { return 0 }
    tally.count(.diskSlow)
    return .seconds(random.uniform(0.01, 4))
  }

  func armKillAfterCommit() { killsAfterCommit = true }
  func armPowerLoss() { losesPower = true }

  /// A station's network is gone for a while.
  func cut(_ station: Int, for duration: TrueTime, keeps: Bool) {
    outages[station] = (clockwork.now + duration, keeps)
    trace("\(plan.stations[station].id) is cut off for \(duration / 1_000_000) ms")
  }

  /// The site file is edited, and a server that runs adopts it.
  func edit() {
    editedSite = plan.edited(editedSite, &wideRandom)
    trace("the site file is edited")
    life?.adopt(site)
  }

  /// All data about a tag are erased.
  func erase() {
    let beacons = plan.transmitters.compactMap(\.beacon)
    let beacon = beacons[Int(wideRandom.next() % UInt64(beacons.count))]
    guard let life, let traces = SubjectTraces(beacon.description) else { return }
    trace("\(beacon) is erased")
    erased.insert(.beacon(beacon))
    guard plant == .erasesNothing || life.change(.forget(traces)) else { return }
    for station in plan.stations where life.pipeline.insight(observer: station.id, beacon: beacon) != nil {
      violate(.leak, "\(beacon) is erased, and \(station.id) knows it")
    }
    erasures.record(.beacon(beacon), at: clockwork.now)
    // As the server does, which answers once the checkpoint is kept.
    life.makeCheckpoint()
  }

  /// The operator hides a tag from an application, or shows it again.
  func withdraw() {
    let beacons = plan.transmitters.compactMap(\.beacon).filter { $0.major == FaultPlan.tagMajor }
    let subject = SubjectID.beacon(beacons[Int(readersRandom.next() % UInt64(beacons.count))])
    let state: AuthorisationState = readersRandom.chance(0.6) ? .denied : .always
    guard let life, !life.isPaused, !life.isStopping else { return }
    trace("\(subject) is \(state.name) for \(Consents.application)")
    if plant == .answersWithoutDeciding { return consents.record(state, of: subject, at: clockwork.now) }
    do {
      let event = try life.authorisations.set(
        state,
        application: Consents.application,
        subject: subject,
        by: .local,
        stream: plan.site.stream,
        at: clock.wall(clockwork.now)
      )
      guard self.life === life else { return consents.doubt(subject, at: clockwork.now) }
      consents.record(state, of: subject, at: clockwork.now)
      guard let event else { return }
      ledger.add(event, life: life.number, at: clockwork.now)
      life.commitPublisher.publish([event])
    } catch {
      consents.doubt(subject, at: clockwork.now)
    }
  }

  /// The receiver of the webhook is gone for a while.
  func cutWebhook() { webhook?.fail(for: .seconds(readersRandom.uniform(0.5, 40))) }

  /// The connection to the broker breaks.
  func cutBroker() {
    broker?.fail(for: .seconds(readersRandom.uniform(0, 20)), forgets: readersRandom.chance(0.2))
  }

  /// Datagrams that were taken are sent again.
  func replay() {
    guard !recorded.isEmpty else { return }
    for _ in 0..<1 + readersRandom.next() % 30 {
      let (bytes, station) = recorded[Int(readersRandom.next() % UInt64(recorded.count))]
      let delay = TrueTime.seconds(readersRandom.uniform(0, 5))
      clockwork.after(delay) { [weak self] in
        guard let self else { return }
        deliver(
          Network.Delivery(after: 0, bytes: bytes),
          from: station,
          sent: clockwork.now,
          isReplay: true,
          []
        )
      }
    }
  }

  /// Returns what a run that begins finds of the checkpoint: nothing, bytes that were damaged or that another version wrote, or
  /// the checkpoint itself.
  func found(ofCheckpoint bytes: [UInt8]) -> [UInt8]? {
    if isTroubled, plan.kinds.contains(.formerState), readersRandom.chance(0.4) {
      tally.count(.formerState)
      trace("the checkpoint has states of a former version")
      arrivals.forgetAll()
      erasures.forgetKept()
      return FormerState.bytes(of: bytes)
    }
    guard isTroubled, plan.kinds.contains(.lostCheckpoint), wideRandom.chance(0.4) else {
      return bytes
    }
    tally.count(.lostCheckpoint)
    arrivals.forgetAll()
    erasures.forgetKept()
    var bytes = bytes
    switch wideRandom.next() % 4 {
    case 0:
      trace("the checkpoint is gone")
      return nil
    case 1:
      trace("the checkpoint is of another version")
      bytes[Life.placeOfVersion] &-= 1
    case 2:
      trace("the checkpoint ends early")
      bytes.removeLast(1 + Int(wideRandom.next() % UInt64(bytes.count - 1)))
    default:
      trace("a bit of the checkpoint is wrong")
      bytes[Int(wideRandom.next() % UInt64(bytes.count))] ^= UInt8(1 << (wideRandom.next() % 8))
    }
    return bytes
  }

  /// The machine stands still.
  func pause(for duration: TrueTime) {
    guard let life, !life.isPaused, !life.isStopping else { return }
    life.isPaused = true
    pauses.append(clockwork.now..<clockwork.now + duration)
    clockwork.after(duration, owner: life.number) { [weak self, weak life] in
      guard let self, let life else { return }
      life.isPaused = false
      readWaiting(life)
    }
  }

  /// A datagram waits in the socket while there is room.
  private func wait(_ datagram: Unread) {
    if unread.count < FaultWorld.socketRoom || life?.isPaused == true { unread.append(datagram) }
  }

  /// Reads what waits in the socket; where reading had paused, the machine stood still as far as decisions are concerned.
  func readWaiting(_ life: Life) {
    guard let first = unread.first else { return }
    if !(pauses.last?.upperBound == clockwork.now) { pauses.append(first.sent..<clockwork.now) }
    let datagrams = unread
    unread = []
    for datagram in datagrams { if life.isHeld { wait(datagram) } else { read(datagram, life) } }
  }

  /// Ends a pause: a machine that is paused when its process ends discards what arrived meanwhile.
  private func endPause() {
    guard let last = pauses.last, last.upperBound > clockwork.now else { return }
    pauses[pauses.count - 1] = last.lowerBound..<clockwork.now
  }

  /// Stops all faults.
  func calm() {
    isTroubled = false
    network.troubles = Network.Troubles()
    disk.troubles = SimulatedDisk.Troubles()
    killsAfterCommit = false
    losesPower = false
    for index in outages.indices { outages[index].until = 0 }
    for station in stations {
      station.drift = 0
      station.isSleepless = true
    }
    trace("the world is quiet")
  }

  // MARK: The way of a datagram

  /// Lets a station send what it has, again and again.
  func run(_ index: Int) {
    let station = stations[index]
    let isConnected = clockwork.now >= outages[index].until
    let datagrams = station.send(at: clockwork.now, isConnected: isConnected, keeps: outages[index].keeps)
    if isConnected { carry(datagrams, from: index) }
    if !station.isDead { clockwork.after(station.plan.period) { [weak self] in self?.run(index) } }
  }

  /// Carries what a station sends at once: what belongs to one upload takes one way, and keeps its order.
  private func carry(_ datagrams: [Station.Datagram], from station: Int) {
    let sent = clockwork.now
    var delay: TrueTime?
    for datagram in datagrams {
      for (index, delivery) in network.carry(datagram.bytes, &tally).enumerated() {
        if plan.stations[station].uploads, index == 0, delay == nil { delay = delivery.after }
        clockwork.after(index == 0 ? delay ?? delivery.after : delivery.after) { [weak self] in
          self?.deliver(delivery, from: station, sent: sent, datagram.hearings)
        }
      }
    }
  }

  private func deliver(
    _ delivery: Network.Delivery,
    from station: Int,
    sent: TrueTime,
    isReplay: Bool = false,
    _ hearings: Set<Station.Hearing>
  ) {
    // A datagram to a closed port is lost: the machine reports that to the sender, which ignores it.
    guard let life, !life.isStopping else { return }
    received += 1
    if plan.stations[station].key == nil { arrivals.recordContact(with: station, at: clockwork.now) }
    let datagram = Unread(
      delivery: delivery,
      station: station,
      hearings: hearings,
      sent: sent,
      isReplay: isReplay
    )
    guard !life.isHeld else { return wait(datagram) }
    read(datagram, life)
  }

  private func read(_ datagram: Unread, _ life: Life) {
    guard plan.stations[datagram.station].key != nil, let door = life.door else {
      return receive(datagram, life)
    }
    switch door.admit(datagram.delivery.bytes) {
    case .accepted(let head):
      if signatures.isAccepted(head) { recordRepeat(of: head) }
      signatures.record(head)
      recorded.append((datagram.delivery.bytes, datagram.station))
      if recorded.count > 500 { recorded.removeFirst() }
      arrivals.recordContact(with: datagram.station, at: clockwork.now)
      receive(datagram, life)
    case .held:
      door.hold { [weak self, weak life] in
        guard let self, let life, self.life === life, !life.isStopping else { return }
        if life.isHeld { wait(datagram) } else { read(datagram, life) }
      }
    case .refused(let reason): checkRefusal(of: datagram, reason, life)
    }
  }

  /// A signed datagram is taken for the second time, which an attacker achieves only where the disk refused a record.
  private func recordRepeat(of head: PharosDatagramHead) {
    guard signatures.isUnkept else {
      return violate(
        .replay,
        "\(head.observer) number \(head.sequence) of boot \(head.bootID) is taken twice"
      )
    }
    // What is decided of it is true of another time.
    truthCheck = nil
  }

  /// Holds a refusal against what was taken: who was never taken and sent it behind the lease of the run before is no repeat.
  private func checkRefusal(of datagram: Unread, _ reason: DatagramRefusal, _ life: Life) {
    guard reason == .replayed || reason == .olderBoot || reason == .badSignature,
      datagram.delivery.isWhole,
      !datagram.isReplay, !plan.kinds.contains(.scramble),
      datagram.sent > life.beganAt + SignedDoor.maximumDoubt,
      let head = try? PharosDatagramHead.head(of: datagram.delivery.bytes.span.bytes),
      head.bootID == stations[datagram.station].bootID, !signatures.isAccepted(head)
    else { return }
    violate(
      .replay,
      "\(head.observer) number \(head.sequence) of boot \(head.bootID) is refused: \(reason)"
    )
  }

  private func receive(_ datagram: Unread, _ life: Life) {
    if datagram.delivery.isWhole {
      let plan = stations[datagram.station].plan
      arrivals.record(
        datagram.hearings,
        from: datagram.station,
        at: clockwork.now,
        isDated: plan.isDated
      )
    }
    life.receive(datagram.delivery.bytes)
  }
}
