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
    var readings: [(request: Int32, reading: RangedReading)] = []
    var listed: [Int32] = []
    for place in states[index].listed {
      let track = Int(place)
      if close(second, endingAt: end, track: track, of: index, into: &readings, &output) {
        listed.append(place)
      } else {
        states[index].tracks[track].isListed = false
      }
    }
    states[index].listed = listed
    publish(readings, of: index, at: end, into: &output)
    let hasOpenEvents = states[index].ranging.values.contains { $0.hadBeacons }
    if listed.isEmpty, !hasOpenEvents {
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
    into readings: inout [(request: Int32, reading: RangedReading)],
    _ output: inout StageOutput
  ) -> Bool {
    if states[index].tracks[track].epoch != states[index].epoch {
      rematch(track: track, of: index, into: &output)
    }
    guard states[index].tracks[track].isLive else { return false }
    let number = Int(states[index].tracks[track].matchSet)
    let bucket = states[index].tracks[track].buckets.close(through: second)
    if catalog.sets[number].isZoned, let bucket, let mean = bucket.mean {
      summarise(bucket, mean: mean, endingAt: end, track: track, of: index, into: &output)
    }
    let isRecent = end - states[index].tracks[track].lastHeard <= rangingMemory(track: track, of: index)
    guard isRecent, catalog.sets[number].needsSeconds else { return false }
    guard !catalog.sets[number].rangings.isEmpty else { return true }
    let reading = reading(of: bucket, track: track, of: index)
    for request in catalog.sets[number].rangings { readings.append((request, reading)) }
    return true
  }

  /// How long a beacon that is not heard stays: three of its intervals, learned or declared.
  private func rangingMemory(track: Int, of index: Int) -> TimeSpan {
    let learned = states[index].tracks[track].intervals.interval
    let interval = max(learned, states[index].tracks[track].declaredInterval ?? 0)
    return min(
      max(StageOne.rangingMemory, .seconds(Double(interval) * 3)),
      StageOne.longestRangingMemory
    )
  }

  private mutating func summarise(
    _ bucket: SecondBucket,
    mean: Double,
    endingAt end: Timestamp,
    track: Int,
    of index: Int,
    into output: inout StageOutput
  ) {
    let summary = TrackSummary(
      observer: states[index].id,
      beacon: states[index].tracks[track].beacon,
      until: end,
      decidedAt: current,
      count: bucket.count,
      mean: mean,
      variance: bucket.variance,
      lastHeard: bucket.lastHeard,
      ordinal: nextOrdinal(of: index)
    )
    output.links.append(.summary(summary))
  }

  private mutating func reading(of bucket: SecondBucket?, track: Int, of index: Int) -> RangedReading {
    var reading = RangedReading(
      beacon: states[index].tracks[track].beacon,
      rssi: bucket?.mean ?? 0,
      accuracy: -1,
      deviation: -1,
      proximity: .unknown,
      samples: Int(bucket?.count ?? 0)
    )
    guard bucket?.mean != nil else { return reading }
    guard let level = states[index].tracks[track].level(filter),
      let measuredPower = states[index].tracks[track].measuredPower
    else { return reading }
    let found = distance.distance(
      level: level,
      deviation: states[index].tracks[track].variance(filter).squareRoot(),
      measuredPower: measuredPower
    )
    reading.proximity = states[index].tracks[track].proximity.classify(found?.meters)
    reading.accuracy = found?.meters ?? -1
    reading.deviation = found?.deviation ?? -1
    return reading
  }

  private mutating func publish(
    _ readings: [(request: Int32, reading: RangedReading)],
    of index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    for request in catalog.rangings.indices {
      let entry = catalog.rangings[request]
      var beacons: [RangedReading] = []
      if entry.isLive, !entry.request.whileInside || isInside(entry, of: index) {
        beacons = readings.filter { $0.request == Int32(request) }.map(\.reading)
        beacons.sort(by: StageOne.isNearer)
      }
      let hadBeacons = states[index].ranging[Int32(request)]?.hadBeacons ?? false
      guard !beacons.isEmpty || hadBeacons else { continue }
      states[index].ranging[Int32(request)] = RangingState(hadBeacons: !beacons.isEmpty)
      guard entry.isLive else { continue }
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
          application: entry.application,
          counter: states[index].rangingCounter,
          ordinal: nextOrdinal(of: index),
          detail: .ranging(constraint: entry.request.constraint, beacons: beacons)
        )
      )
    }
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
