import PharosEvents
import PharosReports

extension StageOne {
  /// How long a beacon that is not heard stays in ranging events at least.
  static let rangingMemory = TimeSpan.seconds(5)
  /// How long it stays at most, however slow its interval seems: the greatest silence that presence allows by default.
  static let longestRangingMemory = TimeSpan.seconds(300)

  /// Puts a track on the list of those that a second's end looks at.
  mutating func list(track: Int, of index: Int) {
    states[index].tracks[track].isListed = true
    states[index].listed.append(Int32(track))
    guard states[index].nextSecond == nil else { return }
    armSecond(states[index].second(of: states[index].tracks[track].lastHeard), of: index)
  }

  /// A second of the observer's own count has ended, and its lag has passed: summaries and ranging events.
  mutating func closeSecond(of index: Int, into output: inout StageOutput) {
    guard let second = states[index].nextSecond else { return }
    let end = states[index].end(ofSecond: second)
    guard firing(end, of: index) <= current else {
      // The lag has grown since: reports of this second may still come.
      armSecond(second, of: index)
      return
    }
    var readings: [RequestedReading] = []
    var summary = SecondSummary(observer: states[index].id, until: end, decidedAt: current, ordinal: 0)
    var listed: [Int32] = []
    swap(&listed, &states[index].listed)
    if states[index].standsInZone { summary.beacons.reserveCapacity(listed.count) }
    var kept = 0
    for place in listed.indices {
      let track = Int(listed[place])
      if close(second, endingAt: end, track: track, of: index, into: &readings, &summary, &output) {
        listed[kept] = listed[place]
        kept += 1
      } else {
        states[index].tracks[track].isListed = false
      }
    }
    listed.removeSubrange(kept...)
    states[index].listed = listed
    StageOne.handOver(&summary, to: &output)
    publish(readings, of: index, at: end, into: &output)
    if kept == 0, !states[index].ranging.values.contains(where: \.hadBeacons) {
      states[index].nextSecond = nil
    } else {
      armSecond(second + 1, of: index)
    }
  }

  /// Closes a second of one track; false if it was not heard for so long that it drops.
  private mutating func close(
    _ second: Int64,
    endingAt end: Timestamp,
    track: Int,
    of index: Int,
    into readings: inout [RequestedReading],
    _ summary: inout SecondSummary,
    _ output: inout StageOutput
  ) -> Bool {
    if states[index].tracks[track].epoch != states[index].epoch {
      // What it tells comes behind the summaries so far, as their numbers say.
      StageOne.handOver(&summary, to: &output)
      rematch(track: track, of: index, into: &output)
    }
    // In place: what is asked of a track by its number is given a copy of the observer.
    guard let entry = states[index].tracks.borrowed()[Int32(track)], entry.pointee.isLive else {
      return false
    }
    let number = Int(entry.pointee.matchSet)
    let bucket = entry.pointee.closeSecond(through: second)
    if catalog.sets[number].isZoned, let bucket, let mean = bucket.mean {
      summarise(bucket, mean: mean, beacon: entry.pointee.beacon, of: index, into: &summary)
    }
    let silence = end - entry.pointee.lastHeard
    guard silence <= StageOne.rangingMemory || silence <= entry.pointee.rangingMemory(),
      catalog.sets[number].needsSeconds
    else { return false }
    guard !catalog.sets[number].rangings.isEmpty else { return true }
    let reading = entry.pointee.ranged(by: bucket, filter: filter, distance: distance)
    if readings.isEmpty { readings.reserveCapacity(states[index].tracks.count) }
    for request in catalog.sets[number].rangings {
      readings.append(RequestedReading(request: request, reading: reading))
    }
    return true
  }

  private mutating func summarise(
    _ bucket: SecondBucket,
    mean: Double,
    beacon: BeaconID,
    of index: Int,
    into summary: inout SecondSummary
  ) {
    let ordinal = nextOrdinal(of: index)
    if summary.beacons.isEmpty { summary.ordinal = ordinal }
    summary.beacons.append(
      BeaconSummary(
        beacon: beacon,
        count: bucket.count,
        mean: mean,
        variance: bucket.variance,
        lastHeard: bucket.lastHeard
      )
    )
  }

  /// Hands over what a second has given so far, if it is anything.
  private static func handOver(_ summary: inout SecondSummary, to output: inout StageOutput) {
    guard !summary.beacons.isEmpty else { return }
    output.links.append(.second(summary))
    summary.beacons.removeAll()
  }

