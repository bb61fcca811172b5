import PharosSite

/// A bar that is redrawn on a terminal, and nothing at all elsewhere.
package struct ProgressBar: Sendable {
  private let console: Console
  private let label: String
  private var shownTenths = -1
  private var isShown = false

  /// How many cells the bar itself has.
  private static let cells = 30

  /// Makes a bar that shows nothing yet.
  package init(_ label: String, on console: Console) {
    self.console = console
    self.label = label
  }

  /// Shows the progress; draws only when it has changed by a tenth of a percent.
  ///
  /// - Parameters:
  ///   - done: the amount that is done.
  ///   - total: the whole amount, or nil if it is unknown (a pipe); then nothing is drawn.
  package mutating func show(_ done: Int, of total: Int?) {
    guard console.errorStyle.isTerminal, let total, total > 0 else { return }
    let tenths = min(
      1_000,
      done.multipliedReportingOverflow(by: 1_000).overflow ? 1_000 : done * 1_000 / total
    )
    guard tenths != shownTenths else { return }
    shownTenths = tenths
    isShown = true
    let filled = ProgressBar.cells * tenths / 1_000
    let bar =
      String(repeating: "█", count: filled) + String(repeating: "░", count: ProgressBar.cells - filled)
    let room = max(0, console.errorStyle.width - ProgressBar.cells - 10)
    let name = PlainText.cut(PlainText.clean(label), to: room)
    write("\r\(bar) \(tenths / 10).\(tenths % 10) % \(name)\u{1B}[K")
  }

  /// Wipes the bar away, so that what follows starts on a clean line.
  package mutating func clear() {
    guard isShown else { return }
    isShown = false
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    try? console.errors.write(Array(text.utf8))
    try? console.errors.flush()
  }
}
