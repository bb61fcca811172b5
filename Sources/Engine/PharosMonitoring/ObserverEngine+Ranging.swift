package import PharosModel

/// The ends of seconds and of their halves: summaries for stage two after each half, ranging events after each second.
extension ObserverEngine {
  /// The minimum time for which a beacon that is not heard stays in ranging events, and the maximum, however slow its
  /// interval seems.
  private static let rangingMemory = TimeSpan.seconds(5)
  private static let longestRangingMemory = TimeSpan.seconds(300)

  /// Puts a track on the list of those that the end of a second looks at.
  mutating func list(_ place: Int, _ context: inout EngineContext) {
    tracks[place].set(.listed, true)
    tracks[place].flush()
    tracks[place].settle()
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
    let end = end(ofHalf: ObserverEngine.lastHalf(of: second))
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
        tracks[place].settle()
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
    let last = half(of: context.current - lag.delivery) - 1
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
    let reading = reading(of: track, bucket, context)
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
      ObserverEngine.longestRangingMemory
    )
  }

  /// Returns the reading of a beacon at the end of a second.
  private mutating func reading(
    of track: TrackHandle,
    _ bucket: SecondBucket?,
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
    guard bucket?.mean != nil, let level = track.level(context.filter), let power = track.measuredPower else {
      return reading
    }
    let found = context.distance.distance(
      level: level,
      deviation: track.variance(context.filter).squareRoot(),
      measuredPower: power
    )
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

extension TrackHandle {
  /// Takes the samples up to and including a half of a second out; those of a beacon that is ranged too are kept for the
  /// end of their second.
  fileprivate func closeHalves(through half: Int64, isRanged: Bool) -> SecondBucket? {
    // Without holding the box: held twice it would be copied before each change.
    guard cold.box?.extras.halves.open.isEmpty == false else { return nil }
    return changeExtras { extras in
      let closed = extras.halves.close(through: half)
      if isRanged, var kept = closed {
        kept.number >>= 1
        extras.seconds.merge(kept)
      }
      return closed
    }
  }

  /// Takes the samples up to and including a second out, those of its halves that are still open among them.
  fileprivate func closeSecond(_ second: Int64) -> SecondBucket? {
    guard cold.box?.extras.hasOpenSeconds == true else { return nil }
    return changeExtras { extras in
      if var late = extras.halves.close(through: ObserverEngine.lastHalf(of: second)) {
        late.number >>= 1
        extras.seconds.merge(late)
      }
      return extras.seconds.close(through: second)
    }
  }

  /// The class of a distance, which is nil if undetermined.
  fileprivate func classify(_ meters: Double?) -> RangedReading.Proximity {
    let before = cold.box?.extras.proximity ?? ProximityClassifier()
    var classifier = before
    let found = classifier.classify(meters)
    if classifier != before { changeExtras { $0.proximity = classifier } }
    return found
  }
}

/// The reading of a beacon, and the request of the catalog that it answers.
struct RequestedReading: Sendable {
  var request: Int32
  var reading: RangedReading
}

/// The rank of a reading in its event: by request, nearest first, unknown last; much smaller to sort than the reading.
private struct ReadingRank {
  var request: Int32
  /// Its place among the readings.
  var place: Int32
  var meters: Double

  init(_ entry: RequestedReading, at place: Int) {
    request = entry.request
    self.place = Int32(place)
    meters = entry.reading.proximity == .unknown ? .infinity : entry.reading.accuracy
  }
}

/// The samples of one track in one second, or in one half of a second.
package struct SecondBucket: Hashable, Sendable {
  /// The number of the second or the half, counted from the observer's first report.
  var number: Int64
  /// The number of samples.
  package var count: UInt32 = 0
  /// The number of samples that had a level.
  var levels: UInt32 = 0
  /// The sum of the levels in dBm.
  var sum = 0.0
  /// The sum of their squares in dBm².
  var squares = 0.0
  /// The latest one.
  var lastHeard: Timestamp

  /// The mean level in dBm, or nil if no sample had one.
  package var mean: Double? { levels == 0 ? nil : sum / Double(levels) }

  /// The variance of the levels in dB².
  package var variance: Double {
    guard let mean, levels > 1 else { return 0 }
    return max(0, (squares - sum * mean) / Double(levels - 1))
  }

  /// Adds the samples of another bucket.
  mutating func add(_ other: SecondBucket) {
    count += other.count
    levels += other.levels
    sum += other.sum
    squares += other.squares
    lastHeard = max(lastHeard, other.lastHeard)
  }
}

/// The seconds of a track that are still open, or the halves: as many as the observer's lag spans, and one more.
///
/// A sample counts in the half of its event time, not in that of its arrival, so that observers with different lags can
/// be compared.
package struct SecondBuckets: Hashable, Sendable {
  var open: [SecondBucket] = []

  package init() {}

  /// Adds a sample.
  package mutating func add(number: Int64, at time: Timestamp, level: Double?) {
    let index = position(of: number, at: time)
    open[index].count += 1
    open[index].lastHeard = max(open[index].lastHeard, time)
    guard let level else { return }
    open[index].levels += 1
    open[index].sum += level
    open[index].squares += level * level
  }

  /// Adds the samples of a bucket.
  mutating func merge(_ bucket: SecondBucket) {
    let index = position(of: bucket.number, at: bucket.lastHeard)
    open[index].add(bucket)
  }

  /// Replaces the level of the sample added last to a bucket by a stronger one.
  mutating func raise(number: Int64, from old: Double, to new: Double) {
    guard let index = open.lastIndex(where: { $0.number == number }) else { return }
    open[index].sum += new - old
    open[index].squares += new * new - old * old
  }

  /// Takes all samples up to and including a number out, as one bucket.
  package mutating func close(through number: Int64) -> SecondBucket? {
    guard var closed = open.first, closed.number <= number else { return nil }
    var count = 1
    while count < open.count, open[count].number <= number {
      closed.add(open[count])
      count += 1
    }
    // Nearly always there is one.
    if count == open.count, count == 1 { _ = open.removeLast() } else { open.removeFirst(count) }
    return closed
  }

  private mutating func position(of number: Int64, at time: Timestamp) -> Int {
    var index = open.count
    while index > 0, open[index - 1].number >= number {
      index -= 1
      if open[index].number == number { return index }
    }
    let bucket = SecondBucket(number: number, lastHeard: time)
    if index == open.count { open.append(bucket) } else { open.insert(bucket, at: index) }
    return index
  }
}
