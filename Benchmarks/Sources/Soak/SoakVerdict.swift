import Foundation
import ServedProcess

/// Whether a server stayed as it was.
struct SoakVerdict {
  /// One thing that is judged.
  struct Row {
    var name: String
    var figure: String
    var wanted: String
    var isMet: Bool
  }

  /// By how much the memory of the last third may differ from that of the first, behind the warm-up.
  static let memory = 0.02
  /// By how much the middle delay may; a machine that does other things as well moves it more than a leak would.
  static let middle = 0.25
  /// By how much the ninety-ninth may.
  static let tail = 0.5
  /// A delay that is shorter than this may change as it likes.
  ///
  /// - Units: milliseconds.
  static let delayFloor = 2.0
  /// A shorter run says whether all works, and nothing of what grows.
  ///
  /// - Units: seconds. Caches and allocators take some minutes to reach their size.
  static let shortest = 600.0
  /// How many descriptors more than at the start may be open when all clients have gone: the journal opens readers and
  /// a log file as it first needs them.
  static let descriptors = 8

  let rows: [Row]

  init(_ record: SoakRecord) {
    let isShort = record.duration < SoakVerdict.shortest
    let finished = record.warm
    let (first, last) = (record.firstThird, record.lastThird)
    func change(_ value: (SoakSample) -> Double) -> (from: Double, to: Double) {
      (SoakVerdict.median(first.map(value)), SoakVerdict.median(last.map(value)))
    }
    let memory = change { Double($0.resident) / 1e6 }
    let drift = memory.to / memory.from - 1
    let middle = change(\.p50)
    let tail = change(\.p99)
    let lost = finished.count { $0.decisions == 0 }
    let failed = record.samples.last?.failedPages ?? 0
    let trends = [
      Row(
        name: "resident memory, last third against first",
        figure: String(format: "%.1f -> %.1f MB (%+.2f %%)", memory.from, memory.to, drift * 100),
        wanted: "±2 %",
        isMet: !finished.isEmpty && abs(drift) <= SoakVerdict.memory
      ),
      SoakVerdict.delay("delay p50, last third against first", middle, within: SoakVerdict.middle),
      SoakVerdict.delay("delay p99, last third against first", tail, within: SoakVerdict.tail),
    ]
    let counts = [
      Row(name: "ten-second windows without a decision", figure: "\(lost)", wanted: "0", isMet: lost == 0),
      Row(
        name: "pages that did not come as they should",
        figure: "\(failed) of \(record.samples.last?.pages ?? 0)",
        wanted: "0",
        isMet: failed == 0
      ),
    ]
    rows = trends.map { SoakVerdict.judged($0, !isShort) } + counts + SoakVerdict.remainder(record)
  }

  /// What is left when all clients have gone, and what never came.
  private static func remainder(_ record: SoakRecord) -> [Row] {
    guard let before = record.before, let after = record.after else { return [] }
    return [
      Row(
        name: "descriptors when all clients have gone",
        figure: "\(before.descriptors) -> \(after.descriptors)",
        wanted: "at most \(descriptors) more",
        isMet: after.descriptors - before.descriptors <= descriptors
      ),
      Row(
        name: "threads",
        figure: "\(before.threads) -> \(after.threads)",
        wanted: "at most 8 more",
        isMet: after.threads - before.threads <= 8
      ),
      Row(
        name: "datagrams dropped by the kernel",
        figure: String(format: "%.0f of %.0f", record.kernelDrops, record.datagrams),
        wanted: "0",
        isMet: record.kernelDrops == 0
      ),
    ]
  }

  /// Whether all is as it should be.
  var isFlat: Bool { rows.allSatisfy(\.isMet) }

  /// The table.
  var text: String {
    rows.map { row in
      let name = row.name.padding(toLength: 46, withPad: " ", startingAt: 0)
      let figure = row.figure.padding(toLength: 34, withPad: " ", startingAt: 0)
      let wanted = row.wanted.padding(toLength: 22, withPad: " ", startingAt: 0)
      return name + figure + wanted + (row.isMet ? "met" : "MISSED")
    }
    .joined(separator: "\n")
  }

  private static func delay(_ name: String, _ change: (from: Double, to: Double), within share: Double) -> Row
  {
    let isMet = change.to <= max(delayFloor, change.from * (1 + share))
    return Row(
      name: name,
      figure: String(format: "%.2f -> %.2f ms", change.from, change.to),
      wanted: String(format: "at most +%.0f %%", share * 100),
      isMet: isMet && change.to > 0
    )
  }

  private static func judged(_ row: Row, _ isJudged: Bool) -> Row {
    guard !isJudged else { return row }
    return Row(name: row.name, figure: row.figure, wanted: "not judged: too short", isMet: true)
  }

  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }
}
