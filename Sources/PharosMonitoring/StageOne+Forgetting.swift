import PharosEvents
import PharosReports

extension StageOne {
  /// Forgets a subject, as if it had never been heard.
  ///
  /// What it was inside becomes unmonitored, which is no exit. Stage two forgets for itself: of what is told here it gets
  /// only that an observer is gone, since a word about a forgotten beacon would make it known again.
  mutating func forget(_ traces: SubjectTraces, into output: inout StageOutput) {
    catchUpAll(into: &output)
    var told = StageOutput()
    if let observer = traces.observer { forget(observer, into: &told) }
    if traces.beacon != nil {
      for index in states.indices where states[index].isLive { forget(traces, of: index, into: &told) }
    }
    output.events += told.events
    for link in told.links {
      if case .observer = link { output.links.append(link) }
    }
  }

  private mutating func forget(_ observer: ObserverID, into output: inout StageOutput) {
    accepted.remove(observer)
    quarantined.remove(observer)
    guard let index = place(of: observer) else { return }
    letGo(index, into: &output)
    if states[index].isUp { link(isUp: false, at: current, of: index, into: &output) }
    cells[observer.cell % limits.cells].removeAll { !states[Int($0)].isLive }
  }

  /// Forgets a beacon's tracks at one observer, and which addresses it had.
  private mutating func forget(_ traces: SubjectTraces, of index: Int, into output: inout StageOutput) {
    for track in states[index].tracks.indices where states[index].tracks[track].isLive {
      guard traces.contains(states[index].tracks[track].beacon) else { continue }
      abandon(track: track, of: index, rule: .eviction, into: &output)
      unlist(track: track, of: index)
      forget(track: track, of: index)
    }
    for beacon in states[index].batteryTold.keys where traces.contains(beacon) {
      states[index].batteryTold[beacon] = nil
    }
    guard let beacon = traces.beacon, beacon.kind == .address, let address = beacon.address else { return }
    states[index].beaconOfAddress[address.bits] = nil
  }
}
