import PharosCaptures
import PharosDocuments
import PharosFiles
package import PharosModel
import PharosPipeline
import PharosTerminal
import PharosWire

/// A reader of captures from beginning to end, input by input, with a progress bar.
///
/// Damage ends a capture. The reader delivers everything before the damage, then reports the damage on the console.
struct CaptureWalk {
  /// The R of the last packet or input of all captures read, if there was any.
  private(set) var latest: Timestamp?
  /// Indicates whether a capture was damaged, or nothing is left of all of them because what they hold is not understood.
  var hasFailed: Bool { hasDamage || (hasPassedOver && !hasInputs) }

  private var hasDamage = false
  /// Indicates whether packets, datagrams or parts of them were passed over.
  private var hasPassedOver = false
  /// Indicates whether there was a report or an input of a recording.
  private var hasInputs = false

  private let observer: ObserverID?
  private let console: Console
  private let isQuiet: Bool
  private let check: @Sendable (Int) throws -> Void

  /// Starts with nothing read.
  ///
  /// - Parameters:
  ///   - observer: The observer that heard a Bluetooth capture; nil for one named after the file.
  ///   - console: The console for progress, damage and the number of datagrams that did not decode.
  ///   - isQuiet: True to show progress only: a capture that is read twice reports its damage once.
  ///   - check: Throws to end the reading; it takes the number of unpacked bytes of a capture read so far.
  init(
    observer: ObserverID?,
    console: Console,
    isQuiet: Bool = false,
    check: @escaping @Sendable (Int) throws -> Void = { _ in }
  ) {
    self.check = check
    self.observer = observer
    self.console = console
    self.isQuiet = isQuiet
  }

  /// Reads one capture; `-` is standard input.
  ///
  /// - Throws: what `receive` throws, and a `CommandFailure` if the capture cannot be opened.
  mutating func read(_ path: String, _ receive: (PipelineInput) throws -> Void) throws {
    var chunks = try FileChunks(named: path)
    var feed = CaptureFeed(observer: observer ?? ObserverID.ofCapture(at: path), after: latest)
    var bar = ProgressBar(path, on: console)
    do {
      var unpacked = 0
      while let chunk = try chunks.next() {
        unpacked += chunk.count
        try check(unpacked)
        feed.append(chunk)
        while let input = try feed.next() {
          try receive(input)
          feed.recycle(input)
        }
        bar.show(Int(clamping: chunks.progress.read), of: chunks.progress.total.map { Int(clamping: $0) })
      }
      try feed.finish()
      while let input = try feed.next() { try receive(input) }
      bar.clear()
    } catch let error as CaptureFeedError {
      bar.clear()
      hasDamage = true
      say("\(path): \(error)")
    } catch let error as FileError {
      while let input = try? feed.next() { try receive(input) }
      bar.clear()
      hasDamage = true
      say("\(error)")
    }
    if let time = feed.latestTime { latest = max(time, latest ?? time) }
    if !feed.counters.foreign.isEmpty { say("\(path): \(feed.counters.foreign).") }
    for remark in feed.counters.timeline.remarks { say("\(path): \(remark).") }
    sayPassedOver(feed.counters, in: path)
  }

  private mutating func sayPassedOver(_ counters: CaptureFeedCounters, in path: String) {
    if counters.reports > 0 || counters.otherInputs > 0 { hasInputs = true }
    var lines = counters.udp.passedOverLines + counters.bluetooth.passedOverLines
    let (refused, skipped) = (counters.datagrams.totalRefusals, counters.datagrams.totalSkips)
    if refused > 0 {
      lines.append(
        "\(Wording.count(Int(clamping: refused), "datagram")) of \(refused + counters.datagrams.totalDatagrams) did not "
          + "decode. `pharos inspect \(path)` says why"
      )
    }
    if skipped > 0 {
      lines.append(
        "\(Wording.count(Int(clamping: skipped), "element")) of datagrams could not be read; the others were. "
          + "`pharos inspect \(path)` says why"
      )
    }
    for line in lines { say("\(path): \(line).") }
    if !lines.isEmpty { hasPassedOver = true }
  }

  private func say(_ text: String) {
    if !isQuiet { console.say(text) }
  }
}

extension ObserverID {
  /// Returns the observer of a Bluetooth capture, named after the file without its folder and endings.
  package static func ofCapture(at path: String) -> ObserverID {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let stem = String(file.split(separator: ".", maxSplits: 1).first ?? "capture")
    return ObserverID(stem) ?? ObserverID(stem.prefix(ObserverID.maximumName / 4)) ?? .name("capture")
  }
}
