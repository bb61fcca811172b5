import PharosEvents
import PharosReports

/// Events that tell a state because somebody wants to know, not because it changed.
extension StageOne {
  /// A display was turned on: regions that want it tell their state again.
  mutating func displayOn(at time: Timestamp, of index: Int, into output: inout StageOutput) {
    for row in states[index].rows.indices {
      let entry = states[index].rows[row]
      guard entry.isLive, entry.isActive, entry.state == .inside else { continue }
      guard catalog.slots[Int(entry.slot)].region.notifyEntryStateOnDisplay else { continue }
      answer(row: row, of: index, rule: .displayOn, at: time, into: &output)
    }
  }

  /// Tells a row's state without a change of it.
  mutating func answer(
    row: Int,
    of index: Int,
    rule: Evidence.Rule,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    let entry = states[index].rows[row]
    let transition = RegionTransition(
      from: entry.state,
      to: entry.state,
      enteredAt: entry.enteredAt,
      isAnswer: true,
      evidence: Evidence(rule: rule)
    )
    emit(.regionState, transition, row: row, of: index, at: time, into: &output)
    states[index].rows[row].counter += 1
  }
}
