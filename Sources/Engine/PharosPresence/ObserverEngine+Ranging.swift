import PharosModel

/// The ends of seconds and of their halves: summaries for stage two after each half, ranging events after each second.
extension ObserverEngine {
  /// The minimum time for which a beacon that is not heard stays in ranging events, and the maximum, however slow its
  /// interval seems.
  private static let rangingMemory = TimeSpan.seconds(5)
  private static let maximumRangingMemory = TimeSpan.seconds(300)

  /// Puts a track on the list of those that the end of a second looks at.
  mutating func list(_ place: Int, _ context: inout EngineContext) {
    tracks[place].set(.listed, true)
    tracks[place].flush()
    tracks[place].updateFastPath()
    listed.append(Int32(place))
    guard nextSecond == nil else { return }
    let half = half(of: tracks[place].hot.lastHeard)
    (nextSecond, nextHalf) = (half >> 1, half)
    armSecond(&context)
  }

  /// A second of the observer's own count, or a half of one, has ended, and what it gave has come in.
  mutating func closeSecond(_ context: inout EngineContext) {
    guard let second = nextSecond else { return }
    tracks.makeUnique()
    if standsInZone { summarize(&context) }
    let end = end(ofHalf: SecondBucket.lastHalf(of: second))
    // The lag may have grown since: reports of this second may still come.
    guard firing(end, context.current) <= context.current else { return armSecond(&context) }
    var readings: [RequestedReading] = []
    swap(&readings, &context.readings)
    var places: [Int32] = []
    swap(&places, &listed)
    var kept = 0
    for index in places.indices {
      let place = Int(places[index])
      if close(second, endingAt: end, place, &readings, &context) {
        places[kept] = places[index]
        kept += 1
      } else {
        tracks[place].set(.listed, false)
        tracks[place].flush()
        tracks[place].updateFastPath()
      }
    }
    places.removeSubrange(kept...)
    listed = places
    publish(readings, at: end, &context)
    readings.removeAll(keepingCapacity: true)
    swap(&readings, &context.readings)
    if kept == 0, namedRequests.isEmpty {
      nextSecond = nil
    } else {
      nextSecond = second + 1
      armSecond(&context)
    }
  }

  /// Hands the levels of the beacons that zones ask about to stage two, up to and including the half that is due.
  ///
  /// It does not wait for the lag, which nearly all reports stay within, but for the oldest of the reports that came
  /// lately. A report that comes still later counts with the next half.
  private mutating func summarize(_ context: inout EngineContext) {
    let last = half(of: context.current - delivery) - 1
    guard last >= nextHalf else { return }
    nextHalf = last + 1
    var summary = SecondSummary(
      observer: id,
      until: end(ofHalf: last),
      decidedAt: context.current,
      ordinal: 0
    )
    for place in listed {
      let track = tracks[Int(place)]
      if track.isLive, track.hot.epoch != UInt16(truncatingIfNeeded: context.epoch) {
        // What it reports comes behind the summaries so far, as their numbers say.
        ObserverEngine.handOver(&summary, to: &context.output)
        rematch(Int(place), &context)
      }
      guard track.isLive else { continue }
      let set = context.catalog.sets[Int(track.cold.matchSet)]
      guard set.isZoned, let bucket = track.closeHalves(through: last, isRanged: !set.rangings.isEmpty)
      else { continue }
      guard let mean = bucket.mean else { continue }
      let ordinal = ordinals.next(at: context.current)
      if summary.beacons.isEmpty { summary.ordinal = ordinal }
      summary.beacons.append(
        BeaconSummary(
          beacon: track.beacon(context.catalog.scopes),
          count: bucket.count,
          mean: mean,
          variance: bucket.variance,
          lastHeard: bucket.lastHeard
        )
      )
    }
    ObserverEngine.handOver(&summary, to: &context.output)
  }

  /// Closes a second of one track.
  ///
  /// - Returns: false if the next second need not look at it.
  private mutating func close(
    _ second: Int64,
    endingAt end: Timestamp,
    _ place: Int,
    _ readings: inout [RequestedReading],
    _ context: inout EngineContext
  ) -> Bool {
    let track = tracks[place]
    if track.isLive, track.hot.epoch != UInt16(truncatingIfNeeded: context.epoch) {
      rematch(place, &context)
    }
    guard track.isLive else { return false }
    let set = Int(track.cold.matchSet)
    let silence = end - track.hot.lastHeard
    guard silence <= ObserverEngine.rangingMemory || silence <= memory(of: track),
      context.catalog.sets[set].needsSeconds
    else { return false }
    guard !context.catalog.sets[set].rangings.isEmpty else { return true }
    let bucket = track.closeSecond(second)
    let reading = reading(of: track, bucket, endingAt: end, context)
    for request in context.catalog.sets[set].rangings {
      readings.append(RequestedReading(request: request, reading: reading))
    }
    return true
  }

