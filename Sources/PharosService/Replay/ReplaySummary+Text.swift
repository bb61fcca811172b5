import PharosReports
import PharosSite

extension ReplaySummary {
  /// The summary as lines for people, or as one JSON object.
  func lines(in format: ReplayRunner.Format, clones: Int) -> [String] {
    switch format {
    case .jsonl: [json(clones: clones)]
    case .table: table(clones: clones)
    }
  }

  private func table(clones: Int) -> [String] {
    var lines = [
      row("sent", "\(sent) datagrams, \(bytes) bytes in \(elapsed.rounded.written)\(rate)"),
      row("loops", "\(loops)\(isInterrupted ? ", then interrupted" : "")"),
    ]
    if clones > 1 { lines.append(row("copies", "\(clones) of each observer")) }
    if notCloned > 0 { lines.append(row("not copied", "\(notCloned) that do not decode")) }
    lines.append(row("errors", errors == 0 ? "0" : "\(errors), the last: \(lastError ?? "")"))
    guard lateness.count > 0 else { return lines }
    let percentiles = LatenessHistogram.percentiles.map { percent in
      "\(label(percent)) \(lateness.percentile(percent).written)"
    }
    lines.append(row("lateness", percentiles.joined(separator: ", ")))
    return lines.map { PlainText.cut($0, to: TextTable.widest) }
  }

  private var rate: String {
    guard elapsed.seconds > 0.001 else { return "" }
    return ", \(Int((Double(sent) / elapsed.seconds).rounded())) a second"
  }

  private func row(_ name: String, _ value: String) -> String { name.padded(to: 11) + value }

  private func label(_ percent: Double) -> String {
    switch percent {
    case 100: "max"
    case percent.rounded(): "p\(Int(percent))"
    default: "p\(percent)"
    }
  }

  private func json(clones: Int) -> String {
    var json = JSONText()
    json.openObject()
    json.member("sent", sent)
    json.member("bytes", bytes)
    json.member("errors", errors)
    json.member("lastError", ifPresent: lastError)
    json.member("notCloned", notCloned)
    json.member("clones", clones)
    json.member("loops", loops)
    json.member("interrupted", isInterrupted)
    json.member("seconds", elapsed.seconds, decimals: 6)
    if lateness.count > 0 {
      json.openObject("latenessMilliseconds")
      json.member("p50", lateness.percentile(50).milliseconds, decimals: 3)
      json.member("p90", lateness.percentile(90).milliseconds, decimals: 3)
      json.member("p99", lateness.percentile(99).milliseconds, decimals: 3)
      json.member("p99.9", lateness.percentile(99.9).milliseconds, decimals: 3)
      json.member("max", lateness.percentile(100).milliseconds, decimals: 3)
      json.closeObject()
    }
    json.closeObject()
    return json.text
  }
}

extension TimeSpan {
  /// To the millisecond, for people.
  fileprivate var rounded: TimeSpan { .milliseconds(Int64(milliseconds.rounded())) }
}
