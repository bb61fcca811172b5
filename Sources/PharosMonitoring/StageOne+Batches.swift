import PharosAdvertising
public import PharosEvents
public import PharosReports

/// What is known of a report before its turn comes.
///
/// A hint: it saves the look-up if it is still right then.
struct Ahead {
  /// The identity that its advert carries.
  var beacon: BeaconID
  /// Its hash.
  var hash: UInt64
  /// What stands for its transmitter when the observer's traffic is judged.
  var key: UInt64
  /// The observer's place, or −1 if the report must go the long way.
  var observer: Int32
  /// The place of a track that may be its beacon's, or −1.
  var track: Int32
  /// The level at one metre that it states, in dBm.
  var power: Int8

  /// A report that must go the long way.
  static let unknown = Ahead(
    beacon: BeaconID(proximityHigh: 0, low: 0, majorAndMinor: 0),
    hash: 0,
    key: 0,
    observer: -1,
    track: -1,
    power: 0
  )
}

extension StageOne {
  /// How many reports are looked at before the first of them is handled.
  ///
  /// Enough for the memory to answer many questions at once, few enough that the answers are still at hand when their turn
  /// comes.
  private static let window = 64

  /// Handles the reports of a batch in their order, each after everything that was due before it was received.
  ///
  /// The same as ``ingest(_:in:into:)`` for one after the other, and much faster: tables and tracks of the reports to
  /// come are asked for in one go, so that the processor waits once for many of them instead of once for each.
  public mutating func ingest(_ batch: borrowing ReportBatch, into output: inout StageOutput) {
    let reports = batch.reports
    let evictions = counters.observerEvictions
    var plan: [Ahead] = []
    swap(&plan, &ahead)
    placesOfBatch.removeAll(keepingCapacity: true)
    for _ in batch.observers { placesOfBatch.append(-1) }
    var start = 0
    while start < reports.count {
      let end = min(start + StageOne.window, reports.count)
      lookAhead(reports.span.extracting(start..<end), in: batch, &plan)
      var next = start
      while next < end {
        // After an eviction a place may have gone to another observer.
        if counters.observerEvictions == evictions {
          let heard = hearKnown(
            reports.span.extracting(next..<end),
            plan.span.extracting((next - start)...),
            into: &output
          )
          next += heard
          if heard > 0 { continue }
        }
        ingest(reports[next], in: batch, into: &output)
        next += 1
      }
      start = end
    }
    swap(&plan, &ahead)
  }

  /// Finds out what a window of reports will need, first all identities, then all slots, then all tracks.
  private mutating func lookAhead(
    _ reports: Span<Report>,
    in batch: borrowing ReportBatch,
    _ plan: inout [Ahead]
  ) {
    plan.removeAll(keepingCapacity: true)
    let isPlain = !catalog.hasKeys && !catalog.hasAddresses
    let payloads = batch.payloads.span.bytes
    for index in reports.indices {
      guard isPlain, case .advert(let advert) = reports[index].body,
        Int(advert.payload.upperBound) <= payloads.byteCount,
        let found = FrameDecoder.soleIBeacon(
          in: payloads,
          at: Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
        )
      else {
        plan.append(.unknown)
        continue
      }
      plan.append(
        Ahead(
          beacon: found.beacon,
          hash: hash(found.beacon),
          key: transmitter(found.beacon, advert.address),
          observer: placeAhead(of: Int(reports[index].observer), in: batch),
          track: -1,
          power: found.measuredPower
        )
      )
    }
    for index in plan.indices where plan[index].observer >= 0 {
      plan[index].track = states[Int(plan[index].observer)].table.candidate(plan[index].hash)
    }
    var touched: UInt64 = 0
    for entry in plan where entry.track >= 0 {
      touched ^= states[Int(entry.observer)].tracks.touch(Int(entry.track))
      touched ^= states[Int(entry.observer)].life.reception.touch(entry.key)
    }
    touchedAhead ^= touched
  }

  /// The place of a batch's observer, or −1 if it was never heard.
  private mutating func placeAhead(of observer: Int, in batch: borrowing ReportBatch) -> Int32 {
    guard observer < placesOfBatch.count else { return -1 }
    if placesOfBatch[observer] >= 0 { return placesOfBatch[observer] }
    guard let place = place(of: batch.observers[observer]) else { return -1 }
    placesOfBatch[observer] = Int32(place)
    return Int32(place)
  }

  /// Hears the adverts at the beginning of a run that come from one observer, whose tracks are known and up to date, and
  /// between which no timer fires; gives how many.
  private mutating func hearKnown(
    _ reports: Span<Report>,
    _ plan: Span<Ahead>,
    into output: inout StageOutput
  ) -> Int {
    let first = reports[0].received
    guard plan[0].track >= 0, first >= latest else { return 0 }
    if wheel.mayBeDue(before: first) {
      fire(through: Timestamp(nanoseconds: first.nanoseconds - 1), into: &output)
    }
    let index = Int(plan[0].observer)
    guard !states[index].isAwaited else { return 0 }
    var run = HeardRun(latest: latest, through: wheel.soonest)
    states[index].hear(reports, plan, &run, catalog: catalog, filter: filter)
    guard run.count > 0 else { return 0 }
    latest = run.latest
    current = run.latest
    let count = UInt64(run.count)
    counters.reports += count
    counters.adverts += count
    counters.matched += count
    counters.withoutLevel += UInt64(run.withoutLevel)
    counters.joined += UInt64(run.joined)
    if let attention = run.attention {
      attend(
        to: attention.outcome,
        track: attention.track,
        attention.hearing,
        of: index,
        into: &output
      )
    }
    if run.isRestless {
      settlePending(of: index, into: &output)
      watch(index)
    }
    if states[index].standsInZone { tellLife(of: index, into: &output) }
    return run.count
  }
}