  /// Returns the time for which a beacon that is not heard stays in ranging events: three intervals, learned or
  /// declared.
  private mutating func memory(of track: TrackHandle) -> TimeSpan {
    let interval = max(track.hot.interval, track.declaredInterval ?? 0)
    return min(
      max(ObserverEngine.rangingMemory, .seconds(Double(interval) * 3)),
      ObserverEngine.maximumRangingMemory
    )
  }

  /// Returns the reading of a beacon at the end of a second.
  private mutating func reading(
    of track: TrackHandle,
    _ bucket: SecondBucket?,
    endingAt end: Timestamp,
    _ context: borrowing EngineContext
  ) -> RangedReading {
    var reading = RangedReading(
      beacon: track.beacon(context.catalog.scopes),
      rssi: bucket?.mean ?? 0,
      accuracy: -1,
      deviation: -1,
      proximity: .unknown,
      samples: Int(bucket?.count ?? 0)
    )
    guard
      bucket?.mean != nil || life.uploads.isBetweenScans(inSecondEndingAt: end, heardAt: track.hot.lastHeard),
      let level = track.level, let power = track.measuredPower
    else { return reading }
    let found = context.distance.distance(level: level, variance: track.variance, measuredPower: power)
    reading.proximity = track.classify(found?.meters)
    reading.accuracy = found?.meters ?? -1
    reading.deviation = found?.deviation ?? -1
    return reading
  }

  /// Hands over what a second has given so far, if it is anything.
  private static func handOver(_ summary: inout SecondSummary, to output: inout StageOutput) {
    guard !summary.beacons.isEmpty else { return }
    output.links.append(.second(summary))
    summary.beacons.removeAll()
  }

  /// Publishes for each request that something was heard for, or whose last event named a beacon that is gone.
  private mutating func publish(
    _ readings: [RequestedReading],
    at time: Timestamp,
    _ context: inout EngineContext
  ) {
    var ranks = readings.indices.map { ReadingRank(readings[$0], at: $0) }
    ranks.sort { left, right in
      if left.request != right.request { return left.request < right.request }
      if left.meters != right.meters { return left.meters < right.meters }
      return readings[Int(left.place)].reading.beacon < readings[Int(right.place)].reading.beacon
    }
    var named: [Int32] = []
    var (next, before) = (0, 0)
    while next < ranks.count || before < namedRequests.count {
      let heard = next < ranks.count ? ranks[next].request : .max
      let request = before < namedRequests.count ? min(heard, namedRequests[before]) : heard
      let first = next
      while next < ranks.count, ranks[next].request == request { next += 1 }
      let hadBeacons = before < namedRequests.count && namedRequests[before] == request
      before += hadBeacons ? 1 : 0
      var beacons: [RangedReading] = []
      if isAnswered(request, context) {
        beacons = ranks[first..<next].map { readings[Int($0.place)].reading }
      }
      if !beacons.isEmpty { named.append(request) }
      let entry = context.catalog.rangings[Int(request)]
      guard entry.isLive, !beacons.isEmpty || hadBeacons else { continue }
      // One count for all requests of an observer: requests of one application differ in nothing else that an id holds.
      rangingCounter += 1
      context.output.events.append(
        Event(
          stream: context.stream,
          kind: .ranging,
          time: time,
          decidedAt: context.current,
          stage: 1,
          subject: .observer(id),
          application: entry.application,
          counter: rangingCounter,
          ordinal: ordinals.next(at: context.current),
          detail: .ranging(constraint: entry.request.constraint, beacons: beacons)
        )
      )
    }
    namedRequests = named
  }

  /// Returns true if a request is live and its condition holds: the observer is inside, if that is required.
  private mutating func isAnswered(_ request: Int32, _ context: borrowing EngineContext) -> Bool {
    let entry = context.catalog.rangings[Int(request)]
    guard entry.isLive else { return false }
    guard entry.request.whileInside else { return true }
    return isInside(entry, context)
  }

  private mutating func isInside(_ ranging: RegionCatalog.Ranging, _ context: borrowing EngineContext) -> Bool
  {
    for row in rows where row.isLive && row.state == .inside {
      let slot = context.catalog.slots[Int(row.slot)]
      if slot.application == ranging.application,
        slot.region.constraint?.normal == ranging.request.constraint.normal
      {
        return true
      }
    }
    return false
  }
}
