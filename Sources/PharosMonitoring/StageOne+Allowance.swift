import PharosEvents
import PharosReports

extension StageOne {
  /// Computes anew how long a track may be silent, and the levels that its policies come to.
  mutating func allow(track: Int, of index: Int) {
    states[index].allow(track: track, catalog: catalog, distance: distance)
  }

  /// Gives what a track counted since it last did so to the pools of its observer.
  mutating func share(track: Int, of index: Int) { states[index].share(track: track) }

  /// A pause that ordinary losses do not explain, of a beacon that one body could hide: bodies do stand in the way here.
  mutating func doubt(_ pause: Float, track: Int, of index: Int) { states[index].doubt(pause, track: track) }
}

/// Works on one observer in place: what is asked of it from outside would be asked of a copy.
extension ObserverState {
  /// Computes anew how long a track may be silent, and the levels that its policies come to.
  mutating func allow(track place: Int, catalog: borrowing RegionCatalog, distance: DistanceModel) {
    guard let track = tracks.borrowed()[Int32(place)] else { return }
    let policies = catalog.sets[Int(track.pointee.matchSet)].policies
    guard !policies.isEmpty else { return }
    let family = track.pointee.beacon.uuid.flatMap { families[$0] }
    if let family { track.pointee.lookForInterval(of: family) }
    let silence = silence(of: track.pointee, family: family)
    let surroundings = track.pointee.levelClass
    for place in policies.indices {
      let policy = catalog.policies[Int(policies[place])]
      let levels = distance.levels(of: policy, measuredPower: track.pointee.measuredPower)
      track.pointee.allow(
        silence.allowedGap(policy, at: surroundings),
        enter: levels.enter,
        exit: levels.exit,
        at: place
      )
    }
  }

  /// Gives what a track counted since it last did so to the pools of its observer.
  mutating func share(track place: Int) {
    guard let track = tracks.borrowed()[Int32(place)] else { return }
    let stretch = track.pointee.turnWindow()
    guard stretch.received >= 4 else { return }
    let level = track.pointee.kalmanLevel
    let learner = track.pointee.intervals
    let slowest = track.pointee.slowestInterval
    let isAtEdge = track.pointee.isWithinBodyReach
    let time = (stretch.received + stretch.lost) * learner.interval
    pool.add(stretch, level: level)
    pool.note(learner, slowest: slowest, time: time, isAtEdge: isAtEdge)
    guard let uuid = track.pointee.beacon.uuid else { return }
    // In and out: changing it in its place would allocate for each layer that is passed.
    var family = families[uuid] ?? LossPool()
    family.add(stretch, level: level)
    family.note(learner, slowest: slowest, time: time, isAtEdge: isAtEdge)
    families[uuid] = family
  }

  /// A pause that ordinary losses do not explain, of a beacon that one body could hide: bodies do stand in the way here.
  mutating func doubt(_ pause: Float, track place: Int) {
    guard let track = tracks.borrowed()[Int32(place)], track.pointee.isWithinBodyReach else { return }
    let family = track.pointee.beacon.uuid.flatMap { families[$0] }
    if silence(of: track.pointee, family: family).isUnexplained(pause) { pool.noteHiding() }
  }

  /// What a track's silence is judged by: its own history and what the observer's other tracks have taught.
  func silence(of track: Int) -> AdaptiveSilence {
    silence(of: tracks[track], family: tracks[track].beacon.uuid.flatMap { families[$0] })
  }

  @inline(__always)
  private func silence(of track: borrowing Track, family: LossPool?) -> AdaptiveSilence {
    var silence = AdaptiveSilence(
      learner: track.intervals,
      history: track.history,
      declared: track.declaredInterval
    )
    silence.recentReceived = min(Float(track.recentSamples), track.intervals.received)
    let level = track.kalmanLevel
    if let family {
      silence.belief = family.belief(level: level)
      silence.familyInterval = family.interval
      silence.isFamilySettled = family.settledInterval > 0
      silence.familySlowest = family.expectedSlowest
    }
    silence.mayHide = pool.mayHide && track.isWithinBodyReach
    silence.mayFade = pool.mayHide && track.usual.level < AdaptiveSilence.fadingReach
    if silence.belief.received < 16 { silence.belief = pool.belief(level: level).limited(to: 32) }
    return silence
  }
}

extension Track {
  /// The slowest interval that is known of a tag that is at rest now and then, in seconds, or 0.
  var slowestInterval: Float { box?.extras.losses.slowest ?? 0 }

  /// Lets a young track believe one gap of the length that all others of its family have.
  fileprivate mutating func lookForInterval(of family: LossPool) {
    guard intervals.received < IntervalLearner.young else { return }
    let interval = family.settledInterval
    guard interval > 0, intervals.interval == 0 || intervals.interval > interval * 1.5 else { return }
    change { $0.losses.shorter = interval }
  }
}

extension DistanceModel {
  /// The levels in dBm that a policy enters and leaves at; not a number where it asks for none.
  func levels(of policy: PresencePolicy, measuredPower: Double?) -> (enter: Float, exit: Float) {
    (
      level(policy.enterRSSI, policy.enterDistance, power: measuredPower, without: .infinity),
      level(policy.exitRSSI, policy.exitDistance, power: measuredPower, without: -.infinity)
    )
  }

  /// The level that a threshold in dBm or in metres, or both, comes to; `without` where a power is needed and unknown.
  @inline(__always)
  private func level(_ level: Double?, _ meters: Meters?, power: Double?, without: Float) -> Float {
    guard let meters else { return level.map { Float($0) } ?? .nan }
    guard let power, let there = self.level(meters: meters.value, measuredPower: power) else {
      return without
    }
    return Float(max(there, level ?? -.infinity))
  }
}
