import PharosReports

extension Locator {
  /// How much each of some readings counts.
  ///
  /// Radios of one box err together, and so do all readings of a look: bodies stand in the way of many at once. The more there
  /// are, the less each one says.
  func worths(of readings: [RadioReading], at time: Timestamp) -> [Float] {
    var members: [Int32: Float] = [:]
    for reading in readings where reading.kind == .accessPoint {
      members[content.radio.groups[Int(reading.emitter)], default: 0] += 1
    }
    var worths: [Float] = []
    worths.reserveCapacity(readings.count)
    var sum: Float = 0
    for reading in readings {
      let group = content.radio.groups[Int(reading.emitter)]
      guard reading.kind == .accessPoint else {
        worths.append(rules.beaconShare)
        continue
      }
      // Old readings err together by the way since: many of them say no more than few, and take nothing from new ones.
      let (stale, noise) = (staleness(of: reading, at: time), Locator.freshNoise)
      let newness = noise * noise / (noise * noise + stale * stale)
      let worth = Locator.share(of: members[group] ?? 1, rules) * newness
      worths.append(worth)
      sum += worth
    }
    let factor = min(1, rules.mostWorth / (rules.halfWorth + sum))
    for index in worths.indices where readings[index].kind == .accessPoint { worths[index] *= factor }
    return worths
  }

  /// How much it says of each reading's place that its emitter was heard at all; nil where scans tell more.
  ///
  /// The first reading of each beacon says it: that it was heard again says little more.
  package func surprises(of readings: [RadioReading]) -> [Float]? {
    let beacons = Set(readings.lazy.filter { $0.kind == .beacon }.map(\.emitter))
    guard !beacons.isEmpty, !readings.contains(where: { $0.kind == .accessPoint }) else { return nil }
    let surprise = min(rules.beaconSurprise, rules.mostBeaconSurprise / Float(beacons.count))
    var met: Set<Int32> = []
    return readings.map { reading in
      reading.kind == .beacon && met.insert(reading.emitter).inserted ? surprise : 0
    }
  }

  /// Returns the noise that a reading's age adds to it.
  ///
  /// A walk's first scans list what was heard up to 30 s before it, and no steps show where that was.
  ///
  /// - Units: dB.
  func staleness(of reading: RadioReading, at time: Timestamp) -> Float {
    let seen = seesMotion(at: time) ? min(time, max(reading.heard, gait.seenSince)) : time
    return rules.staleNoise * Float((time - seen).seconds)
      + rules.staleNoiseBlind * Float((seen - reading.heard).seconds)
  }

  /// How far a reading scatters that has just been heard.
  ///
  /// - Units: dB. What ``SurveyRules/readingNoise`` and the map's deviation come to.
  private static let freshNoise: Float = 6

  private static func share(of members: Float, _ rules: FusionRules) -> Float {
    Float(RadioMath.power(Double(members), -Double(rules.groupShare)))
  }

  /// Readings that were heard at about the same place, and the way that was walked since.
  struct Bunch {
    var readings: Range<Int>
    var way: (east: Float, north: Float)
  }

  /// Readings are taken together while the subject walked less than this.
  ///
  /// - Units: metres.
  static let bunchWay: Float = 0.8

  /// Readings, in order of time, by where they were heard.
  func bunches(of readings: [RadioReading], apart limit: Float, at time: Timestamp) -> [Bunch] {
    var bunches: [Bunch] = []
    for index in readings.indices {
      let way = way(since: readings[index], at: time)
      if let last = bunches.last, (way.east - last.way.east).magnitude < limit,
        (way.north - last.way.north).magnitude < limit
      {
        bunches[bunches.count - 1].readings = last.readings.lowerBound..<index + 1
      } else {
        bunches.append(Bunch(readings: index..<index + 1, way: way))
      }
    }
    return bunches
  }

  /// The way from where a reading tells of to where the subject is now: backwards where it tells of what lies ahead.
  private func way(since reading: RadioReading, at time: Timestamp) -> (east: Float, north: Float) {
    let told = reading.heard + (reading.kind == .accessPoint ? rules.scanLead : rules.beaconLead)
    guard told > time else { return trail.way(since: told) }
    guard time - gait.step < .seconds(1.5) else { return (0, 0) }
    let ahead = -gait.speed * Float((told - time).seconds)
    return (ahead * gait.east, ahead * gait.north)
  }

  /// Readings made ready to be summed: their levels corrected, their noise grown with age.
  func terms(
    _ readings: [RadioReading],
    _ range: Range<Int>,
    _ worths: [Float],
    surprises: [Float]? = nil,
    louder offset: Float,
    at time: Timestamp
  ) -> [RadioTerm] {
    range.map { index in
      let reading = readings[index]
      let stale = staleness(of: reading, at: time)
      let noise = content.radio.noises[Int(reading.emitter)]
      return RadioTerm(
        emitter: reading.emitter,
        level: Int32(RadioMap.byte(level: reading.level - offset)),
        noise: Int32(LevelTable.number(ofNoise: (noise * noise + stale * stale).squareRoot())),
        worth: worths[index],
        surprise: surprises?[index] ?? 0
      )
    }
  }
}
