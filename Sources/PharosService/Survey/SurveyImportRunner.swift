import PharosCaptures
import PharosReports
import PharosWire

/// `pharos survey import`: turns traces into a capture of the datagrams that their phones would have sent.
package struct SurveyImportRunner: Sendable {
  private let traces: [String]

  /// Where the capture says that datagrams went: the port of this machine that `serve` listens at by default.
  private static let destination = Endpoint(IPAddress(v4: 0x7F00_0001), port: 50_001)
  /// The port of the first phone; each has its own.
  private static let firstPort: UInt16 = 40_000
  /// The number of ports; when all are in use, further phones share them, starting with the first.
  private static let ports = 10_000
  /// How much is gathered before it goes to the file.
  ///
  /// - Units: bytes.
  private static let chunk = 65_536

  /// Makes a runner for files and folders of traces.
  package init(traces: [String]) { self.traces = traces }

  /// Writes the capture: each trace an observer, all in the order of R.
  ///
  /// - Returns: 0; 1 if a trace was damaged, everything before the damage having been written.
  package func run(capture: any OutputSink, console: Console) -> CommandStatus {
    console.run {
      let files = try TraceFile.find(traces)
      var merged = TraceMerge()
      for file in files { try merged.add(file) }
      var writer = CaptureWriter(
        comment: "\(Wording.count(files.count, "indoor trace")) as Pharos datagrams",
        application: "pharos survey import"
      )
      var (datagrams, reports) = (0, 0)
      var bar = ProgressBar("traces", on: console)
      while let datagram = try merged.next() {
        let port = UInt16(datagram.sender % SurveyImportRunner.ports) + SurveyImportRunner.firstPort
        try writer.write(
          payload: datagram.bytes.span.bytes,
          from: Endpoint(IPAddress(v4: 0x7F00_0001), port: port),
          to: SurveyImportRunner.destination,
          at: datagram.time
        )
        datagrams += 1
        reports += datagram.reports
        if writer.pendingCount >= SurveyImportRunner.chunk { try capture.write(writer.takeBytes()) }
        bar.show(merged.finished, of: files.count)
      }
      bar.clear()
      try capture.write(writer.takeBytes())
      try capture.flush()
      for complaint in merged.complaints { console.say(complaint) }
      console.say(
        "\(Wording.count(datagrams, "datagram")) with \(Wording.count(reports, "report")) of "
          + "\(Wording.count(files.count, "trace")), each an observer."
      )
      return merged.hasDamage ? .failure : .success
    }
  }

  /// Writes the capture into a file.
  ///
  /// - Returns: 0; 1 if the file cannot be written or a trace was damaged.
  package func run(output: String, console: Console) -> CommandStatus {
    console.run {
      // A mistyped trace must not leave an empty capture behind.
      _ = try TraceFile.find(traces)
      let file = try FileOutput(path: output)
      let status = run(capture: file, console: console)
      try file.close()
      return status
    }
  }
}
