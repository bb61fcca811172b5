import PharosCaptures
import PharosFiles
import PharosReports
import PharosWire

/// `pharos inspect`: what a capture holds, as a summary, advert by advert or datagram by datagram.
package struct InspectRunner: Sendable {
  /// What is shown.
  package enum View: Sendable {
    /// Counts, times, observers and beacons.
    case summary
    /// One line for each advertising report.
    case adverts
    /// One line for each UDP datagram.
    case datagrams
  }

  private let captures: [String]
  private let view: View
  private let format: EventFormat

  /// Makes a runner; `-` is standard input.
  package init(captures: [String], view: View = .summary, format: EventFormat = .table) {
    self.captures = captures
    self.view = view
    self.format = format
  }

  /// Shows the captures one behind the other.
  ///
  /// - Returns: 0; 1 if one was damaged, everything before the damage having been shown.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      var status = CommandStatus.success
      for path in captures {
        guard let damage = try inspect(path, on: console) else { continue }
        status = .failure
        try console.output.flush()
        console.say(damage)
      }
      return status
    }
  }

  /// Shows one capture and gives what is wrong with it, by its path, if anything is.
  private func inspect(_ path: String, on console: Console) throws -> String? {
    var chunks: FileChunks
    do {
      chunks = try FileChunks(path: path)
    } catch {
      throw CommandFailure("\(error)")
    }
    var inspection = Inspection(view: view, format: format)
    if view != .summary, format == .table { try console.print(inspection.header) }
    var reader = CaptureReader()
    var bar = ProgressBar(path, on: console)
    let showsBar = view == .summary || !console.outputStyle.isTerminal
    var damage: String?
    do {
      while let chunk = try chunks.next() {
        reader.append(chunk)
        while let item = try reader.next() { inspection.take(item) }
        try console.output.write(inspection.takeLines())
        if showsBar {
          bar.show(Int(clamping: chunks.progress.read), of: chunks.progress.total.map { Int(clamping: $0) })
        }
      }
      try reader.finish()
    } catch let error as OutputError {
      bar.clear()
      throw error
    } catch let error as FileError {
      damage = "\(error)"
    } catch {
      damage = "\(path): \(error)"
    }
    bar.clear()
    try console.output.write(inspection.takeLines())
    if view == .summary {
      let summary = inspection.summary(of: path, format: reader.format)
      switch format {
      case .jsonl: try console.print(summary.json)
      case .table: for line in summary.lines { try console.print(line) }
      }
    }
    return damage
  }
}
