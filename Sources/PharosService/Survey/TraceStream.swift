import PharosCaptures
import PharosFiles
import PharosReports

/// A trace as it streams from the disk: the reports of one datagram after the other, in the order of the file.
///
/// Only one task at a time may use a stream. At damage in the file, the stream ends after the reports before the damage
/// and keeps the reason.
package final class TraceStream {
  /// Which trace.
  let file: TraceFile
  /// What is wrong with the file, once that was found.
  private(set) var damage: String?

  private var chunks: FileChunks
  private var feed: TraceFeed

  /// Opens a trace.
  ///
  /// - Throws: that it cannot be opened.
  package init(_ file: TraceFile) throws(CommandFailure) {
    self.file = file
    feed = TraceFeed(observer: ObserverID.ofCapture(at: file.path))
    do throws(FileError) {
      chunks = try FileChunks(path: file.path)
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  /// How much was read, and what was passed over.
  var counters: IndoorTrace.Counters { feed.counters }
  /// R: the greatest time of the lines read so far.
  var latestTime: Timestamp? { feed.latestTime }

  /// The next datagram's reports; nil at the end.
  package func next() -> ReportBatch? {
    while true {
      if let batch = feed.next() { return batch }
      guard !isAtEnd else { return nil }
      do throws(FileError) {
        if let chunk = try chunks.next() { feed.append(chunk) } else { end() }
      } catch {
        damage = "\(error)"
        end()
      }
    }
  }

  private var isAtEnd = false

  private func end() {
    isAtEnd = true
    feed.finish()
  }

  /// What was wrong with the trace, in a sentence, if anything was.
  var complaint: String? {
    if let damage { return damage }
    guard counters.damaged > 0 else { return nil }
    let lines = Wording.count(counters.damaged, "line")
    return "\(file.path): \(lines) of \(counters.lines) could not be read, and counted for nothing."
  }
}
