import PharosReports

/// How one rule of presence did, over all rows.
struct PresenceTally {
  /// What it is called.
  let name: String
  /// How many enters it told.
  private(set) var enters = 0
  /// How many exits it told.
  private(set) var exits = 0
  /// How many of them it took back within a minute.
  private(set) var returnsWithinMinute = 0
  /// How many of them it took back within ten minutes.
  private(set) var returns = 0
  /// The number of times that the rule reported the state unmonitored.
  private(set) var unmonitored = 0
  /// From the last advert to the exit.
  private(set) var delays = LatenessHistogram()

  /// The most changes of mind that are kept for drawing, over all rows.
  static let mostKept = 200_000
  /// A return within this time was most likely no departure.
  static let minute = TimeSpan.minutes(1)
  /// A return within this time is counted at all.
  static let tenMinutes = TimeSpan.minutes(10)

  private var kept = 0

  init(name: String) { self.name = name }

  /// Records a change of state that this rule reports for a row.
  ///
  /// - Parameters:
  ///   - state: The new state.
  ///   - time: The time at which the rule reported it.
  ///   - row: The row, which holds the region and the subject.
  ///   - rule: The index of the rule among the row's standings.
  mutating func note(_ state: ComparedRow.State, at time: Timestamp, of row: inout ComparedRow, rule: Int) {
    switch state {
    case .inside:
      if !row.standings[rule].isInside { enter(at: time, &row.standings[rule]) }
    case .outside:
      guard row.standings[rule].isInside else { break }
      exits += 1
      if let heard = row.lastHeard { delays.record(time - heard) }
      row.standings[rule].isInside = false
      row.standings[rule].leftAt = time
      row.standings[rule].exits += 1
    case .unmonitored:
      unmonitored += 1
    }
    guard kept < PresenceTally.mostKept, row.standings[rule].changes.count < ComparedRow.mostChanges else {
      row.standings[rule].isCut = true
      return
    }
    kept += 1
    row.standings[rule].changes.append(ComparedRow.Change(time: time, state: state))
  }

  private mutating func enter(at time: Timestamp, _ standing: inout ComparedRow.Standing) {
    enters += 1
    standing.isInside = true
    guard let left = standing.leftAt else { return }
    standing.leftAt = nil
    guard time - left <= PresenceTally.tenMinutes else { return }
    returns += 1
    standing.returns += 1
    if time - left <= PresenceTally.minute { returnsWithinMinute += 1 }
    if let last = standing.changes.last, last.time == left {
      standing.changes[standing.changes.count - 1].cameBackAfter = time - left
    }
  }
}
