import PharosEvents
import PharosReports

extension StageOne {
  /// Fires what is due at or before a time, in order.
  mutating func fire(through limit: Timestamp, into output: inout StageOutput) {
    while let entry = wheel.next(through: limit) {
      if wheel.takeNews() { touchNear() }
      let index = Int(entry.observer)
      guard states[index].isLive else { continue }
      current = entry.due
      switch entry.target {
      case .track(let place):
        let track = Int(place)
        guard track < states[index].tracks.count, states[index].tracks[track].armedAt == entry.due else {
          continue
        }
        states[index].tracks[track].armedAt = .distantFuture
        if let deadline = states[index].movedDeadline(track: track, catalog: catalog, now: current) {
          arm(track: track, of: index, for: deadline)
          continue
        }
        settle(track: track, of: index, into: &output)
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

  /// Reads what the timers at hand will look at, all at once, so that the processor does not wait for each by itself.
  private mutating func touchNear() {
    for entry in wheel.near {
      guard case .track(let place) = entry.target else { continue }
      touchedAhead &+= states[Int(entry.observer)].tracks.touchDeadline(Int(place))
    }
  }

  /// When a deadline fires: it waits for reports that its observer's lag may still hold back, and never lies before what
  /// is being handled.
  func firing(_ deadline: Timestamp, of index: Int) -> Timestamp {
    max(deadline + states[index].lag.lag, current)
  }

  /// Sets a track's timer unless it fires early enough already; one that fires too early finds its deadline moved.
  mutating func arm(track: Int, of index: Int, for deadline: Timestamp) {
    guard deadline != .distantFuture else { return }
    let due = firing(deadline, of: index)
    guard due < states[index].tracks[track].armedAt else { return }
    states[index].tracks[track].armedAt = due
    wheel.set(TimerEntry(due: due, observer: Int32(index), target: .track(Int32(track))))
  }

  /// Sets the timer of a row that has something to decide.
  mutating func arm(row: Int, of index: Int) {
    let deadline = states[index].rows[row].decideAt
    guard deadline != .distantFuture else { return }
    let due = firing(deadline, of: index)
    guard due < states[index].rows[row].armedAt else { return }
    states[index].rows[row].armedAt = due
    wheel.set(TimerEntry(due: due, observer: Int32(index), target: .row(Int32(row))))
  }

  /// Sets the timer that notices an observer's silence.
  mutating func armOutage(of index: Int, for deadline: Timestamp) {
    let due = firing(deadline, of: index)
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
