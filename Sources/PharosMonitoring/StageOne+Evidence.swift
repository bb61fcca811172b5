import PharosEvents
import PharosReports

extension StageOne {
  /// When a fixed rule would have fired, for comparison.
  static let fixedRule = TimeSpan.seconds(30)

  /// What a decision about a track stood on.
  func evidence(_ rule: Evidence.Rule, _ place: Int, track: Int, of index: Int) -> Evidence {
    let entry = states[index].tracks[track]
    let presence = entry[presence: place]
    let policy = catalog.policies[Int(presence.policy)]
    var evidence = Evidence(rule: rule)
    evidence.lastHeard = entry.lastHeard
    evidence.fixedRuleAt = entry.lastHeard + StageOne.fixedRule
    if presence.allowed != .forever { evidence.allowedGap = presence.allowed }
    if entry.intervals.interval > 0 {
      evidence.interval = .seconds(Double(entry.intervals.interval))
    }
    if entry.intervals.received > 0 {
      evidence.receptionShare = entry.losses.share
      evidence.lossRun = entry.losses.meanRun
    }
    if let level = entry.level(filter) {
      evidence.level = level
      evidence.levelDeviation = entry.variance(filter).squareRoot()
    }
    if rule == .samples {
      evidence.samples = max(1, policy.enterSamples)
      evidence.counted = max(1, policy.enterSamples)
      evidence.spread = presence.spread
      let silence = AdaptiveSilence(
        learner: entry.intervals,
        history: entry.history,
        declared: entry.declaredInterval
      )
      evidence.window = silence.enterWindow(policy)
      evidence.threshold = threshold(presence.enterLevel.isNaN ? presence.exitLevel : presence.enterLevel)
      evidence.distance = policy.enterDistance?.value
      evidence.sampleLevel = entry.lastLevel
      if let level = evidence.level, let threshold = evidence.threshold {
        evidence.margin = level - threshold
      }
    }
    return evidence
  }

  /// What an exit by level stood on.
  func explainLevel(
    _ evidence: inout Evidence,
    _ place: Int,
    track: Int,
    of index: Int,
    at time: Timestamp
  ) {
    let presence = states[index].tracks[track][presence: place]
    let policy = catalog.policies[Int(presence.policy)]
    evidence.threshold = threshold(presence.exitLevel)
    evidence.distance = policy.exitDistance?.value
    evidence.window = policy.exitDwell
    evidence.belowFor = presence.belowSince.map { time - $0 }
    if let level = evidence.level, let exit = evidence.threshold { evidence.margin = exit - level }
  }

  /// What an exit by silence stood on.
  func explainSilence(_ evidence: inout Evidence, _ place: Int, track: Int, of index: Int) {
    let policy = catalog.policies[Int(states[index].tracks[track][presence: place].policy)]
    if states[index].stretch != 1 { evidence.stretch = states[index].stretch }
    if let gap = evidence.gap, let interval = evidence.interval { evidence.margin = (gap - interval).seconds }
    guard policy.silence == .adaptive else { return }
    let surroundings = states[index].tracks[track].levelClass
    evidence.silence = states[index].silence(of: track).allowance(policy, at: surroundings).basis
  }

  private func threshold(_ level: Float) -> Double? {
    level.isFinite ? (Double(level) * 100).rounded() / 100 : nil
  }

  /// Publishes a region's transition.
  mutating func emit(
    _ kind: EventKind,
    _ transition: RegionTransition,
    row: Int,
    of index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    let slot = catalog.slots[Int(states[index].rows[row].slot)]
    output.events.append(
      Event(
        stream: stream,
        kind: kind,
        time: time,
        decidedAt: current,
        stage: 1,
        subject: .observer(states[index].id),
        application: slot.application,
        region: slot.region.identifier,
        counter: states[index].rows[row].counter,
        ordinal: nextOrdinal(of: index),
        detail: .region(transition)
      )
    )
  }

  /// Publishes a change in an observer's life.
  mutating func emit(
    _ kind: EventKind,
    _ transition: ObserverTransition,
    at time: Timestamp,
    of index: Int,
    into output: inout StageOutput
  ) {
    states[index].lifeCounter += 1
    output.events.append(
      Event(
        stream: stream,
        kind: kind,
        time: time,
        decidedAt: current,
        stage: 1,
        subject: .observer(states[index].id),
        counter: states[index].lifeCounter,
        ordinal: nextOrdinal(of: index),
        detail: .observer(transition)
      )
    )
  }

  /// Tells stage two that an observer went down or came back.
  mutating func link(isUp: Bool, at time: Timestamp, of index: Int, into output: inout StageOutput) {
    let change = ObserverChange(
      observer: states[index].id,
      isUp: isUp,
      time: time,
      decidedAt: current,
      ordinal: nextOrdinal(of: index)
    )
    output.links.append(.observer(change))
  }

  /// Tells stage two where a beacon stands at this observer, for the regions about beacons under one policy.
  mutating func tell(
    _ state: RegionState,
    _ place: Int,
    track: Int,
    of index: Int,
    at time: Timestamp,
    _ evidence: Evidence,
    into output: inout StageOutput
  ) {
    let number = Int(states[index].tracks[track].matchSet)
    for asker in catalog.sets[number].beaconRegions where asker.place == Int32(place) {
      tell(state, slot: asker.slot, track: track, of: index, at: time, evidence, into: &output)
    }
  }

  /// Tells stage two where a beacon stands at this observer, for one region about beacons.
  mutating func tell(
    _ state: RegionState,
    slot: Int32,
    track: Int,
    of index: Int,
    at time: Timestamp,
    _ evidence: Evidence,
    into output: inout StageOutput
  ) {
    let entry = catalog.slots[Int(slot)]
    guard entry.isLive(in: states[index].version) else { return }
    let change = PresenceChange(
      observer: states[index].id,
      beacon: states[index].tracks[track].beacon,
      application: entry.application,
      region: entry.region.identifier,
      state: state,
      time: time,
      decidedAt: current,
      ordinal: nextOrdinal(of: index),
      evidence: evidence
    )
    output.links.append(.presence(change))
  }

  /// Publishes a beacon's battery, at most once an hour for each beacon and observer.
  mutating func tellBattery(
    _ millivolts: UInt16,
    of address: DeviceAddress,
    observer index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    var place = states[index].track(ofAddress: address.bits)
    if place == nil, catalog.hasAddresses {
      let beacon = BeaconID.address(address)
      place = states[index].track(of: beacon, hash: hash(beacon))
    }
    guard let place else { return }
    let beacon = states[index].tracks[place].beacon
    if let told = states[index].batteryTold[beacon], time - told < .minutes(60) { return }
    states[index].batteryTold[beacon] = time
    states[index].lifeCounter += 1
    output.events.append(
      Event(
        stream: stream,
        kind: .beaconBattery,
        time: time,
        decidedAt: current,
        stage: 1,
        subject: .beacon(beacon),
        // Several observers may hear one beacon: the counter keeps their events apart.
        counter: states[index].id.stableHash &+ states[index].lifeCounter,
        ordinal: nextOrdinal(of: index),
        detail: .battery(millivolts: millivolts, observer: states[index].id)
      )
    )
  }

  /// The next number of an observer's events and links.
  mutating func nextOrdinal(of index: Int) -> UInt64 {
    states[index].ordinal += 1
    return states[index].ordinal
  }
}
