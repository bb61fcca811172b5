import PharosEvents
import PharosReports

extension StageOne {
  /// How far ahead a page's timer is set at most.
  ///
  /// Sixteen seconds: longer than the usual deadline of a beacon that is heard every second; a look at a page costs about
  /// 100 ns.
  private static let farthestTimer = TimeSpan.seconds(16)

  /// Fires what is due at or before a time, in order.
  mutating func fire(through limit: Timestamp, into output: inout StageOutput) {
    present = limit
    while let entry = wheel.next(through: limit) {
      if wheel.takeNews() { touchNear() }
      let index = Int(entry.observer)
      guard states[index].isLive else { continue }
      if isBehind(index) {
        // What a change sets for it may be due before this.
        catchUp(index, into: &output)
        wheel.set(entry)
        continue
      }
      current = entry.due
      switch entry.target {
      case .page(let page):
        guard states[index].tracks.armedAt(page: Int(page)) == entry.due else { continue }
        firePage(Int(page), of: index, into: &output)
      case .row(let place):
        let row = Int(place)
        guard row < states[index].rows.count, states[index].rows[row].armedAt == entry.due else { continue }
        states[index].rows[row].armedAt = .distantFuture
        decide(row: row, of: index, into: &output)
      case .outage:
        guard states[index].outageArmedAt == entry.due else { continue }
        states[index].outageArmedAt = .distantFuture
        checkOutage(of: index, into: &output)
      case .second:
        guard states[index].secondArmedAt == entry.due else { continue }
        states[index].secondArmedAt = .distantFuture
        closeSecond(of: index, into: &output)
      }
    }
  }

  /// The first track of a page is due, or was and is no more.
  private mutating func firePage(_ page: Int, of index: Int, into output: inout StageOutput) {
    states[index].tracks.setArmedAt(.distantFuture, page: page)
    guard let first = states[index].tracks.firstDue(inPage: page), first.due <= current else {
      arm(page: page, of: index)
      return
    }
    let track = first.place
    if let deadline = states[index].movedDeadline(track: track, catalog: catalog, now: current) {
      states[index].tracks.setDue(firing(deadline, of: index), of: track)
      arm(page: page, of: index)
      return
    }
    disarm(track: track, of: index)
    arm(page: page, of: index)
    settle(track: track, of: index, into: &output)
  }

  /// Reads what the timers at hand will look at, all at once, so that the processor does not wait for each by itself.
  private mutating func touchNear() {
    var touched: UInt64 = 0
    for entry in wheel.near {
      guard case .page(let page) = entry.target else { continue }
      guard let first = states[Int(entry.observer)].tracks.firstDue(inPage: Int(page)) else { continue }
      touched ^= states[Int(entry.observer)].tracks.touchWhole(first.place)
    }
    touchedAhead ^= touched
  }

  /// When a deadline fires: it waits for reports that its observer's lag may still hold back, and never lies before what
  /// is being handled.
  func firing(_ deadline: Timestamp, of index: Int) -> Timestamp {
    max(deadline + states[index].lag.lag, current)
  }

  /// Sets a track's timer unless it fires early enough already; one that fires too early finds its deadline moved.
  ///
  /// The wheel has one entry for a page of tracks, set for the first of them.
  mutating func arm(track: Int, of index: Int, for deadline: Timestamp) {
    guard deadline != .distantFuture else { return }
    let due = firing(deadline, of: index)
    guard due < states[index].tracks.due(of: track) else { return }
    states[index].tracks.setDue(due, of: track)
    states[index].tracks[track].isArmed = true
    arm(page: track >> TrackStore.shift, of: index)
  }

  /// A track waits for nothing; the page's timer finds that out when it fires.
  mutating func disarm(track: Int, of index: Int) {
    states[index].tracks.setDue(.distantFuture, of: track)
    states[index].tracks[track].isArmed = false
  }

  /// Sets the timer of a page for its first track, unless it fires early enough already.
  ///
  /// Never far ahead of the present: what is due later is looked at again on the way, so that entries that have become stale,
  /// as deadlines come nearer while a beacon is being learned, are soon gone. Where time jumps by years, as in captures of devices
  /// that learn the date late, nothing is looked at on the way.
  private mutating func arm(page: Int, of index: Int) {
    guard let first = states[index].tracks.firstDue(inPage: page) else { return }
    let due = min(first.due, max(current, present) + StageOne.farthestTimer)
    guard due < states[index].tracks.armedAt(page: page) else { return }
    states[index].tracks.setArmedAt(due, page: page)
    wheel.set(TimerEntry(due: due, observer: Int32(index), target: .page(Int32(page))))
  }

  /// Sets the timer of a row that has something to decide.
  mutating func arm(row: Int, of index: Int) {
    arm(row: row, of: index, for: states[index].rows[row].decideAt)
  }

  /// The same for a deadline of the row that has moved away.
  mutating func arm(row: Int, of index: Int, for deadline: Timestamp) {
    guard deadline != .distantFuture else { return }
    let due = firing(deadline, of: index)
    guard due < states[index].rows[row].armedAt else { return }
    states[index].rows[row].armedAt = due
    wheel.set(TimerEntry(due: due, observer: Int32(index), target: .row(Int32(row))))
  }

  /// Sets the timer that notices an observer's silence.
  ///
  /// Never farther ahead than the least silence that counts: as gaps are learned the deadline comes nearer, and a timer that was set
  /// by a longer one would let an outage go by unseen.
  mutating func armOutage(of index: Int, for deadline: Timestamp) {
    let due = min(firing(deadline, of: index), current + LifeSigns.least)
    guard due < states[index].outageArmedAt else { return }
    states[index].outageArmedAt = due
    wheel.set(TimerEntry(due: due, observer: Int32(index), target: .outage))
  }

  /// Sets the timer for the end of a second.
  mutating func armSecond(_ second: Int64, of index: Int) {
    states[index].nextSecond = second
    let due = firing(states[index].end(ofSecond: second), of: index)
    states[index].secondArmedAt = due
    wheel.set(TimerEntry(due: due, observer: Int32(index), target: .second))
  }
}
