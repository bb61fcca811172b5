import Foundation

/// The table, in lines of at most 120 columns: scene by scene, ours first.
struct TableWriter {
  /// What rows are shown: those whose rule's name holds this, or all.
  var policy: String?
  private(set) var lines: [String] = []

  init(policy: String?) { self.policy = policy }

  /// A line as it is.
  mutating func add(_ line: String = "") { lines.append(line) }

  /// A headline over a section.
  mutating func section(_ title: String) {
    add()
    add(title)
    add(TableWriter.rule)
    for line in TableWriter.head { add(line) }
  }

  /// A scene of presence: what is known of it, and a row for each rule.
  mutating func presence(_ entry: Results.Presence, notes: String = "", fixed: Bool, oracle: Double? = nil) {
    let result = entry.result
    let days = TableWriter.number(result.subjectDays, 1)
    let title = "\(entry.name)\(notes.isEmpty ? "" : ", " + notes)"
    add()
    add("\(title)  ·  \(days) subject-days, \(result.departures) departures")
    for row in result.rows where isShown(row.policy) {
      add(TableWriter.row(row.policy, PresenceFigures(row.tally, days: result.subjectDays)))
    }
    guard fixed, let own = result.rows.first else { return }
    let count = own.tally.falseExits
    if isShown("fixed") {
      if let figures = PresenceFigures(fixedWithin: count, of: result),
        let span = result.gaps.shortest(within: count)
      {
        add(TableWriter.row("fixed \(Int(span)) s, as safe", figures))
      } else {
        add("  no fixed time-out up to 300 s is as safe")
      }
    }
    guard let oracle, isShown("oracle") else { return }
    let name = "oracle, \(TableWriter.seconds(oracle)) s" + (oracle > Oracle.ceiling ? ", too long" : "")
    add(TableWriter.row(name, PresenceFigures(fixed: oracle, of: result)))
  }

  /// A scene of rooms.
  mutating func rooms(_ entry: Results.Rooms) {
    let first = entry.result.rows.first?.tally ?? RoomTally()
    let rate = first.hours > 0 ? Double(first.trueChanges) / first.hours : 0
    add()
    let truth = first.trueChanges == 0 ? "" : ", \(TableWriter.number(rate, 1)) true changes an hour"
    add("\(entry.name)  ·  \(TableWriter.number(first.hours, 0)) tag-hours\(truth)")
    for row in entry.result.rows where isShown(row.policy) { add(TableWriter.row(row.policy, row.tally)) }
  }

  private func isShown(_ name: String) -> Bool {
    policy.map { name.localizedCaseInsensitiveContains($0) } ?? true
  }
}

extension TableWriter {
  private static let widths = [26, 8, 13, 6, 6, 6, 6, 6, 6, 6, 7, 5, 5]

  /// The names of the columns.
  private static let head = [
    line([
      "", "false", "95 %", "exit", "exit", "enter", "enter", "ghost", "wrong", "not", "changes", "move",
      "move",
    ]),
    line([
      "rule", "exits/d", "interval", "p50 s", "p95 s", "p50 s", "p95 s", "enters", "room", "sure", "an hour",
      "p50 s", "p95 s",
    ]),
  ]

  private static func line(_ cells: [String]) -> String {
    var text = ""
    for (place, cell) in cells.enumerated() {
      let width = place < widths.count ? widths[place] : 8
      text += place == 0 ? "  " + pad(cell, to: width) : pad(cell, to: width, right: true) + " "
    }
    var trimmed = text[...]
    while trimmed.last == " " { trimmed.removeLast() }
    return String(trimmed)
  }

  private static func row(_ name: String, _ figures: PresenceFigures) -> String {
    let interval = figures.interval.map { "\(rate($0.lowerBound))–\(rate($0.upperBound))" } ?? "·"
    return line([
      name, figures.rate.map(rate) ?? "·", interval, seconds(figures.exit50), seconds(figures.exit95),
      seconds(figures.enter50), seconds(figures.enter95), figures.ghosts.map(String.init) ?? "·",
    ])
  }

  private static func row(_ name: String, _ tally: RoomTally) -> String {
    line([
      name, "·", "·", "·", "·", "·", "·", "·", percent(tally.wrongShare), percent(tally.unsureShare),
      number(tally.changesPerHour, 2), seconds(Statistics.quantile(0.5, of: tally.changeDelays)),
      seconds(Statistics.quantile(0.95, of: tally.changeDelays)),
    ])
  }

  /// What stands under a headline.
  static let rule = String(repeating: "═", count: 120)

  /// A number with so many decimals.
  static func number(_ value: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", value) }

  /// Times in seconds, those above 100 without decimals.
  static func seconds(_ value: Double?) -> String { value.map { number($0, $0 >= 99.95 ? 0 : 1) } ?? "·" }

  /// Counts a day.
  static func rate(_ value: Double) -> String {
    value == 0 ? "0" : number(value, value >= 1_000 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3)
  }

  /// A share in percent.
  static func percent(_ share: Double) -> String { number(share * 100, share < 0.0995 ? 2 : 1) + "%" }

  private static func pad(_ text: String, to width: Int, right: Bool = false) -> String {
    let missing = max(0, width - text.count)
    let space = String(repeating: " ", count: missing)
    return right ? space + text : text + space
  }
}
