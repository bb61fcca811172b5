import PharosPlaces
import PharosReports

extension Locator {
  /// Returns whether the belief is so young that each look draws it from scratch.
  func isYoung(at time: Timestamp) -> Bool {
    guard let born else { return true }
    return cloud.isEmpty || time - born < rules.youth
  }

  /// Draws the belief from scratch, over every place of the venue, by how probable all readings so far make it.
  ///
  /// The offset of the subject's receiver is not known yet either, so every place is tried with a few offsets.
  mutating func grow(_ listed: [Int32]?, at time: Timestamp) {
    if born == nil || cloud.isEmpty { born = time }
    let readings = recent
    let worths = worths(of: readings, at: time)
    let surprises = surprises(of: readings)
    let trials = offset.trials
    let priors = priors(listed)
    // The most probable trial looks at all floors, the others at those that are still in question: few are.
    var likelyFloors: [Bool]?
    var shares = [VenueShares](repeating: VenueShares(VenueField()), count: trials.count)
    for place in trials.indices.sorted(by: { trials[$0].prior > trials[$1].prior }) {
      let field = everywhere(
        readings,
        worths,
        surprises: surprises,
        from: priors,
        on: likelyFloors,
        louder: trials[place].decibels,
        at: time
      )
      likelyFloors = likelyFloors ?? field.likelyFloors
      shares[place] = VenueShares(field)
    }
    var scores = zip(shares, trials).map { $0.evidence + $1.prior }
    // A map of other floors than the venue has leaves no place to be at.
    guard let best = scores.max(), best > -.infinity else { return cloud.removeAll() }
    scores = scores.map { FusionMath.exponential($0 - best) }
    let sum = scores.reduce(0, +)
    cloud.removeAll()
    cloud.reserve(rules.particles)
    var mean: Float = 0
    for (place, score) in scores.enumerated() {
      mean += trials[place].decibels * score / sum
      let isLast = place == scores.count - 1
      let wanted = Int(Float(rules.particles) * score / sum)
      plant(isLast ? rules.particles - cloud.count : wanted, from: shares[place])
    }
    offset.guess(mean)
    evidence.audited = time
  }

  private mutating func plant(_ count: Int, from shares: VenueShares) {
    for place in draw(count, from: shares) {
      cloud.append(
        east: place.east,
        north: place.north,
        bias: drawBias(),
        scale: ParticleCloud.held(1 + rules.scaleDeviation * noise.normal()),
        floor: UInt8(truncatingIfNeeded: place.floor)
      )
    }
  }

  /// Compares the belief with all other places, now and then, and moves part of it where the readings of the last seconds are
  /// explained much better.
  mutating func audit(_ listed: [Int32]?, at time: Timestamp) {
    guard time - evidence.audited >= rules.auditInterval, recent.count >= Locator.leastAudited else { return }
    evidence.audited = time
    // The loudest say most about where one is.
    let chosen = recent.indices.sorted { (recent[$0].level, $1) > (recent[$1].level, $0) }
      .prefix(Locator.mostAudited).sorted().map { recent[$0] }
    let worths = worths(of: chosen, at: time)
    let own = likelihood(of: chosen, worths, listed, at: time)
    // Nearly always the belief is as good as any other place, which is found out at a fraction of what the whole field costs.
    let levels = everywhere(chosen, worths, from: priors(nil), louder: offset.decibels, at: time)
    guard isBeaten(own + rules.lostMargin, by: levels, listed) else { return }
    let field = everywhere(chosen, worths, from: priors(listed), louder: offset.decibels, at: time)
    let margin = field.best - own
    guard margin > rules.lostMargin else { return }
    counters.recoveries += 1
    let moved = min(Locator.mostMoved, rules.recoveryShare * margin / rules.lostMargin)
    let count = Int(Float(cloud.count) * moved)
    let shares = cloud.shares()
    let weakest = shares.indices.sorted { (shares[$0], $0) < (shares[$1], $1) }.prefix(count)
    let weight = cloud.weight.max() ?? 0
    for (index, place) in zip(weakest, draw(count, from: VenueShares(field))) {
      cloud.east[index] = place.east
      cloud.north[index] = place.north
      cloud.floor[index] = UInt8(truncatingIfNeeded: place.floor)
      cloud.bias[index] = drawBias()
      cloud.weight[index] = weight
    }
  }

  /// How many readings a look needs to be compared.
  static let leastAudited = 6
  /// How many of them are compared.
  static let mostAudited = 60
  /// The share of the particles that moves at most.
  ///
  /// 0.95: what is 30 nats behind is not kept as one half of the belief until the next look; walks held back are placed as
  /// well as with a half.
  private static let mostMoved: Float = 0.95

  /// How well the belief explains readings: the logarithm of the mean over all particles.
  private func likelihood(
    of readings: [RadioReading],
    _ worths: [Float],
    _ listed: [Int32]?,
    at time: Timestamp
  ) -> Float {
    let shares = cloud.shares()
    var values = [Float](repeating: 0, count: cloud.count)
    let turned = cloud.bias.map { Bearing.eastAndNorth($0) }
    var field = RadioField<Float>()
    for bunch in bunches(of: readings, apart: Locator.wideBunch, at: time) {
      let terms = terms(readings, bunch.readings, worths, louder: offset.decibels, at: time)
      add(terms, way: bunch.way, turned: turned, to: &values, &field)
    }
    if let listed { addUnlisted(but: listed, to: &values) }
    let best = values.max() ?? 0
    var sum: Float = 0
    for index in values.indices { sum += shares[index] * FusionMath.exponential(values[index] - best) }
    return best + Float(RadioMath.naturalLog(Double(sum)))
  }
}
