public import PharosEvents
public import PharosReports

extension StageOne {
  /// Handles the reports of a batch in their order, each after everything that was due before it was received.
  ///
  /// The same as ``ingest(_:in:into:)`` for one after the other, and much faster: tables and tracks of the reports to
  /// come are asked for in one go, and nearly all adverts are heard in runs, between which nothing else happens.
  public mutating func ingest(_ batch: borrowing ReportBatch, into output: inout StageOutput) {
    if behind > 0 { _ = catchUpSlice(sliceCost, into: &output) }
    let reports = batch.reports
    let evictions = counters.observerEvictions
    var plan: [Ahead] = []
    swap(&plan, &ahead)
    if plan.isEmpty { plan = Array(repeating: .unknown, count: StageOne.window) }
    placesOfBatch.removeAll(keepingCapacity: true)
    for _ in batch.observers { placesOfBatch.append(-1) }
    var start = 0
    while start < reports.count {
      let window = reports.span.extracting(start..<min(start + StageOne.window, reports.count))
      lookAhead(window, in: batch, &plan)
      var next = 0
      while next < window.count {
        // After an eviction a place may have gone to another observer.
        if counters.observerEvictions == evictions {
          let heard = hearKnown(window, plan.span.extracting(first: window.count), from: next, into: &output)
          next += heard
          if heard > 0 { continue }
        }
        let handsets = self.handsets
        ingest(reports[start + next], in: batch, into: &output)
        next += 1
        // What was found out about the reports to come, it was found out before their observer was known for a handset.
        if self.handsets != handsets { for rest in next..<window.count { plan[rest].way = .long } }
      }
      start += window.count
    }
    swap(&plan, &ahead)
  }

  /// Hears reports that come from observers whose tracks are known and up to date, and between which no timer fires; gives
  /// how many.
  private mutating func hearKnown(
    _ reports: Span<Report>,
    _ plan: Span<Ahead>,
    from first: Int,
    into output: inout StageOutput
  ) -> Int {
    let received = plan[first].received
    guard plan[first].way != .long, received >= latest else { return 0 }
    if wheel.mayBeDue(before: received) {
      fire(through: Timestamp(nanoseconds: received.nanoseconds - 1), into: &output)
    }
    var run = HeardRun(from: first, latest: latest, through: wheel.soonest)
    plan.withUnsafeBufferPointer {
      StageOne.hearRuns(&states, reports, $0, &run, catalog: catalog, filter: filter)
    }
    let heard = run.next - first
    guard heard > 0 else { return 0 }
    latest = run.latest
    current = run.latest
    counters.reports += UInt64(heard)
    counters.adverts += UInt64(heard - run.heads)
    counters.matched += UInt64(heard - run.heads - run.unmatched)
    counters.unmatched += UInt64(run.unmatched)
    counters.withoutLevel += UInt64(run.withoutLevel)
    counters.joined += UInt64(run.joined)
    let index = Int(run.observer)
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
    return heard
  }

  /// Hears run after run, one observer's after the other's, until one of them asks for something.
  private static func hearRuns(
    _ states: inout [ObserverState],
    _ reports: Span<Report>,
    _ plan: UnsafeBufferPointer<Ahead>,
    _ run: inout HeardRun,
    catalog: borrowing RegionCatalog,
    filter: LevelFilterKind
  ) {
    var states = states.mutableSpan
    while run.next < plan.count, plan[run.next].way != .long {
      run.observer = plan[run.next].observer
      guard states[unchecked: Int(run.observer)].hear(reports, plan, &run, catalog: catalog, filter: filter)
      else { return }
    }
  }
}
