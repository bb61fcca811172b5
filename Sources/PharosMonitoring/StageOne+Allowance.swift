import PharosEvents
import PharosReports

extension StageOne {
  /// Computes anew how long a track may be silent, and the levels that its policies come to.
  mutating func allow(track: Int, of index: Int) {
    let policies = catalog.sets[Int(states[index].tracks[track].matchSet)].policies
    guard !policies.isEmpty else { return }
    lookForFamily(track: track, of: index)
    let silence = states[index].silenceNow(of: track)
    let surroundings = states[index].tracks[track].levelClass
    let power = states[index].tracks[track].measuredPower
    for place in policies.indices {
      let policy = catalog.policies[Int(policies[place])]
      states[index].tracks[track].allow(
        silence.allowance(policy, at: surroundings).gap,
        enter: level(policy.enterRSSI, policy.enterDistance, power: power, without: .infinity),
        exit: level(policy.exitRSSI, policy.exitDistance, power: power, without: -.infinity),
        at: place
      )
    }
  }

  /// Lets a young track believe one gap of the length that all others of its family have.
  private mutating func lookForFamily(track: Int, of index: Int) {
    let learner = states[index].tracks[track].intervals
    guard learner.received < IntervalLearner.young, let uuid = states[index].tracks[track].beacon.uuid,
      let family = states[index].families[uuid]?.settledInterval, family > 0,
      learner.interval == 0 || learner.interval > family * 1.5
    else { return }
    states[index].tracks[track].history.shorter = family
  }

  /// Gives what a track counted since it last did so to the pools of its observer.
  mutating func share(track: Int, of index: Int) {
    let stretch = states[index].tracks[track].turnWindow()
    guard stretch.received >= 4 else { return }
    let level = states[index].tracks[track].kalmanLevel
    let learner = states[index].tracks[track].intervals
    let slowest = states[index].tracks[track].history.slowest
    let isAtEdge = states[index].tracks[track].isWithinBodyReach
    let time = (stretch.received + stretch.lost) * learner.interval
    states[index].pool.add(stretch, level: level)
    states[index].pool.note(learner, slowest: slowest, time: time, isAtEdge: isAtEdge)
    guard let uuid = states[index].tracks[track].beacon.uuid else { return }
    // In and out: changing it in its place would allocate for each layer that is passed.
    var family = states[index].families[uuid] ?? LossPool()
    family.add(stretch, level: level)
    family.note(learner, slowest: slowest, time: time, isAtEdge: isAtEdge)
    states[index].families[uuid] = family
  }

  /// A pause that ordinary losses do not explain, of a beacon that one body could hide: bodies do stand in the way here.
  mutating func doubt(_ pause: Float, track: Int, of index: Int) {
    guard states[index].tracks[track].isWithinBodyReach else { return }
    guard states[index].silence(of: track).isUnexplained(pause) else { return }
    states[index].pool.noteHiding()
  }

  /// The level that a threshold in dBm or in metres, or both, comes to; `without` where a power is needed and unknown.
  private func level(_ level: Double?, _ meters: Meters?, power: Double?, without: Float) -> Float {
    guard let meters else { return level.map { Float($0) } ?? .nan }
    guard let power, let there = distance.level(meters: meters.value, measuredPower: power) else {
      return without
    }
    return Float(max(there, level ?? -.infinity))
  }
}

extension ObserverState {
  /// What a track's silence is judged by: its own history and what the observer's other tracks have taught.
  func silence(of track: Int) -> AdaptiveSilence {
    var silence = AdaptiveSilence(
      learner: tracks[track].intervals,
      history: tracks[track].history,
      declared: tracks[track].declaredInterval
    )
    silence.recentReceived = min(Float(tracks[track].recentSamples), tracks[track].intervals.received)
    let level = tracks[track].kalmanLevel
    if let uuid = tracks[track].beacon.uuid, let family = families[uuid] {
      silence.belief = family.belief(level: level)
      silence.familyInterval = family.interval
      silence.isFamilySettled = family.settledInterval > 0
      silence.familySlowest = family.expectedSlowest
    }
    silence.mayHide = pool.mayHide && tracks[track].isWithinBodyReach
    silence.mayFade = pool.mayHide && tracks[track].usual.level < AdaptiveSilence.fadingReach
    if silence.belief.received < 16 { silence.belief = pool.belief(level: level).limited(to: 32) }
    return silence
  }
}
