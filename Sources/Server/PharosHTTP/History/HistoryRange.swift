import PharosDocuments
import PharosJournal
package import PharosModel

/// A range of minutes, and the steps into which an answer divides it.
package struct HistoryRange {
  /// The lengths that a step may have, in minutes: parts and multiples of an hour and a day.
  private static let lengths: [Int64] = [
    1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 43_200,
  ]

  /// The minutes, of whole steps.
  let minutes: ClosedRange<HistoryMinute>
  /// The length of a step in minutes.
  let length: Int64

  /// The number of steps.
  package var count: Int { Int((minutes.upperBound.number - minutes.lowerBound.number) / length) + 1 }
  /// The beginning of the first step.
  package var from: Timestamp { minutes.lowerBound.start }
  /// The end of the last step.
  package var to: Timestamp { HistoryMinute(minutes.upperBound.number + 1).start }

  /// Divides the time from one instant to another into at most so many steps.
  init(from: Timestamp, to: Timestamp, points: Int) {
    let (first, last) = (HistoryMinute(containing: from).number, HistoryMinute(containing: to).number)
    let length =
      HistoryRange.lengths.first { (last / $0) - (first / $0) < Int64(points) }
      ?? (last - first) / Int64(points) + 1
    self.length = length
    minutes = HistoryMinute(first / length * length)...HistoryMinute(last / length * length + length - 1)
  }

  /// Reads `from`, `to` and `points`: by default the last so many minutes up to now.
  package init(
    _ query: inout QueryReading,
    now: Timestamp,
    usual: TimeSpan,
    points maximum: ClosedRange<Int64>
  ) {
    let to = query.time("to") ?? now
    let from = query.time("from") ?? to - usual
    if from > to { query.wrong("from", "lies after to", expected: "a time before to") }
    let points = query.integer("points", in: maximum) ?? HistoryRange.usualPoints(maximum)
    self.init(from: min(from, to), to: to, points: Int(points))
  }

  /// The number of steps where a request names none.
  static func usualPoints(_ maximum: ClosedRange<Int64>) -> Int64 { min(300, maximum.upperBound) }

  /// The step that a minute belongs to.
  func step(of minute: HistoryMinute) -> Int {
    Int((minute.number - minutes.lowerBound.number) / length)
  }

  /// The beginning of a step.
  func start(of step: Int) -> Timestamp {
    HistoryMinute(minutes.lowerBound.number + Int64(step) * length).start
  }

  /// The last minute of a step.
  func lastMinute(of step: Int) -> HistoryMinute {
    HistoryMinute(containing: start(of: step + 1) - .seconds(60))
  }

  /// Writes the range and the length of a step.
  func write(to json: inout JSONText) {
    json.member("from", from.rfc3339)
    json.member("to", to.rfc3339)
    json.member("step", length * 60)
  }

  /// Divides summaries, which are in order, into steps; those without summaries are left out.
  func steps<Summary>(
    _ summaries: [(minute: HistoryMinute, summary: Summary)]
  ) -> [(step: Int, summaries: ArraySlice<(minute: HistoryMinute, summary: Summary)>)] {
    var steps: [(step: Int, summaries: ArraySlice<(minute: HistoryMinute, summary: Summary)>)] = []
    var start = summaries.startIndex
    while start < summaries.endIndex {
      let step = step(of: summaries[start].minute)
      let end = summaries[start...].firstIndex { self.step(of: $0.minute) != step } ?? summaries.endIndex
      steps.append((step, summaries[start..<end]))
      start = end
    }
    return steps
  }
}

/// What prevailed in a step.
struct SubjectStep {
  var zone: String?
  var isZoneUnmonitored = false
  var state = RegionState.unknown
  var nearest = SubjectID.none
  /// The mean, lowest and highest level in dBm.
  var rssi: (mean: Double, lowest: Int, highest: Int)?
  /// The last position.
  var position: SubjectMinute.Position?

  /// Summarises the minutes of a step: what held in most of them, the mean level, the last position.
  init(_ minutes: some Collection<(minute: HistoryMinute, summary: SubjectMinute)>) {
    zone = SubjectStep.mode(minutes.lazy.map(\.summary.zone)) ?? nil
    isZoneUnmonitored = SubjectStep.mode(minutes.lazy.map(\.summary.isZoneUnmonitored)) ?? false
    state = SubjectStep.mode(minutes.lazy.map(\.summary.state)) ?? .unknown
    nearest = SubjectStep.mode(minutes.lazy.map(\.summary.nearest)) ?? .none
    let levels = minutes.compactMap(\.summary.rssi)
    if let lowest = levels.min(), let highest = levels.max() {
      rssi = (Double(levels.reduce(0, +)) / Double(levels.count), lowest, highest)
    }
    for entry in minutes { position = entry.summary.position ?? position }
  }

  /// The most frequent value; of several the first.
  private static func mode<Value: Hashable>(_ values: some Sequence<Value>) -> Value? {
    var counts: [(value: Value, count: Int)] = []
    for value in values {
      if let index = counts.firstIndex(where: { $0.value == value }) {
        counts[index].count += 1
      } else {
        counts.append((value, 1))
      }
    }
    return counts.reduce(nil as (value: Value, count: Int)?) { best, next in
      best.map { $0.count >= next.count } ?? false ? best : next
    }?
    .value
  }
}