  /// Tells each request that something was heard for, or whose last event named a beacon that is gone.
  private mutating func publish(
    _ readings: [RequestedReading],
    of index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    var requests: [Int32] = []
    for entry in readings where !requests.contains(entry.request) { requests.append(entry.request) }
    for (request, told) in states[index].ranging where told.hadBeacons && !requests.contains(request) {
      requests.append(request)
    }
    requests.sort()
    for request in requests {
      var beacons: [RangedReading] = []
      if isAnswered(request, of: index) {
        beacons.reserveCapacity(readings.count)
        for entry in readings where entry.request == request { beacons.append(entry.reading) }
        beacons.sort(by: StageOne.isNearer)
      }
      let hadBeacons = states[index].ranging[request]?.hadBeacons ?? false
      guard !beacons.isEmpty || hadBeacons else { continue }
      if hadBeacons == beacons.isEmpty {
        states[index].ranging[request] = RangingState(hadBeacons: !beacons.isEmpty)
      }
      guard catalog.rangings[Int(request)].isLive else { continue }
      tell(beacons, for: Int(request), of: index, at: time, into: &output)
    }
  }

  /// Whether a request is made, and under circumstances that are given.
  private func isAnswered(_ request: Int32, of index: Int) -> Bool {
    guard catalog.rangings[Int(request)].isLive else { return false }
    guard catalog.rangings[Int(request)].request.whileInside else { return true }
    return isInside(catalog.rangings[Int(request)], of: index)
  }

  private mutating func tell(
    _ beacons: [RangedReading],
    for request: Int,
    of index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    // One count for all requests of an observer: requests of one application differ in nothing else that an id holds.
    states[index].rangingCounter += 1
    output.events.append(
      Event(
        stream: stream,
        kind: .ranging,
        time: time,
        decidedAt: current,
        stage: 1,
        subject: .observer(states[index].id),
        application: catalog.rangings[request].application,
        counter: states[index].rangingCounter,
        ordinal: nextOrdinal(of: index),
        detail: .ranging(constraint: catalog.rangings[request].request.constraint, beacons: beacons)
      )
    )
  }

  /// Nearest first, unknown last; equals by identity.
  private static func isNearer(_ left: RangedReading, _ right: RangedReading) -> Bool {
    let isLeftUnknown = left.proximity == .unknown
    let isRightUnknown = right.proximity == .unknown
    if isLeftUnknown != isRightUnknown { return isRightUnknown }
    if left.accuracy != right.accuracy { return left.accuracy < right.accuracy }
    return left.beacon < right.beacon
  }

  private func isInside(_ ranging: RegionCatalog.Ranging, of index: Int) -> Bool {
    states[index].rows.contains { row in
      guard row.isLive, row.state == .inside else { return false }
      let slot = catalog.slots[Int(row.slot)]
      return slot.application == ranging.application
        && slot.region.constraint.normal == ranging.request.constraint.normal
    }
  }
}

/// What a second's end asks of a track. All of it is mutating, since a track that lies behind a pointer is copied for what is not.
extension Track {
  /// How long a beacon that is not heard stays in ranging events: three of its intervals, learned or declared.
  fileprivate mutating func rangingMemory() -> TimeSpan {
    let interval = max(intervals.interval, declaredInterval ?? 0)
    return min(
      max(StageOne.rangingMemory, .seconds(Double(interval) * 3)),
      StageOne.longestRangingMemory
    )
  }

  /// How it is ranged at the end of a second.
  fileprivate mutating func ranged(
    by bucket: SecondBucket?,
    filter: LevelFilterKind,
    distance: DistanceModel
  ) -> RangedReading {
    var reading = RangedReading(
      beacon: beacon,
      rssi: bucket?.mean ?? 0,
      accuracy: -1,
      deviation: -1,
      proximity: .unknown,
      samples: Int(bucket?.count ?? 0)
    )
    guard bucket?.mean != nil, let level = level(filter), let measuredPower else { return reading }
    let found = distance.distance(
      level: level,
      deviation: variance(filter).squareRoot(),
      measuredPower: measuredPower
    )
    reading.proximity = classify(found?.meters)
    reading.accuracy = found?.meters ?? -1
    reading.deviation = found?.deviation ?? -1
    return reading
  }
}

/// How a beacon is ranged, and for which request of the catalog.
struct RequestedReading: Sendable {
  var request: Int32
  var reading: RangedReading
}
