import PharosEvents
import PharosReports

/// The end of a second: summaries for stage two, and ranging events.
extension ObserverEngine {
  /// How long a beacon that is not heard stays in ranging events at least, and at most, however slow its interval seems.
  private static let rangingMemory = TimeSpan.seconds(5)
  private static let longestRangingMemory = TimeSpan.seconds(300)

  /// Puts a track on the list of those that the end of a second looks at.
  mutating func list(_ place: Int, _ context: inout EngineContext) {
    tracks[place].set(.listed, true)
    tracks[place].flush()
    tracks[place].settle()
    listed.append(Int32(place))
    guard nextSecond == nil else { return }
    armSecond(second(of: tracks[place].hot.lastHeard), &context)
  }

  /// A second of the observer's own count has ended, and its lag has passed.
  mutating func closeSecond(_ context: inout EngineContext) {
    guard let second = nextSecond else { return }
    let end = end(ofSecond: second)
    // The lag may have grown since: reports of this second may still come.
    guard firing(end, context.current) <= context.current else { return armSecond(second, &context) }
    tracks.makeUnique()
    var readings: [RequestedReading] = []
    var summary = SecondSummary(observer: id, until: end, decidedAt: context.current, ordinal: 0)
    var places: [Int32] = []
    swap(&places, &listed)
    if standsInZone { summary.beacons.reserveCapacity(places.count) }
    var kept = 0
    for index in places.indices {
      let place = Int(places[index])
      if close(second, endingAt: end, place, &readings, &summary, &context) {
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
    ObserverEngine.handOver(&summary, to: &context.output)
    publish(readings, at: end, &context)
    if kept == 0, !ranging.values.contains(where: \.hadBeacons) {
      nextSecond = nil
    } else {
      armSecond(second + 1, &context)
    }
  }

  /// Closes a second of one track.
  ///
  /// - Returns: false if the next second need not look at it.
  private mutating func close(
    _ second: Int64,
    endingAt end: Timestamp,
    _ place: Int,
    _ readings: inout [RequestedReading],
    _ summary: inout SecondSummary,
    _ context: inout EngineContext
  ) -> Bool {
    let track = tracks[place]
    if track.isLive, track.hot.epoch != UInt16(truncatingIfNeeded: context.epoch) {
      // What it reports comes behind the summaries so far, as their numbers say.
      ObserverEngine.handOver(&summary, to: &context.output)
      rematch(place, &context)
    }
    guard track.isLive else { return false }
    let set = Int(track.cold.matchSet)
    let bucket = track.closeSecond(through: second)
    if context.catalog.sets[set].isZoned, let bucket, let mean = bucket.mean {
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
    let silence = end - track.hot.lastHeard
    guard silence <= ObserverEngine.rangingMemory || silence <= memory(of: track),
      context.catalog.sets[set].needsSeconds
    else { return false }
    guard !context.catalog.sets[set].rangings.isEmpty else { return true }
    let reading = reading(of: track, bucket, context)
    if readings.isEmpty { readings.reserveCapacity(tracks.count) }
    for request in context.catalog.sets[set].rangings {
      readings.append(RequestedReading(request: request, reading: reading))
    }
    return true
  }

  /// How long a beacon that is not heard stays in ranging events: three of its intervals, learned or declared.
  private mutating func memory(of track: TrackHandle) -> TimeSpan {
    let interval = max(track.hot.interval, track.declaredInterval ?? 0)
    return min(
      max(ObserverEngine.rangingMemory, .seconds(Double(interval) * 3)),
      ObserverEngine.longestRangingMemory
    )
  }

  /// How a beacon is ranged at the end of a second.
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
    var requests: [Int32] = []
    for entry in readings where !requests.contains(entry.request) { requests.append(entry.request) }
    for (request, state) in ranging where state.hadBeacons && !requests.contains(request) {
      requests.append(request)
    }
    requests.sort()
    for request in requests {
      var beacons: [RangedReading] = []
      if isAnswered(request, context) {
        beacons.reserveCapacity(readings.count)
        for entry in readings where entry.request == request { beacons.append(entry.reading) }
        beacons.sort(by: ObserverEngine.isNearer)
      }
      let hadBeacons = ranging[request]?.hadBeacons ?? false
      guard !beacons.isEmpty || hadBeacons else { continue }
      if hadBeacons == beacons.isEmpty { ranging[request] = RangingState(hadBeacons: !beacons.isEmpty) }
      let entry = context.catalog.rangings[Int(request)]
      guard entry.isLive else { continue }
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
  }

  /// Whether a request is made, and under circumstances that are given.
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
        slot.region.constraint.normal == ranging.request.constraint.normal
      {
        return true
      }
    }
    return false
  }

  /// Nearest first, unknown last; equals by identity.
  private static func isNearer(_ left: RangedReading, _ right: RangedReading) -> Bool {
    let isLeftUnknown = left.proximity == .unknown
    let isRightUnknown = right.proximity == .unknown
    if isLeftUnknown != isRightUnknown { return isRightUnknown }
    if left.accuracy != right.accuracy { return left.accuracy < right.accuracy }
    return left.beacon < right.beacon
  }
}

extension TrackHandle {
  /// Takes the samples up to and including a second out.
  fileprivate func closeSecond(through second: Int64) -> SecondBucket? {
    // Without holding the box: held twice it would be copied before each change.
    guard cold.box?.extras.seconds.open.isEmpty == false else { return nil }
    return changeExtras { $0.seconds.close(through: second) }
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

/// How a beacon is ranged, and for which request of the catalog.
struct RequestedReading: Sendable {
  var request: Int32
  var reading: RangedReading
}
